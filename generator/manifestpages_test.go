package generator

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestSRV04ThePageAboutResultsCompiles(t *testing.T) {
	pageCompiles(t, "RESULTS.md", "charts", `type handlers struct{}

var _ charts.Handlers = (*handlers)(nil)

func (h *handlers) picture(name string) ([]byte, error)                           { return []byte(name), nil }
func (h *handlers) space() (int64, error)                                         { return 0, nil }
func (h *handlers) render(ctx context.Context, table string) ([]byte, int, error) { return nil, 0, ctx.Err() }
`)
}

func TestSRV07ThePageAboutSessionsCompiles(t *testing.T) {
	pageCompiles(t, "SESSIONS.md", "reports", "")
}

func TestSRV07ThePageAboutCustomMethodsCompiles(t *testing.T) {
	pageCompiles(t, "CUSTOM.md", "reports", `type handlers struct{ reports.Handlers }

var _ reports.Handlers = (*handlers)(nil)

func (h *handlers) build(ctx context.Context, report string) error                { return ctx.Err() }
func (h *handlers) noteSeen(ctx context.Context, who, report string) error        { return ctx.Err() }
func (h *handlers) refresh(ctx context.Context, report string) (int64, error) { return int64(len(report)), ctx.Err() }
`)
}

// pageCompiles compiles each Go block of a page of the runtime, together with rest, against the package that the page's manifest generates.
func pageCompiles(t *testing.T, page, pkg, rest string) {
	t.Helper()
	text, err := os.ReadFile("../runtime/server/" + page)
	if err != nil {
		t.Fatal(err)
	}
	top := `package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/mcpkiln/mcpkiln/runtime/server"

	"example.com/app/` + pkg + `"
)

`
	used := `
var (
	_ context.Context
	_ = errors.Is
	_ = fmt.Sprint
	_ = slog.Warn
	_ io.Reader
	_ = os.Open
	_ *server.Server
	_ ` + pkg + `.Handlers
)
`
	blocks := strings.Split(string(text), "\n```go\n")
	if len(blocks) == 1 {
		t.Fatalf("%s has no Go block", page)
	}
	blocks[0] = rest + "\n```\n"
	var files []File
	for i, b := range blocks {
		code, _, closed := strings.Cut(b, "\n```\n")
		if !closed {
			t.Fatalf("block %d of %s does not end", i, page)
		}
		files = append(files, File{Path: fmt.Sprintf("block%d.go", i), Content: []byte(top + code + "\n" + used)})
	}
	r := mustGenerate(t, Config{Manifest: Source{"mcpkiln.yaml", []byte(fenced(t, string(text), "yaml"))}})
	for _, f := range r.Files {
		files = append(files, File{Path: pkg + "/" + f.Path, Content: f.Content})
	}
	if err := newCompiler(t).check("example.com/app", files); err != nil {
		t.Error(err)
	}
}
