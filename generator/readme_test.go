package generator

import (
	"os"
	"strings"
	"testing"
)

// TestREADMEHandlersFitItsManifest compiles the README's handlers against what its manifest generates: who copies both has a program.
func TestREADMEHandlersFitItsManifest(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, write, found := strings.Cut(string(readme), "\n## What you write\n")
	if !found {
		t.Fatal("the README has no section What you write")
	}
	r := mustGenerate(t, Config{Manifest: Source{"mcpkiln.yaml", []byte(fenced(t, write, "yaml"))}})
	const top = `package main

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/server"

	"example.com/app/reports"
)

var _ *server.Call

// Methods of the README hide those of Handlers, so one that differs is an error.
type handlers struct{ reports.Handlers }

var _ reports.Handlers = (*handlers)(nil)

`
	files := []File{
		{Path: "main.go", Content: []byte(top + fenced(t, write, "go"))},
	}
	for _, f := range r.Files {
		files = append(files, File{Path: "reports/" + f.Path, Content: f.Content})
	}
	if err := newCompiler(t).check("example.com/app", files); err != nil {
		t.Error(err)
	}
}

// fenced is the first block of that language.
func fenced(t *testing.T, text, language string) string {
	t.Helper()
	_, block, found := strings.Cut(text, "\n```"+language+"\n")
	block, _, closed := strings.Cut(block, "\n```\n")
	if !found || !closed {
		t.Fatalf("no block of %s", language)
	}
	return block + "\n"
}

// TestREADMEClientFitsItsManifest compiles the README's client against what its manifest generates.
func TestREADMEClientFitsItsManifest(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, write, _ := strings.Cut(string(readme), "\n## What you write\n")
	_, call, found := strings.Cut(write, "\n## Calling it\n")
	if !found {
		t.Fatal("the README has no section Calling it")
	}
	block := fenced(t, call, "go")
	if lines := strings.Count(block, "\n"); lines > 13 {
		t.Errorf("a client in ten lines takes %d", lines)
	}
	r := mustGenerate(t, Config{Manifest: Source{"mcpkiln.yaml", []byte(fenced(t, write, "yaml"))}, Import: "example.com/app", Client: "reportsclient"})
	const top = `package main

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/client"

	"example.com/app/reportsclient"
)

`
	files := []File{{Path: "main.go", Content: []byte(top + block)}}
	for _, f := range r.Files {
		files = append(files, File{Path: r.Out + "/" + f.Path, Content: f.Content})
	}
	if err := newCompiler(t).check("example.com/app", files); err != nil {
		t.Error(err)
	}
}
