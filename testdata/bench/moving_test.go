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
	"slices"
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

// TestDAY07MovingPageNamesEveryCall: whatever a server can call there is on the page.
func TestDAY07MovingPageNamesEveryCall(t *testing.T) {
	page, err := os.ReadFile("../../runtime/server/MOVING.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, word := range regexp.MustCompile(`\w+`).FindAllString(string(page), -1) {
		words[word] = true
	}
	const sdk, mcpGo = "github.com/modelcontextprotocol/go-sdk/", "github.com/mark3labs/mcp-go/"
	c, seen := newChecker(t), 0
	for path, of := range map[string][]string{
		sdk + "mcp":      {"Server", "ServerSession", "ServerRequest", "ServerOptions", "StreamableHTTPOptions"},
		sdk + "auth":     nil,
		mcpGo + "server": {"MCPServer", "StdioServer", "StreamableHTTPServer", "InputRequestBuilder"},
	} {
		pkg, err := c.from.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range calls(pkg, of) {
			if seen++; !words[name] && !notForServers.MatchString(name) {
				t.Errorf("%s: the page says nothing of %s", path, name)
			}
		}
	}
	if seen < 200 {
		t.Errorf("found %d calls", seen)
	}
}

// notForServers are calls of clients, and what a page need not say: plain accessors, http.Handler, and parts of a transport.
var notForServers = regexp.MustCompile(`Client|^(ServeHTTP|AuthorizationCodeHandler|GetHooks|RequestState|FilterSupportedVersions|(With)?SupportedProtocolVersions(FromContext)?|` +
	`SupportsProtocolVersion|Handle|SetContextFunc|SetErrorLogger)$`)

// calls are the exported functions of a package, and the methods and fields of some of its types.
func calls(pkg *types.Package, of []string) (all []string) {
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if f, ok := scope.Lookup(name).(*types.Func); ok && f.Exported() {
			all = append(all, name)
		}
	}
	for _, name := range of {
		typ := scope.Lookup(name).Type()
		for m := range types.NewMethodSet(types.NewPointer(typ)).Methods() {
			all = append(all, m.Obj().Name())
		}
		if s, ok := typ.Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				all = append(all, f.Name())
			}
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return !token.IsExported(name) })
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
	if strings.HasPrefix(line, "server:") {
		text = "version: 1\n" + line + "\ntools: {greet: {inputSchema: {type: object}}}\n"
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
		"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln", "github.com/modelcontextprotocol/go-sdk/auth", "github.com/modelcontextprotocol/go-sdk/mcp", "github.com/modelcontextprotocol/go-sdk/oauthex", "github.com/mark3labs/mcp-go/server",
		"github.com/mark3labs/mcp-go/tracing").Output()
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
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

type count struct{ mcp.ParamsBase }

type counted struct{ mcp.ResultBase }

func page(ctx context.Context, s *mcp.Server, impl *mcp.Implementation, logger *slog.Logger, req *mcp.CallToolRequest, result *mcp.CallToolResult, form, schema any, uri, title string, picture []byte,
	handler http.Handler, typedHandler mcp.ToolHandlerFor[struct{}, struct{}], rawHandler mcp.ToolHandler, getPrompt mcp.PromptHandler, readResource mcp.ResourceHandler, around mcp.Middleware, verifyToken auth.TokenVerifier,
	complete func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error), subscribe func(context.Context, *mcp.SubscribeRequest) error,
	unsubscribe func(context.Context, *mcp.UnsubscribeRequest) error, rootsChanged func(context.Context, *mcp.RootsListChangedRequest),
	initialized func(context.Context, *mcp.InitializedRequest), progressed func(context.Context, *mcp.ProgressNotificationServerRequest),
	capabilities *mcp.ServerCapabilities, setCacheable func(context.Context, mcp.Request, *mcp.Cacheable),
	countReports func(context.Context, *mcp.ServerSession, *count) (*counted, error), reader io.ReadCloser, writer io.WriteCloser, transport mcp.Transport,
	metadata *oauthex.ProtectedResourceMetadata, address string, tools []*mcp.Tool) {
`

const movingMCPGo = `package page

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"log/slog"
	"net/http"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/mark3labs/mcp-go/tracing"
)

func page(ctx context.Context, s *mcpserver.MCPServer, request mcpgo.CallToolRequest, toolHandler mcpserver.ToolHandlerFunc, taskHandler mcpserver.TaskToolHandlerFunc,
	promptHandler mcpserver.PromptHandlerFunc, resourceHandler mcpserver.ResourceHandlerFunc, aroundTool mcpserver.ToolHandlerMiddleware, fromRequest mcpserver.HTTPContextFunc,
	templateHandler mcpserver.ResourceTemplateHandlerFunc, showTools mcpserver.ToolFilterFunc, schema json.RawMessage, uri, title string, params map[string]any,
	question mcpgo.ElicitationRequest, sampling mcpgo.CreateMessageRequest, token mcpgo.ProgressToken, encoded string, output any,
	completePrompt mcpserver.PromptCompletionProvider, completeResource mcpserver.ResourceCompletionProvider, tracer tracing.Tracer, propagator tracing.Propagator,
	metaPropagator tracing.MetaPropagator, reader io.Reader, writer io.Writer, fromStdio mcpserver.StdioContextFunc, errorLog *log.Logger, logger *slog.Logger,
	httpServer *http.Server, ids mcpserver.SessionIdManager, metadata mcpserver.ProtectedResourceMetadataConfig, responses mcpgo.InputResponses,
	session mcpserver.ClientSession, address string, seen mcpserver.NotificationHandlerFunc, showPrompts mcpserver.PromptFilterFunc,
	aroundPrompt mcpserver.PromptHandlerMiddleware, aroundResource mcpserver.ResourceHandlerMiddleware) {
`

const movingHere = `package page

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"
	"github.com/mcpkiln/mcpkiln/runtime/task"

	reports "github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

func page(ctx context.Context, t *testing.T, h reports.Handlers, srv *server.Server, call *reports.TestElicitationCall, base *server.Call, in *reports.GreetInput, picture []byte,
	logger *slog.Logger, verifyToken auth.TokenVerifier, identify func(http.Handler) http.Handler, observe server.Observer,
	aroundMessages func(server.Handle) server.Handle, aroundTools func(server.ToolHandle) server.ToolHandle,
	definition []byte, validator server.Validator, runGreet server.RawHandler, showTool func(context.Context, string) bool,
	getP func(context.Context, *server.Call, map[string]string) (*server.PromptResult, error), readX func(context.Context, *server.Call) (*server.ResourceContents, error),
	onRootsChanged func(context.Context), reader io.ReadCloser, writer io.Writer, conn rpc.Conn, metadata *oauthex.ProtectedResourceMetadata, address string,
	offered []reports.Tool, key []byte) {
`
