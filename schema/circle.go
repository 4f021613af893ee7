package schema

import (
	"slices"
	"strings"
)

// circles reports references that lead back to themselves without a step into the value: validation would never
// end.
func (l *linter) circles(n *Node) {
	if n.Kind != Object || !slices.ContainsFunc(n.Members, inPlaceKeyword) || l.notes[n]&noteEntered != 0 {
		return
	}
	l.notes[n] |= noteEntered
	l.inPlace(n, func(next, ref *Node) {
		known := l.notes[next]
		if known&(noteEntered|notePassed) == noteEntered && ref != nil {
			l.ds.Report(ref, "ref-circle", "remove it, or let it stand below properties or items", "$ref leads in a circle without looking into the value")
		} else if known&noteEntered == 0 {
			l.circles(next)
		}
	})
	l.notes[n] |= notePassed
}

// inPlaceKeyword reports whether a keyword has schemas that are applied to the same value.
func inPlaceKeyword(m Member) bool {
	switch m.Key {
	case "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
		return true
	}
	return false
}

// inPlace calls visit for each schema that is applied to the same value as n, with the $ref that leads there.
func (l *linter) inPlace(n *Node, visit func(next, ref *Node)) {
	for i := range n.Members {
		m := &n.Members[i]
		switch m.Key {
		case "$ref", "$dynamicRef":
			if target, d := l.doc.Resolve(m.Value.Text, m.Value); d == nil && m.Value.Kind == String {
				visit(l.outermost(m, target), m.Value)
			}
		case "allOf", "anyOf", "oneOf":
			for _, s := range m.Value.Items {
				visit(s, nil)
			}
		case "not", "if", "then", "else":
			visit(m.Value, nil)
		case "dependentSchemas", "dependencies":
			for _, s := range m.Value.members() {
				if s.Value.Kind != Array {
					visit(s.Value, nil)
				}
			}
		}
	}
}

// outermost returns the target of a reference to target if validation begins at the root: for a $dynamicRef the anchor of that name in the root, if
// it has one.
func (l *linter) outermost(m *Member, target *Node) *Node {
	if m.Key != "$dynamicRef" {
		return target
	}
	anchor := target.Get("$dynamicAnchor")
	if !anchor.Is(String) || !strings.HasSuffix(m.Value.Text, "#"+anchor.Text) {
		return target
	}
	outer, d := l.doc.Resolve("#"+anchor.Text, l.doc.Root)
	if d == nil && outer.Get("$dynamicAnchor").Is(String) && outer.Get("$dynamicAnchor").Text == anchor.Text {
		return outer
	}
	return target
}
