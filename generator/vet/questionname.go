package vet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// QuestionName finds questions and steps whose name changes when the handler runs again, or is not unique.
var QuestionName = analyzer("questionname", "a question or a step whose name is not stable\n\n"+
	"Answers and outcomes are found by name when the handler runs again. A name that two askings of a loop share is an error in the second;\n"+
	"one made of the time or at random is never found again.", questionName)

func questionName(fn *function) {
	for call := range nodes[*ast.CallExpr](fn.body) {
		if fn.asks(call) {
			fn.checkName(call, "this question", fn.instance(call), "server.Named")
		} else if name, _ := fn.stepOf(call); name != nil {
			fn.checkName(call, "this step", name, "a name of its own")
		}
	}
}

// instance returns the argument of server.Named among the options of a question; nil if there is none.
func (fn *function) instance(ask *ast.CallExpr) ast.Expr {
	for _, arg := range ask.Args {
		if call, ok := ast.Unparen(arg).(*ast.CallExpr); ok && fn.calls(call, serverPath+".Named") && len(call.Args) == 1 {
			return call.Args[0]
		}
	}
	return nil
}

func (fn *function) checkName(call *ast.CallExpr, what string, name ast.Expr, remedy string) {
	if name != nil {
		if source := fn.unstable(name); source != "" {
			fn.reportf(name.Pos(), "the name of %s is made by %s, so it is another one when the handler runs again", what, source)
			return
		}
	}
	loops := fn.loops(call)
	if len(loops) == 0 || leaves(loops[0]) {
		return
	}
	if name == nil && !spread(call) || name != nil && fn.isConstant(name) {
		fn.reportf(call.Pos(), "%s has one name in every round of the loop: give it %s", what, remedy)
		return
	}
	if counter := fn.counter(name, loops[0]); counter != "" {
		fn.reportf(name.Pos(), "the name of %s is made of %s, which counts the keys of a map: their order is another one when the handler runs again", what, counter)
	}
}

// spread reports whether the options of the call are a slice, in which there may be a server.Named.
func spread(call *ast.CallExpr) bool { return call.Ellipsis.IsValid() }

// leaves reports whether the loop always ends in its first round.
func leaves(loop ast.Stmt) bool {
	body := loopBody(loop).List
	if len(body) == 0 {
		return false
	}
	switch last := body[len(body)-1].(type) {
	case *ast.ReturnStmt:
		return !hasContinue(loop)
	case *ast.BranchStmt:
		return last.Tok == token.BREAK && !hasContinue(loop)
	}
	return false
}

func hasContinue(loop ast.Stmt) bool {
	for branch := range nodes[*ast.BranchStmt](loop) {
		if branch.Tok == token.CONTINUE {
			return true
		}
	}
	return false
}

func loopBody(loop ast.Stmt) *ast.BlockStmt {
	if r, ok := loop.(*ast.RangeStmt); ok {
		return r.Body
	}
	return loop.(*ast.ForStmt).Body
}

// unstablePackages are packages whose functions return other values in each run.
var unstablePackages = map[string]bool{"math/rand": true, "math/rand/v2": true, "crypto/rand": true, "github.com/google/uuid": true, "github.com/gofrs/uuid": true, "github.com/oklog/ulid/v2": true, "github.com/rs/xid": true}

// unstable returns the name of a call below e whose value differs in each run; "" if there is none.
func (fn *function) unstable(e ast.Node) string {
	for call := range nodes[*ast.CallExpr](e) {
		callee := fn.callee(call)
		if callee == nil || callee.Pkg() == nil {
			continue
		}
		if unstablePackages[callee.Pkg().Path()] || fn.calls(call, "time.Now", "time.Since", "time.Until", "os.Getpid") {
			return callee.Pkg().Name() + "." + callee.Name()
		}
	}
	return ""
}

// counter returns a variable in a question's name that counts the rounds of a loop over a map; "" if the name has the loop's key or value.
func (fn *function) counter(name ast.Expr, loop ast.Stmt) string {
	over, ok := loop.(*ast.RangeStmt)
	if !ok || name == nil {
		return ""
	}
	if _, ok := fn.pass.TypesInfo.TypeOf(over.X).Underlying().(*types.Map); !ok {
		return ""
	}
	key, value := fn.objectOf(over.Key), fn.objectOf(over.Value)
	counter := ""
	for id := range nodes[*ast.Ident](name) {
		v, ok := fn.pass.TypesInfo.ObjectOf(id).(*types.Var)
		if !ok {
			continue
		}
		if v == key || v == value {
			return ""
		}
		if basic, ok := v.Type().Underlying().(*types.Basic); ok && basic.Info()&types.IsInteger != 0 {
			counter = v.Name()
		}
	}
	return counter
}

func (fn *function) objectOf(e ast.Expr) types.Object {
	if id, ok := e.(*ast.Ident); ok {
		return fn.pass.TypesInfo.ObjectOf(id)
	}
	return nil
}
