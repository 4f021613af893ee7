package vet

import (
	"go/ast"
	"go/types"
)

// DoClosure finds steps that use a variable of the handler whose value differs in each run.
var DoClosure = analyzer("doclosure", "a step that closes over the time or over chance\n\n"+
	"What a step does is recorded; what stands before it is computed again when the handler runs again. A value of the time or at random that\n"+
	"the step uses and the rest of the handler, too, is then another one than the step has recorded. Make it inside the step.", doClosure)

func doClosure(fn *function) {
	for call := range nodes[*ast.CallExpr](fn.body) {
		_, body := fn.stepOf(call)
		if body == nil {
			continue
		}
		step, ok := ast.Unparen(body).(*ast.FuncLit)
		if !ok {
			continue
		}
		seen := map[types.Object]bool{}
		for id := range nodes[*ast.Ident](step.Body) {
			v, ok := fn.pass.TypesInfo.Uses[id].(*types.Var)
			if !ok || seen[v] || v.IsField() || step.Pos() <= v.Pos() && v.Pos() < step.End() {
				continue
			}
			seen[v] = true
			if source := fn.madeBy(v); source != "" {
				fn.reportf(id.Pos(), "%s is made by %s outside of this step, so it is another value when the handler runs again: make it inside, and return it", v.Name(), source)
			}
		}
	}
}

// madeBy returns the name of the call that gives v a value that differs in each run; "" if there is none.
func (fn *function) madeBy(v *types.Var) string {
	for n := range ast.Preorder(fn.body) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if fn.objectOf(left) != v {
					continue
				}
				if source := fn.unstable(n.Rhs[min(i, len(n.Rhs)-1)]); source != "" {
					return source
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if fn.pass.TypesInfo.Defs[name] == v && len(n.Values) > 0 {
					if source := fn.unstable(n.Values[min(i, len(n.Values)-1)]); source != "" {
						return source
					}
				}
			}
		}
	}
	return ""
}
