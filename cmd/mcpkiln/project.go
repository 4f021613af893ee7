package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/generator/importer"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
	"github.com/mcpkiln/mcpkiln/templates"
)

// schemaFile is the manifest's JSON Schema beside it, for editors.
const schemaFile = "mcpkiln.schema.json"

// look reads what the directory has: whether it may take a project, and the package in it.
func (p *project) look() error {
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	p.existed, p.taken = true, map[string]string{}
	for _, e := range entries {
		if slices.Contains(manifestNames, e.Name()) {
			return fmt.Errorf("%s has a manifest already, %s: mcpkiln add TOOL adds a tool to it", p.dir, e.Name())
		}
		if filepath.Ext(e.Name()) == ".go" && e.Type().IsRegular() {
			if err := p.join(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// join makes the project part of the package of an existing file.
func (p *project) join(name string) error {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.dir, name), nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("what is declared there has to be known: %w", err)
	}
	p.Existing, p.Stubs = true, true
	if !strings.HasSuffix(name, "_test.go") {
		p.Name = f.Name.Name
	}
	for _, d := range f.Decls {
		for _, id := range declared(d) {
			p.taken[id] = name
		}
	}
	if p.taken[p.Type] != "" {
		p.Type = "mcpHandlers"
	}
	for _, helper := range []string{"update", "everyRevision", "newServer"} {
		p.tests = p.tests && p.taken[helper] == ""
	}
	return nil
}

// declared returns the identifiers that a top-level declaration declares, methods left out.
func declared(d ast.Decl) (all []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			all = append(all, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				all = append(all, s.Name.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					all = append(all, id.Name)
				}
			}
		}
	}
	return all
}

// create writes the project. All errors are found before anything is written.
func (p *project) create(cmd *cobra.Command) error {
	files, err := p.files(cmd)
	if err != nil {
		return err
	}
	files, left := p.leave(files)
	if p.existed {
		err = writeBeside(cmd.Context(), p.dir, files)
	} else {
		err = writeProject(cmd.Context(), p.dir, files)
	}
	if err != nil {
		return err
	}
	if err := p.print(cmd, files, left); err != nil || len(p.lost) == 0 {
		return err
	}
	for _, l := range p.lost {
		fmt.Fprintln(cmd.ErrOrStderr(), "not kept:", plain.Line(l.String()))
	}
	return errFindings
}

// files returns all files of the project, the generated ones too.
func (p *project) files(cmd *cobra.Command) ([]templates.ScaffoldFile, error) {
	files, err := templates.Scaffold(p.Project)
	if err != nil {
		return nil, err
	}
	files = append(files, templates.ScaffoldFile{Path: schemaFile, Content: manifest.SchemaJSON()})
	at := slices.IndexFunc(files, func(f templates.ScaffoldFile) bool { return f.Path == manifestNames[0] })
	if p.from != "" {
		if files[at].Content, err = p.imported(cmd); err != nil {
			return nil, refused(err)
		}
	}
	result, err := p.generate(cmd, files[at])
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(p.dir, filepath.FromSlash(result.Out))); err == nil {
		return nil, fmt.Errorf("%s is there already, where the package would be generated: rename the directory, or init another one", filepath.Join(p.dir, filepath.FromSlash(result.Out)))
	}
	for _, f := range result.Files {
		files = append(files, templates.ScaffoldFile{Path: slashpath.Join(result.Out, f.Path), Content: f.Content})
	}
	if p.Stubs {
		stubs, err := p.stubs(result)
		if err != nil {
			return nil, err
		}
		files = append(files, stubs...)
	}
	if !p.tests {
		files = slices.DeleteFunc(files, func(f templates.ScaffoldFile) bool { return f.Path == "server_test.go" })
	}
	return files, nil
}

