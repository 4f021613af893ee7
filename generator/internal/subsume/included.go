package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// included reports whether b accepts all that a accepts, as far as that is seen without following what the schemas around an edit allow: each keyword
// of b stands in a as well, as strict or stricter, wherever a part that became stricter makes the whole stricter. Two parts that are written
// differently are searched for a value that tells them apart, alone and for a short time. False says nothing. So an edit of one keyword deep inside of
// schemas that hold themselves in several ways is decided where it stands.
//
// Two schemas that are met again are taken as included: the value below is smaller, since references do not go in a circle (ref-circle). What was
// found under such an assumption is forgotten where the assumption turns out wrong.
func included(a, b site) bool {
	return a.dialect() == b.dialect() && (&inclusion{met: map[[2]*schema.Node]bool{}, left: mostSearched}).schemas(a, b)
}

// mostSearched bounds how many pairs of parts are searched for a value, each for searchSteps.
const (
	mostSearched = 30
	searchSteps  = 50_000
)

type inclusion struct {
	met   map[[2]*schema.Node]bool // false: not included
	taken [][2]*schema.Node        // those that are true, in order
	left  int                      // of mostSearched
}

func (c *inclusion) schemas(a, b site) bool {
	pair := [2]*schema.Node{a.node, b.node}
	if included, met := c.met[pair]; met {
		return included
	}
	before := len(c.taken)
	c.take(pair)
	if c.plainly(a, b) {
		return true
	}
	for _, p := range c.taken[before:] {
		delete(c.met, p)
	}
	c.taken = c.taken[:before]
	if c.search(goal{{a, true}, {b, false}}) == none {
		c.take(pair)
		return true
	}
	c.met[pair] = false
	return false
}

func (c *inclusion) take(pair [2]*schema.Node) {
	c.met[pair] = true
	c.taken = append(c.taken, pair)
}

// search looks for a value that meets a goal.
func (c *inclusion) search(g goal) answer {
	if c.left--; c.left < 0 {
		return unsure
	}
	s := newSolver(unbounded)
	s.steps = mostSteps - searchSteps
	return s.value(g).answer
}

// plainly compares keyword by keyword.
func (c *inclusion) plainly(a, b site) bool {
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
		return c.each(a, x, b, y) && c.apart(a, x, b, y)
	case "not":
		return c.schemas(b.at(y), a.at(x))
	case "if":
		return c.alike(a.at(x), b.at(y)) && c.optional(a.get("then"), a, b, b.get("then")) && c.optional(a.get("else"), a, b, b.get("else"))
	case "then", "else":
		return true // compared with the if beside it, and says nothing without one
	case "properties", "patternProperties", "dependentSchemas":
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
		return looksAtTheSame(a, b) && c.schemas(a.at(x), b.at(y))
	}
	plain := newComparison()
	for _, with := range companions[keyword] {
		if !plain.optional(with, a, b) {
			return false
		}
	}
	return plain.values(keyword, a, x, b, y)
}

// companions are what must be the same where a keyword is.
var companions = map[string][]string{"contains": {"minContains", "maxContains"}, "additionalItems": {"items"}}

// optional reports whether a keyword is in both schemas with the same value, or in neither.
func (c *comparison) optional(keyword string, a, b site) bool {
	x, y := a.get(keyword), b.get(keyword)
	return (x == nil) == (y == nil) && (x == nil || c.values(keyword, a, x, b, y))
}

// lookers are the keywords that decide what unevaluatedProperties and unevaluatedItems are left with.
var lookers = []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "contains", "minContains", "maxContains"}

// looksAtTheSame reports whether what stands beside unevaluatedProperties or unevaluatedItems leaves them the same in both schemas: other values for
// properties and items that are named make no difference.
func looksAtTheSame(a, b site) bool {
	plain := newComparison()
	both := func(keyword string) bool { return (a.get(keyword) == nil) == (b.get(keyword) == nil) }
	return !slices.ContainsFunc(lookers, func(keyword string) bool { return !plain.optional(keyword, a, b) }) &&
		sameKeys(a.get("properties"), b.get("properties")) && sameKeys(a.get("patternProperties"), b.get("patternProperties")) &&
		both("additionalProperties") && both("items") && samePrefix(a, b, "prefixItems")
}

// alike reports whether two schemas accept the same.
func (c *inclusion) alike(a, b site) bool { return c.schemas(a, b) && c.schemas(b, a) }

// optional compares schemas that may be missing, and then accept all.
func (c *inclusion) optional(x *schema.Node, a, b site, y *schema.Node) bool {
	return y == nil || x != nil && c.schemas(a.at(x), b.at(y))
}

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

// apart reports whether a value that meets one form of a oneOf meets no other after the edit: what a form accepts now and did not accept before, no
// other form accepted. Forms that accept the same exclude what they did.
func (c *inclusion) apart(a site, x *schema.Node, b site, y *schema.Node) bool {
	for i, n := range y.Items {
		before, after := a.at(x.Items[i]), b.at(n)
		if c.schemas(after, before) {
			continue
		}
		for j, other := range x.Items {
			if i != j && c.search(goal{{after, true}, {before, false}, {a.at(other), true}}) != none {
				return false
			}
		}
	}
	return true
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
