package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Where the search takes too many steps, a value may still be found by trying: values for the parts of the schemas, and objects and arrays of them.
// Of several values that the same parts accept, only one is used. That none is found proves nothing.
const (
	mostTried  = 3_000 // values
	mostKept   = 60    // values from which objects and arrays are made
	mostProbes = 80    // parts of the schemas
	partSteps  = 2_000 // steps of the search for a value of one part
	mostRounds = 4     // each makes values that are nested one level deeper
	mostNames  = 12
)

// trial is the state of trying values for a goal.
type trial struct {
	*solver
	goal   goal
	probes []site
	names  []string
	kept   []*schema.Node
	known  map[string]bool // for each kept value, which probes accept it: the verdicts, as a text
	tried  int
}

// tried returns a value that meets g, or nil.
func tried(g goal) *schema.Node {
	t := &trial{solver: newSolver(2), goal: g, known: map[string]bool{}}
	for _, l := range g {
		t.collect(l.site)
	}
	t.names = append(t.names, "another")
	if len(g) == 2 {
		if v := t.edits(g[0].site, g[1].site); v != nil {
			return v
		}
		if v := t.variations(g[0].site, g[1].site); v != nil {
			return v
		}
	}
	if v := t.seeds(); v != nil {
		return v
	}
	for range mostRounds {
		before := len(t.kept)
		if v := t.round(); v != nil || t.tried > mostTried || len(t.kept) == before {
			return v
		}
	}
	return nil
}

// collect gathers the parts of a document and the names in them.
func (t *trial) collect(in site) {
	seen := map[*schema.Node]bool{}
	var walk func(n *schema.Node)
	walk = func(n *schema.Node) {
		if seen[n] || len(t.probes) >= mostProbes {
			return
		}
		seen[n] = true
		t.probes = append(t.probes, in.at(n))
		if properties := n.Get("properties"); properties != nil {
			for _, m := range properties.Members {
				t.name(m.Key)
			}
		}
		if required := n.Get("required"); required != nil {
			for _, item := range required.Items {
				t.name(item.Text)
			}
		}
		schema.Subschemas(n, walk)
	}
	walk(in.node)
}

func (t *trial) name(name string) {
	if !slices.Contains(t.names, name) && len(t.names) < mostNames {
		t.names = append(t.names, name)
	}
}

// simple are values that are likely to show a difference.
var simple = []*schema.Node{{}, {Kind: schema.Bool, Text: "true"}, number("0"), number("1"), number("0.5"), text(""), text("a"), {Kind: schema.Object}, {Kind: schema.Array}}

// seeds tries simple values, and for each probe a value that satisfies it, and one that does not.
func (t *trial) seeds() *schema.Node {
	for _, v := range simple {
		if t.try(v) {
			return v
		}
	}
	for _, p := range t.probes {
		for _, holds := range []bool{true, false} {
			s := newSolver(4)
			s.allow(partSteps)
			if o := s.value(goal{{p, holds}}); o.answer == some && t.try(o.value) {
				return o.value
			}
		}
	}
	return nil
}

// round makes objects and arrays from the kept values: with another value for one of their parts, or with one part more.
func (t *trial) round() *schema.Node {
	kept := slices.Clone(t.kept)
	for _, base := range kept {
		for _, v := range kept {
			if w := t.around(base, v); w != nil || t.tried > mostTried {
				return w
			}
		}
	}
	return nil
}

// around tries base with v in it: as the value of each property, or as the last item.
func (t *trial) around(base, v *schema.Node) *schema.Node {
	switch base.Kind {
	case schema.Object:
		for _, name := range t.names {
			if w := with(base, name, v); t.try(w) {
				return w
			}
		}
	case schema.Array:
		w := &schema.Node{Kind: schema.Array, Items: append(slices.Clip(base.Items), v)}
		if len(w.Items) <= 4 && t.try(w) {
			return w
		}
	}
	return nil
}

// with is a copy of an object with a property set.
func with(object *schema.Node, name string, v *schema.Node) *schema.Node {
	w := &schema.Node{Kind: schema.Object, Members: slices.Clone(object.Members)}
	if m := w.Member(name); m != nil {
		m.Value = v
	} else {
		w.Members = append(w.Members, schema.Member{Key: name, Value: v})
	}
	return w
}

// try counts v and reports whether it meets the goal. If not, v is kept, unless the same probes accept it as a value that is kept already.
func (t *trial) try(v *schema.Node) bool {
	t.tried++
	t.allow(partSteps)
	if t.sizeOf(v) > mostNodes/4 {
		return false
	}
	if t.check(t.goal, v).answer == some {
		return true
	}
	if len(t.kept) >= mostKept {
		return false
	}
	verdicts := make([]byte, len(t.probes)+1)
	for i, p := range t.probes {
		if ok, err := t.holds(p, v); ok && err == nil {
			verdicts[i] = 1
		}
	}
	verdicts[len(t.probes)] = byte(v.Kind)
	if !t.known[string(verdicts)] {
		t.known[string(verdicts)] = true
		t.kept = append(t.kept, v)
	}
	return false
}
