package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// plainest has a simple value of each type, which most schemas of that type allow.
var plainest = []*Node{
	{Kind: Object}, {Kind: Array}, {Kind: String}, {Kind: Number, Text: "1"}, {Kind: Bool, Text: "true"}, {Kind: Null},
}

// overlap warns of a oneOf that refuses one of these plain values because the value certainly satisfies two branches. Other overlaps may be
// intended, or are harder to prove.
func (l *linter) overlap(n *Node) {
	if n.Get("oneOf") == nil || !l.alone(n) {
		return
	}
	for _, v := range plainest {
		var fits []string
		for i, form := range n.Get("oneOf").Items {
			if hasType(n.Get("type"), v) && l.allowsPlain(form, v, 0) {
				fits = append(fits, strconv.Itoa(i+1))
			}
		}
		if len(fits) < 2 {
			continue
		}
		hint := "write anyOf, or leave it to one form"
		if v.Kind == Object {
			hint = "add required, or a const that tells them apart, or write anyOf"
		}
		l.ds.Warn(n.Get("oneOf"), "overlapping-forms", hint, "forms %s and %s overlap: %s fits both, so that it is refused", fits[0], fits[1], v.JSON())
		return
	}
}

// alone reports whether only the type of n and its oneOf decide about plain values.
func (l *linter) alone(n *Node) bool {
	place := strings.TrimPrefix(n.Pointer, l.doc.Root.Pointer)
	return (place == "" || soleSchema().MatchString(place) || definition().MatchString(place)) &&
		!slices.ContainsFunc(n.Members, func(m Member) bool { return m.Key != "oneOf" && decides[m.Key] })
}

var definition = lazyregexp.New(`/(\$defs|definitions)/[^/]*$`)

// decides are the keywords that may refuse a plain value of any type and that allowsPlain does not evaluate.
var decides = map[string]bool{
	"required": true, "minProperties": true, "minItems": true, "contains": true, "minLength": true, "pattern": true, "format": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true, "const": true, "enum": true,
	"allOf": true, "anyOf": true, "oneOf": true, "not": true, "if": true, "then": true, "else": true, "goType": true,
	"$ref": true, "$dynamicRef": true, "$recursiveRef": true,
}

// allowsPlain reports whether the schema n certainly allows a plain value. steps bounds references in a circle.
func (l *linter) allowsPlain(n, v *Node, steps int) bool {
	if n.Kind != Object {
		return n.Is(Bool) && n.Text == "true"
	}
	if ref := n.Get("$ref"); ref.Is(String) && steps < 10 {
		target, _ := l.doc.Resolve(ref.Text, ref)
		return target != nil && (len(n.Members) == 1 || l.doc.Dialect == Draft7) && l.allowsPlain(target, v, steps+1)
	}
	return hasType(n.Get("type"), v) && !slices.ContainsFunc(n.Members, func(m Member) bool { return decides[m.Key] })
}
