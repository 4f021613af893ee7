package bench

import (
	"context"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator"
)

// TestDAY07MovingPageCompiles: each row of the page for those who come from elsewhere is Go on both sides, or a line of a manifest that is
// accepted.
func TestDAY07MovingPageCompiles(t *testing.T) {
	page, err := os.ReadFile("../../runtime/server/MOVING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sdk, _ := strings.Cut(string(page), "\n## From the official Go SDK\n")
	sdk, mcpGo, _ := strings.Cut(sdk, "\n## From mcp-go\n")
	c := newChecker(t)
	for prelude, text := range map[string]string{movingSDK: sdk, movingMCPGo: mcpGo} {
		found := movingRows(text)
		if len(found) < 20 {
			t.Errorf("%d rows", len(found))
		}
		for _, row := range found {
			if err := c.compiles(prelude, row.there); err != nil {
				t.Errorf("there: %s: %v", row.there, err)
			}
			here := c.compiles
			if row.manifest {
				here = accepted
			}
			if err := here(movingHere, row.here); err != nil {
				t.Errorf("here: %s: %v", row.here, err)
			}
		}
	}
	for _, wrong := range []string{"call.Advance(ctx)", "srv.Run(ctx)", "reports.New(h,"} {
		if c.compiles(movingHere, wrong) == nil {
			t.Errorf("compiles: %s", wrong)
		}
	}
}

type movingRow struct {
	there, here string
	manifest    bool
}

var movingCells = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (manifest: )?`([^`]+)` \\|$")

// movingRows are those of the tables in text. A line of a table that does not look like a row would not be checked, so it is none.
func movingRows(text string) (list []movingRow) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "| ") || line == "| there | here |" {
			continue
		}
		m := movingCells.FindStringSubmatch(line)
		if m == nil {
			m = []string{"", line, "", line} // which compiles nowhere
		}
		list = append(list, movingRow{there: m[1], here: m[3], manifest: m[2] != ""})
	}
	return list
}

// accepted generates from a manifest with the line.
func accepted(_, line string) error {
	text := "version: 1\nserver: {name: reports, version: 1.0.0}\n" + line + "\n"
	if !strings.HasPrefix(line, "tools:") {
		text += "tools: {greet: {inputSchema: {type: object}}}\n"
	}
	if strings.HasPrefix(line, "instructions:") {
		text = strings.Replace(text, "version: 1.0.0}\n"+line, "version: 1.0.0, "+line+"}", 1)
	}
	result, err := generator.Generate(context.Background(), generator.Config{Manifest: generator.Source{Path: "mcpkiln.yaml", Data: []byte(text)}})
	if err != nil {
		return err
	}
	if len(result.Files) == 0 {
		return fmt.Errorf("%v", result.Diagnostics)
	}
	return nil
}

type checker struct {
	files *token.FileSet
	from  types.Importer
}

func newChecker(t *testing.T) *checker {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "github.com/mcpkiln/mcpkiln/runtime/...",
		"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln", "github.com/modelcontextprotocol/go-sdk/auth", "github.com/modelcontextprotocol/go-sdk/mcp", "github.com/mark3labs/mcp-go/server").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[name] = file
	}
	files := token.NewFileSet()
	return &checker{files, importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
}

// compiles type-checks one expression or statement. That it leaves a variable or import unused is no matter.
func (c *checker) compiles(prelude, code string) error {
	if _, err := parser.ParseExpr(code); err == nil && !strings.HasSuffix(code, ")") {
		code = "_ = " + code
	}
	file, err := parser.ParseFile(c.files, "page.go", prelude+"\t{ "+code+" }\n}\n", parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var wrong error
	config := types.Config{Importer: c.from, GoVersion: "go1.26", Error: func(err error) {
		if e, ok := err.(types.Error); wrong == nil && (!ok || !e.Soft) {
			wrong = err
		}
	}}
	_, _ = config.Check("page", c.files, []*ast.File{file}, nil)
	return wrong
}

const movingSDK = `package page

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func page(ctx context.Context, s *mcp.Server, impl *mcp.Implementation, logger *slog.Logger, req *mcp.CallToolRequest, result *mcp.CallToolResult, form, schema any, uri, title string, picture []byte,
	handler http.Handler, typedHandler mcp.ToolHandlerFor[struct{}, struct{}], rawHandler mcp.ToolHandler, getPrompt mcp.PromptHandler, readResource mcp.ResourceHandler, around mcp.Middleware, verifyToken auth.TokenVerifier) {
`

const movingMCPGo = `package page

import (
	"context"
	"encoding/json"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

func page(ctx context.Context, s *mcpserver.MCPServer, request mcpgo.CallToolRequest, toolHandler mcpserver.ToolHandlerFunc, taskHandler mcpserver.TaskToolHandlerFunc,
	promptHandler mcpserver.PromptHandlerFunc, resourceHandler mcpserver.ResourceHandlerFunc, aroundTool mcpserver.ToolHandlerMiddleware, fromRequest mcpserver.HTTPContextFunc,
	templateHandler mcpserver.ResourceTemplateHandlerFunc, showTools mcpserver.ToolFilterFunc, schema json.RawMessage, uri, title string, params map[string]any,
	question mcpgo.ElicitationRequest, sampling mcpgo.CreateMessageRequest, token mcpgo.ProgressToken, encoded string, output any) {
`

const movingHere = `package page

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"

	reports "github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

func page(ctx context.Context, t *testing.T, h reports.Handlers, srv *server.Server, call *reports.TestElicitationCall, base *server.Call, in *reports.GreetInput, picture []byte,
	logger *slog.Logger, verifyToken auth.TokenVerifier, identify func(http.Handler) http.Handler, observe server.Observer,
	aroundMessages func(server.Handle) server.Handle, aroundTools func(server.ToolHandle) server.ToolHandle,
	definition []byte, validator server.Validator, runGreet server.RawHandler, showTool func(context.Context, string) bool,
	getP func(context.Context, *server.Call, map[string]string) (*server.PromptResult, error), readX func(context.Context, *server.Call) (*server.ResourceContents, error)) {
`
