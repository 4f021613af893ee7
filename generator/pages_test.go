package generator

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/templates"
)

// pagesOfAProject have Go blocks of a project like the one that init makes.
var pagesOfAProject = []string{"../runtime/server/README.md", "../runtime/streamhttp/README.md", "../runtime/servertest/README.md", "../runtime/client/README.md"}

// TestDAY07EveryPageWithGoIsCompiled: a page that gets its first Go block needs a test that compiles it.
func TestDAY07EveryPageWithGoIsCompiled(t *testing.T) {
	compiled := append([]string{
		"../README.md",                       // TestREADME…
		"../runtime/server/CUSTOM.md",        // TestSRV07ThePageAboutCustomMethodsCompiles
		"../runtime/server/REGISTRIES.md",    // TestSRV05ThePageAboutRegistriesCompiles
		"../runtime/server/RESULTS.md",       // TestSRV04ThePageAboutResultsCompiles
		"../runtime/server/SESSIONS.md",      // TestSRV07ThePageAboutSessionsCompiles
		"../runtime/task/postgres/README.md", // TestDAY07ThePageCompiles of its module, as of the next two
		"../runtime/task/river/README.md",
		"../runtime/task/sqlite/README.md",
	}, pagesOfAProject...)
	var found []string
	err := filepath.WalkDir("..", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains([]string{"node_modules", ".build", ".git"}, e.Name()):
			return filepath.SkipDir
		case filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(name)
		if len(goBlocks(string(text))) > 0 {
			found = append(found, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	slices.Sort(compiled)
	if !slices.Equal(found, compiled) {
		t.Errorf("pages with Go blocks: %q\nthose with a test: %q", found, compiled)
	}
}

// TestDAY07PagesCompile: who copies a Go block of a page into the project that init writes has a program, but for what the page does not say.
func TestDAY07PagesCompile(t *testing.T) {
	for _, page := range pagesOfAProject {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := goBlocks(string(text))
		if len(blocks) == 0 {
			t.Errorf("%s has no Go block", page)
		}
		for i, block := range blocks {
			if err := compilesInAProject(t, block); err != nil {
				t.Errorf("%s, Go block %d: %v\n%s", page, i+1, err, block)
			}
		}
	}
}

// TestDAY07PagesThatDoNotCompileAreFound keeps the test above honest.
func TestDAY07PagesThatDoNotCompileAreFound(t *testing.T) {
	for _, block := range []string{"call.Advance(ctx)\n", "srv.Run(ctx)\n", "func f() int {}\n", "x :=\n", "nobody.Knows()\n"} {
		if compilesInAProject(t, block) == nil {
			t.Errorf("compiles:\n%s", block)
		}
	}
}

func goBlocks(text string) (blocks []string) {
	for _, part := range strings.Split(text, "\n```go\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, block+"\n")
	}
	return blocks
}

const (
	pageImports = `package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/metrics"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"
	"github.com/mcpkiln/mcpkiln/runtime/task"

	"example.com/app/reports"
	"example.com/app/reportsclient"
)
`
	// pageProject is what a page takes for granted. Methods in a block hide those of Handlers, so one that differs is an error.
	pageProject = `
type handlers struct {
	reports.Handlers
	step time.Duration
}

var _ reports.Handlers = (*handlers)(nil)

func newServer(t *testing.T, h *handlers) *server.Server { panic(h) }

func verify(authorization string) (user string, ok bool) { panic(authorization) }

func pay(ctx context.Context, key string) (string, error) { panic(key) }
`
	pageStatements = `
func page(ctx context.Context, t *testing.T, call *reports.ImportOrdersCall, srv *server.Server, mux *http.ServeMux,
	endpoint *streamhttp.Endpoint, c *servertest.Client, shared task.Store) (*reports.ImportOrdersOutput, error) {
	{
`
)

var declares = regexp.MustCompile(`(?m)^(func|type|var|const) `)

// compilesInAProject type-checks a block as declarations or as statements. That it leaves variables unused is no matter.
func compilesInAProject(t *testing.T, block string) error {
	source := pageImports + pageProject
	if declares.MatchString(block) {
		source += block
	} else {
		source += pageStatements + block + "\t}\n\treturn nil, nil\n}\n"
	}
	c := newCompiler(t)
	file, err := parser.ParseFile(c.files, "page.go", source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	p := &packages{compiler: c, sources: reportsPackage(t, c), checked: map[string]*types.Package{}}
	var wrong error
	config := types.Config{Importer: p, GoVersion: "go1.26", Error: func(err error) {
		if e, ok := err.(types.Error); wrong == nil && (!ok || !e.Soft) {
			wrong = fmt.Errorf("%w", err)
		}
	}}
	_, _ = config.Check("example.com/app", c.files, []*ast.File{file}, nil)
	return wrong
}

// reportsPackage is what the manifest of a new project generates, with a client beside it.
func reportsPackage(t *testing.T, c *compiler) map[string][]*ast.File {
	files, err := templates.Scaffold(templates.Project{Module: "example.com/app", Import: "example.com/app", Package: "reports", Runtime: "github.com/mcpkiln/mcpkiln", OwnGoMod: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Path != "mcpkiln.yaml" {
			continue
		}
		source := Source{f.Path, f.Content}
		server := mustGenerate(t, Config{Manifest: source, Import: "example.com/app", Out: "reports"})
		caller := mustGenerate(t, Config{Manifest: source, Import: "example.com/app", Out: "both", Client: "reportsclient"}).Client
		all := map[string][]*ast.File{}
		for dir, files := range map[string][]File{"reports": server.Files, caller.Dir: caller.Files} {
			for _, g := range files {
				if !strings.HasSuffix(g.Path, ".go") {
					continue
				}
				file, err := parser.ParseFile(c.files, g.Path, g.Content, parser.SkipObjectResolution)
				if err != nil {
					t.Fatal(err)
				}
				at := path.Join("example.com/app", dir, path.Dir(g.Path))
				all[at] = append(all[at], file)
			}
		}
		return all
	}
	t.Fatal("a new project has no manifest")
	return nil
}
