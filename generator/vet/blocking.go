package vet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// Blocking finds waits that go on when the call is cancelled, in functions that have a context.
var Blocking = analyzer("blocking", "a wait that a cancellation does not end\n\n"+
	"time.Sleep, and channel operations outside a select with <-ctx.Done(), hold a cancelled call until they are through. A send into a buffer\n"+
	"that the function makes is left alone, unless it stands in a loop.", blocking)

func blocking(fn *function) {
	ctx := fn.context()
	if ctx == nil || fn.uncancellable {
		return
	}
	for call := range nodes[*ast.CallExpr](fn.body) {
		if fn.calls(call, "time.Sleep") {
			fn.reportSleep(call, ctx.Name)
		}
	}
	for _, wait := range fn.waits() {
		fn.reportf(wait.Pos(), "%s waits without looking at ctx: use a select with <-%s.Done()", waitName(wait), ctx.Name)
	}
}

func waitName(n ast.Node) string {
	switch n.(type) {
	case *ast.SendStmt:
		return "a send"
	case *ast.SelectStmt:
		return "a select"
	case *ast.RangeStmt:
		return "a loop over a channel"
	}
	return "a receive"
}

// waits returns the channel operations of the function that no context ends, in source order.
func (fn *function) waits() (all []ast.Node) {
	comms := map[ast.Node]bool{}
	for n := range ast.Preorder(fn.body) {
		switch n := n.(type) {
		case *ast.SelectStmt:
			for _, c := range n.Body.List {
				comms[operation(c.(*ast.CommClause).Comm)] = true
			}
			if !fn.endsWithContext(n) {
				all = append(all, n)
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !comms[n] && !fn.isDone(n) {
				all = append(all, n)
			}
		case *ast.SendStmt:
			if !comms[n] && !(fn.isBuffered(n.Chan) && len(fn.loops(n)) == 0) {
				all = append(all, n)
			}
		case *ast.RangeStmt:
			if _, ok := fn.pass.TypesInfo.TypeOf(n.X).Underlying().(*types.Chan); ok {
				all = append(all, n)
			}
		}
	}
	return all
}

// operation returns the send or receive of a case; nil for default.
func operation(comm ast.Stmt) ast.Node {
	switch c := comm.(type) {
	case *ast.SendStmt:
		return c
	case *ast.ExprStmt:
		return ast.Unparen(c.X)
	case *ast.AssignStmt:
		return ast.Unparen(c.Rhs[0])
	}
	return nil
}

// endsWithContext reports whether the select has a default, or a case for the end of a context.
func (fn *function) endsWithContext(s *ast.SelectStmt) bool {
	for _, c := range s.Body.List {
		comm := c.(*ast.CommClause).Comm
		if comm == nil || fn.isDone(operation(comm)) {
			return true
		}
	}
	return false
}

// isBuffered reports whether e is a buffered channel that the function makes.
func (fn *function) isBuffered(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	obj := fn.pass.TypesInfo.ObjectOf(id)
	for n := range ast.Preorder(fn.body) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if fn.objectOf(left) == obj && i < len(n.Rhs) && fn.makesRoom(n.Rhs[i]) {
					return true
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if fn.pass.TypesInfo.Defs[name] == obj && i < len(n.Values) && fn.makesRoom(n.Values[i]) {
					return true
				}
			}
		}
	}
	return false
}

// makesRoom reports whether e is make with a constant capacity above 0.
func (fn *function) makesRoom(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	room := fn.pass.TypesInfo.Types[call.Args[1]].Value
	return ok && name.Name == "make" && room != nil && constant.Sign(room) > 0
}

func (fn *function) reportSleep(call *ast.CallExpr, ctx string) {
	d := analysis.Diagnostic{Pos: call.Pos(), End: call.End(), Message: "time.Sleep goes on when the call is cancelled: wait for time.After or <-" + ctx + ".Done() in a select"}
	if end := fn.returnsCause(ctx); end != "" && fn.isOwn(call) {
		args := source(fn.pass, call.Args[0])
		text := "select {\ncase <-time.After(" + args + "):\ncase <-" + ctx + ".Done():\n" + end + "\n}"
		d.SuggestedFixes = []analysis.SuggestedFix{{Message: "Wait for the end of the context, too", TextEdits: []analysis.TextEdit{{Pos: call.Pos(), End: call.End(), NewText: []byte(text)}}}}
	}
	fn.pass.Report(d)
}

// isOwn reports whether the call is in the function itself, and not in a function literal in it.
func (fn *function) isOwn(call *ast.CallExpr) bool {
	for stmt := range own[*ast.ExprStmt](fn.body) {
		if stmt.X == call {
			return true
		}
	}
	return false
}
