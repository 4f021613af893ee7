package exact

import (
	"go/ast"
	"go/types"
	"iter"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// notOfOthers are the types that encoding/json reads, or the functions that read what a parameter stands for, and who wrote the text.
var notOfOthers = map[string]string{
	"chaos.Replica":                   "the test that started the process",
	"defined.schema":                  "the generator",
	"server.questionPayload":          "Call.newQuestion",
	"server.reply":                    "revision.readAnswer, or the delivery of a question",
	"[]server.revisionParams":         "ClientRequest.forReaders",
	"server.sealedJournal":            "sealer.seal",
	"server.sealedSession":            "Session.Seal",
	"server.taskMeta":                 "request.taskMeta",
	"check/optional.go UnmarshalJSON": "anybody: a generated type, which reads itself, or a value without fields",
	"exact/exact.go read":             "anybody: what has no fields, or reads itself",
	"server/step.go decodeStep":       "Call.Do; sameStep compares it with what was read",
}

// TestLET12TextOfOthersIsReadExactly looks for structs that encoding/json reads, and for fields that Unmarshal could not read.
func TestLET12TextOfOthersIsReadExactly(t *testing.T) {
	cfg := &packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps}
	all, err := packages.Load(cfg, "github.com/mcpkiln/mcpkiln/runtime/...")
	if err != nil || packages.PrintErrors(all) > 0 {
		t.Fatal("the runtime could not be read", err)
	}
	exact, unused := 0, map[string]bool{}
	for name := range notOfOthers {
		unused[name] = true
	}
	for _, pkg := range all {
		if pkg.Name == "servertest" {
			continue // it reads what the server under test wrote
		}
		for at, call := range callsOf(pkg) {
			callee, into := calleeOf(pkg.TypesInfo, call)
			switch read := nameOf(into); {
			case callee == "encoding/json" && fieldsIn(into, nil) && notOfOthers[at]+notOfOthers[read] == "":
				t.Errorf("%s: encoding/json reads a %s here, and ignores the case of names: use exact.Unmarshal, or say in the table who wrote the text", at, read)
			case callee == "encoding/json":
				delete(unused, at)
				delete(unused, read)
			case callee == "exact":
				exact++
				fieldsIn(into, func(field string) { t.Errorf("%s: the field %s has no name in a tag, so it is never read", at, field) })
			}
		}
	}
	for name := range unused {
		t.Errorf("encoding/json does not read %s: delete the row", name)
	}
	if exact == 0 {
		t.Error("no call of Unmarshal was found")
	}
}

// callsOf returns the calls in a package's functions, each with its file and function.
func callsOf(pkg *packages.Package) iter.Seq2[string, *ast.CallExpr] {
	return func(yield func(string, *ast.CallExpr) bool) {
		for _, file := range pkg.Syntax {
			for _, d := range file.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				at := pkg.Name + "/" + filepath.Base(pkg.Fset.Position(fn.Pos()).Filename) + " " + fn.Name.Name
				for n := range ast.Preorder(fn) {
					if call, ok := n.(*ast.CallExpr); ok && !yield(at, call) {
						return
					}
				}
			}
		}
	}
}

// calleeOf returns whether a call reads JSON by encoding/json or by Unmarshal of this package, and the type that it reads.
func calleeOf(info *types.Info, call *ast.CallExpr) (callee string, into types.Type) {
	var name *ast.Ident
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel
	case *ast.Ident:
		name = f
	}
	fn, ok := info.Uses[name].(*types.Func)
	if !ok || fn.Pkg() == nil || len(call.Args) == 0 {
		return "", nil
	}
	into = info.TypeOf(call.Args[len(call.Args)-1])
	switch {
	case fn.Pkg().Path() == "encoding/json" && (fn.Name() == "Unmarshal" || fn.Name() == "Decode"):
		return "encoding/json", into
	case strings.HasSuffix(fn.Pkg().Path(), "runtime/internal/exact") && fn.Name() == "Unmarshal":
		return "exact", into
	}
	return "", nil
}

// nameOf returns the name of the type that a pointer points to, with its package.
func nameOf(t types.Type) string {
	if t == nil {
		return ""
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.TypeString(t, (*types.Package).Name)
}

// fieldsIn reports whether a value of the type has fields that are read by their names, and calls untagged for those without a tag. What a parameter or an
// interface stands for may have such fields.
func fieldsIn(t types.Type, untagged func(field string)) (found bool) {
	seen := map[types.Type]bool{}
	var walk func(types.Type)
	walk = func(t types.Type) {
		if seen[t] || readsItself(t) {
			return
		}
		seen[t] = true
		if _, ok := t.(*types.TypeParam); ok {
			found = true
			return
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			walk(u.Elem())
		case *types.Slice:
			walk(u.Elem())
		case *types.Map:
			walk(u.Elem())
		case *types.Interface:
			found = found || len(seen) == 1 // any in what is read becomes maps, whose keys are exact
		case *types.Struct:
			found = true
			for i := range u.NumFields() {
				f := u.Field(i)
				if f.Exported() && !f.Embedded() && reflect.StructTag(u.Tag(i)).Get("json") == "" && untagged != nil {
					untagged(f.Name())
				}
				if f.Exported() || f.Embedded() {
					walk(f.Type())
				}
			}
		}
	}
	walk(t)
	return found
}

// readsItself reports whether values of the type have an UnmarshalJSON.
func readsItself(t types.Type) bool {
	method, _, _ := types.LookupFieldOrMethod(t, true, nil, "UnmarshalJSON")
	return method != nil
}
