package exact

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// notOfOthers are the functions that read structs with encoding/json, and why the text is not one that a peer, or the author of a definition, could
// spell in two ways.
var notOfOthers = map[string]string{
	"chaos/replica.go Main":           "the test that started the process wrote it",
	"check/optional.go UnmarshalJSON": "a generated type, which reads itself, or a value without fields",
	"defined/defined.go read":         "generated definitions",
	"exact/exact.go read":             "what has no fields, or reads itself",
	"server/caller.go stored":         "request.taskMeta wrote it",
	"server/clientrequest.go decode":  "readAnswer or the delivery wrote the reply",
	"server/decode.go decode":         "as in clientrequest.go",
	"server/elicit.go askParams":      "newQuestion wrote it",
	"server/readerparams.go paramsOf": "forReaders wrote it",
	"server/resume.go ResumeSession":  "Seal wrote it",
	"server/seal.go open":             "seal wrote it",
	"server/step.go decodeStep":       "sameStep compares what was read with it",
	"server/taskrun.go restore":       "request.taskMeta wrote it",
	"server/taskrun.go taskTimedOut":  "request.taskMeta wrote it",
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
		for _, file := range pkg.Syntax {
			for _, d := range file.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				at := pkg.Name + "/" + filepath.Base(pkg.Fset.Position(fn.Pos()).Filename) + " " + fn.Name.Name
				ast.Inspect(fn, func(n ast.Node) bool {
					call, ok := n.(*ast.CallExpr)
					if !ok {
						return true
					}
					switch callee, into := calleeOf(pkg.TypesInfo, call); {
					case callee == "encoding/json" && fieldsIn(into, nil) && notOfOthers[at] == "":
						t.Errorf("%s: encoding/json reads a %s here, and ignores the case of names: use exact.Unmarshal, or say in the table whose text it is", at, into)
					case callee == "encoding/json" && fieldsIn(into, nil):
						delete(unused, at)
					case callee == "exact":
						exact++
						fieldsIn(into, func(field string) { t.Errorf("%s: the field %s has no name in a tag, so it is never read", at, field) })
					}
					return true
				})
			}
		}
	}
	for name := range unused {
		t.Errorf("%s does not read a struct: delete its row", name)
	}
	if exact == 0 {
		t.Error("no call of Unmarshal was found")
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
