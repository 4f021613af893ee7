package subsume

import (
	"fmt"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// included reports whether b plainly accepts all that a accepts: whether each keyword of b is in a as well, with the same value or, for keywords that
// become stricter with their parts, with stricter parts. Two subschemas that are written differently are decided by a search of their own, with few
// steps. False means that nothing is known. So an edit of one keyword deep inside of recursive schemas is decided at the place of the edit.
//
// A pair of schemas that comes up again inside of itself is assumed to be included: the value there is smaller, since references alone do not form a
// circle (lint reports those as ref-circle). Results that rest on such an assumption are dropped if it turns out wrong.
func included(a, b site) bool {
	return a.dialect() == b.dialect() && (&inclusion{results: map[comparedAs]bool{}, searches: mostSearched, kinds: kinds}).schemas(a, b)
}

// mostSearched bounds how many pairs of parts are searched for a value, each for searchSteps.
const (
	mostSearched = 30
	searchSteps  = 50_000
)

type inclusion struct {
	results  map[comparedAs]bool // whether a pair is included, or assumed to be
	assumed  []comparedAs        // the pairs that are true in results, in order
	searches int                 // how many are left, of mostSearched
	kinds    []schema.Kind       // those that the types of the schemas around allow the value that is looked at
}

// comparedAs is a pair of schemas, with the kinds for which they are compared.
type comparedAs struct {
	a, b  *schema.Node
	kinds string
}

// schemas compares a pair for the same value as the schemas around it.
func (c *inclusion) schemas(a, b site) bool {
	defer func(around []schema.Kind) { c.kinds = around }(c.kinds)
	c.kinds = slices.DeleteFunc(slices.Clone(c.kinds), func(k schema.Kind) bool { return !a.mayBe(k) })
	pair := comparedAs{a.node, b.node, fmt.Sprint(c.kinds)}
	if included, known := c.results[pair]; known {
		return included
	}
	before := len(c.assumed)
	c.assume(pair)
	if c.plainly(a, b) {
		return true
	}
	for _, p := range c.assumed[before:] {
		delete(c.results, p)
	}
	c.assumed = c.assumed[:before]
	if c.search(goal{{a, true}, {b, false}}) == none {
		c.assume(pair)
		return true
	}
	c.results[pair] = false
	return false
}

// parts compares a pair for a part of the value, which may be of any kind.
func (c *inclusion) parts(a, b site) bool {
	defer func(around []schema.Kind) { c.kinds = around }(c.kinds)
	c.kinds = kinds
	return c.schemas(a, b)
}

func (c *inclusion) assume(pair comparedAs) {
	c.results[pair] = true
	c.assumed = append(c.assumed, pair)
}

// search looks for a value that meets a goal.
func (c *inclusion) search(g goal) answer {
	if c.searches--; c.searches < 0 {
		return unsure
	}
	s := newSolver(unbounded)
	s.allow(searchSteps)
	if len(c.kinds) < len(kinds) {
		g = append(g, s.ofKinds(c.kinds))
	}
	return s.value(g).answer
}

// plainly compares a pair keyword by keyword. Only for subschemas there may be a search.
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
		return !c.idle(b, m) && (x == nil || !c.keyword(m.Key, a, x, b, m.Value))
	})
}

// idle reports whether a keyword plainly refuses no value of the kinds.
func (c *inclusion) idle(s site, m schema.Member) bool {
	switch m.Key {
	case "type":
		return !slices.ContainsFunc(c.kinds, func(k schema.Kind) bool { return !slices.Contains(words(m.Value), k.String()) })
	case "unevaluatedProperties", "unevaluatedItems":
		return s.at(m.Value).acceptsAll()
	}
	k, known := keywords[m.Key]
	return known && !k.any && !slices.Contains(c.kinds, k.kind)
}

