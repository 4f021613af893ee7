package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// included reports whether b accepts all that a accepts, as far as a comparison keyword by keyword shows: each keyword
// of b is in a as well, as strict or stricter, if the keyword is one by which a stricter part makes the whole stricter. Two parts that are written
// differently are searched for a value that a accepts and b does not, each by itself and with few steps. False means that nothing is known. So an edit
// of one keyword deep inside of recursive schemas is decided locally.
//
// A pair of schemas that is met again below itself is assumed to be included: the value there is smaller, since references alone do not form a circle
// (ref-circle). Results that rest on such an assumption are dropped if it turns out wrong.
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
	taken [][2]*schema.Node        // the pairs that are true in met, in order
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
		return sameUnevaluated(a, b) && c.schemas(a.at(x), b.at(y))
	}
	plain := newComparison()
	for _, with := range companions[keyword] {
		if !plain.optional(with, a, b) {
			return false
		}
	}
	return plain.values(keyword, a, x, b, y)
}

// companions are the keywords that must be the same beside a keyword.
var companions = map[string][]string{"contains": {"minContains", "maxContains"}, "additionalItems": {"items"}}

// optional reports whether a keyword is in both schemas with the same value, or in neither.
func (c *comparison) optional(keyword string, a, b site) bool {
	x, y := a.get(keyword), b.get(keyword)
	return (x == nil) == (y == nil) && (x == nil || c.values(keyword, a, x, b, y))
}

// evaluators are keywords that decide which properties and items are unevaluated.
var evaluators = []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "contains", "minContains", "maxContains"}

// sameUnevaluated reports whether the same properties and items are unevaluated in both schemas: that the schemas of named properties and items
// differ makes no difference.
func sameUnevaluated(a, b site) bool {
	plain := newComparison()
	both := func(keyword string) bool { return (a.get(keyword) == nil) == (b.get(keyword) == nil) }
	return !slices.ContainsFunc(evaluators, func(keyword string) bool { return !plain.optional(keyword, a, b) }) &&
		sameKeys(a.get("properties"), b.get("properties")) && sameKeys(a.get("patternProperties"), b.get("patternProperties")) &&
		both("additionalProperties") && both("items") && samePrefix(a, b, "prefixItems")
}

// alike reports whether two schemas accept the same.
func (c *inclusion) alike(a, b site) bool { return c.schemas(a, b) && c.schemas(b, a) }

// optional compares schemas that may be missing; a missing one accepts everything.
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

// named compares the schemas in y with those of the same names in x.
func (c *inclusion) named(a site, x *schema.Node, b site, y *schema.Node) bool {
	return !slices.ContainsFunc(y.Members, func(m schema.Member) bool {
		n := x.Get(m.Key)
		return n == nil || !c.schemas(a.at(n), b.at(m.Value))
	})
}

// apart reports whether no schema of a oneOf accepts more in b at the cost of another: values that it accepts now and did not accept before must
// not be accepted by any other schema of the oneOf.
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

// words are the strings of a list, or a single string.
func words(n *schema.Node) (all []string) {
	if n.Kind == schema.String {
		return []string{n.Text}
	}
	for _, item := range n.Items {
		all = append(all, item.Text)
	}
	return all
}

// contained reports whether each of values is among the others.
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
