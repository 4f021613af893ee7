package proof

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"

	"github.com/mcpkiln/mcpkiln/generator/internal/emit"
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
)

//go:embed testdata/child.go
var childSource []byte

// Batch collects schemas whose generated code is compiled together. The zero value is ready for use, by one goroutine.
type Batch struct {
	schemas []Schema
	dropped map[int]bool
}

// Schema is one schema of a batch.
type Schema struct {
	Document *schema.Document
	Node     *schema.Node // nil: the document's root
	Keep     bool         // keep the properties that the schema does not name
	Sent     bool         // its values are sent, so that defaults are only documentation
	Both     bool         // its values are sent and received
}

// Add generates a type for s and returns its number in the batch. A schema that is refused adds nothing: the
// diagnostics say why, and the number has no meaning. The error is a panic of the generator.
func (b *Batch) Add(s Schema) (number int, ds schema.Diagnostics, err error) {
	number = len(b.schemas)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the generator panics: %v\n%s", r, debug.Stack())
		}
	}()
	alone := typing.NewTypes()
	s.lower(alone, number)
	decls, ds := alone.Finish()
	if ds.HasErrors() {
		return number, ds, nil
	}
	emit.ValidateFile(emit.Header, "alone", decls) // if this panics, the schema is not added
	b.schemas = append(b.schemas, s)
	return number, ds, nil
}

// lower adds the schema's root to types, in each role that it has.
func (s Schema) lower(types *typing.Types, number int) model.TypeRef {
	name := fmt.Sprintf("S%dT", number) // a letter after the number: names that are taken get another one
	r := typing.Root{
		Document: s.Document, Node: s.Node, Name: name, DefsPrefix: name, Keep: s.Keep, Use: model.Decode | model.Encode, Sent: s.Sent,
	}
	ref := types.Lower(r)
	if s.Both {
		r.Sent = !s.Sent
		types.Lower(r)
	}
	return ref
}

// Drop leaves out schemas; the others keep their numbers. Answers about dropped ones have Dropped set.
func (b *Batch) Drop(numbers []int) {
	if b.dropped == nil {
		b.dropped = map[int]bool{}
	}
	for _, n := range numbers {
		b.dropped[n] = true
	}
}

// Len returns how many schemas were added.
func (b *Batch) Len() int { return len(b.schemas) }

// Build writes the module of the batch to dir and compiles it. repo is the root of this module. The error is a
// *CompileError if the generated code does not compile.
func (b *Batch) Build(ctx context.Context, dir, repo string) (*Program, error) {
	files, err := b.files(repo)
	if err != nil {
		return nil, err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(dir, "program")
	// With -trimpath the compiled package comes from the build cache when nothing has changed. With -gcflags=-e all errors are
	// listed: the names in them say which schemas they are about.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-gcflags=-e", "-ldflags=-s -w", "-o", path, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, b.blame(files, out)
	}
	return &Program{path: path, dropped: maps.Clone(b.dropped)}, nil
}

func (b *Batch) files(repo string) (map[string][]byte, error) {
	types := typing.NewTypes()
	for _, name := range []string{"answer", "answerTo", "run", "table"} {
		types.Names.Take(name)
	}
	var table bytes.Buffer
	table.WriteString("package main\n\nvar table = []func([]byte) answer{\n")
	for i, s := range b.schemas {
		if b.dropped[i] {
			table.WriteString("\tnil,\n")
			continue
		}
		ref := s.lower(types, i)
		fmt.Fprintf(&table, "\trun(%s, %s),\n", ref.Decode, ref.Append)
	}
	table.WriteString("}\n")
	decls, ds := types.Finish()
	if ds.HasErrors() {
		return nil, fmt.Errorf("schemas that were accepted alone are refused together: %w", ds)
	}
	return map[string][]byte{
		"go.mod": fmt.Appendf(nil, "module example.com/generated\n\ngo 1.26.0\n\nrequire github.com/mcpkiln/mcpkiln v0.0.0\n\n"+
			"replace github.com/mcpkiln/mcpkiln => %s\n", repo),
		"main.go":         childSource,
		"table.go":        table.Bytes(),
		"types.gen.go":    emit.TypesFile(emit.Header, "main", decls),
		"validate.gen.go": emit.ValidateFile(emit.Header, "main", decls),
	}, nil
}
