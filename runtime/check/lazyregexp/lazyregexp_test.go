package lazyregexp_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// composed are the files whose expressions are made of constants or variables, all of which the tests of their packages use.
var composed = map[string]bool{"runtime/check/secret/secret.go": true, "schema/manifest/meta.go": true}

// TestEverySourceIsARegularExpression: a bad one would be found by the first call that needs it, not when the program starts.
func TestEverySourceIsARegularExpression(t *testing.T) {
	const module = "../../../"
	found := 0
	for _, top := range []string{"cmd", "generator", "runtime", "schema"} {
		err := filepath.WalkDir(module+top, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && e.Name() == "testdata":
				return filepath.SkipDir
			case filepath.Ext(name) == ".go":
				found += compileAll(t, name, filepath.ToSlash(strings.TrimPrefix(name, module)))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 60 {
		t.Fatalf("%d calls of New with a constant were found", found)
	}
}

// compileAll compiles what the file passes to New, and returns how many expressions that were.
func compileAll(t *testing.T, path, name string) (n int) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("lazyregexp.New(")) {
		return 0
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || !isNew(call.Fun) || len(call.Args) != 1 {
			return true
		}
		source, ok := constant(call.Args[0])
		if !ok {
			if !composed[name] {
				t.Errorf("%s: the expression is not made of literals alone: if the tests of its package compile it, add its file to composed", files.Position(call.Pos()))
			}
			return true
		}
		n++
		if _, err := regexp.Compile(source); err != nil {
			t.Errorf("%s: %v", files.Position(call.Pos()), err)
		}
		return true
	})
	return n
}

func isNew(fun ast.Expr) bool {
	s, ok := fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "New" {
		return false
	}
	p, ok := s.X.(*ast.Ident)
	return ok && p.Name == "lazyregexp"
}

// constant returns the string that x is, if x is made of literals.
func constant(x ast.Expr) (string, bool) {
	switch x := x.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(x.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		left, ok := constant(x.X)
		right, ok2 := constant(x.Y)
		return left + right, ok && ok2 && x.Op == token.ADD
	}
	return "", false
}
