package vet

import (
	"go/ast"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// DeadCleanup finds deferred calls that take the context of a call which may be over.
var DeadCleanup = analyzer("deadcleanup", "a clean-up with a context that has ended\n\n"+
	"Deferred calls run when the call is cancelled, too, and then their context has ended: the rollback, the unlock, the deletion refuses to\n"+
	"run. Give them context.WithoutCancel(ctx), with a timeout of their own.", deadCleanup)

func deadCleanup(fn *function) {
	ctx := fn.context()
	if ctx == nil {
		return
	}
	obj := fn.pass.TypesInfo.Defs[ctx]
	for stmt := range nodes[*ast.DeferStmt](fn.body) {
		for call := range nodes[*ast.CallExpr](stmt) {
			if len(call.Args) == 0 || fn.mayBeLost(call) {
				continue
			}
			if id, ok := call.Args[0].(*ast.Ident); ok && fn.pass.TypesInfo.Uses[id] == obj {
				fn.pass.Report(analysis.Diagnostic{
					Pos: id.Pos(), End: id.End(),
					Message: id.Name + " has ended when this runs after a cancellation: use context.WithoutCancel(" + id.Name + ")",
					SuggestedFixes: []analysis.SuggestedFix{{
						Message:   "Use a context that does not end",
						TextEdits: []analysis.TextEdit{{Pos: id.Pos(), End: id.End(), NewText: []byte("context.WithoutCancel(" + id.Name + ")")}},
					}},
				})
			}
		}
	}
}

// mayBeLost reports whether the call only derives a context, logs, traces or sends a message, which may fail.
func (fn *function) mayBeLost(call *ast.CallExpr) bool {
	callee := fn.callee(call)
	if callee == nil || callee.Pkg() == nil {
		return false
	}
	path := callee.Pkg().Path()
	return path == "context" || path == "log/slog" || path == serverPath || strings.HasPrefix(path, "go.opentelemetry.io/")
}