// keyword reports whether a keyword with the value x in a is as strict as with y in b.
func (c *inclusion) keyword(keyword string, a site, x *schema.Node, b site, y *schema.Node) bool {
	switch keyword {
	case "$ref":
		to, ok := a.follow(x)
		too, fine := b.follow(y)
		return ok && fine && c.schemas(to, too)
	case "allOf", "anyOf":
		return each(a, x, b, y, c.schemas)
	case "prefixItems":
		return each(a, x, b, y, c.parts)
	case "oneOf":
		return each(a, x, b, y, c.schemas) && c.apart(a, x, b, y)
	case "not":
		return c.schemas(b.at(y), a.at(x))
	case "if":
		return c.equivalent(a.at(x), b.at(y)) && c.optional(a.get("then"), a, b, b.get("then")) && c.optional(a.get("else"), a, b, b.get("else"))
	case "then", "else":
		return true // compared with the if beside it, and says nothing without one
	case "properties", "patternProperties":
		return eachNamed(a, x, b, y, c.parts)
	case "dependentSchemas":
		return eachNamed(a, x, b, y, c.schemas)
	case "additionalProperties":
		return sameKeys(a.get("properties"), b.get("properties")) && sameKeys(a.get("patternProperties"), b.get("patternProperties")) && c.parts(a.at(x), b.at(y))
	case "items":
		if x.Kind == schema.Array && y.Kind == schema.Array {
			return each(a, x, b, y, c.parts)
		}
		return x.Kind != schema.Array && y.Kind != schema.Array && samePrefix(a, b, "prefixItems") && c.parts(a.at(x), b.at(y))
	case "propertyNames":
		return c.parts(a.at(x), b.at(y))
	case "required":
		return contained(y.Items, x.Items)
	case "enum":
		return contained(x.Items, y.Items)
	case "type":
		return !slices.ContainsFunc(words(x), func(t string) bool {
			return !slices.Contains(words(y), t) && !(t == "integer" && slices.Contains(words(y), "number"))
		})
	case "unevaluatedProperties", "unevaluatedItems":
		return sameUnevaluated(a, b) && c.parts(a.at(x), b.at(y))
	}
	plain := newEquality()
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
func (c *equality) optional(keyword string, a, b site) bool {
	x, y := a.get(keyword), b.get(keyword)
	return (x == nil) == (y == nil) && (x == nil || c.values(keyword, a, x, b, y))
}

// evaluators are keywords that decide which properties and items are unevaluated.
var evaluators = []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "contains", "minContains", "maxContains"}

// sameUnevaluated reports whether the same properties and items are unevaluated in both schemas: that the schemas of named properties and items
// differ makes no difference.
func sameUnevaluated(a, b site) bool {
	plain := newEquality()
	both := func(keyword string) bool { return (a.get(keyword) == nil) == (b.get(keyword) == nil) }
	return !slices.ContainsFunc(evaluators, func(keyword string) bool { return !plain.optional(keyword, a, b) }) &&
		sameKeys(a.get("properties"), b.get("properties")) && sameKeys(a.get("patternProperties"), b.get("patternProperties")) &&
		both("additionalProperties") && both("items") && samePrefix(a, b, "prefixItems")
}

// equivalent reports whether two schemas accept the same.
func (c *inclusion) equivalent(a, b site) bool { return c.schemas(a, b) && c.schemas(b, a) }

// optional compares schemas that may be missing; a missing one accepts everything.
func (c *inclusion) optional(x *schema.Node, a, b site, y *schema.Node) bool {
	return y == nil || x != nil && c.schemas(a.at(x), b.at(y))
}

// each compares lists of schemas one by one.
func each(a site, x *schema.Node, b site, y *schema.Node, included func(a, b site) bool) bool {
	if len(x.Items) != len(y.Items) {
		return false
	}
	for i := range x.Items {
		if !included(a.at(x.Items[i]), b.at(y.Items[i])) {
			return false
		}
	}
	return true
}

// eachNamed compares each schema in y with the one of the same name in x.
func eachNamed(a site, x *schema.Node, b site, y *schema.Node, included func(a, b site) bool) bool {
	return !slices.ContainsFunc(y.Members, func(m schema.Member) bool {
		n := x.Get(m.Key)
		return n == nil || !included(a.at(n), b.at(m.Value))
	})
}

// apart compares the schemas of two oneOf, x and y: if one accepts more values in y than in x, no other schema of x may accept any of these values,
// because y refuses a value that two of its schemas accept.
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
