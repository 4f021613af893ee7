package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
)

// same reports whether two schemas of one dialect have the same keywords with the same values. References are compared by their targets, not by their
// text; annotations are ignored.
func same(a, b site) bool { return newEquality().schemas(a, b) }

// equality compares schemas. A pair that it has compared, or is comparing, counts as equal: if the two differ, the difference is found at another place.
type equality struct{ compared map[[2]*schema.Node]bool }

func newEquality() *equality { return &equality{compared: map[[2]*schema.Node]bool{}} }

func (c *equality) schemas(a, b site) bool {
	pair := [2]*schema.Node{a.node, b.node}
	if a.node == b.node && a.doc == b.doc || c.compared[pair] {
		return true
	}
	c.compared[pair] = true
	if a.node.Kind != b.node.Kind {
		return false
	}
	if a.node.Kind != schema.Object {
		return schema.Equal(a.node, b.node)
	}
	return c.within(a, b) && c.within(b, a)
}

// within reports whether b has each keyword of a that can refuse values, with the same value.
func (c *equality) within(a, b site) bool {
	return !slices.ContainsFunc(keywordsOf(a), func(m schema.Member) bool {
		other := b.get(m.Key)
		return other == nil || !c.values(m.Key, a, m.Value, b, other)
	})
}

func (c *equality) values(keyword string, a site, x *schema.Node, b site, y *schema.Node) bool {
	if dynamic := keyword == "$dynamicRef"; dynamic || keyword == "$ref" {
		to, ok := a.follow(x)
		too, fine := b.follow(y)
		return ok && fine && (!dynamic || soleAnchor(a, x) && soleAnchor(b, y)) && c.schemas(to, too)
	}
	each, others := subschemas(keyword, x), subschemas(keyword, y)
	if each == nil || others == nil || len(each) != len(others) {
		return each == nil && others == nil && schema.Equal(x, y)
	}
	for key, n := range each {
		m, ok := others[key]
		if !ok || n.Kind == schema.Array && !schema.Equal(n, m) || n.Kind != schema.Array && !c.schemas(a.at(n), b.at(m)) {
			return false
		}
	}
	return true
}

// keywordsOf returns the keywords of a schema that can refuse values in its dialect, and those that are read with one of them. In draft-07 a $ref is the
// only one: keywords beside it have no effect.
func keywordsOf(s site) []schema.Member {
	if ref := s.node.Member("$ref"); ref != nil && s.dialect() == schema.Draft7 {
		return []schema.Member{*ref}
	}
	var all []schema.Member
	for _, m := range s.node.Members {
		if (typing.Asserts(m.Key, s.dialect()) || readWithAnother[m.Key]) && !idle(m) {
			all = append(all, m)
		}
	}
	return all
}

// acceptsAll reports whether a schema plainly refuses no value.
func (s site) acceptsAll() bool {
	if s.node.Kind == schema.Bool {
		return s.node.Text == "true"
	}
	return len(keywordsOf(s)) == 0
}

// idle reports whether a keyword has a value with which it refuses nothing.
func idle(m schema.Member) bool {
	switch m.Key {
	case "type":
		return !slices.ContainsFunc(kinds, func(k schema.Kind) bool { return !slices.Contains(words(m.Value), k.String()) })
	case "minLength", "minItems", "minProperties":
		least := m.Value.Rat()
		return least != nil && least.Sign() == 0
	case "uniqueItems":
		return m.Value.Text == "false"
	case "required":
		return len(m.Value.Items) == 0
	case "properties", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies":
		return len(m.Value.Members) == 0
	}
	return false
}

// readWithAnother are keywords that are read with another one.
var readWithAnother = map[string]bool{"then": true, "else": true, "additionalItems": true, "minContains": true, "maxContains": true}
