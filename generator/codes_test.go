package generator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// codeSource finds the codes of diagnostics where they are written: in arguments for parameters that are named code, and in fields.
type codeSource struct {
	files   []*ast.File
	set     *token.FileSet
	takes   map[string][]int    // by a function's name, with its folder if others can not call it, which of its parameters are codes
	fields  map[string][]string // by a struct's name, its fields
	found   map[string]string   // by code, where
	unknown []string            // arguments that are no text
}

// codesInSource are all codes that the packages below these directories report, with a place of each.
func codesInSource(t *testing.T, dirs ...string) *codeSource {
	t.Helper()
	c := &codeSource{set: token.NewFileSet(), takes: map[string][]int{}, fields: map[string][]string{}, found: map[string]string{}}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			f, err := parser.ParseFile(c.set, path, nil, parser.SkipObjectResolution)
			c.files = append(c.files, f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	c.declarations()
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				c.call(n)
			case *ast.CompositeLit:
				c.literal(n)
			}
			return true
		})
	}
	return c
}

// name is a function's name as takes has it: that of an unexported one with its folder.
func (c *codeSource) name(id *ast.Ident) string {
	if id.IsExported() {
		return id.Name
	}
	return filepath.Dir(c.set.Position(id.Pos()).Filename) + " " + id.Name
}

func (c *codeSource) declarations() {
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				c.takes[c.name(n.Name)] = append(c.takes[c.name(n.Name)], codesAmong(n.Type)...)
			case *ast.Field:
				if typ, ok := n.Type.(*ast.FuncType); ok && len(n.Names) == 1 {
					c.takes[c.name(n.Names[0])] = append(c.takes[c.name(n.Names[0])], codesAmong(typ)...)
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, field := range s.Fields.List {
						for _, name := range field.Names {
							c.fields[n.Name.Name] = append(c.fields[n.Name.Name], name.Name)
						}
					}
				}
			}
			return true
		})
	}
}

// codesAmong are the parameters of a function that are codes of diagnostics: texts of that name beside a hint or a message.
func codesAmong(typ *ast.FuncType) (at []int) {
	var names []string
	for _, p := range typ.Params.List {
		for _, name := range p.Names {
			names = append(names, name.Name)
		}
	}
	if !slices.Contains(names, "hint") && !slices.Contains(names, "format") && !slices.Contains(names, "message") {
		return nil
	}
	if i := slices.Index(names, "code"); i >= 0 {
		at = append(at, i)
	}
	return at
}

func (c *codeSource) call(n *ast.CallExpr) {
	var id *ast.Ident
	switch f := n.Fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return
	}
	for _, i := range c.takes[c.name(id)] {
		if i < len(n.Args) {
			c.value(n.Args[i])
		}
	}
}

func (c *codeSource) literal(n *ast.CompositeLit) {
	name := ""
	switch typ := n.Type.(type) {
	case *ast.Ident:
		name = typ.Name
	case *ast.SelectorExpr:
		name = typ.Sel.Name
	}
	for i, e := range n.Elts {
		field := ""
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok {
				field, e = key.Name, kv.Value
			}
		} else if i < len(c.fields[name]) {
			field = c.fields[name][i]
		}
		if field != "Code" && field != "code" {
			continue
		}
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING || name == "Diagnostic" || name == "refusal" {
			c.value(e)
		}
	}
}

// value takes a code that is written as a text. One that is passed on is written elsewhere.
func (c *codeSource) value(e ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			c.found[text] = c.set.Position(e.Pos()).String()
			return
		}
	case *ast.Ident:
		if e.Name == "code" {
			return
		}
	case *ast.SelectorExpr:
		if e.Sel.Name == "code" || e.Sel.Name == "Code" {
			return
		}
	}
	c.unknown = append(c.unknown, c.set.Position(e.Pos()).String())
}

// TestDAY06EveryCodeIsExplained: whatever code a diagnostic can have, a golden shows it, and mcpkiln explain has a page of it.
func TestDAY06EveryCodeIsExplained(t *testing.T) {
	c := codesInSource(t, "../schema", "../cmd", ".")
	all := Explanations()
	for code, place := range c.found {
		if all[code] == "" {
			t.Errorf("%s: %s is in no golden, so mcpkiln explain has nothing to show", place, code)
		}
	}
	for _, place := range c.unknown {
		t.Errorf("%s: this code is no text, so the test can not see it", place)
	}
	if len(c.found) < 120 {
		t.Errorf("%d codes were found", len(c.found))
	}
	t.Logf("%d codes", len(c.found))
}
