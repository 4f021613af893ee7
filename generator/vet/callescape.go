package vet

import (
	"go/ast"
	"go/types"
)

// CallEscape finds calls that are stored, or used by a goroutine that the handler does not wait for.
var CallEscape = analyzer("callescape", "a call that outlives its handler\n\n"+
	"A *Call is good until the handler returns. Kept in a field, a map or a package's variable, or used by a goroutine that the handler does not\n"+
	"wait for, it reports progress and asks for a call that is over.", callEscape)

func callEscape(fn *function) {
	for n := range ast.Preorder(fn.body) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if i < len(n.Rhs) && fn.isCallValue(n.Rhs[i]) && fn.outlives(left) {
					fn.reportf(n.Pos(), "the call is kept in %s: it is good until the handler returns", source(fn.pass, left))
				}
			}
		case *ast.SendStmt:
			if fn.isCallValue(n.Value) {
				fn.reportf(n.Pos(), "the call is sent on a channel: it is good until the handler returns")
			}
		case *ast.GoStmt:
			if id := fn.callIn(n); id != nil && !fn.waitsAfter(n) {
				fn.reportf(id.Pos(), "a goroutine uses the call, and the handler does not wait for it: the call is good until the handler returns")
			}
		}
	}
}

func (fn *function) isCallValue(e ast.Expr) bool {
	t := fn.pass.TypesInfo.TypeOf(e)
	return t != nil && isCall(t)
}

// outlives reports whether what is assigned to left outlives the function.
func (fn *function) outlives(left ast.Expr) bool {
	switch left := ast.Unparen(left).(type) {
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		return true
	case *ast.Ident:
		v, ok := fn.pass.TypesInfo.ObjectOf(left).(*types.Var)
		return ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
	}
	return false
}

// callIn returns where the goroutine uses a call of the function; nil if it does not.
func (fn *function) callIn(n *ast.GoStmt) *ast.Ident {
	for id := range nodes[*ast.Ident](n) {
		v, ok := fn.pass.TypesInfo.Uses[id].(*types.Var)
		if ok && isCall(v.Type()) && (v.Pos() < n.Pos() || v.Pos() >= n.End()) {
			return id
		}
	}
	return nil
}

// waitsAfter reports whether the function waits for something after it has started the goroutine: for a group, or on a channel.
func (fn *function) waitsAfter(n *ast.GoStmt) bool {
	for later := range ast.Preorder(fn.body) {
		if later == nil || within(later, n) {
			continue
		}
		switch later := later.(type) {
		case *ast.CallExpr:
			if sel, ok := later.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Wait" {
				return true
			}
		case *ast.UnaryExpr:
			if later.Op.String() == "<-" && later.Pos() > n.End() && !fn.isDone(later) {
				return true
			}
		}
	}
	return false
}
