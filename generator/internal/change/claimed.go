package change

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// unclaimed is the old schema without the properties that only the new one names, wherever the old one names some and says nothing of others: nobody could
// rely on those. All other properties stay allowed, so that a new schema which refuses them (additionalProperties false, a pattern for their names) refuses
// what the old one accepted. Combined schemas (allOf, $ref and so on) of the old one stay as they are.
func unclaimed(old, new *schema.Document) *schema.Document {
	c := claims{new}
	d, _ := schema.NewDocument(c.without(old.Root, []*schema.Node{new.Root}), old.Shared)
	return d
}

// claims are the properties that a new schema names.
type claims struct{ new *schema.Document }

// speaks are the keywords with which a schema says something of properties that it does not name.
var speaks = []string{"additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "dependentSchemas", "dependencies"}

// without is the old schema n without the properties that only the new schemas for the same value name.
func (c claims) without(n *schema.Node, new []*schema.Node) *schema.Node {
	if !n.Is(schema.Object) {
		return n
	}
	applied := c.applied(new)
	w := *n
	w.Members = slices.Clone(n.Members)
	for i, m := range w.Members {
		switch m.Key {
		case "properties":
			w.Members[i].Value = c.properties(n, m.Value, applied)
		case "items":
			w.Members[i].Value = c.without(m.Value, under(applied, "items"))
		}
	}
	return &w
}

// properties is the member properties of the old schema n without those that only the new schemas name.
func (c claims) properties(n, old *schema.Node, new []*schema.Node) *schema.Node {
	all := *old
	all.Members = slices.Clone(old.Members)
	named := under(new, "properties")
	for i, m := range all.Members {
		all.Members[i].Value = c.without(m.Value, under(named, m.Key))
	}
	if slices.ContainsFunc(speaks, func(keyword string) bool { return n.Get(keyword) != nil }) {
		return &all
	}
	for _, properties := range named {
		for _, m := range properties.Members {
			if all.Get(m.Key) == nil && !requires(n, m.Key) {
				no := &schema.Node{Kind: schema.Bool, Text: "false", Pos: old.Pos, Pointer: old.Pointer + "/" + m.Key}
				all.Members = append(all.Members, schema.Member{Key: m.Key, KeyPos: old.Pos, Value: no})
			}
		}
	}
	return &all
}

// applied are schemas, and those that they apply to the same value.
func (c claims) applied(all []*schema.Node) []*schema.Node {
	all = slices.Clone(all)
	add := func(n *schema.Node) {
		if n != nil && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	for i := 0; i < len(all); i++ {
		n := all[i]
		if ref := n.Get("$ref"); ref != nil {
			if to, bad := c.new.Resolve(ref.Text, n); bad == nil {
				add(to)
			}
		}
		for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
			if list := n.Get(keyword); list != nil {
				for _, item := range list.Items {
					add(item)
				}
			}
		}
		for _, keyword := range []string{"if", "then", "else"} {
			add(n.Get(keyword))
		}
		if named := n.Get("dependentSchemas"); named != nil {
			for _, m := range named.Members {
				add(m.Value)
			}
		}
	}
	return all
}

// under are the members of that name.
func under(all []*schema.Node, name string) (members []*schema.Node) {
	for _, n := range all {
		if m := n.Get(name); m != nil {
			members = append(members, m)
		}
	}
	return members
}

// requires reports whether a schema requires a property.
func requires(n *schema.Node, name string) bool {
	required := n.Get("required")
	return required != nil && slices.ContainsFunc(required.Items, func(item *schema.Node) bool { return item.Text == name })
}
