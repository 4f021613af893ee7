package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// HiddenCancel finds branches that are taken because a context has ended, and return as if it had not.
var HiddenCancel = analyzer("hiddencancel", "a cancellation that is returned as a success, or as an error of the tool\n\n"+
	"Who returns nil or a text of its own where ctx has ended makes a completed or failed task of a cancelled one. Return context.Cause(ctx).", hiddenCancel)

func hiddenCancel(fn *function) {
	if fn.uncancellable {
		return
	}
	for branch, statements := range fn.endedBranches() {
		for _, stmt := range statements {
			for ret := range own[*ast.ReturnStmt](stmt) {
				fn.checkReturn(branch, ret)
			}
		}
	}
}

// endedBranches are the statements that run only where a context has ended, by what says so.
func (fn *function) endedBranches() map[ast.Node][]ast.Stmt {
	all := map[ast.Node][]ast.Stmt{}
	for stmt := range own[ast.Stmt](fn.body) {
		switch stmt := stmt.(type) {
		case *ast.IfStmt:
			if fn.tellsEnd(stmt) {
				all[stmt.Cond] = stmt.Body.List
			}
		case *ast.CommClause:
			if recv, ok := stmt.Comm.(*ast.ExprStmt); ok && fn.isDone(recv.X) {
				all[stmt.Comm] = stmt.Body
			}
		}
	}
	return all
}

// tellsEnd reports whether the condition of the statement holds only where a context has ended.
func (fn *function) tellsEnd(stmt *ast.IfStmt) bool {
	switch cond := ast.Unparen(stmt.Cond).(type) {
	case *ast.CallExpr: // errors.Is(err, context.Canceled)
		if !fn.calls(cond, "errors.Is") || len(cond.Args) != 2 {
			return false
		}
		sel, ok := ast.Unparen(cond.Args[1]).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		v, ok := fn.pass.TypesInfo.ObjectOf(sel.Sel).(*types.Var)
		return ok && v.Pkg() != nil && v.Pkg().Path() == "context" && (v.Name() == "Canceled" || v.Name() == "DeadlineExceeded")
	case *ast.BinaryExpr: // ctx.Err() != nil, and err := ctx.Err(); err != nil
		if cond.Op != token.NEQ || !fn.pass.TypesInfo.Types[cond.Y].IsNil() {
			return false
		}
		if call, ok := ast.Unparen(cond.X).(*ast.CallExpr); ok {
			return fn.calls(call, "context.Context.Err", "context.Cause")
		}
		assign, ok := stmt.Init.(*ast.AssignStmt)
		if !ok || len(assign.Rhs) != 1 {
			return false
		}
		call, ok := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
		return ok && fn.calls(call, "context.Context.Err", "context.Cause")
	}
	return false
}

func (fn *function) checkReturn(branch ast.Node, ret *ast.ReturnStmt) {
	if fn.typ.Results == nil || len(ret.Results) != fn.typ.Results.NumFields() {
		return
	}
	last := ret.Results[len(ret.Results)-1]
	if t := fn.pass.TypesInfo.TypeOf(fn.typ.Results.List[len(fn.typ.Results.List)-1].Type); !isError(t) {
		return
	}
	message := ""
	switch {
	case fn.pass.TypesInfo.Types[last].IsNil():
		message = "a cancelled call is returned as a success"
	case fn.makesText(last):
		message = "a cancellation becomes an error of the tool, which callers can not tell from a failure"
	default:
		return
	}
	d := analysis.Diagnostic{Pos: ret.Pos(), End: ret.End(), Message: message + ": return context.Cause(ctx)"}
	if ctx := fn.contextIn(branch); ctx != "" {
		d.SuggestedFixes = []analysis.SuggestedFix{{
			Message:   "Return the cause of the context",
			TextEdits: []analysis.TextEdit{{Pos: last.Pos(), End: last.End(), NewText: []byte("context.Cause(" + ctx + ")")}},
		}}
	}
	fn.pass.Report(d)
}

// makesText reports whether e makes an error that wraps none.
func (fn *function) makesText(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	if fn.calls(call, "errors.New") {
		return true
	}
	if !fn.calls(call, "fmt.Errorf") || len(call.Args) == 0 {
		return false
	}
	format, ok := call.Args[0].(*ast.BasicLit)
	return ok && !strings.Contains(format.Value, "%w")
}

// contextIn is the name of the context that n asks, or of the function's own.
func (fn *function) contextIn(n ast.Node) string {
	for id := range nodes[*ast.Ident](n) {
		if t := fn.pass.TypesInfo.TypeOf(id); t != nil && isContext(t) {
			return id.Name
		}
	}
	if ctx := fn.context(); ctx != nil {
		return ctx.Name
	}
	return ""
}
