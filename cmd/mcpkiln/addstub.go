package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/tools/go/packages"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/templates"
)

// implementation is a type that is asserted to implement the generated Handlers.
type implementation struct {
	pkg   *packages.Package
	dir   string
	named *types.Named
	tests bool // its package has the helper that the tests of stubs need
	lacks []lacking
}

// lacking is a method that a type lacks, with the files that would add it: a stub, and perhaps a test.
type lacking struct {
	method string
	files  []templates.ScaffoldFile
}

// implementations returns the types of the module that are asserted to implement Handlers. It loads the module's packages without what they
// import, and expects that they do not compile: the generated package may be older, or not there.
func implementations(cmd *cobra.Command, s *sources) (all []*implementation, err error) {
	generated := s.generated()
	cfg := &packages.Config{Context: cmd.Context(), Dir: s.base,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports}
	loaded, err := packages.Load(cfg, "./...")
	if err != nil {
		return nil, err
	}
	seen := map[*types.TypeName]bool{}
	for _, p := range loaded {
		for _, f := range p.Syntax {
			for _, spec := range asserted(f) {
				one := implementationOf(p, spec, generated)
				if one == nil || seen[one.named.Obj()] {
					continue
				}
				seen[one.named.Obj()] = true
				one.dir = filepath.Dir(p.Fset.Position(f.Pos()).Filename)
				if one.tests, err = hasHelper(one.dir); err != nil {
					return nil, err
				}
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// asserted returns the declarations var _ T = value of a file.
func asserted(f *ast.File) (all []*ast.ValueSpec) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			if v := s.(*ast.ValueSpec); len(v.Names) == 1 && v.Names[0].Name == "_" && v.Type != nil && len(v.Values) == 1 {
				all = append(all, v)
			}
		}
	}
	return all
}

// implementationOf returns the type of the value if it is asserted to implement Handlers of the generated package, else nil.
func implementationOf(p *packages.Package, spec *ast.ValueSpec, generated string) *implementation {
	if !isHandlers(p, spec.Type, generated) {
		return nil
	}
	typ := p.TypesInfo.TypeOf(spec.Values[0])
	if pointer, ok := typ.(*types.Pointer); ok {
		typ = pointer.Elem()
	}
	named, ok := typ.(*types.Named)
	if !ok || named.Obj().Pkg() != p.Types {
		return nil
	}
	return &implementation{pkg: p, named: named}
}

// isHandlers reports whether a type is written as Handlers of the generated package, which need not be there yet.
func isHandlers(p *packages.Package, typ ast.Expr, generated string) bool {
	switch typ := typ.(type) {
	case *ast.SelectorExpr:
		id, ok := typ.X.(*ast.Ident)
		if !ok || typ.Sel.Name != "Handlers" {
			return false
		}
		name, ok := p.TypesInfo.Uses[id].(*types.PkgName)
		return ok && name.Imported().Path() == generated
	case *ast.Ident:
		if obj := p.TypesInfo.Uses[typ]; obj != nil && obj.Pkg() != nil {
			return typ.Name == "Handlers" && obj.Pkg().Path() == generated
		}
		return typ.Name == "Handlers" && p.PkgPath == generated
	}
	return false
}

// hasHelper reports whether a test in dir declares everyRevision, which the tests of stubs need.
func hasHelper(dir string) (bool, error) {
	tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	for _, path := range tests {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		for _, d := range f.Decls {
			if slices.Contains(declared(d), "everyRevision") {
				return true, nil
			}
		}
	}
	return false, err
}

// missing returns the methods that the type lacks. A type that embeds Handlers has them all.
func (i *implementation) missing(s *sources) (all []generator.Tool) {
	if i.embeds(s.generated()) {
		return nil
	}
	for _, t := range slices.Concat(s.result.Tools, s.result.Methods) {
		if has, _, _ := types.LookupFieldOrMethod(types.NewPointer(i.named), true, i.named.Obj().Pkg(), t.Method); has == nil {
			all = append(all, t)
		}
	}
	return all
}

// embeds reports whether the type embeds Handlers of the generated package.
func (i *implementation) embeds(generated string) bool {
	s, ok := i.named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range s.Fields() {
		if of, ok := field.Type().(*types.Named); ok && field.Embedded() && of.Obj().Name() == "Handlers" && of.Obj().Pkg() != nil && of.Obj().Pkg().Path() == generated {
			return true
		}
	}
	return false
}

// prepare makes a stub for each missing method.
func (i *implementation) prepare(s *sources) error {
	stub := generator.Stub{Package: i.pkg.Name, Type: i.named.Obj().Name(), Import: s.generated()}
	if i.pkg.PkgPath == stub.Import {
		stub.Import = ""
	}
	for _, t := range i.missing(s) {
		files, err := toolFiles(stub, s.result, t, i.tests)
		if err != nil {
			return err
		}
		i.lacks = append(i.lacks, lacking{t.Method, files})
	}
	return nil
}

// stubsMayBeWritten gives each stub a file of its own, and returns errFindings if one exists: its content is unknown. An existing test is left
// as it is.
func stubsMayBeWritten(cmd *cobra.Command, all []*implementation) error {
	free, taken := true, map[string]bool{}
	there := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil || taken[path]
	}
	for i, one := range all {
		second := slices.ContainsFunc(all[:i], func(first *implementation) bool { return first.dir == one.dir })
		for j := range one.lacks {
			l := &one.lacks[j]
			if second && there(one.path(l.files[0])) {
				l.files = []templates.ScaffoldFile{{Path: one.ownName(l.files[0].Path), Content: l.files[0].Content}}
			}
			path := one.path(l.files[0])
			if there(path) {
				free = false
				fmt.Fprintf(cmd.ErrOrStderr(), "%s is there already, and has no method %s of %s: write the method, or rename the file\n",
					shortest(path), l.method, one.named.Obj().Name())
			}
			taken[path] = true
		}
	}
	if !free {
		return errFindings
	}
	return nil
}

// ownName returns the name of a stub's file for the second type of a package.
func (i *implementation) ownName(stub string) string {
	return strings.TrimSuffix(stub, "_handler.go") + "_" + strings.ToLower(strings.TrimLeft(i.named.Obj().Name(), "_")) + "_handler.go"
}

func (i *implementation) path(f templates.ScaffoldFile) string { return filepath.Join(i.dir, f.Path) }

// writeStubs writes stubs for the methods that the handlers lack.
func writeStubs(cmd *cobra.Command, all []*implementation) error {
	for _, one := range all {
		if err := one.write(cmd); err != nil {
			return err
		}
	}
	return nil
}

// write writes a stub for each missing method, with its test unless that exists.
func (i *implementation) write(cmd *cobra.Command) error {
	out := cmd.OutOrStdout()
	for _, l := range i.lacks {
		for at, f := range l.files {
			err := writeBeside(cmd.Context(), i.dir, []templates.ScaffoldFile{f})
			path := shortest(i.path(f))
			switch {
			case errors.Is(err, fs.ErrExist) && at > 0:
				fmt.Fprintf(out, "left    %s: it was there\n", path)
			case err != nil:
				return err
			default:
				fmt.Fprintln(out, "wrote  ", path)
			}
		}
	}
	if len(i.lacks) == 0 {
		fmt.Fprintf(out, "%s of %s has all methods\n", i.named.Obj().Name(), i.pkg.PkgPath)
	}
	return nil
}

// generated returns the import path of the generated package.
func (s *sources) generated() string { return slashpath.Join(s.config.Import, s.result.Out) }
