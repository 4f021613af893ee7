package subsume

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// The forms of an anyOf or oneOf around an edit hide it from most values: another form accepts them as well. So values that tell the edited part apart
// are put into what is around it, and varied there, one property at a time, until the whole is told apart. No choices are followed on the way.
const (
	mostVaried = 10_000 // values
	mostApart  = 4      // values for each direction that go on to what is around
	mostBases  = 24     // values that are varied
)

// variation climbs from the place of an edit to the schemas around it.
type variation struct {
	*descent
	told   map[[2]*schema.Node][]*schema.Node // what tells two schemas apart
	varied int                                // values
}

// variations tries values made around the one place in which two schemas differ. It returns one that meets the goal, or nil.
func (t *trial) variations(a, b site) *schema.Node {
	v := &variation{descent: &descent{trial: t, left: mostSearched}, told: map[[2]*schema.Node][]*schema.Node{}}
	for _, found := range v.apart(a, b) {
		if t.try(found) {
			return found
		}
	}
	return nil
}

// apart are values of which a and b say different things.
func (v *variation) apart(a, b site) []*schema.Node {
	pair := [2]*schema.Node{a.node, b.node}
	if all, known := v.told[pair]; known || same(a, b) {
		return all
	}
	v.told[pair] = nil // where the schemas hold themselves
	var bases []*schema.Node
	keyword, inner := differing(a, b)
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		part, outside := v.around(a, keyword, key)
		for _, base := range v.apart(inner[key][0], inner[key][1]) {
			if !outside {
				bases = append(bases, base)
			} else {
				bases = append(bases, v.holding(a, b, part(base))...)
			}
		}
	}
	if len(bases) == 0 {
		bases = v.holding(a, b, nil)
	}
	v.told[pair] = v.vary(a, b, bases)
	return v.told[pair]
}

// holding are values that meet more and tell a from b, one for each direction, or else any that meets more.
func (v *variation) holding(a, b site, more goal) (all []*schema.Node) {
	for _, holds := range []bool{true, false} {
		if found := v.search(goal{{a, holds}, {b, !holds}}.and(more)); found != nil {
			all = append(all, found)
		}
	}
	if len(all) == 0 {
		if found := v.search(more); found != nil {
			all = append(all, found)
		}
	}
	return all
}

// vary returns the bases that tell a from b, and variations of them that do, some for each direction.
func (v *variation) vary(a, b site, bases []*schema.Node) (all []*schema.Node) {
	forms := append(a.forms(), b)
	named := properties(forms)
	known, found := map[string]bool{}, map[bool]int{}
	var kept []*schema.Node
	add := func(n *schema.Node) {
		if v.varied++; v.varied > mostVaried || len(kept) >= mostBases || found[true]+found[false] == 2*mostApart {
			return
		}
		said := v.said(forms, n)
		if known[said] {
			return
		}
		known[said], kept = true, append(kept, n)
		held, other := v.accepts(a, n), v.accepts(b, n)
		if held != other && found[held] < mostApart {
			found[held]++
			all = append(all, n)
		}
	}
	for _, n := range bases {
		add(n)
	}
	for i := 0; i < len(kept); i++ {
		if kept[i].Kind != schema.Object {
			continue
		}
		for _, m := range named {
			add(with(kept[i], m.Key, m.Value))
		}
		for _, m := range kept[i].Members {
			add(without(kept[i], m.Key))
		}
	}
	return all
}

// said is what each form says of a value.
func (v *variation) said(forms []site, n *schema.Node) string {
	said := make([]byte, len(forms))
	for i, form := range forms {
		if v.accepts(form, n) {
			said[i] = 1
		}
	}
	return string(said)
}

func (v *variation) accepts(s site, n *schema.Node) bool {
	v.steps = mostSteps - partSteps
	ok, err := v.holds(s, n)
	return ok && err == nil
}

// forms are s and the schemas that it applies to the same value.
func (s site) forms() []site {
	return s.inPlace(nil, mostProbes, func(string) bool { return true })
}

// properties are values for the properties that the forms name: simple ones, and those that they list.
func properties(forms []site) (all []schema.Member) {
	add := func(name string, values ...*schema.Node) {
		for _, n := range values {
			if !slices.ContainsFunc(all, func(m schema.Member) bool { return m.Key == name && schema.Equal(m.Value, n) }) {
				all = append(all, schema.Member{Key: name, Value: n})
			}
		}
	}
	for _, form := range forms {
		for _, m := range cmp.Or(form.get("properties"), nothingNamed).Members {
			add(m.Key, simple...)
			add(m.Key, cmp.Or(m.Value.Get("enum"), nothingNamed).Items...)
			if c := m.Value.Get("const"); c != nil {
				add(m.Key, c)
			}
		}
		for _, n := range cmp.Or(form.get("required"), nothingNamed).Items {
			add(n.Text, simple...)
		}
	}
	return all
}

// without is an object without one of its properties.
func without(object *schema.Node, name string) *schema.Node {
	return &schema.Node{Kind: schema.Object, Members: slices.DeleteFunc(slices.Clone(object.Members), func(m schema.Member) bool { return m.Key == name })}
}
