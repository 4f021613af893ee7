package subsume

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// edits tries values made around the places at which two schemas differ: one for the subschemas there, extended by what the schemas around them
// require. Values that are made without regard to a difference deep inside of a schema seldom show it. It returns a value that meets the goal, or nil.
func (t *trial) edits(a, b site) *schema.Node {
	d := &descent{trial: t, searches: mostSearched}
	if v := d.value(a, b, nil); v != nil && t.try(v) {
		return v
	}
	return nil
}

// descent is the state of edits on its way down to the places at which the schemas differ.
type descent struct {
	*trial
	searches int                      // how many are left, of mostSearched
	entered  map[[2]*schema.Node]bool // pairs of schemas on the way down: one that contains itself is not entered again
}

// value is a value that a accepts and b does not, and that meets the goal more, too; nil if none is found. If possible it contains a value that shows the difference of
// the part that was edited.
func (d *descent) value(a, b site, more goal) *schema.Node {
	pair := [2]*schema.Node{a.node, b.node}
	if d.searches <= 0 || d.entered[pair] || same(a, b) {
		return nil
	}
	if d.entered == nil {
		d.entered = map[[2]*schema.Node]bool{}
	}
	d.entered[pair] = true
	defer delete(d.entered, pair)
	g := goal{{a, true}, {b, false}}.and(more)
	for _, e := range edited(a, b) {
		if v := d.below(a, e, g); v != nil {
			return v
		}
	}
	return d.search(g)
}

// below is a value that meets g because of an edit in a keyword of a.
func (d *descent) below(a site, e edit, g goal) *schema.Node {
	containing, nested := d.container(a, e)
	if !nested {
		if v := d.value(e.a, e.b, g); v != nil {
			return v
		}
		return d.value(e.b, e.a, g)
	}
	v := d.value(e.a, e.b, nil)
	if v == nil {
		return nil
	}
	return d.search(containing(v).and(g))
}

// container returns the goal of a value that contains a part where the keyword of a applies the edited schema; nested is false if the keyword applies it
// to the value itself.
func (d *descent) container(a site, e edit) (containing func(part *schema.Node) goal, nested bool) {
	switch e.keyword {
	case "properties", "patternProperties", "additionalProperties", "unevaluatedProperties":
		return func(part *schema.Node) goal { return d.property(d.nameFor(a, e.keyword, e.key), part) }, true
	case "propertyNames":
		return func(part *schema.Node) goal { return d.property(part.Text, nil) }, true
	case "items", "prefixItems", "additionalItems", "contains", "unevaluatedItems":
		return func(part *schema.Node) goal {
			return goal{d.written("type", text("array"), true), d.written("contains", d.constant(part).node, true)}
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
	if v := solved(g); v != nil {
		return v.Text
	}
	return "another"
}

// search looks for a value with few steps.
func (d *descent) search(g goal) *schema.Node {
	if d.searches--; d.searches < 0 {
		return nil
	}
	return solved(g)
}

// solved is a value that meets g, found with few steps.
func solved(g goal) *schema.Node {
	s := newSolver(unbounded)
	s.allow(searchSteps)
	if o := s.value(g); o.answer == some {
		return o.value
	}
	return nil
}

// edit is a schema in a keyword of two schemas, in its two versions.
type edit struct {
	keyword, key string // the key is its name or position, as in subschemas
	a, b         site
}

// edited are the schemas that differ in the keywords that two schemas have in common, as far as the values of a keyword have schemas of the same names.
func edited(a, b site) (all []edit) {
	for _, m := range keywordsOf(a) {
		if other := b.get(m.Key); other != nil && !newEquality().values(m.Key, a, m.Value, b, other) {
			all = append(all, editedIn(m.Key, a, m.Value, b, other)...)
		}
	}
	return all
}

// editedIn are the schemas that differ in the values of one keyword, sorted by their keys.
func editedIn(keyword string, a site, x *schema.Node, b site, y *schema.Node) (all []edit) {
	if keyword == "$ref" {
		to, ok := a.follow(x)
		too, fine := b.follow(y)
		if !ok || !fine {
			return nil
		}
		return []edit{{keyword, "", to, too}}
	}
	each, others := subschemas(keyword, x), subschemas(keyword, y)
	for _, key := range slices.Sorted(maps.Keys(each)) {
		x, y := each[key], others[key]
		if y == nil || len(each) != len(others) || x.Kind == schema.Array || y.Kind == schema.Array {
			return nil
		}
		if !same(a.at(x), b.at(y)) {
			all = append(all, edit{keyword, key, a.at(x), b.at(y)})
		}
	}
	return all
}

var emptyObject = &schema.Node{Kind: schema.Object}
