package generator

import (
	"context"

	"github.com/mcpkiln/mcpkiln/generator/internal/emit"
	"github.com/mcpkiln/mcpkiln/generator/internal/reference"
	"github.com/mcpkiln/mcpkiln/schema"
)

// Names of the files of a reference.
const (
	markdownName = "reference.md"
	htmlName     = "reference.html"
)

// Reference describes a server for those who call it, in two formats.
type Reference struct {
	Markdown []byte
	HTML     []byte // one file without scripts
}

// MakeReference makes the reference of the server that cfg describes; Generate makes the same as files if Config.Docs is set. It is pure, as
// Generate is. With an error among the diagnostics the reference is nil.
func MakeReference(ctx context.Context, cfg Config) (*Reference, schema.Diagnostics, error) {
	cfg.Docs = "docs" // any directory: nothing is written
	r := &run{cfg: cfg, result: &Result{}}
	if err := r.generate(ctx); err != nil || r.result.Diagnostics.HasErrors() {
		return nil, r.result.Diagnostics, err
	}
	return r.reference(), r.result.Diagnostics, nil
}

func (r *run) reference() *Reference {
	page := reference.Make(reference.Server{Manifest: r.manifest, Package: r.pkg, Revisions: r.revisions})
	return &Reference{page.Markdown(), page.HTML()}
}

func (r *Reference) files() []emit.File {
	return []emit.File{{Name: markdownName, Content: r.Markdown}, {Name: htmlName, Content: r.HTML}}
}
