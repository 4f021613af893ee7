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

// Reference is what a server is for those who call it, in two forms.
type Reference struct {
	Markdown []byte
	HTML     []byte // one file without scripts
}

// MakeReference writes the reference of the server that cfg describes. It is pure, as Generate is, which makes the same with Config.Docs. With
// an error among the diagnostics there is none.
func MakeReference(ctx context.Context, cfg Config) (*Reference, schema.Diagnostics, error) {
	cfg.Docs = "docs" // wherever; it is not looked at
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
