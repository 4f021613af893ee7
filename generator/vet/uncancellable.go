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
	dir := filepath.Dir(pass.Fset.Position(method.Pos()).Filename)
	files, _ := filepath.Glob(filepath.Join(dir, "*.gen.go"))
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for tool := range nodes[*ast.CompositeLit](file) {
			if handles(tool, method.Name()) && isUncancellable(tool) {
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
		if sel.Sel.Name == method {
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
