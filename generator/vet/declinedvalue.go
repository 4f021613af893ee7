package vet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// DeclinedValue finds uses of the value of an answer without a check whether it was declined.
var DeclinedValue = analyzer("declinedvalue", "the value of an answer that may be declined\n\n"+
	"An answer has a value only where the user accepted. Look at Accepted, or at Action, first.", declinedValue)

func declinedValue(fn *function) {
	for sel := range nodes[*ast.SelectorExpr](fn.body) {
		if sel.Sel.Name != "Value" || !isAnswer(fn.pass.TypesInfo.TypeOf(sel.X)) {
			continue
		}
		v := fn.objectOf(ast.Unparen(sel.X))
		switch {
		case v == nil || !fn.isChecked(v, sel):
			fn.reportf(sel.Pos(), "the user may have declined, and then there is no value: look at Accepted first")
		case fn.inDeclined(v, sel):
			fn.reportf(sel.Pos(), "here the user has declined, so there is no value")
		}
	}
}

// isChecked reports whether the function checks whether v was accepted before that node.
func (fn *function) isChecked(v types.Object, before ast.Node) bool {
	for sel := range nodes[*ast.SelectorExpr](fn.body) {
		if sel.Pos() < before.Pos() && (sel.Sel.Name == "Accepted" || sel.Sel.Name == "Action") && fn.objectOf(ast.Unparen(sel.X)) == v {
			return true
		}
	}
	return false
}

// inDeclined reports whether n is in a branch for an answer that was not accepted.
func (fn *function) inDeclined(v types.Object, n ast.Node) bool {
	for stmt := range nodes[*ast.IfStmt](fn.body) {
		not, ok := ast.Unparen(stmt.Cond).(*ast.UnaryExpr)
		if !ok || not.Op != token.NOT || !within(n, stmt.Body) {
			continue
		}
		call, ok := ast.Unparen(not.X).(*ast.CallExpr)
		if !ok {
			continue
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Accepted" && fn.objectOf(ast.Unparen(sel.X)) == v {
			return true
		}
	}
	return false
}
