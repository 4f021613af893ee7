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
	for _, branch := range fn.endedBranches() {
		for _, stmt := range branch.body {
			for ret := range own[*ast.ReturnStmt](stmt) {
				fn.checkReturn(branch.check, ret)
			}
		}
	}
}

// ended are statements that run only if a context has ended.
type ended struct {
	check ast.Node // what checks that the context has ended
	body  []ast.Stmt
}

// endedBranches returns the branches that are taken because a context has ended, in source order.
func (fn *function) endedBranches() (all []ended) {
	for stmt := range own[ast.Stmt](fn.body) {
		switch stmt := stmt.(type) {
		case *ast.IfStmt:
			if fn.impliesEnd(stmt) {
				all = append(all, ended{endCheck(stmt), stmt.Body.List})
			}
		case *ast.CommClause:
			if recv, ok := stmt.Comm.(*ast.ExprStmt); ok && fn.isDone(recv.X) {
				all = append(all, ended{stmt.Comm, stmt.Body})
			}
		}
	}
	return all
}

// endCheck returns the part of the statement that checks whether a context has ended.
func endCheck(stmt *ast.IfStmt) ast.Node {
	if _, isCall := ast.Unparen(stmt.Cond).(*ast.CallExpr); !isCall && stmt.Init != nil {
		return stmt.Init
	}
	return stmt.Cond
}

// impliesEnd reports whether the condition of the statement is true only if a context has ended.
func (fn *function) impliesEnd(stmt *ast.IfStmt) bool {
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
		if !ok || v.Pkg() == nil || v.Pkg().Path() != "context" {
			return false
		}
		return v.Name() == "Canceled" || v.Name() == "DeadlineExceeded" && !fn.setsDeadline() // a deadline of its own may have passed
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

func (fn *function) checkReturn(check ast.Node, ret *ast.ReturnStmt) {
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
	if cause := fn.causeOf(check); cause != "" {
		d.SuggestedFixes = []analysis.SuggestedFix{{
			Message:   "Return " + cause,
			TextEdits: []analysis.TextEdit{{Pos: last.Pos(), End: last.End(), NewText: []byte(cause)}},
		}}
	}
	fn.pass.Report(d)
}

// makesText reports whether e makes an error that wraps no other.
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

// setsDeadline reports whether the function makes a context with a deadline.
func (fn *function) setsDeadline() bool {
	for call := range nodes[*ast.CallExpr](fn.body) {
		if fn.calls(call, "context.WithTimeout", "context.WithDeadline", "context.WithTimeoutCause", "context.WithDeadlineCause") {
			return true
		}
	}
	return false
}

// causeOf returns an expression for the error with which the context has ended: the error that is compared in check, or the cause of the context there.
func (fn *function) causeOf(check ast.Node) string {
	for call := range nodes[*ast.CallExpr](check) {
		switch sel, ok := call.Fun.(*ast.SelectorExpr); {
		case fn.calls(call, "errors.Is"):
			return source(fn.pass, call.Args[0])
		case fn.calls(call, "context.Cause"):
			return source(fn.pass, call)
		case ok && fn.calls(call, "context.Context.Done", "context.Context.Err"):
			return "context.Cause(" + source(fn.pass, sel.X) + ")"
		}
	}
	if ctx := fn.context(); ctx != nil {
		return "context.Cause(" + ctx.Name + ")"
	}
	return ""
}
