package vet

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/analysis"
)

// uncancellable reports whether the method of a generated Handlers is that of a tool with cancellation: {mode: none}. It reads the literals of
// the tools in the source of the generated package: go/analysis facts about these would require that all its dependencies are analyzed, too.
func uncancellable(pass *analysis.Pass, method *types.Func) bool {
	return uncancellableIn(filepath.Dir(pass.Fset.Position(method.Pos()).Filename), method.Name())
}

// uncancellableIn is uncancellable for a generated package in a folder. Where it is divided, the literals are in its parts.
func uncancellableIn(dir, method string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*.gen.go"))
	parts, _ := filepath.Glob(filepath.Join(dir, "internal", "part*", "*.gen.go"))
	for _, name := range append(files, parts...) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for tool := range nodes[*ast.CompositeLit](file) {
			if handles(tool, method) && isUncancellable(tool) {
				return true
			}
		}
	}
	return false
}

// handles reports whether the literal has a field Handler whose value is the method.
func handles(tool *ast.CompositeLit, method string) bool {
	handler := fieldOf(tool, "Handler")
	if handler == nil {
		return false
	}
	for sel := range nodes[*ast.SelectorExpr](handler) {
		if x, ok := sel.X.(*ast.Ident); ok && x.Name != "server" && sel.Sel.Name == method { // server.Bind is no handler of a tool "bind"
			return true
		}
	}
	return false
}

func isUncancellable(tool *ast.CompositeLit) bool {
	policy, ok := fieldOf(tool, "Cancel").(*ast.CompositeLit)
	if !ok {
		return false
	}
	value, ok := fieldOf(policy, "Uncancellable").(*ast.Ident)
	return ok && value.Name == "true"
}

// fieldOf returns the value of a field of the literal; nil if it is not set.
func fieldOf(lit *ast.CompositeLit, name string) ast.Expr {
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); ok && key.Name == name {
			return kv.Value
		}
	}
	return nil
}
