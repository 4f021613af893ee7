package subsume

import (
	"cmp"
	"slices"
	"strconv"

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

// variation is the state of variations on its way from the edits up to the schemas around them.
type variation struct {
	*descent                                    // for its searches
	results  map[[2]*schema.Node][]*schema.Node // results of witnesses
	varied   int                                // how many values were tried
}

// variations tries values made around the places at which two schemas differ. It returns one that meets the goal, or nil.
func (t *trial) variations(a, b site) *schema.Node {
	v := &variation{descent: &descent{trial: t, searches: mostSearched}, results: map[[2]*schema.Node][]*schema.Node{}}
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
	bases := slices.Clone(simple)
	var around []goal // of values that contain a witness of a part
	for _, e := range edited(a, b) {
		containing, nested := v.container(a, e)
		for _, base := range v.witnesses(e.a, e.b) {
			if nested {
				base, around = v.smallest(a, e, base), append(around, containing(base))
			}
			bases = append(bases, base)
		}
	}
	all := v.vary(a, b, bases)
	if len(all) == 0 {
		all = v.vary(a, b, v.searched(a, b, around))
	}
	v.results[pair] = all
	return all
}

// smallest is an object or an array that contains the part where the keyword of a applies the edited schema, and little else.
func (v *variation) smallest(a site, e edit, part *schema.Node) *schema.Node {
	switch {
	case e.keyword == "propertyNames":
		return with(emptyObject, part.Text, simple[0])
	case keywords[e.keyword].kind == schema.Object:
		return with(emptyObject, v.nameFor(a, e.keyword, e.key), part)
	}
	position, _ := strconv.Atoi(e.key) // 0 if all items have one schema
	return &schema.Node{Kind: schema.Array, Items: slices.Repeat([]*schema.Node{part}, position+1)}
}

// searched are values that meet one of the goals, if there are any, and that only one of a and b accepts, one for each direction; if there are none, any
// value that meets the goal.
func (v *variation) searched(a, b site, goals []goal) (all []*schema.Node) {
	if len(goals) == 0 {
		goals = []goal{nil}
	}
	for _, g := range goals {
		before := len(all)
		for _, direction := range []goal{{{a, true}, {b, false}}, {{a, false}, {b, true}}} {
			if found := v.search(direction.and(g)); found != nil {
				all = append(all, found)
			}
		}
		if len(all) == before {
			if found := v.search(g); found != nil {
				all = append(all, found)
			}
		}
	}
	return all
}

// variants are the variations of some values for one pair of schemas.
type variants struct {
	*variation
	a, b  site
	probe []site          // a with the schemas that it applies to the same value, and b, which differs from a in the edited ones alone
	known map[string]bool // the verdicts that some value has had
	kept  []*schema.Node  // values to vary
	found map[bool][]*schema.Node
}

// vary returns those of the bases, and of variations of them, that only one of a and b accepts, up to mostWitnesses for each direction. Of several
// that the same schemas accept it returns the first.
func (v *variation) vary(a, b site, bases []*schema.Node) []*schema.Node {
	w := &variants{variation: v, a: a, b: b, probe: append(a.applied(), b), known: map[string]bool{}, found: map[bool][]*schema.Node{}}
	for _, n := range bases {
		w.add(n, true)
	}
	values := properties(w.probe)
	for i := 0; i < len(w.kept) && !w.full(); i++ {
		base := w.kept[i]
		if base.Kind != schema.Object {
			continue
		}
		for _, m := range values {
			w.add(with(base, m.Key, m.Value), false)
		}
		for _, m := range base.Members {
			w.add(without(base, m.Key), false)
		}
		for _, n := range w.collected() { // for schemas that contain themselves
			for _, name := range namesOf(values) {
				w.add(with(base, name, n), false)
			}
		}
	}
	return w.collected()
}

// full reports whether no further value is to be tried.
func (w *variants) full() bool {
	return w.varied >= mostVaried || len(w.found[true]) == mostWitnesses && len(w.found[false]) == mostWitnesses
}

// add tries a value, and keeps it to be varied if it is a base or has verdicts of its own.
func (w *variants) add(n *schema.Node, base bool) {
	if w.full() {
		return
	}
	w.varied++
	verdicts := w.verdicts(n)
	fresh := !w.known[verdicts]
	w.known[verdicts] = true
	if (base || fresh) && len(w.kept) < mostBases {
		w.kept = append(w.kept, n)
	}
	held := w.accepts(w.a, n)
	if fresh && held != w.accepts(w.b, n) && len(w.found[held]) < mostWitnesses {
		w.found[held] = append(w.found[held], n)
	}
}

// collected are the values that were found, those that a accepts first.
func (w *variants) collected() []*schema.Node { return slices.Concat(w.found[true], w.found[false]) }

// verdicts says as a text which of the schemas accept a value.
func (w *variants) verdicts(n *schema.Node) string {
	verdicts := make([]byte, len(w.probe))
	for i, in := range w.probe {
		if w.accepts(in, n) {
			verdicts[i] = 1
		}
	}
	return string(verdicts)
}

func (v *variation) accepts(s site, n *schema.Node) bool {
	v.allow(partSteps)
	ok, err := v.holds(s, n)
	return ok && err == nil
}

// applied are s and the schemas that it applies to the same value.
func (s site) applied() []site { return s.inPlace(nil, mostProbes, anyKeyword) }

func anyKeyword(string) bool { return true }

// properties are values to try for the properties that schemas name: simple ones, and those that enum and const list.
func properties(schemas []site) (all []schema.Member) {
	add := func(name string, values ...*schema.Node) {
		for _, n := range values {
			if !slices.ContainsFunc(all, func(m schema.Member) bool { return m.Key == name && schema.Equal(m.Value, n) }) {
				all = append(all, schema.Member{Key: name, Value: n})
			}
		}
	}
	for _, in := range schemas {
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
		for _, keyword := range []string{"dependentRequired", "dependentSchemas", "dependencies"} {
			for _, m := range cmp.Or(in.get(keyword), emptyObject).Members {
				add(m.Key, simple...)
				for _, n := range m.Value.Items {
					add(n.Text, simple...)
				}
			}
		}
	}
	return all
}

// namesOf are the names of members, each once.
func namesOf(all []schema.Member) (names []string) {
	for _, m := range all {
		if !slices.Contains(names, m.Key) {
			names = append(names, m.Key)
		}
	}
	return names
}

// without is an object without one of its properties.
func without(object *schema.Node, name string) *schema.Node {
	return &schema.Node{Kind: schema.Object, Members: slices.DeleteFunc(slices.Clone(object.Members), func(m schema.Member) bool { return m.Key == name })}
}
