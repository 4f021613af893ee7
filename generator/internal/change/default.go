package change

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// allOf are all schemas that apply to one value: a schema, those that it refers to, and the members of allOf.
type allOf []*schema.Node

// add adds n and all that apply with it.
func (v allOf) add(d *schema.Document, n *schema.Node) allOf {
	if !n.Is(schema.Object) || slices.Contains(v, n) {
		return v
	}
	v = append(v, n)
	if ref := n.Get("$ref"); ref.Is(schema.String) {
		if target, wrong := d.Resolve(ref.Text, ref); wrong == nil {
			v = v.add(d, target)
		}
	}
	if all := n.Get("allOf"); all.Is(schema.Array) {
		for _, part := range all.Items {
			v = v.add(d, part)
		}
	}
	return v
}

// below are the schemas that apply to a property, or to an item if property is "".
func (v allOf) below(d *schema.Document, property string) (all allOf) {
	for _, n := range v {
		if property == "" {
			all = all.add(d, n.Get("items"))
		} else {
			all = all.add(d, n.Get("properties").Get(property))
		}
	}
	return all
}

// properties are all properties that the schemas name, in the order in which they are written.
func (v allOf) properties() (names []schema.Member) {
	for _, n := range v {
		p := n.Get("properties")
		if !p.Is(schema.Object) {
			continue
		}
		for _, m := range p.Members {
			if !slices.ContainsFunc(names, func(o schema.Member) bool { return o.Key == m.Key }) {
				names = append(names, m)
			}
		}
	}
	return names
}

// value is the default of the value; nil for none.
func (v allOf) defaultValue() *schema.Node {
	for _, n := range v {
		if value := n.Get("default"); value != nil {
			return value
		}
	}
	return nil
}

func (v allOf) requires(property string) bool {
	return slices.ContainsFunc(v, func(n *schema.Node) bool {
		required := n.Get("required")
		return required.Is(schema.Array) && slices.ContainsFunc(required.Items, func(x *schema.Node) bool { return x.Text == property })
	})
}

// defaults compares the defaults of arguments.
type defaults struct {
	*comparison
	place    place
	old, new *schema.Document
	// seen has pairs of schemas that were compared, since one may refer to itself, and pairs of defaults that were reported.
	seen map[[2]*schema.Node]bool
}

func (c *comparison) defaults(p place, old, new *schema.Document) {
	d := defaults{c, p, old, new, map[[2]*schema.Node]bool{}}
	d.compare(allOf{}.add(old, old.Root), allOf{}.add(new, new.Root))
}

// compare compares the defaults of properties and of those below them. A property that only one side has is a difference of the schemas, which
// received reports; if either side requires a property, its default is not used.
func (d *defaults) compare(old, new allOf) {
	if len(old) == 0 || len(new) == 0 || d.seen[[2]*schema.Node{old[0], new[0]}] {
		return
	}
	d.seen[[2]*schema.Node{old[0], new[0]}] = true
	for _, m := range new.properties() {
		before, after := old.below(d.old, m.Key), new.below(d.new, m.Key)
		if len(before) == 0 {
			continue
		}
		if was, is := before.defaultValue(), after.defaultValue(); differ(was, is) && !old.requires(m.Key) && !new.requires(m.Key) && !d.seen[[2]*schema.Node{was, is}] {
			d.seen[[2]*schema.Node{was, is}] = true
			p := d.place
			p.pos, p.pointer = m.KeyPos, m.Value.Pointer
			d.found("default-changed", p, "takes %s for %s if that is left out, and took %s", value(is), m.Key, value(was))
		}
		d.compare(before, after)
	}
	d.compare(old.below(d.old, ""), new.below(d.new, ""))
}

func value(n *schema.Node) string {
	if n == nil {
		return "nothing"
	}
	return string(n.JSON())
}
