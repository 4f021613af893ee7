package generator

import "github.com/mcpkiln/mcpkiln/generator/internal/emit"

// Stub says where handler stubs go. They are the user's files: whoever writes one does so once and never again.
type Stub struct {
	Package string // of the stub
	Type    string // receiver; it must exist, or be made by Handlers
	Import  string // path of the generated package; empty if the stub is in it
}

const serverPath = "github.com/mcpkiln/mcpkiln/runtime/server"

// Handlers returns a file that declares the receiver and asserts that it implements the generated Handlers of r.
func (s Stub) Handlers(r *Result) ([]byte, error) {
	return emit.StubFile("handlers.tmpl", s.data(r))
}

// Handler returns a file with the method that answers t, which must be one of r.Tools.
func (s Stub) Handler(r *Result, t Tool) ([]byte, error) {
	data := s.data(r)
	data.Method, data.Tool, data.Input, data.Output = t.Method, t.Name, t.Input, t.Output
	data.Unwritten = t.Name + " is not written yet"
	data.Call = data.Qualifier + t.Call
	if t.Call == "" {
		data.Call = "server.Call"
		data.Imports = append(data.Imports, serverPath)
	}
	if s.Import != "" {
		data.Imports = append(data.Imports, s.Import)
	}
	return emit.StubFile("handler.tmpl", data)
}

func (s Stub) data(r *Result) emit.Stub {
	data := emit.Stub{Package: s.Package, Type: s.Type, Import: s.Import}
	if s.Import != "" {
		data.Qualifier = r.Package + "."
	}
	return data
}
