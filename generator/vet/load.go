package vet

import (
	"cmp"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Finding is one report of an analyzer.
type Finding struct {
	Position token.Position
	Analyzer string
	Message  string
}

// Run loads the packages that patterns name below dir and runs all analyzers over them. The findings are in the order of files and lines.
// Errors of the compiler are errors.
func Run(dir string, patterns ...string) ([]Finding, error) {
	graph, err := analyze(dir, patterns...)
	if err != nil {
		return nil, err
	}
	var all []Finding
	for _, act := range graph.Roots {
		if act.Err != nil {
			return nil, fmt.Errorf("%s: %w", act, act.Err)
		}
		for _, d := range act.Diagnostics {
			all = append(all, Finding{relative(dir, act.Package.Fset.Position(d.Pos)), act.Analyzer.Name, d.Message})
		}
	}
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Position.Filename, b.Position.Filename), cmp.Compare(a.Position.Offset, b.Position.Offset), cmp.Compare(a.Analyzer, b.Analyzer))
	})
	return all, nil
}

// relative names a file below dir as seen from there.
func relative(dir string, at token.Position) token.Position {
	base, err := filepath.Abs(dir)
	if err != nil {
		return at
	}
	if name, err := filepath.Rel(base, at.Filename); err == nil && filepath.IsLocal(name) {
		at.Filename = name
	}
	return at
}

func analyze(dir string, patterns ...string) (*checker.Graph, error) {
	pkgs, err := load(dir, patterns...)
	if err != nil {
		return nil, err
	}
	return checker.Analyze(Analyzers, pkgs, nil)
}

// load is an error if anything does not compile.
func load(dir string, patterns ...string) ([]*packages.Package, error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, pkg := range pkgs {
		for _, e := range pkg.Errors {
			return nil, fmt.Errorf("%s: %w", pkg.PkgPath, e)
		}
	}
	return pkgs, nil
}
