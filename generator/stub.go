package generator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/emit"
	"github.com/mcpkiln/mcpkiln/generator/internal/subsume"
)

// Stub says where handler stubs go. They are the user's files: a stub is written once and never overwritten.
type Stub struct {
	Package string // of the stub
	Type    string // receiver; it must exist, or be declared by Stub.Handlers
	Import  string // path of the generated package; empty if the stub is in it
}

const (
	serverPath     = "github.com/mcpkiln/mcpkiln/runtime/server"
	servertestPath = "github.com/mcpkiln/mcpkiln/runtime/servertest"
)

// Handlers returns a file that declares the receiver and asserts that it implements the generated Handlers of r.
func (s Stub) Handlers(r *Result) ([]byte, error) {
	return emit.StubFile("handlers.tmpl", s.data(r))
}

// Handler returns a file with the method that answers t, which must be one of r.Tools.
func (s Stub) Handler(r *Result, t Tool) ([]byte, error) {
	data := s.data(r)
	data.Method, data.Tool, data.Unwritten = t.Method, t.Name, t.Name+" is not written yet"
	data.Input, data.Output, data.Call = s.qualified(r, t.Input), s.qualified(r, t.Output), s.qualified(r, cmp.Or(t.Call, "server.Call"))
	names := []string{data.Input, data.Output, data.Call}
	uses := func(pkg string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, pkg) })
	}
	if uses("server.") {
		data.Imports = append(data.Imports, serverPath)
	}
	if s.Import != "" && uses(data.Qualifier) {
		data.Imports = append(data.Imports, s.Import)
	}
	return emit.StubFile("handler.tmpl", data)
}

// CancelTest returns a file with a test that cancels t, in the package of the stubs; the test calls everyRevision, which mcpkiln init has written
// there. The file is nil if t can not be cancelled, or if no valid arguments were found.
func (s Stub) CancelTest(r *Result, t Tool) ([]byte, error) {
	in := r.example(t.Name)
	if in == "" || !t.Cancellable {
		return nil, nil
	}
	data := s.data(r)
	data.Method, data.Tool, data.AlwaysTask, data.Arguments = t.Method, t.Name, t.AlwaysTask, fmt.Sprintf("%#q", in)
	data.Imports = []string{servertestPath}
	return emit.StubFile("cancel_test.tmpl", data)
}

// example is a small value that a tool can be called with, as JSON; empty if none is found.
func (r *Result) example(tool string) string {
	if r.tools == nil {
		return ""
	}
	for _, t := range r.tools() {
		if t.Name == tool {
			v := t.Input.Example()
			if v == nil {
				v = subsume.Satisfy(t.Input).Value
			}
			if v != nil {
				return string(v.JSON())
			}
		}
	}
	return ""
}

// qualified is a type as the stub has to write it: with the name of the generated package, if the stub is in another one; "" for none.
func (s Stub) qualified(r *Result, typ string) string {
	if typ == "" || s.Import == "" || strings.HasPrefix(typ, "server.") {
		return typ
	}
	return r.Package + "." + typ
}

func (s Stub) data(r *Result) emit.Stub {
	data := emit.Stub{Package: s.Package, Type: s.Type, Import: s.Import}
	if s.Import != "" {
		data.Qualifier = r.Package + "."
	}
	return data
}
