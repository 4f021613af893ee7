package vet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"iter"

	"golang.org/x/tools/go/types/typeutil"
)

// nodes yields the nodes of that type below root, in source order.
func nodes[N ast.Node](root ast.Node) iter.Seq[N] {
	return func(yield func(N) bool) {
		for n := range ast.Preorder(root) {
			if n, ok := n.(N); ok && !yield(n) {
				return
			}
		}
	}
}

// own yields the nodes of that type below root that are not in a function literal below it.
func own[N ast.Node](root ast.Node) iter.Seq[N] {
	return func(yield func(N) bool) {
		going := true
		ast.Inspect(root, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); !going || ok && lit != root {
				return false
			}
			if n, ok := n.(N); ok {
				going = yield(n)
			}
			return going
		})
	}
}

// within reports whether n is in outer.
func within(n, outer ast.Node) bool { return outer.Pos() <= n.Pos() && n.End() <= outer.End() }

func named(t types.Type) *types.Named {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

func isNamed(t types.Type, pkg, name string) bool {
	if t == nil {
		return false
	}
	n := named(t)
	return n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && n.Obj().Name() == name
}

func isContext(t types.Type) bool { return isNamed(t, "context", "Context") }

// isCall reports whether t is the runtime's Call, or the call type of a tool, which embeds it.
func isCall(t types.Type) bool {
	if isNamed(t, serverPath, "Call") {
		return true
	}
	n := named(t)
	if n == nil {
		return false
	}
	s, ok := n.Underlying().(*types.Struct)
	return ok && s.NumFields() > 0 && s.Field(0).Embedded() && isNamed(s.Field(0).Type(), serverPath, "Call")
}

func isAnswer(t types.Type) bool { return isNamed(t, serverPath, "Answer") }

// callee returns the function that is called; nil if that is not known before run time.
func (fn *function) callee(call *ast.CallExpr) *types.Func {
	return typeutil.StaticCallee(fn.pass.TypesInfo, call)
}

// calls reports whether the call is of one of the functions or methods, named as path.Name or path.Type.Name.
func (fn *function) calls(call *ast.CallExpr, names ...string) bool {
	obj, ok := typeutil.Callee(fn.pass.TypesInfo, call).(*types.Func)
	if !ok || obj.Pkg() == nil {
		return false
	}
	full := obj.Pkg().Path() + "."
	if recv := obj.Signature().Recv(); recv != nil {
		if n := named(recv.Type()); n != nil {
			full += n.Obj().Name() + "."
		}
	}
	full += obj.Name()
	for _, name := range names {
		if name == full {
			return true
		}
	}
	return false
}

// asks reports whether the call asks the user a question.
func (fn *function) asks(call *ast.CallExpr) bool {
	tuple, ok := fn.pass.TypesInfo.TypeOf(call).(*types.Tuple)
	return ok && tuple.Len() == 2 && isAnswer(tuple.At(0).Type())
}

// stepOf returns the name and the function of a step; nil if the function that is called is neither call.Do nor server.Do, which takes the call, too.
func (fn *function) stepOf(call *ast.CallExpr) (name, step ast.Expr) {
	switch n := len(call.Args); {
	case n == 3 && fn.calls(call, serverPath+".Call.Do"), n == 4 && fn.calls(call, serverPath+".Do"):
		return call.Args[n-2], call.Args[n-1]
	}
	return nil, nil
}

// mentionsContext reports whether n uses any context.
func (fn *function) mentionsContext(n ast.Node) bool {
	for id := range nodes[*ast.Ident](n) {
		if t := fn.pass.TypesInfo.TypeOf(id); t != nil && isContext(t) {
			return true
		}
	}
	return false
}

// context returns the function's context parameter; nil if there is none or it is _.
func (fn *function) context() *ast.Ident {
	for _, field := range fn.typ.Params.List {
		if t := fn.pass.TypesInfo.TypeOf(field.Type); t != nil && isContext(t) && len(field.Names) > 0 && field.Names[0].Name != "_" {
			return field.Names[0]
		}
	}
	return nil
}

// isDone reports whether n receives from Done of a context.
func (fn *function) isDone(n ast.Node) bool {
	receive, ok := n.(*ast.UnaryExpr)
	if !ok || receive.Op != token.ARROW {
		return false
	}
	call, ok := ast.Unparen(receive.X).(*ast.CallExpr)
	return ok && fn.calls(call, "context.Context.Done")
}

// loops returns the loops around n within its function or function literal, innermost first.
func (fn *function) loops(n ast.Node) (all []ast.Stmt) {
	var around ast.Node = fn.body
	for lit := range nodes[*ast.FuncLit](fn.body) {
		if within(n, lit.Body) {
			around = lit.Body
		}
	}
	for stmt := range own[ast.Stmt](around) {
		switch loop := stmt.(type) {
		case *ast.ForStmt:
			if within(n, loop.Body) {
				all = append([]ast.Stmt{loop}, all...)
			}
		case *ast.RangeStmt:
			if within(n, loop.Body) {
				all = append([]ast.Stmt{loop}, all...)
			}
		}
	}
	return all
}

func (fn *function) isConstant(e ast.Expr) bool {
	v := fn.pass.TypesInfo.Types[e].Value
	return v != nil && v.Kind() != constant.Unknown
}

// returnsCause returns the text of a return statement with the context's cause, "" if the other results have no nil value.
func (fn *function) returnsCause(ctx string) string {
	if fn.typ.Results == nil {
		return ""
	}
	text := "return "
	var results []types.Type
	for _, field := range fn.typ.Results.List {
		for range max(1, len(field.Names)) {
			results = append(results, fn.pass.TypesInfo.TypeOf(field.Type))
		}
	}
	for _, t := range results[:len(results)-1] {
		switch t.Underlying().(type) {
		case *types.Pointer, *types.Slice, *types.Map, *types.Interface, *types.Chan, *types.Signature:
			text += "nil, "
		default:
			return ""
		}
	}
	if !isError(results[len(results)-1]) {
		return ""
	}
	return text + "context.Cause(" + ctx + ")"
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }
