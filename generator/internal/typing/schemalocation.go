package typing

import (
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// meta reports whether n is a part of the dialect's meta-schema.
func (r *reader) meta(n *schema.Node) bool { return n.Pos.File == r.doc.Dialect.String() }

// at returns the location of n as a URI fragment of the advertised schema, which has shared schemas in its $defs. Locations in a
// meta-schema are whole URIs.
func (l *lowering) at(n *schema.Node) string {
	if l.meta(n) {
		return n.Pos.File + "#" + n.Pointer
	}
	if rest, ok := below(n, l.doc.Root); ok {
		return "#" + rest
	}
	if l.doc.Shared != nil {
		for _, named := range l.doc.Shared.Schemas {
			if rest, ok := below(n, named.Doc.Root); ok {
				return "#/$defs/" + schema.EscapeToken(named.Name) + rest
			}
		}
	}
	return "#" + n.Pointer
}

// ruleAt is at, or empty where the runtime derives the location of n from that of the rule around it.
func (l *lowering) ruleAt(n *schema.Node, p place) string {
	if n == nil || n == p.node {
		return ""
	}
	return l.at(n)
}

// below returns the pointer from root to n.
func below(n, root *schema.Node) (string, bool) {
	rest, ok := strings.CutPrefix(n.Pointer, root.Pointer)
	return rest, ok && (rest == "" || rest[0] == '/') && n.Pos.File == root.Pos.File
}

func within(n, root *schema.Node) bool { _, ok := below(n, root); return ok }

// homeOf returns the document that n is in, or nil.
func homeOf(doc *schema.Document, n *schema.Node) *schema.Document {
	if within(n, doc.Root) || doc.Shared == nil {
		return doc
	}
	for _, named := range doc.Shared.Schemas {
		if within(n, named.Doc.Root) {
			return named.Doc
		}
	}
	return nil
}

// longName is the name of a $ref target if refName is taken. It begins with the root's type, which is different for input and
// output.
func (l *lowering) longName(n *schema.Node) string {
	short, local := strings.CutPrefix(l.refName(n), l.defsPrefix)
	if !local || short == "" || l.name == l.defsPrefix || !within(n, l.doc.Root) {
		return l.refName(n) + "Value"
	}
	return join(l.name, short)
}

// refName is the Go name of a $ref target: its own name, after the root's if it is local to the root.
func (l *lowering) refName(n *schema.Node) string {
	if chosen := chosenName(n); chosen != nil {
		return chosen.Text
	}
	name := ""
	for _, token := range strings.Split(n.Pointer, "/") {
		switch token {
		case "$defs", "definitions", "schemas", "properties", "items", "":
			continue
		}
		name = token
	}
	if l.meta(n) {
		return "MetaSchema" + naming.GoName(schema.UnescapeToken(name))
	}
	if !within(n, l.doc.Root) {
		return naming.GoName(schema.UnescapeToken(name))
	}
	if n == l.doc.Root {
		return naming.GoName(l.defsPrefix)
	}
	return join(l.defsPrefix, naming.GoName(schema.UnescapeToken(name))) + l.suffix
}