// imported returns the manifest that is made from a saved answer.
func (p *project) imported(cmd *cobra.Command) ([]byte, error) {
	name, data, err := readSaved(cmd, p.from)
	if err != nil {
		return nil, err
	}
	source, err := importer.Read(name, data)
	if err != nil {
		return nil, err
	}
	made, err := importer.Import(cmd.Context(), source, importer.Options{Package: p.Package, Schema: schemaFile})
	if err != nil {
		return nil, err
	}
	noteSource(cmd, source)
	p.lost = made.Lost
	return made.Manifest, nil
}

// readSaved reads a file or standard input, and returns its name for messages, too.
func readSaved(cmd *cobra.Command, name string) (called string, data []byte, err error) {
	if name == standardStream {
		data, err = io.ReadAll(cmd.InOrStdin())
		return "standard input", data, err
	}
	file, err := interruptibly(cmd.Context(), func() (generator.Source, error) { return readSource(name) })
	return name, file.Data, err
}

// generate generates the package of the manifest with the version that the project's go.mod requires.
func (p *project) generate(cmd *cobra.Command, m templates.ScaffoldFile) (*generator.Result, error) {
	s := &sources{config: generator.Config{ToolVersion: p.Version, Import: p.Import, Dir: strings.TrimPrefix(strings.TrimPrefix(p.Import, p.Module), "/"),
		Manifest: generator.Source{Path: m.Path, Data: m.Content}}}
	result, err := generator.Generate(cmd.Context(), s.config)
	if err != nil {
		return nil, err
	}
	return result, s.print(cmd.ErrOrStderr(), result.Diagnostics)
}

// stubs returns the type of the handlers, and for each tool a method, a test that cancels it, and its golden file.
func (p *project) stubs(r *generator.Result) ([]templates.ScaffoldFile, error) {
	s := generator.Stub{Package: p.Name, Type: p.Type, Import: slashpath.Join(p.Import, r.Out)}
	content, err := s.Handlers(r)
	if err != nil {
		return nil, err
	}
	name := "handlers.go"
	if _, err := os.Lstat(filepath.Join(p.dir, name)); err == nil {
		name = "mcp_handlers.go"
	}
	all := []templates.ScaffoldFile{{Path: name, Content: content}}
	for _, t := range r.Tools {
		made, err := toolFiles(s, r, t, p.tests)
		if err != nil {
			return nil, err
		}
		if all = append(all, made...); p.tests && t.Cancellable && len(made) == 1 {
			p.untested = append(p.untested, t.Name)
		}
	}
	if !p.tests {
		return all, nil
	}
	golden, err := goldens(r)
	return append(all, golden...), err
}

// toolFiles returns the stub of a tool and, if tests is true and one can be made, a test that cancels it.
func toolFiles(s generator.Stub, r *generator.Result, t generator.Tool, tests bool) ([]templates.ScaffoldFile, error) {
	stub, err := s.Handler(r, t)
	if err != nil {
		return nil, err
	}
	all := []templates.ScaffoldFile{{Path: t.File, Content: stub}}
	test, err := s.CancelTest(r, t)
	if tests && test != nil {
		all = append(all, templates.ScaffoldFile{Path: strings.TrimSuffix(t.File, ".go") + "_test.go", Content: test})
	}
	return all, err
}

// goldens returns the golden files of the project's test: each tool as tools/list of the newest revision shows it.
func goldens(r *generator.Result) (all []templates.ScaffoldFile, err error) {
	for i, text := range r.ToolList(slices.Max(revision.Names())) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(json.RawMessage(text)); err != nil {
			return nil, err
		}
		all = append(all, templates.ScaffoldFile{Path: slashpath.Join("testdata", "tools", r.Tools[i].Name+".json"), Content: b.Bytes()})
	}
	return all, nil
}

// leave divides files into those to write and those that exist, which are left.
func (p *project) leave(files []templates.ScaffoldFile) (written []templates.ScaffoldFile, left []string) {
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(p.dir, filepath.FromSlash(f.Path))); err == nil {
			left = append(left, f.Path)
		} else {
			written = append(written, f)
		}
	}
	return written, left
}
