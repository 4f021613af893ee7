package subsume

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// edits tries values made around the only place at which two schemas differ: one for the subschemas there, extended by what the schemas around them
// require. Values that are made without regard to a difference deep inside of a schema seldom show it. It returns a value that meets the goal, or nil.
func (t *trial) edits(a, b site) *schema.Node {
	d := &descent{trial: t, left: mostSearched}
	if v := d.value(a, b, nil); v != nil && t.try(v) {
		return v
	}
	return nil
}

// descent is the state of edits on its way down to the place at which the schemas differ.
type descent struct {
	*trial
	left    int                      // of mostSearched
	entered map[[2]*schema.Node]bool // pairs of schemas on the way down: one that contains itself is not entered again
}

// value is a value that a accepts, b does not, and that meets more; nil if none is found. If possible it contains a value that shows the difference of
// the part that was edited.
func (d *descent) value(a, b site, more goal) *schema.Node {
	pair := [2]*schema.Node{a.node, b.node}
	if d.left <= 0 || d.entered[pair] || same(a, b) {
		return nil
	}
	if d.entered == nil {
		d.entered = map[[2]*schema.Node]bool{}
	}
	d.entered[pair] = true
	defer delete(d.entered, pair)
	g := goal{{a, true}, {b, false}}.and(more)
	keyword, inner := differing(a, b)
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		if v := d.below(a, keyword, key, inner[key], g); v != nil {
			return v
		}
	}
	return d.search(g)
}

// below is a value that meets g because of the two versions (inner) of one schema in a keyword.
func (d *descent) below(a site, keyword, key string, inner [2]site, g goal) *schema.Node {
	part, ok := d.around(a, keyword, key)
	if !ok {
		if v := d.value(inner[0], inner[1], g); v != nil {
			return v
		}
		return d.value(inner[1], inner[0], g)
	}
	v := d.value(inner[0], inner[1], nil)
	if v == nil {
		return nil
	}
	return d.search(part(v).and(g))
}

// around returns the goal of a value that has the part v at the place to which the keyword of a applies its schema; ok is false if the keyword applies
// its schema to the value itself.
func (d *descent) around(a site, keyword, key string) (part func(v *schema.Node) goal, ok bool) {
	switch keyword {
	case "properties", "patternProperties", "additionalProperties", "unevaluatedProperties":
		return func(v *schema.Node) goal { return d.property(d.nameFor(a, keyword, key), v) }, true
	case "propertyNames":
		return func(v *schema.Node) goal { return d.property(v.Text, nil) }, true
	case "items", "prefixItems", "additionalItems", "contains", "unevaluatedItems":
		return func(v *schema.Node) goal {
			return goal{d.written("type", text("array"), true), d.written("contains", d.constant(v).node, true)}
		}, true
	}
	return nil, false
}

// property is the goal of an object with a property whose value is v, or any if v is nil.
func (d *descent) property(name string, v *schema.Node) goal {
	required := &schema.Node{Kind: schema.Array, Items: []*schema.Node{text(name)}}
	g := goal{d.written("type", text("object"), true), d.written("required", required, true)}
	if v != nil {
		g = append(g, d.written("properties", &schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: name, Value: d.constant(v).node}}}, true))
	}
	return g
}

// nameFor is the name of a property to which the keyword applies its schema.
func (d *descent) nameFor(a site, keyword, key string) string {
	g := goal{d.written("type", text("string"), true)}
	switch keyword {
	case "properties":
		return key
	case "patternProperties":
		g = append(g, d.written("pattern", text(key), true))
	default:
		var named []*schema.Node
		for _, word := range []string{"properties", "patternProperties"} {
			for _, key := range slices.Sorted(maps.Keys(subschemas(word, cmp.Or(a.get(word), emptyObject)))) {
				if word == "properties" {
					named = append(named, text(key))
				} else {
					g = append(g, d.written("pattern", text(key), false))
				}
			}
		}
		g = append(g, d.noneOf(named))
	}
	if names := a.get("propertyNames"); names != nil {
		g = append(g, literal{a.at(names), true})
	}
	if v := d.search(g); v != nil {
		return v.Text
	}
	return "another"
}

// search looks for a value with few steps.
func (d *descent) search(g goal) *schema.Node {
	if d.left--; d.left < 0 {
		return nil
	}
	s := newSolver(unbounded)
	s.steps = mostSteps - searchSteps
	if o := s.value(g); o.answer == some {
		return o.value
	}
	return nil
}

// differing is the only keyword in which two schemas differ, with the pairs of schemas in its values that differ, if both values have schemas of the same
// names; empty if they differ in more.
func differing(a, b site) (keyword string, inner map[string][2]site) {
	members := keywordsOf(a)
	if len(members) != len(keywordsOf(b)) {
		return "", nil
	}
	for _, m := range members {
		other := b.get(m.Key)
		if other != nil && newEquality().values(m.Key, a, m.Value, b, other) {
			continue
		}
		if other == nil || keyword != "" {
			return "", nil
		}
		keyword, inner = m.Key, under(m.Key, a, m.Value, b, other)
	}
	return keyword, inner
}

// under are the pairs of schemas that differ in the values of a keyword; nil if their names are not the same.
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

var emptyObject = &schema.Node{Kind: schema.Object}
