package vet

import (
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// StrayHandler finds handlers of tools that are gone.
var StrayHandler = packageAnalyzer("strayhandler", "a handler that no tool has\n\n"+
	"A method that is made like a handler, of a type that implements the generated Handlers, and is not one of them: its tool is gone from the\n"+
	"manifest, or has another name there. The compiler does not tell.", strayHandlers)

func strayHandlers(pass *analysis.Pass, f *found) {
	for _, r := range f.receivers {
		for method := range r.named.Methods() {
			if method.Exported() && method.Pkg() == pass.Pkg && takesCall(method.Signature()) && r.takesOwnInput(method) && !hasMethod(r.handlers, method.Name()) {
				pass.Reportf(method.Pos(), "%s is the handler of no tool: its tool is gone from the manifest, or has another name there", method.Name())
			}
		}
	}
}

// takesOwnInput reports whether the last parameter is a type of the generated package, as the input of a tool is.
func (r receiver) takesOwnInput(method *types.Func) bool {
	n := named(method.Signature().Params().At(2).Type())
	return n != nil && n.Obj().Pkg() == r.generated
}

func hasMethod(in *types.Interface, name string) bool {
	for m := range in.Methods() {
		if m.Name() == name {
			return true
		}
	}
	return false
}
