package reference

import (
	"fmt"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// kind says in a few words which values a schema allows.
func (t *tableMaker) kind(n *schema.Node, depth int) Text {
	n = t.resolved(n)
	if depth > 2 {
		return text("…")
	}
	key := nested{n, depth}
	found, ok := t.kinds[key]
	if !ok {
		found = t.newKind(n, depth)
		t.kinds[key] = found
	}
	return slices.Clone(found)
}

func (t *tableMaker) newKind(n *schema.Node, depth int) Text {
	switch {
	case n.Is(schema.Bool) && n.Text == "false":
		return text("nothing")
	case !n.Is(schema.Object):
		return text("anything")
	case n.Get("const") != nil:
		return code(string(n.Get("const").JSON()))
	case n.Get("enum").Is(schema.Array):
		return values(n.Get("enum").Items)
	}
	if names := typeNames(n); len(names) > 0 {
		var all []Text
		for _, name := range names {
			all = append(all, t.typed(name, n, depth))
		}
		return join(" or ", all...)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if all := n.Get(key); all.Is(schema.Array) {
			return t.combined(key, all.Items, depth)
		}
	}
	if n.Get("properties") != nil {
		return text("object")
	}
	return text("anything")
}

// combined is the kind of an allOf, anyOf or oneOf: the kinds of its schemas, each once.
func (t *tableMaker) combined(key string, parts []*schema.Node, depth int) Text {
	var all []Text
	for _, p := range parts {
		k := t.kind(p, depth+1)
		if slices.ContainsFunc(all, func(o Text) bool { return slices.Equal(o, k) }) {
			continue
		}
		if len(all) == maxValues {
			all = append(all, text("…"))
			break
		}
		all = append(all, k)
	}
	return join(map[bool]string{true: " and ", false: " or "}[key == "allOf"], all...)
}

// maxValues is how many values of an enum, and how many kinds, a row shows.
const maxValues = 12

func values(items []*schema.Node) Text {
	var all []Text
	for _, v := range items[:min(len(items), maxValues)] {
		all = append(all, code(string(v.JSON())))
	}
	if more := len(items) - maxValues; more > 0 {
		all = append(all, text(fmt.Sprintf("%d more", more)))
	}
	return join(", ", all...)
}

func typeNames(n *schema.Node) (names []string) {
	switch v := n.Get("type"); {
	case v.Is(schema.String):
		names = append(names, v.Text)
	case v.Is(schema.Array):
		for _, item := range v.Items {
			names = append(names, item.Text)
		}
	}
	return names
}

func (t *tableMaker) typed(name string, n *schema.Node, depth int) Text {
	switch items := n.Get("items"); {
	case name == "array" && items.Is(schema.Object):
		return append(text("list of "), t.kind(items, depth+1)...)
	case name == "array":
		return text("list")
	case name == "object" && n.Get("properties") == nil && n.Get("additionalProperties").Is(schema.Object):
		return append(text("object of "), t.kind(n.Get("additionalProperties"), depth+1)...)
	}
	if format := n.Get("format"); name == "string" && format.Is(schema.String) {
		return text(name + " (" + format.Text + ")")
	}
	return text(name)
}
