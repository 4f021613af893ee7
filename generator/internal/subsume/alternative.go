package subsume

import (
	"maps"
	"math"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// alternative is a schema of a oneOf, with simple restrictions by which it may exclude others.
type alternative struct {
	node   *schema.Node
	values scalars            // the only values it accepts
	tags   map[string]scalars // for a property, the only values it accepts
	needs  map[string]bool    // properties that it requires
	every  bool               // it plainly accepts every value of the kind
}

// scalars are values that are no arrays or objects, by their kind and text. Nil stands for any value.
type scalars map[scalar]bool

type scalar struct {
	kind schema.Kind
	text string
}

// oneOf demands that one schema holds and no other; negated, that none holds or that two do. Of two schemas that plainly exclude each other nothing is
// demanded.
func (a atom) oneOf() choice {
	c := never
	if !a.holds {
		c = a.all(a.value.Items, false)
	}
	all := a.alternatives()
	if i := slices.IndexFunc(all, func(one alternative) bool { return one.every }); i >= 0 {
		return a.noOther(slices.Delete(all, i, i+1))
	}
	for i, one := range all {
		o := option{that(a.sub(one.node, true))}
		for j, other := range all {
			switch {
			case i == j || one.excludes(other):
			case a.holds:
				o = append(o, that(a.sub(other.node, false)))
			case i < j:
				c = append(c, option{that(a.sub(one.node, true)), that(a.sub(other.node, true))})
			}
		}
		if a.holds {
			c = append(c, o)
		}
	}
	return c
}

// noOther is oneOf where a schema holds for every value: then none of the others may hold.
func (a atom) noOther(others []alternative) choice {
	c, o := never, option{}
	for _, other := range others {
		if other.every {
			return nothing(atom{holds: !a.holds})
		}
		c, o = append(c, option{that(a.sub(other.node, true))}), append(o, that(a.sub(other.node, false)))
	}
	if a.holds {
		return choice{o}
	}
	return c
}

// alternatives returns the schemas of a oneOf that may accept a value of the kind.
func (a atom) alternatives() (all []alternative) {
	required := a.requiredBeside()
	for _, n := range a.value.Items {
		c := alternative{node: n, tags: map[string]scalars{}, needs: maps.Clone(required)}
		parts := a.at(n).parts()
		if !slices.ContainsFunc(parts, func(p site) bool { return !p.mayBe(a.kind) }) {
			c.every = !slices.ContainsFunc(parts, func(p site) bool { return p.limits(a.kind) })
			for _, p := range parts {
				c.describe(p, a.kind)
			}
			all = append(all, c)
		}
	}
	return all
}

// requiredBeside are the properties that the schema around a oneOf requires: where the oneOf has to hold, that schema has to hold, too.
func (a atom) requiredBeside() map[string]bool {
	all := map[string]bool{}
	if required := a.get("required"); a.holds && a.kind == schema.Object && required.Is(schema.Array) {
		for _, n := range required.Items {
			all[n.Text] = true
		}
	}
	return all
}

// limits reports whether a schema may refuse a value of the kind by itself, without the schemas of its references and allOf.
func (s site) limits(kind schema.Kind) bool {
	if s.node.Is(schema.Bool) {
		return s.node.Text == "false"
	}
	return slices.ContainsFunc(keywordsOf(s), func(m schema.Member) bool {
		switch k, known := keywords[m.Key]; {
		case !known:
			return true
		case m.Key == "type":
			return len(atom{s, m.Value, kind, false}.types()) > 0
		case m.Key == "$ref":
			_, leads := s.follow(m.Value)
			return !leads
		default:
			return m.Key != "allOf" && (k.any || k.kind == kind)
		}
	})
}

// parts returns the schemas that hold where s does: itself, and those that its references and allOf lead to.
func (s site) parts() []site {
	return s.inPlace(nil, math.MaxInt, func(keyword string) bool { return keyword == "$ref" || keyword == "allOf" })
}

// inPlace adds to before s and the schemas that it applies to the same value by the keywords that follows selects, up to most in all.
func (s site) inPlace(before []site, most int, follows func(keyword string) bool) []site {
	if len(before) >= most || slices.ContainsFunc(before, func(p site) bool { return p.node == s.node }) {
		return before
	}
	all := append(before, s)
	for _, m := range keywordsOf(s) {
		if !follows(m.Key) {
			continue
		}
		switch m.Key {
		case "$ref":
			if target, ok := s.follow(m.Value); ok {
				all = target.inPlace(all, most, follows)
			}
		case "allOf", "anyOf", "oneOf":
			for _, n := range m.Value.Items {
				all = s.at(n).inPlace(all, most, follows)
			}
		case "dependentSchemas", "dependencies":
			for _, dependent := range m.Value.Members {
				if dependent.Value.Kind != schema.Array {
					all = s.at(dependent.Value).inPlace(all, most, follows)
				}
			}
		case "not", "if", "then", "else":
			all = s.at(m.Value).inPlace(all, most, follows)
		}
	}
	return all
}

// mayBe reports whether a schema has no type, or one that allows the kind.
func (s site) mayBe(kind schema.Kind) bool {
	for _, m := range keywordsOf(s) {
		if m.Key == "type" && len(atom{s, m.Value, kind, true}.types()) == 0 {
			return false
		}
	}
	return true
}

// describe adds the restrictions of a part of the alternative.
func (c *alternative) describe(p site, kind schema.Kind) {
	if listed := p.listed(); listed != nil {
		c.values = listed
	}
	for _, m := range keywordsOf(p) {
		switch {
		case kind != schema.Object:
		case m.Key == "required":
			for _, n := range m.Value.Items {
				c.needs[n.Text] = true
			}
		case m.Key == "properties":
			for _, property := range m.Value.Members {
				if listed := p.at(property.Value).scalars(); listed != nil {
					c.tags[property.Key] = listed
				}
			}
		}
	}
}

// scalars returns the only values that a schema accepts, if it lists them and all are scalars.
func (s site) scalars() scalars {
	for _, p := range s.parts() {
		if listed := p.listed(); listed != nil {
			return listed
		}
	}
	return nil
}

func (s site) listed() scalars {
	for _, m := range keywordsOf(s) {
		switch m.Key {
		case "const":
			return scalarsOf([]*schema.Node{m.Value})
		case "enum":
			return scalarsOf(m.Value.Items)
		}
	}
	return nil
}

func scalarsOf(values []*schema.Node) scalars {
	all := scalars{}
	for _, v := range values {
		switch v.Kind {
		case schema.Object, schema.Array:
			return nil
		case schema.Number:
			x := v.Rat()
			if x == nil {
				return nil
			}
			all[scalar{v.Kind, x.RatString()}] = true
		default:
			all[scalar{v.Kind, v.Text}] = true
		}
	}
	return all
}

// excludes reports whether no value can satisfy both alternatives, judged by the values that they list alone.
func (c alternative) excludes(other alternative) bool {
	if c.values.disjoint(other.values) {
		return true
	}
	for name, tag := range c.tags {
		if (c.needs[name] || other.needs[name]) && tag.disjoint(other.tags[name]) {
			return true
		}
	}
	return false
}

func (m scalars) disjoint(other scalars) bool {
	if m == nil || other == nil {
		return false
	}
	for v := range m {
		if other[v] {
			return false
		}
	}
	return true
}
