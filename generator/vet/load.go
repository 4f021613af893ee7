package vet

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Finding is one report of an analyzer.
type Finding struct {
	Position token.Position
	Analyzer string
	Message  string
}

// Run loads the packages that patterns name below dir and runs all analyzers on them. The findings are sorted by file and line. It returns an error
// if a package does not compile.
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

// relative returns a position with the file's path relative to dir.
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

// load returns the packages, or an error if one of them does not compile.
func load(dir string, patterns ...string) ([]*packages.Package, error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir}, patterns...)
	switch {
	case err != nil:
		return nil, err
	case len(pkgs) == 0:
		return nil, fmt.Errorf("%s matches no package: %s", strings.Join(patterns, " "), whichFolder)
	}
	for _, pkg := range pkgs {
		for _, e := range pkg.Errors {
			return nil, unloadable(dir, pkg.PkgPath, e)
		}
	}
	return pkgs, nil
}

// whichFolder says how packages are named.
const whichFolder = "name a folder as ./FOLDER, or all below this one as ./..."

// unloadable returns the error for a pattern without packages to analyze. Errors of the compiler are returned with their position.
func unloadable(dir, pattern string, e packages.Error) error {
	switch {
	case e.Kind != packages.ListError || e.Pos != "" && e.Pos != "-":
		return fmt.Errorf("%s: %w", pattern, e)
	case strings.Contains(e.Msg, "is not in std"):
		if info, err := os.Stat(filepath.Join(dir, pattern)); err == nil && info.IsDir() {
			return fmt.Errorf("there is no package %s; the folder is ./%[1]s", pattern)
		}
		return fmt.Errorf("there is no package %s: %s", pattern, whichFolder)
	case strings.Contains(e.Msg, "does not contain main module"):
		return errors.New("there is no go.mod in this folder or above it: run it in a module")
	case strings.Contains(e.Msg, "directory not found"):
		return fmt.Errorf("there is no folder %s: %s", pattern, whichFolder)
	case strings.Contains(e.Msg, "no Go files in"):
		return fmt.Errorf("there are no Go files in %s: %s", pattern, whichFolder)
	}
	message, _, _ := strings.Cut(e.Msg, "; to add it:")
	if message != e.Msg {
		message += ": add it with go get " + pattern
	}
	return errors.New(message)
}
