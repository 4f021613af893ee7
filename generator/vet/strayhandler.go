package vet

import (
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// StrayHandler finds handlers whose tool, prompt or resource is no longer in the manifest.
var StrayHandler = packageAnalyzer("strayhandler", "a handler of nothing in the manifest\n\n"+
	"A method that is made like a handler, of a type that implements the generated Handlers, and is not one of them: its tool, prompt or resource\n"+
	"is gone from the manifest, or has another name there. The compiler does not tell.", strayHandlers)

func strayHandlers(pass *analysis.Pass, f *found) {
	for _, r := range f.receivers {
		for method := range r.named.Methods() {
			if method.Exported() && method.Pkg() == pass.Pkg && hasHandlerParams(method.Signature()) && r.generatesFor(method) && !hasMethod(r.handlers, method.Name()) {
				pass.Reportf(method.Pos(), "%s is the handler of nothing in the manifest: its tool, prompt or resource is gone, or has another name there", method.Name())
			}
		}
	}
}

// generatesFor reports whether the method has the types of a handler, not of a function that handlers share: its input is of the generated
// package, or a request for completions. If there is no input, its call is of the generated package, or it returns a prompt or a resource.
func (r receiver) generatesFor(method *types.Func) bool {
	sig := method.Signature()
	last := sig.Params().At(sig.Params().Len() - 1).Type()
	if n := named(last); n != nil && n.Obj().Pkg() == r.generated || isNamed(last, serverPath, "CompletionRequest") {
		return true
	}
	if sig.Params().Len() == 3 || sig.Results().Len() != 2 {
		return false
	}
	answer := sig.Results().At(0).Type()
	return isNamed(answer, serverPath, "PromptResult") || isNamed(answer, serverPath, "ResourceContents")
}

func hasMethod(in *types.Interface, name string) bool {
	for m := range in.Methods() {
		if m.Name() == name {
			return true
		}
	}
	return false
}
