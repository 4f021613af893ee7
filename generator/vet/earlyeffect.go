package vet

import "go/ast"

// EarlyEffect finds effects that happen again when a question is answered.
var EarlyEffect = analyzer("earlyeffect", "an effect before the last question\n\n"+
	"In 2026-07-28 the handler of an inline call runs again from the top when its question is answered, so what it wrote, sent or started\n"+
	"before happens twice. Put it into call.Do, or behind the last question.", earlyEffect)

func earlyEffect(fn *function) {
	var last *ast.CallExpr
	for call := range own[*ast.CallExpr](fn.body) {
		if fn.asks(call) {
			last = call
		}
	}
	if last == nil {
		return
	}
	for call := range own[*ast.CallExpr](fn.body) {
		if (call.End() <= last.Pos() || fn.shareLoop(call, last)) && fn.hasEffect(call) {
			fn.reportf(call.Pos(), "%s happens again when a later question is answered: put it into call.Do, or behind the last question", source(fn.pass, call.Fun))
		}
	}
}

// shareLoop reports whether a loop has both: then each runs before the other.
func (fn *function) shareLoop(a, b ast.Node) bool {
	for _, loop := range fn.loops(b) {
		if within(a, loop) {
			return true
		}
	}
	return false
}

// effects are the functions that change something outside the program.
var effects = []string{
	"os.WriteFile", "os.Remove", "os.RemoveAll", "os.Rename", "os.Mkdir", "os.MkdirAll", "os.Create", "os.Truncate", "os.Symlink", "os.Link", "os.Chmod",
	"net/http.Post", "net/http.PostForm", "net/http.Client.Post", "net/http.Client.PostForm", "net/http.Client.Do",
	"database/sql.DB.Exec", "database/sql.DB.ExecContext", "database/sql.Tx.Exec", "database/sql.Tx.ExecContext", "database/sql.Tx.Commit",
	"database/sql.Conn.ExecContext", "database/sql.Stmt.Exec", "database/sql.Stmt.ExecContext",
	"os/exec.Cmd.Run", "os/exec.Cmd.Start", "os/exec.Cmd.Output", "os/exec.Cmd.CombinedOutput", "net/smtp.SendMail",
}

// hasEffect reports whether the call changes something outside the program, itself or by a function of the package.
func (fn *function) hasEffect(call *ast.CallExpr) bool {
	if fn.calls(call, effects...) {
		return true
	}
	callee := fn.callee(call)
	return callee != nil && fn.effectful[callee]
}

// markEffects marks the functions of the package that have effects, not counting those in function literals, such as the function of a step. It
// repeats that until no more are found.
func markEffects(all []*function) {
	effectful := effectfulFunctions{}
	for _, fn := range all {
		fn.effectful = effectful
	}
	for grows := true; grows; {
		grows = false
		for _, fn := range all {
			if fn.object != nil && !effectful[fn.object] && fn.hasOwnEffect() {
				effectful[fn.object], grows = true, true
			}
		}
	}
}

func (fn *function) hasOwnEffect() bool {
	for call := range own[*ast.CallExpr](fn.body) {
		if fn.hasEffect(call) {
			return true
		}
	}
	return false
}
