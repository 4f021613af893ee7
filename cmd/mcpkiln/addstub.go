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
	wants *types.Interface
	tests bool // its package has what a test that cancels needs
	lacks []lacking
}

// lacking is a method that a type lacks, with the files that would add it: a stub, and perhaps a test.
type lacking struct {
	method string
	files  []templates.ScaffoldFile
}

// implementations reads the module's packages, as they are with what is to be generated. That they do not compile is expected.
func implementations(cmd *cobra.Command, s *sources) (all []*implementation, err error) {
	overlay, err := s.overlay()
	if err != nil {
		return nil, err
	}
	generated := s.generated()
	cfg := &packages.Config{Context: cmd.Context(), Dir: s.base, Overlay: overlay,
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

// asserted are the declarations var _ T = value of a file.
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

// implementationOf is the type of the value, if it is asserted to implement Handlers of the generated package; else nil.
func implementationOf(p *packages.Package, spec *ast.ValueSpec, generated string) *implementation {
	wanted, ok := p.TypesInfo.TypeOf(spec.Type).(*types.Named)
	if !ok || wanted.Obj().Name() != "Handlers" || wanted.Obj().Pkg() == nil || wanted.Obj().Pkg().Path() != generated {
		return nil
	}
	typ := p.TypesInfo.TypeOf(spec.Values[0])
	if pointer, ok := typ.(*types.Pointer); ok {
		typ = pointer.Elem()
	}
	named, ok := typ.(*types.Named)
	methods, isInterface := wanted.Underlying().(*types.Interface)
	if !ok || !isInterface || named.Obj().Pkg() != p.Types {
		return nil
	}
	return &implementation{pkg: p, named: named, wants: methods}
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

// missing are the methods that the type lacks.
func (i *implementation) missing(r *generator.Result) (all []generator.Tool) {
	for _, t := range slices.Concat(r.Tools, r.Methods) {
		wanted, _, _ := types.LookupFieldOrMethod(i.wants, false, i.named.Obj().Pkg(), t.Method)
		has, _, _ := types.LookupFieldOrMethod(types.NewPointer(i.named), true, i.named.Obj().Pkg(), t.Method)
		if wanted != nil && has == nil {
			all = append(all, t)
		}
	}
	return all
}

// prepare makes a stub for each missing method.
func (i *implementation) prepare(s *sources) error {
	stub := generator.Stub{Package: i.pkg.Name, Type: i.named.Obj().Name(), Import: s.generated()}
	if i.pkg.PkgPath == stub.Import {
		stub.Import = ""
	}
	for _, t := range i.missing(s.result) {
		files, err := toolFiles(stub, s.result, t, i.tests)
		if err != nil {
			return err
		}
		i.lacks = append(i.lacks, lacking{t.Method, files})
	}
	return nil
}

// stubsMayBeWritten gives stubs files of their own, and is errFindings if one is there already: nobody knows what is in it. A test that is there
// stays as it is.
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

// ownName is the name of a stub's file for the second type of a package.
func (i *implementation) ownName(stub string) string {
	return strings.TrimSuffix(stub, "_handler.go") + "_" + strings.ToLower(strings.TrimLeft(i.named.Obj().Name(), "_")) + "_handler.go"
}

func (i *implementation) path(f templates.ScaffoldFile) string { return filepath.Join(i.dir, f.Path) }

// writeStubs writes what the handlers lack.
func writeStubs(cmd *cobra.Command, all []*implementation) error {
	for _, one := range all {
		if err := one.write(cmd); err != nil {
			return err
		}
	}
	return nil
}

// write writes a stub for each missing method, with its test unless that is there.
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

// generated is the import path of the package that is generated.
func (s *sources) generated() string { return slashpath.Join(s.config.Import, s.result.Out) }

// overlay are the Go files that are generated, by their absolute paths.
func (s *sources) overlay() (map[string][]byte, error) {
	base, err := filepath.Abs(s.base)
	all := map[string][]byte{}
	for _, f := range s.result.Files {
		if filepath.Ext(f.Path) == ".go" {
			all[filepath.Join(base, filepath.FromSlash(s.result.Out), filepath.FromSlash(f.Path))] = f.Content
		}
	}
	return all, err
}
