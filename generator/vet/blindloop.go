package vet

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// BlindLoop finds loops over work that go on when the call is cancelled.
var BlindLoop = analyzer("blindloop", "a loop over work that never looks at its context\n\n"+
	"A loop that reads, writes, sends or starts something in each round, or that has no condition, goes on to its end after a cancellation\n"+
	"unless something in it takes ctx.", blindLoop)

func blindLoop(fn *function) {
	ctx := fn.context()
	if ctx == nil || fn.uncancellable {
		return
	}
	for stmt := range own[ast.Stmt](fn.body) {
		switch loop := stmt.(type) {
		case *ast.ForStmt:
			if !fn.mentionsContext(loop) && (fn.works(loop.Body) || loop.Cond == nil && !canEnd(loop)) {
				fn.reportLoop(loop.For, loop.Body, ctx.Name)
			}
		case *ast.RangeStmt:
			if !fn.mentionsContext(loop) && fn.works(loop.Body) {
				fn.reportLoop(loop.For, loop.Body, ctx.Name)
			}
		}
	}
}

// working are packages whose functions take time.
var working = map[string]bool{"net": true, "net/http": true, "os/exec": true, "database/sql": true}

// works reports whether a round of the loop calls a function that takes time.
func (fn *function) works(body *ast.BlockStmt) bool {
	for call := range own[*ast.CallExpr](body) {
		callee := fn.callee(call)
		if callee == nil || callee.Pkg() == nil {
			continue
		}
		path := callee.Pkg().Path()
		switch {
		case fn.hasEffect(call), path == "time" && callee.Name() == "Sleep":
			return true
		case path == "os" && (strings.HasPrefix(callee.Name(), "Read") || callee.Name() == "Open" || callee.Name() == "OpenFile"):
			return true
		case working[path] && callee.Signature().Results().Len() > 0 && isError(callee.Signature().Results().At(callee.Signature().Results().Len()-1).Type()):
			return true
		}
	}
	return false
}

// canEnd reports whether a loop without a condition can end by itself.
func canEnd(loop *ast.ForStmt) bool {
	for n := range ast.Preorder(loop.Body) {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.BranchStmt:
			if n.Tok == token.BREAK || n.Tok == token.GOTO {
				return true
			}
		}
	}
	return false
}

func (fn *function) reportLoop(at token.Pos, body *ast.BlockStmt, ctx string) {
	d := analysis.Diagnostic{Pos: at, Message: "this loop works on after a cancellation: look at " + ctx + " in each round"}
	if end := fn.returnsCause(ctx); end != "" {
		d.SuggestedFixes = []analysis.SuggestedFix{{
			Message:   "Look at the context in each round",
			TextEdits: []analysis.TextEdit{{Pos: body.Lbrace + 1, End: body.Lbrace + 1, NewText: []byte("\nif " + ctx + ".Err() != nil {\n" + end + "\n}")}},
		}}
	}
	fn.pass.Report(d)
}
