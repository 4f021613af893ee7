package vet

import (
	"bytes"
	"go/ast"
	"go/format"

	"golang.org/x/tools/go/analysis"
)

// source returns the text of n.
func source(pass *analysis.Pass, n ast.Node) string {
	var text bytes.Buffer
	if err := format.Node(&text, pass.Fset, n); err != nil {
		return ""
	}
	return text.String()
}
