package generator

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestSRV05ThePageAboutRegistriesCompiles compiles each Go block of the page against what its manifest generates.
func TestSRV05ThePageAboutRegistriesCompiles(t *testing.T) {
	page, err := os.ReadFile("../runtime/server/REGISTRIES.md")
	if err != nil {
		t.Fatal(err)
	}
	const top = `package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/mcpkiln/mcpkiln/runtime/server"

	"example.com/app/library"
)

var (
	_ context.Context
	_ json.RawMessage
	_ *os.Root
	_ = errors.New
	_ *server.Call
	_ library.Handlers
)

`
	const rest = top + `type handlers struct{ files map[string][]byte }

var _ library.Handlers = (*handlers)(nil)
`
	r := mustGenerate(t, Config{Manifest: Source{"mcpkiln.yaml", []byte(fenced(t, string(page), "yaml"))}})
	files := []File{{Path: "handlers.go", Content: []byte(rest)}}
	blocks := strings.Split(string(page), "\n```go\n")[1:]
	for i, b := range blocks {
		code, _, closed := strings.Cut(b, "\n```\n")
		if !closed {
			t.Fatalf("block %d does not end", i)
		}
		files = append(files, File{Path: fmt.Sprintf("block%d.go", i), Content: []byte(top + code + "\n")})
	}
	if len(blocks) != 4 {
		t.Errorf("%d Go blocks", len(blocks))
	}
	for _, f := range r.Files {
		files = append(files, File{Path: "library/" + f.Path, Content: f.Content})
	}
	if err := newCompiler(t).check("example.com/app", files); err != nil {
		t.Error(err)
	}
}
