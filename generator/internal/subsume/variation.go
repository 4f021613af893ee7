package subsume

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// An anyOf or oneOf around an edit hides it from most values: another of its schemas accepts them as well. So values that show the difference of the
// edited part are put into values for the schemas around it, and varied there, one property at a time, until they show the difference of the whole
// schemas. That needs no search through choices.
const (
	mostVaried    = 10_000 // values
	mostWitnesses = 4      // values for each direction that are used for the schemas around
	mostBases     = 24     // values that are varied
)

// variation is the state of variations on its way from the place of an edit up to the schemas around it.
type variation struct {
	*descent
	results map[[2]*schema.Node][]*schema.Node // results of witnesses
	varied  int                                // how many values were tried
}

// variations tries values made around the only place at which two schemas differ. It returns one that meets the goal, or nil.
func (t *trial) variations(a, b site) *schema.Node {
	v := &variation{descent: &descent{trial: t, left: mostSearched}, results: map[[2]*schema.Node][]*schema.Node{}}
	for _, found := range v.witnesses(a, b) {
		if t.try(found) {
			return found
		}
	}
	return nil
}

// witnesses are values that one of a and b accepts and the other refuses.
func (v *variation) witnesses(a, b site) []*schema.Node {
	pair := [2]*schema.Node{a.node, b.node}
	if all, known := v.results[pair]; known || same(a, b) {
		return all
	}
	v.results[pair] = nil // for schemas that contain themselves
	var bases []*schema.Node
	keyword, inner := differing(a, b)
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		part, outside := v.around(a, keyword, key)
		for _, base := range v.witnesses(inner[key][0], inner[key][1]) {
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
	v.results[pair] = v.vary(a, b, bases)
	return v.results[pair]
}

// holding are values that meet more and that only one of a and b accepts, one for each direction; if there are none, any value that meets more.
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

// vary returns those of the bases, and of variations of them, that only one of a and b accepts, up to mostWitnesses for each direction.
func (v *variation) vary(a, b site, bases []*schema.Node) (all []*schema.Node) {
	applied := append(a.applied(), b)
	named := properties(applied)
	known, found := map[string]bool{}, map[bool]int{}
	var kept []*schema.Node
	add := func(n *schema.Node) {
		if v.varied++; v.varied > mostVaried || len(kept) >= mostBases || found[true]+found[false] == 2*mostWitnesses {
			return
		}
		verdicts := v.verdicts(applied, n)
		if known[verdicts] {
			return
		}
		known[verdicts], kept = true, append(kept, n)
		held, other := v.accepts(a, n), v.accepts(b, n)
		if held != other && found[held] < mostWitnesses {
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

// verdicts says as a text which of the schemas accept a value.
func (v *variation) verdicts(applied []site, n *schema.Node) string {
	verdicts := make([]byte, len(applied))
	for i, in := range applied {
		if v.accepts(in, n) {
			verdicts[i] = 1
		}
	}
	return string(verdicts)
}

func (v *variation) accepts(s site, n *schema.Node) bool {
	v.steps = mostSteps - partSteps
	ok, err := v.holds(s, n)
	return ok && err == nil
}

// applied are s and the schemas that it applies to the same value.
func (s site) applied() []site {
	return s.inPlace(nil, mostProbes, func(string) bool { return true })
}

// properties are values to try for the properties that the schemas name: simple ones, and those that enum and const list.
func properties(applied []site) (all []schema.Member) {
	add := func(name string, values ...*schema.Node) {
		for _, n := range values {
			if !slices.ContainsFunc(all, func(m schema.Member) bool { return m.Key == name && schema.Equal(m.Value, n) }) {
				all = append(all, schema.Member{Key: name, Value: n})
			}
		}
	}
	for _, in := range applied {
		for _, m := range cmp.Or(in.get("properties"), emptyObject).Members {
			add(m.Key, simple...)
			add(m.Key, cmp.Or(m.Value.Get("enum"), emptyObject).Items...)
			if c := m.Value.Get("const"); c != nil {
				add(m.Key, c)
			}
		}
		for _, n := range cmp.Or(in.get("required"), emptyObject).Items {
			add(n.Text, simple...)
		}
	}
	return all
}

// without is an object without one of its properties.
func without(object *schema.Node, name string) *schema.Node {
	return &schema.Node{Kind: schema.Object, Members: slices.DeleteFunc(slices.Clone(object.Members), func(m schema.Member) bool { return m.Key == name })}
}
