package subsume

import (
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// edits tries values of the one place in which two schemas differ, nested as the schemas around it are: an edit deep inside of a schema is
// seldom met by values that are made without knowing of it. It returns one that meets the goal, or nil.
func (t *trial) edits(a, b site) *schema.Node {
	var found *schema.Node
	for _, v := range t.edited(a, b, map[*schema.Node]bool{}) {
		if found == nil && t.try(v) {
			found = v
		}
	}
	return found
}

// edited are the values that one of two schemas accepts and the other does not, as far as they are found at the place of the edit.
func (t *trial) edited(a, b site, met map[*schema.Node]bool) (all []*schema.Node) {
	if met[a.node] || same(a, b) {
		return nil
	}
	met[a.node] = true
	keyword, inner := differing(a, b)
	if len(inner) == 0 {
		return t.between(a, b)
	}
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		for _, v := range t.edited(inner[key][0], inner[key][1], met) {
			all = append(all, nested(keyword, key, v))
		}
	}
	return all
}

// between are a value that only a accepts, and one that only b does.
func (t *trial) between(a, b site) (all []*schema.Node) {
	for _, g := range []goal{{{a, true}, {b, false}}, {{b, true}, {a, false}}} {
		s := newSolver(4)
		s.steps = mostSteps - partSteps
		if o := s.value(g); o.answer == some {
			all = append(all, o.value)
		}
	}
	return all
}

// differing is the one keyword in which two schemas differ, and the schemas under it that do, if both have them under the same names.
func differing(a, b site) (keyword string, inner map[string][2]site) {
	members := keywordsOf(a)
	if len(members) != len(keywordsOf(b)) {
		return "", nil
	}
	for _, m := range members {
		other := b.get(m.Key)
		if other != nil && newComparison().values(m.Key, a, m.Value, b, other) {
			continue
		}
		if other == nil || keyword != "" {
			return "", nil
		}
		keyword, inner = m.Key, under(m.Key, a, m.Value, b, other)
	}
	return keyword, inner
}

// under are the schemas that differ in the values of a keyword; nothing if those have not the same names.
func under(keyword string, a site, x *schema.Node, b site, y *schema.Node) map[string][2]site {
	if keyword == "$ref" {
		to, ok := a.follow(x)
		too, fine := b.follow(y)
		if !ok || !fine {
			return nil
		}
		return map[string][2]site{"": {to, too}}
	}
	each, others := subschemas(keyword, x), subschemas(keyword, y)
	inner := map[string][2]site{}
	for key, x := range each {
		y := others[key]
		if y == nil || len(each) != len(others) || x.Kind == schema.Array || y.Kind == schema.Array {
			return nil
		}
		if !same(a.at(x), b.at(y)) {
			inner[key] = [2]site{a.at(x), b.at(y)}
		}
	}
	return inner
}

// nested is a value that has v where a keyword looks for it.
func nested(keyword, key string, v *schema.Node) *schema.Node {
	switch keyword {
	case "properties":
		return with(&schema.Node{Kind: schema.Object}, key, v)
	case "additionalProperties", "unevaluatedProperties":
		return with(&schema.Node{Kind: schema.Object}, "another", v)
	case "items", "contains", "unevaluatedItems":
		return &schema.Node{Kind: schema.Array, Items: []*schema.Node{v}}
	}
	return v
}
