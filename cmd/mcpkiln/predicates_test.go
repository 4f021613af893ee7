package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// changing lists the functions that report whether something is so and keep what they found out for the next time.
var changing = map[string]string{
	"../../generator/internal/subsume/holds.go holds":            "a cache",
	"../../generator/internal/typing/narrow.go surelyAllowsNull": "a cache",
	"../../runtime/check/condition.go Fits":                      "the decoder is as before when it returns",
}

// predicate finds comments that promise nothing but an answer.
var predicate = regexp.MustCompile(`^\w+ (reports whether|is true (if|when|for)|tells w)`)

// TestPredicatesChangeNothing: a function whose comment says first what it reports writes neither to its receiver nor to what its
// parameters point to. One that does says first what it changes ("counts …, and reports whether …").
func TestPredicatesChangeNothing(t *testing.T) {
	found, predicates := map[string]bool{}, 0
	for _, top := range []string{"cmd", "generator", "runtime", "schema"} {
		err := filepath.WalkDir("../../"+top, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && e.Name() == "testdata":
				return filepath.SkipDir
			case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil || !predicate.MatchString(fn.Doc.Text()) {
					continue
				}
				predicates++
				key := filepath.ToSlash(name) + " " + fn.Name.Name
				if at := writesThrough(fn); at.IsValid() {
					found[key] = true
					if changing[key] == "" {
						t.Errorf("%s reports something, and changes something at %s: say first what it changes", key, fset.Position(at))
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for key := range changing {
		if !found[key] {
			t.Errorf("%s changes nothing any more, or is gone", key)
		}
	}
	if predicates < 300 {
		t.Fatalf("%d predicates were found", predicates)
	}
}

// writesThrough is where a function assigns to what its receiver or a parameter points to.
func writesThrough(fn *ast.FuncDecl) (at token.Pos) {
	pointers := map[string]bool{}
	fields := fn.Type.Params.List
	if fn.Recv != nil {
		fields = append(fields[:len(fields):len(fields)], fn.Recv.List...)
	}
	for _, f := range fields {
		if _, ok := f.Type.(*ast.StarExpr); ok {
			for _, name := range f.Names {
				pointers[name.Name] = true
			}
		}
	}
	target := func(e ast.Expr) {
		if pointers[targetOf(e)] {
			at = e.Pos()
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				for _, l := range s.Lhs {
					target(l)
				}
			}
		case *ast.IncDecStmt:
			target(s.X)
		case *ast.CallExpr:
			if f, ok := s.Fun.(*ast.Ident); ok && f.Name == "delete" {
				target(&ast.StarExpr{X: s.Args[0]})
			}
		}
		return true
	})
	return at
}

// targetOf is the name of the variable that an assignment to e goes through, "" if it goes to the variable itself.
func targetOf(e ast.Expr) string {
	through := false
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			e, through = x.X, true
		case *ast.IndexExpr:
			e, through = x.X, true
		case *ast.StarExpr:
			e, through = x.X, true
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			if !through {
				return ""
			}
			return x.Name
		default:
			return ""
		}
	}
}
