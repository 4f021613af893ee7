package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// included reports whether b plainly accepts all that a accepts: each keyword of b stands in a as well, as strict or stricter, wherever a part
// that became stricter makes the whole stricter. False says nothing. So an edit of one keyword deep inside of schemas that hold themselves in several ways
// is decided without looking for values.
//
// Two schemas that are met again are taken as included: the value below is smaller, since references do not go in a circle (ref-circle). Every
// rule here needs all of its parts, so that one assumption that fails fails all.
func included(a, b site) bool {
	return a.dialect() == b.dialect() && (&inclusion{met: map[[2]*schema.Node]bool{}}).schemas(a, b)
}

type inclusion struct{ met map[[2]*schema.Node]bool }

func (c *inclusion) schemas(a, b site) bool {
	pair := [2]*schema.Node{a.node, b.node}
	if c.met[pair] {
		return true
	}
	c.met[pair] = true
	if b.node.Kind == schema.Bool && b.node.Text == "true" || a.node.Kind == schema.Bool && a.node.Text == "false" {
		return true
	}
	if a.node.Kind != schema.Object || b.node.Kind != schema.Object {
		return a.node.Kind == b.node.Kind && schema.Equal(a.node, b.node)
	}
	said := map[string]*schema.Node{}
	for _, m := range keywordsOf(a) {
		said[m.Key] = m.Value
	}
	return !slices.ContainsFunc(keywordsOf(b), func(m schema.Member) bool {
		x := said[m.Key]
		return x == nil || !c.keyword(m.Key, a, x, b, m.Value)
	})
}

// keyword reports whether a keyword with the value x in a is as strict as with y in b.
func (c *inclusion) keyword(keyword string, a site, x *schema.Node, b site, y *schema.Node) bool {
	switch keyword {
	case "$ref":
		to, ok := a.follow(x)
		too, fine := b.follow(y)
		return ok && fine && c.schemas(to, too)
	case "allOf", "anyOf", "prefixItems":
		return c.each(a, x, b, y)
	case "oneOf":
		return c.each(a, x, b, y) && apart(a, x, b, y)
	case "properties", "patternProperties":
		return c.named(a, x, b, y)
	case "additionalProperties":
		return sameKeys(a.get("properties"), b.get("properties")) && sameKeys(a.get("patternProperties"), b.get("patternProperties")) && c.schemas(a.at(x), b.at(y))
	case "items":
		if x.Kind == schema.Array && y.Kind == schema.Array {
			return c.each(a, x, b, y)
		}
		return x.Kind != schema.Array && y.Kind != schema.Array && samePrefix(a, b, "prefixItems") && c.schemas(a.at(x), b.at(y))
	case "propertyNames":
		return c.schemas(a.at(x), b.at(y))
	case "required":
		return contained(y.Items, x.Items)
	case "enum":
		return contained(x.Items, y.Items)
	case "type":
		return !slices.ContainsFunc(words(x), func(t string) bool {
			return !slices.Contains(words(y), t) && !(t == "integer" && slices.Contains(words(y), "number"))
		})
	case "unevaluatedProperties", "unevaluatedItems":
		return false // it depends on all the others
	}
	plain := &comparison{met: map[[2]*schema.Node]bool{}}
	for _, with := range companions[keyword] {
		x, y := a.get(with), b.get(with)
		if (x == nil) != (y == nil) || x != nil && !plain.values(with, a, x, b, y) {
			return false
		}
	}
	return plain.values(keyword, a, x, b, y)
}

// companions are what must be the same where a keyword is.
var companions = map[string][]string{"if": {"then", "else"}, "contains": {"minContains", "maxContains"}, "additionalItems": {"items"}}

// each compares lists of schemas one by one.
func (c *inclusion) each(a site, x *schema.Node, b site, y *schema.Node) bool {
	if len(x.Items) != len(y.Items) {
		return false
	}
	for i := range x.Items {
		if !c.schemas(a.at(x.Items[i]), b.at(y.Items[i])) {
			return false
		}
	}
	return true
}

// named compares the schemas that stand under names in y.
func (c *inclusion) named(a site, x *schema.Node, b site, y *schema.Node) bool {
	return !slices.ContainsFunc(y.Members, func(m schema.Member) bool {
		n := x.Get(m.Key)
		return n == nil || !c.schemas(a.at(n), b.at(m.Value))
	})
}

// apart reports whether a value that meets one form of a oneOf meets no other after the edit: each form that says something else now shares no type
// with any other. Those that say the same exclude what they did.
func apart(a site, x *schema.Node, b site, y *schema.Node) bool {
	for i, n := range y.Items {
		if same(a.at(x.Items[i]), b.at(n)) {
			continue
		}
		for j, other := range y.Items {
			if i != j && !noTypeInCommon(b.at(n), b.at(other)) {
				return false
			}
		}
	}
	return true
}

func noTypeInCommon(a, b site) bool {
	types, others := typesIn(a), typesIn(b)
	return types != nil && others != nil && !slices.ContainsFunc(types, func(t string) bool { return slices.Contains(others, t) })
}

// typesIn are the types that a schema says itself, integers as numbers; nil if it says none.
func typesIn(s site) (all []string) {
	i := slices.IndexFunc(keywordsOf(s), func(m schema.Member) bool { return m.Key == "type" })
	if s.node.Kind != schema.Object || i < 0 {
		return nil
	}
	for _, t := range words(keywordsOf(s)[i].Value) {
		if t == "integer" {
			t = "number"
		}
		all = append(all, t)
	}
	return all
}

// words are the texts of a list, or of one text.
func words(n *schema.Node) (all []string) {
	if n.Kind == schema.String {
		return []string{n.Text}
	}
	for _, item := range n.Items {
		all = append(all, item.Text)
	}
	return all
}

// contained reports whether each of some values is among others.
func contained(values, among []*schema.Node) bool {
	return !slices.ContainsFunc(values, func(v *schema.Node) bool {
		return !slices.ContainsFunc(among, func(n *schema.Node) bool { return schema.Equal(n, v) })
	})
}

func sameKeys(x, y *schema.Node) bool {
	within := func(x, y *schema.Node) bool {
		return x == nil || !slices.ContainsFunc(x.Members, func(m schema.Member) bool { return y.Get(m.Key) == nil })
	}
	return within(x, y) && within(y, x)
}

func samePrefix(a, b site, keyword string) bool {
	x, y := a.get(keyword), b.get(keyword)
	return (x == nil) == (y == nil) && (x == nil || len(x.Items) == len(y.Items))
}
