package vet

import (
	"go/ast"
)

// Unbounded finds waits that may never end, in handlers of tools that can not be cancelled.
var Unbounded = analyzer("unbounded", "a wait without a bound in a handler that can not be cancelled\n\n"+
	"With cancellation: {mode: none} neither the client nor a timeout ends the call: a channel that stays silent holds it, and the shutdown,\n"+
	"until the grace period is over. Bound the wait with a timer.", unbounded)

func unbounded(fn *function) {
	if !fn.uncancellable {
		return
	}
	for call := range nodes[*ast.CallExpr](fn.body) {
		if fn.calls(call, "sync.WaitGroup.Wait", "sync.Cond.Wait") {
			fn.reportf(call.Pos(), "nothing bounds this wait, and the call can not be cancelled: bound it with a timer")
		}
	}
	for _, wait := range fn.waits() {
		if !fn.isTimed(wait) {
			fn.reportf(wait.Pos(), "nothing bounds %s, and the call can not be cancelled: add a case <-time.After(…)", waitName(wait))
		}
	}
}

// isTimed reports whether the wait is for a timer, or a select with a case for one.
func (fn *function) isTimed(wait ast.Node) bool {
	for call := range nodes[*ast.CallExpr](wait) {
		if fn.calls(call, "time.After", "time.Tick") {
			return true
		}
	}
	for sel := range nodes[*ast.SelectorExpr](wait) {
		if t := fn.pass.TypesInfo.TypeOf(sel.X); t != nil && sel.Sel.Name == "C" && (isNamed(t, "time", "Timer") || isNamed(t, "time", "Ticker")) {
			return true
		}
	}
	return false
}
