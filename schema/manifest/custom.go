package manifest

import (
	"regexp"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// CustomMethod is a request of clients, or a notification of the server, that no revision of the protocol has.
type CustomMethod struct {
	Name string
	Pos  schema.Position // of the name
	Node *schema.Node

	GoName      Text // of the method of Handlers; types begin with it
	Description Text
	// FromServer: it is a notification that the server sends, and has no Result.
	FromServer bool
	// Params are without _meta, which every message may carry.
	Params, Result *schema.Document
}

var customNames = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]+)+$`)

// customMethods reads the methods of the server's own, keyed by name. That the protocol has none of them is checked where the
// revisions are known.
func (l *loader) customMethods(n *schema.Node) {
	if !l.is(n, schema.Object) {
		return
	}
	for _, member := range n.Members {
		l.customMethod(CustomMethod{Name: member.Key, Pos: member.KeyPos, Node: member.Value})
	}
}

func (l *loader) customMethod(c CustomMethod) {
	if !customNames.MatchString(c.Name) || len(c.Name) > 128 {
		l.ds.ReportAt(c.Pos, c.Node.Pointer, "method-name", "write it like reports/refresh: letters, digits, _, . and -, with a slash between, 128 at most",
			"%.140q is no name for a method", c.Name)
	}
	l.fields(c.Node, "a custom method", map[string]func(*schema.Node){
		"from":        func(n *schema.Node) { c.FromServer = choice(l, n, "client", "server") == "server" },
		"goName":      l.goName(&c.GoName),
		"description": l.into(&c.Description),
		"params":      func(n *schema.Node) { c.Params = l.document(n) },
		"result":      func(n *schema.Node) { c.Result = l.document(n) },
	}, "params")
	result := c.Node.Get("result")
	switch {
	case c.FromServer && result != nil:
		l.ds.Report(result, "custom-result", "remove result", "%q is from the server, and what a server sends of its own is not answered", c.Name)
	case !c.FromServer && result == nil && c.Node.Is(schema.Object):
		l.ds.ReportAt(c.Pos, c.Node.Pointer, "missing-key", "a notification of the server says from: server; a request without content takes result: {type: object}",
			"method %.128q needs the key \"result\"", c.Name)
	case !c.FromServer && strings.HasPrefix(c.Name, "notifications/"):
		l.ds.ReportAt(c.Pos, c.Node.Pointer, "method-name", "name it by what it does, like reports/refresh", "%q is the name of a notification, and this is a request", c.Name)
	}
	l.m.CustomMethods = append(l.m.CustomMethods, c)
}

var extensionNames = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?)+/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// extensions reads the names of what the server has beyond the protocol.
func (l *loader) extensions(n *schema.Node) {
	for _, t := range l.texts(n) {
		switch {
		case t.Node.Kind != schema.String:
		case !extensionNames.MatchString(t.Value):
			l.ds.Report(t.Node, "extension-name", "write a domain of yours in reverse and a name: com.example/reports", "%.140q is no name for an extension", t.Value)
		case reservedPrefix(t.Value):
			l.ds.Report(t.Node, "extension-name", "write a domain of yours in reverse: com.example/reports", "the prefix of %q is reserved for the protocol", t.Value)
		default:
			l.m.Extensions = append(l.m.Extensions, t)
		}
	}
}

// reservedPrefix tells whether the second label of a name is the protocol's.
func reservedPrefix(name string) bool {
	prefix, _, _ := strings.Cut(name, "/")
	labels := strings.Split(prefix, ".")
	return labels[1] == "modelcontextprotocol" || labels[1] == "mcp"
}
