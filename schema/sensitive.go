package schema

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/keyword"
)

// sensitiveKeyword marks a property whose value is for the handler alone: the runtime keeps it out of logs, observers and messages of
// violations. It is advertised as it is: a client may hide the value, too.
const sensitiveKeyword = keyword.Sensitive

// MentionsSensitive reports whether a key in d, or in the schemas that it shares, is x-sensitive. Nearly no document has one.
func (d *Document) MentionsSensitive() bool {
	return d.sensitive || d.Shared != nil && d.Shared.sensitive
}

// sensitive checks a use of the keyword. The runtime finds it by the names of properties.
func (l *linter) sensitive(n, v *Node) {
	switch {
	case v.Kind != Bool:
		l.ds.Report(v, "keyword-type", "write x-sensitive: true", "x-sensitive takes true or false, not %s", describe(v))
	case l.notes[n]&noteProperty == 0:
		l.ds.Report(v, "sensitive", placeIn(l.doc.Root, n).HasSensitive(), "x-sensitive stands at a property, and this schema is none")
	case n.Get("x-mcp-header") != nil && v.Text == "true":
		l.ds.Report(v, "sensitive", "remove x-mcp-header", "what is sensitive can not be in a header, which gateways log")
	}
}

// refersToSensitive refuses a reference to a property that is sensitive, or into one, from where nothing says whether the values are: under the other
// name they would be shown. Of references to files the Linker does that.
func (l *linter) refersToSensitive(n, ref, target *Node) {
	if !l.doc.MentionsSensitive() || saysSensitive(l.doc.Root, n, "true", "false") {
		return
	}
	if slices.ContainsFunc(l.doc.possibleTargets(ref, target), func(n *Node) bool { return saysSensitive(l.doc.home(n).Root, n, "true") }) {
		reportSensitive(&l.ds, ref, placeIn(l.doc.Root, n))
	}
}

func reportSensitive(ds *Diagnostics, ref *Node, at keyword.Place) {
	ds.Report(ref, "sensitive", at.HidesReference(), "%s leads to a property that is x-sensitive, and this one would be shown", keyOfReference(ref))
}

// keyOfReference returns the keyword of a reference, or file.
func keyOfReference(ref *Node) string { return ref.Pointer[strings.LastIndexByte(ref.Pointer, '/')+1:] }

// possibleTargets returns target, and of a $dynamicRef all schemas that the way to it may make its target.
func (d *Document) possibleTargets(ref, target *Node) []*Node {
	all := []*Node{target}
	if name := target.Get("$dynamicAnchor"); name.Is(String) && keyOfReference(ref) == "$dynamicRef" {
		for a, n := range d.home(target).ids.anchors {
			if a.name == name.Text {
				all = append(all, n)
			}
		}
	}
	return all
}

// placeIn returns where n stands in the schema root.
func placeIn(root, n *Node) keyword.Place {
	p := keyword.PlaceOf(strings.TrimPrefix(n.Pointer, root.Pointer))
	p.Definition = p.Definition || len(p.Properties) == 0 && namesSchema(root.Pointer)
	return p
}

// saysSensitive reports whether n, a schema in root, is a property where x-sensitive has one of these values, or is in one.
func saysSensitive(root, n *Node, values ...string) bool {
	return slices.ContainsFunc(placeIn(root, n).Properties, func(pointer string) bool {
		said := root.Lookup(pointer).Get(sensitiveKeyword)
		return said.Is(Bool) && slices.Contains(values, said.Text)
	})
}
