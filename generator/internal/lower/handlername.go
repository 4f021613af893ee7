package lower

import (
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// named is what a method of Handlers is named after. The method of a tool has the same name in a client.
type named struct {
	what   string // for people: tool "get_quote"
	pos    schema.Position
	node   *schema.Node
	goName manifest.Text // that the manifest chooses
	fixed  bool          // it is the protocol's name, which the manifest can not change
}

// goNameOf is the Go name that the manifest chooses, or the one derived from name.
func goNameOf(name string, chosen manifest.Text) string {
	if chosen.Node != nil {
		return chosen.Value
	}
	return naming.GoName(name)
}

// methodName is the name of a method of Handlers: prefix and goNameOf. If the name is derived and go vet would take it for a method of the standard
// library, it is changed.
func methodName(prefix, name string, chosen manifest.Text) string {
	method := prefix + goNameOf(name, chosen)
	if chosen.Node == nil {
		method = naming.Method(method, name)
	}
	return method
}

// takeHandler takes a name among the methods of Handlers. The same name twice is an error at the second method, which names the first: a
// number at the end would change when entries are reordered. A chosen name that go vet refuses is an error, too.
func (l *packageLowering) takeHandler(method string, by named) (ok bool) {
	if naming.IsStandardMethod(method) {
		l.refuseStandard(method, by.what, by.goName)
	}
	first, taken := l.handlers[method]
	if !taken {
		l.handlers[method] = by
		return true
	}
	hint := "give one of them a goName"
	if first.fixed {
		hint = "give " + by.what + " a goName"
	}
	l.diags.ReportAt(by.pos, by.node.Pointer, "same-go-name", hint, "%s and %s (%s) would both be %s in Go", by.what, first.what, first.pos, method)
	return false
}

// refuseStandard refuses a chosen name that go vet takes for a method of the standard library.
func (l *packageLowering) refuseStandard(method, entry string, chosen manifest.Text) {
	l.diags.Report(chosen.Node, "go-name", "choose another goName", "go vet takes the method %s of %s for one of the standard library", method, entry)
}
