package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// serverPath is the package of Call, Answer and the questions.
const serverPath = "github.com/mcpkiln/mcpkiln/runtime/server"

// Handlers finds the functions that the other analyzers check, and reports nothing itself.
var Handlers = &analysis.Analyzer{
	Name:       "handlers",
	Doc:        "find the handlers of tools and what they call\n\nThe flag types takes types like mcp.CallToolRequest, separated by commas: functions with such a parameter are handlers, too.",
	Run:        find,
	ResultType: reflect.TypeFor[*found](),
}

// foreignTypes is the flag types.
var foreignTypes string

func init() {
	Handlers.Flags.StringVar(&foreignTypes, "types", "", "types of a parameter that makes a function a handler, such as mcp.CallToolRequest")
}

// found are the handlers of a package with the functions that they call, and the types that have them.
type found struct {
	functions []*function
	receivers []receiver
}

// receiver is a type that implements a generated Handlers.
type receiver struct {
	named     *types.Named
	handlers  *types.Interface
	generated *types.Package
}

// function is a handler, or is called by one.
type function struct {
	pass *analysis.Pass
	typ  *ast.FuncType
	body *ast.BlockStmt
	// uncancellable: it is the handler of a tool that can not be cancelled, or is called only by such handlers.
	uncancellable bool
	// object is nil for a function literal.
	object    *types.Func
	effectful effectfulFunctions
}

// effectfulFunctions are the functions of the package that change something outside the program, themselves or by what they call.
type effectfulFunctions map[*types.Func]bool

func find(pass *analysis.Pass) (any, error) {
	f := &found{receivers: receivers(pass.Pkg)}
	declared := declarations(pass)
	var roots []*function
	for obj, decl := range declared {
		if method := f.implements(obj); method != nil || takesForeign(obj.Signature()) {
			fn := &function{pass: pass, typ: decl.Type, body: decl.Body, object: obj}
			fn.uncancellable = method != nil && uncancellable(pass, method)
			roots = append(roots, fn)
		}
	}
	roots = append(roots, foreignLiterals(pass)...)
	// A function that a cancellable handler calls is cancellable, whatever else calls it: so these handlers come first.
	slices.SortStableFunc(roots, func(a, b *function) int {
		switch {
		case a.uncancellable == b.uncancellable:
			return 0
		case b.uncancellable:
			return -1
		}
		return 1
	})
	f.functions = reachable(pass, roots, declared)
	slices.SortFunc(f.functions, func(a, b *function) int { return int(a.body.Pos() - b.body.Pos()) })
	markEffects(f.functions)
	return f, nil
}

func declarations(pass *analysis.Pass) map[*types.Func]*ast.FuncDecl {
	all := map[*types.Func]*ast.FuncDecl{}
	for _, file := range pass.Files {
		if ast.IsGenerated(file) || strings.HasSuffix(pass.Fset.File(file.FileStart).Name(), "_test.go") {
			continue
		}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			if obj, ok := pass.TypesInfo.Defs[decl.Name].(*types.Func); ok {
				all[obj] = decl
			}
		}
	}
	return all
}

// receivers returns the types of the package that implement Handlers of a generated package, itself or one that it imports.
func receivers(pkg *types.Package) (all []receiver) {
	for _, generated := range append(pkg.Imports(), pkg) {
		handlers := generatedHandlers(generated)
		if handlers == nil {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || obj.IsAlias() || types.IsInterface(obj.Type()) {
				continue
			}
			if named, ok := obj.Type().(*types.Named); ok && types.Implements(types.NewPointer(named), handlers) {
				all = append(all, receiver{named, handlers, generated})
			}
		}
	}
	return all
}

// generatedHandlers returns the Handlers interface of a generated package, which is recognised by a method that takes a call or a notice of the
// runtime; nil for other packages.
func generatedHandlers(pkg *types.Package) *types.Interface {
	obj, ok := pkg.Scope().Lookup("Handlers").(*types.TypeName)
	if !ok {
		return nil
	}
	handlers, ok := obj.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	for method := range handlers.Methods() {
		if hasHandlerParams(method.Signature()) {
			return handlers
		}
	}
	return nil
}

// hasHandlerParams reports whether a function has the parameters of methods of Handlers: a context, a call or a notice, and an input. Resources,
// and prompts without arguments, have no input.
func hasHandlerParams(sig *types.Signature) bool {
	params := sig.Params()
	if params.Len() < 2 || params.Len() > 3 || !isContext(params.At(0).Type()) {
		return false
	}
	return isCall(params.At(1).Type()) || isNamed(params.At(1).Type(), serverPath, "Notice")
}

// implements returns the method of a generated Handlers that fn implements; nil if none.
func (f *found) implements(fn *types.Func) *types.Func {
	recv := fn.Signature().Recv()
	if recv == nil {
		return nil
	}
	for _, r := range f.receivers {
		if named(recv.Type()) != r.named {
			continue
		}
		for method := range r.handlers.Methods() {
			if method.Name() == fn.Name() {
				return method
			}
		}
	}
	return nil
}

// reachable returns the roots and the functions of the package that they call, directly or not.
func reachable(pass *analysis.Pass, roots []*function, declared map[*types.Func]*ast.FuncDecl) []*function {
	seen := map[*ast.BlockStmt]bool{}
	var all []*function
	for len(roots) > 0 {
		fn := roots[0]
		roots = roots[1:]
		if seen[fn.body] {
			continue
		}
		seen[fn.body] = true
		all = append(all, fn)
		for call := range nodes[*ast.CallExpr](fn.body) {
			callee := typeutil.StaticCallee(pass.TypesInfo, call)
			if decl := declared[callee]; decl != nil {
				called := &function{pass: pass, typ: decl.Type, body: decl.Body, object: callee, uncancellable: fn.uncancellable}
				roots = slices.Insert(roots, 0, called) // before other roots
			}
		}
	}
	return all
}

// takesForeign reports whether the flag types makes a function of this signature a handler.
func takesForeign(sig *types.Signature) bool {
	if foreignTypes == "" || sig.Params().Len() < 2 || !isContext(sig.Params().At(0).Type()) {
		return false
	}
	for i := 1; i < sig.Params().Len(); i++ {
		if name := nameOf(sig.Params().At(i).Type()); name != nil && name.Pkg() != nil &&
			slices.Contains(strings.Split(foreignTypes, ","), name.Pkg().Name()+"."+name.Name()) {
			return true
		}
	}
	return false
}

// nameOf returns the name of a type, or of an alias, or of what it points to.
func nameOf(t types.Type) *types.TypeName {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	switch t := t.(type) {
	case *types.Alias:
		return t.Obj()
	case *types.Named:
		return t.Obj()
	}
	return nil
}

func foreignLiterals(pass *analysis.Pass) (all []*function) {
	if foreignTypes == "" {
		return nil
	}
	for _, file := range pass.Files {
		for lit := range nodes[*ast.FuncLit](file) {
			if sig, ok := pass.TypesInfo.TypeOf(lit).(*types.Signature); ok && takesForeign(sig) {
				all = append(all, &function{pass: pass, typ: lit.Type, body: lit.Body})
			}
		}
	}
	return all
}

// reportf reports a finding at a position.
func (fn *function) reportf(pos token.Pos, format string, args ...any) {
	fn.pass.Reportf(pos, format, args...)
}
