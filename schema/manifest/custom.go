package manifest

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/schema"
)

// CustomMethod is a request or notification, of clients or of the server, that no revision of the protocol has.
type CustomMethod struct {
	Name string
	Pos  schema.Position // of the name
	Node *schema.Node

	GoName      Text // of the method of Handlers; types begin with it
	Description Text
	// FromServer says that the server sends it.
	FromServer bool
	// Extension is the one of the manifest's extensions that a client declares if it answers this request of the server.
	Extension Text
	// Params and Result are without _meta, which every message may have. A notification has no Result.
	Params, Result *schema.Document
}

// Notification reports whether it is a notification, which is not answered.
func (c *CustomMethod) Notification() bool { return c.Result == nil }

var customNames = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]+)+$`)

// customMethods reads the custom methods, keyed by name. Package lower, which knows the revisions, checks that the protocol has none of these names.
func (l *loader) customMethods(n *schema.Node) {
	if !l.is(n, schema.Object) {
		return
	}
	for _, member := range n.Members {
		l.customMethod(CustomMethod{Name: member.Key, Pos: member.KeyPos, Node: member.Value})
	}
}

func (l *loader) customMethod(c CustomMethod) {
	if !customNames().MatchString(c.Name) || len(c.Name) > 128 {
		l.ds.ReportAt(c.Pos, c.Node.Pointer, "method-name", "write it like reports/refresh: letters, digits, _, . and -, with a slash between, 128 at most",
			"%.140q is no name for a method", c.Name)
	}
	l.fields(c.Node, "a custom method", map[string]func(*schema.Node){
		"from":        func(n *schema.Node) { c.FromServer = choice(l, n, "client", "server") == "server" },
		"goName":      l.goName(&c.GoName),
		"description": l.into(&c.Description),
		"extension":   l.into(&c.Extension),
		"params":      func(n *schema.Node) { c.Params = l.document(n) },
		"result":      func(n *schema.Node) { c.Result = l.document(n) },
	}, "params")
	result, notification := c.Node.Get("result"), strings.HasPrefix(c.Name, "notifications/")
	switch {
	case !c.FromServer && result == nil && !notification && c.Node.Is(schema.Object):
		l.ds.ReportAt(c.Pos, c.Node.Pointer, "missing-key", "a notification is named like notifications/reports/seen; a request without content takes result: {type: object}",
			"method %.128q needs the key \"result\"", c.Name)
	case result != nil && notification:
		l.ds.ReportAt(c.Pos, c.Node.Pointer, "method-name", "name it by what it does, like reports/refresh; a notification has no result",
			"%q is the name of a notification, and this is a request", c.Name)
	case c.Extension.Node != nil && (!c.FromServer || result == nil):
		l.ds.Report(c.Extension.Node, "custom-extension", "remove extension", "%q is no request of the server, and takes nothing of its client", c.Name)
	}
	l.m.CustomMethods = append(l.m.CustomMethods, c)
}

// customExtensions finds the extension for each custom request of the server: the manifest's only one, or the one that the method names if there are
// several.
func (l *loader) customExtensions() {
	var names []string
	for _, e := range l.m.Extensions {
		names = append(names, e.Value)
	}
	for i := range l.m.CustomMethods {
		switch c := &l.m.CustomMethods[i]; {
		case !c.FromServer || c.Notification():
		case c.Extension.Node != nil && !slices.Contains(names, c.Extension.Value):
			l.ds.Report(c.Extension.Node, "custom-extension", schema.DidYouMean(c.Extension.Value, names), "%.140q is none of the manifest's extensions", c.Extension.Value)
		case c.Extension.Node == nil && len(names) == 1:
			c.Extension.Value = names[0]
		case c.Extension.Node == nil && len(names) == 0:
			l.ds.ReportAt(c.Pos, c.Node.Pointer, "custom-extension", "add extensions: [com.example/reports]; a client that declares it is asked",
				"%q is a request of the server, and there is no extension that its client could declare", c.Name)
		case c.Extension.Node == nil:
			l.ds.ReportAt(c.Pos, c.Node.Pointer, "custom-extension", "add extension: "+names[0], "%q does not say which of the extensions its client declares", c.Name)
		}
	}
}

var extensionNames = lazyregexp.New(`^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?)+/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// extensions reads the names of the server's extensions.
func (l *loader) extensions(n *schema.Node) {
	for _, t := range l.texts(n) {
		switch {
		case t.Node.Kind != schema.String:
		case !extensionNames().MatchString(t.Value):
			l.ds.Report(t.Node, "extension-name", "write a domain of yours in reverse and a name: com.example/reports", "%.140q is no name for an extension", t.Value)
		case reservedPrefix(t.Value):
			l.ds.Report(t.Node, "extension-name", "write a domain of yours in reverse: com.example/reports", "the prefix of %q is reserved for the protocol", t.Value)
		default:
			l.m.Extensions = append(l.m.Extensions, t)
		}
	}
}

// reservedPrefix reports whether the second label of a name is the protocol's.
func reservedPrefix(name string) bool {
	prefix, _, _ := strings.Cut(name, "/")
	labels := strings.Split(prefix, ".")
	return schema.IsProtocolLabel(labels[1])
}
