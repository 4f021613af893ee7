package vet

import (
	"flag"
	"go/ast"
	"go/format"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

var update = flag.Bool("update", false, "write the goldens")

// TestFixtures: each analyzer reports in its fixture what its comments want, and nothing else; its suggestions make the golden beside it.
func TestFixtures(t *testing.T) {
	var dirs []string
	for _, a := range Analyzers {
		if a != Handlers {
			dirs = append(dirs, "./testdata/"+a.Name)
		}
	}
	graph, err := analyze(".", dirs...)
	if err != nil {
		t.Fatal(err)
	}
	fixtures := 0
	for _, act := range graph.Roots {
		name := filepath.Base(act.Package.PkgPath)
		if act.Analyzer.Name != name {
			continue
		}
		fixtures++
		t.Run(name, func(t *testing.T) {
			compare(t, act.Package, act.Diagnostics)
			compareFixed(t, act)
		})
	}
	if fixtures != len(dirs) {
		t.Errorf("%d analyzers of %d have a fixture", fixtures, len(dirs))
	}
}

var wants = regexp.MustCompile(`"([^"]+)"`)

// compare holds what was reported against the comments: each line has as many findings as its comment has texts, which they contain.
func compare(t *testing.T, pkg *packages.Package, found []analysis.Diagnostic) {
	t.Helper()
	fset := pkg.Fset
	open := map[int][]string{}
	for _, group := range pkg.Syntax[0].Comments {
		for _, c := range group.List {
			if text, ok := strings.CutPrefix(c.Text, "// want "); ok {
				for _, m := range wants.FindAllStringSubmatch(text, -1) {
					line := fset.Position(c.Pos()).Line
					open[line] = append(open[line], m[1])
				}
			}
		}
	}
	if len(open) == 0 {
		t.Error("the fixture wants nothing")
	}
	for _, d := range found {
		line := fset.Position(d.Pos).Line
		i := slices.IndexFunc(open[line], func(want string) bool { return strings.Contains(d.Message, want) })
		if i < 0 {
			t.Errorf("line %d: not wanted: %s", line, d.Message)
			continue
		}
		open[line] = slices.Delete(open[line], i, i+1)
	}
	for line, left := range open {
		for _, want := range left {
			t.Errorf("line %d: nothing says %q", line, want)
		}
	}
}

// compareFixed applies the first suggestion of each finding and holds the file against the golden, which -update writes.
func compareFixed(t *testing.T, act *checker.Action) {
	t.Helper()
	file := act.Package.Syntax[0]
	fixed, any := apply(t, act.Package.Fset, file, act.Diagnostics)
	golden := strings.TrimSuffix(act.Package.GoFiles[0], ".go") + ".golden"
	if !any {
		if _, err := os.Stat(golden); err == nil {
			t.Errorf("%s is there, and nothing is suggested", golden)
		}
		return
	}
	if *update {
		if err := os.WriteFile(golden, fixed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(fixed) {
		t.Errorf("the suggestions make\n%s", fixed)
	}
}

func apply(t *testing.T, fset *token.FileSet, file *ast.File, all []analysis.Diagnostic) (text []byte, any bool) {
	t.Helper()
	name := fset.Position(file.Pos()).Filename
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var edits []analysis.TextEdit
	for _, d := range all {
		if len(d.SuggestedFixes) > 0 {
			edits = append(edits, d.SuggestedFixes[0].TextEdits...)
		}
	}
	slices.SortFunc(edits, func(a, b analysis.TextEdit) int { return int(b.Pos - a.Pos) })
	for _, e := range edits {
		from, to := fset.Position(e.Pos).Offset, fset.Position(e.End).Offset
		text = slices.Concat(text[:from], e.NewText, text[to:])
	}
	formatted, err := format.Source(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return formatted, len(edits) > 0
}

// TestAWellMadeServerHasNoFindings: the servers of this repository, and what they show, are quiet.
func TestAWellMadeServerHasNoFindings(t *testing.T) {
	findings, err := Run("../..", "./testdata/conformance/server")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Errorf("%s: %s: %s", f.Position, f.Analyzer, f.Message)
	}
	graph, err := analyze("../..", "./testdata/conformance/server")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for act := range graph.All() {
		if act.Analyzer == Handlers {
			looked += len(act.Result.(*found).functions)
		}
	}
	if looked < 10 {
		t.Errorf("%d functions of handlers were looked at", looked)
	}
}

// TestFindingsHaveOneOrder: a go vet that is run again prints what it did before.
func TestFindingsHaveOneOrder(t *testing.T) {
	var dirs []string
	for _, a := range Analyzers {
		if a != Handlers {
			dirs = append(dirs, "./testdata/"+a.Name)
		}
	}
	pkgs, err := load(".", dirs...)
	if err != nil {
		t.Fatal(err)
	}
	var first []string
	for range 20 {
		graph, err := checker.Analyze(Analyzers, pkgs, nil)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, act := range graph.Roots {
			for _, d := range act.Diagnostics {
				said = append(said, act.Package.Fset.Position(d.Pos).String()+": "+d.Message)
			}
		}
		if first == nil {
			first = said
		}
		if !slices.Equal(said, first) {
			t.Fatalf("the findings were\n%s\nand are now\n%s", strings.Join(first, "\n"), strings.Join(said, "\n"))
		}
	}
	if len(first) < 20 {
		t.Errorf("the fixtures have %d findings", len(first))
	}
}

// TestDAY07HandlersWithoutInput: a server whose Handlers has no tool, or no method with an input, is looked at like others.
func TestDAY07HandlersWithoutInput(t *testing.T) {
	graph, err := analyze(".", "./testdata/noinput", "./testdata/noticed")
	if err != nil {
		t.Fatal(err)
	}
	found := map[*packages.Package][]analysis.Diagnostic{}
	for _, act := range graph.Roots {
		found[act.Package] = append(found[act.Package], act.Diagnostics...)
	}
	for pkg, all := range found {
		compare(t, pkg, all)
	}
}

// TestTheFlagTypesAddsHandlers of other libraries.
func TestTheFlagTypesAddsHandlers(t *testing.T) {
	if err := Handlers.Flags.Set("types", "http.Request,foreign.Request,foreign.Alias"); err != nil {
		t.Fatal(err)
	}
	defer Handlers.Flags.Set("types", "")
	graph, err := analyze(".", "./testdata/foreign")
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range graph.Roots {
		if act.Analyzer == Blocking {
			compare(t, act.Package, act.Diagnostics)
		}
	}
}

// TestDAY07EveryAnalyzerIsOnThePage of the command.
func TestDAY07EveryAnalyzerIsOnThePage(t *testing.T) {
	if err := analysis.Validate(Analyzers); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../cmd/mcpkiln/VET.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range Analyzers {
		if a != Handlers && !strings.Contains(string(page), "| `"+a.Name+"` |") {
			t.Errorf("VET.md does not name %s", a.Name)
		}
	}
}
