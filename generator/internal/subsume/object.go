package subsume

import (
	"iter"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// needs reports whether the object must have a property of that name.
func (o *members) needs(name string) bool {
	return slices.ContainsFunc(o.demands, func(d classDemand) bool { n, exact := d.exact(); return exact && n == name })
}

// of returns the goal for the value of a property.
func (o *members) of(name string) (g goal) {
	for _, r := range o.rules {
		if r.has(name) {
			g = append(g, r.value...)
		}
	}
	for _, d := range o.demands {
		if n, exact := d.exact(); exact && n == name {
			g = append(g, d.value...)
		}
	}
	return g
}

// canHave reports whether the object can have the property, with a value that also meets more.
func (s *solver) canHave(o *members, name string, more []literal) bool {
	return !slices.Contains(o.absent, name) && s.mayBeNamed(o, name) && s.value(o.of(name).and(more)).answer != none
}

func (s *solver) mayBeNamed(o *members, name string) bool {
	return s.check(o.names, text(name)).answer != none
}

// contradictory reports whether the object must have a property that it can not have.
func (s *solver) contradictory(o *members) bool {
	asked := map[string]bool{}
	return slices.ContainsFunc(o.demands, func(d classDemand) bool {
		name, exact := d.exact()
		if !exact || asked[name] {
			return false
		}
		asked[name] = true
		return !s.canHave(o, name, nil)
	})
}

// slot is a property of the object that is being made: one that the schemas mention, or a fresh one. The name of a fresh one is not chosen yet, but only
// which patterns it matches.
type slot struct {
	name  string
	fresh bool
	match []bool // which patterns its name matches, if fresh
	value goal   // of its value
	named goal   // of its name
}

// mostPatterns bounds the combinations of patterns that a name may match.
const mostPatterns = 5

// candidate is an object that is being made.
type candidate struct {
	branch
	known    []string // names of properties that the schemas mention
	patterns []string
	slots    []slot
}

// object looks for an object: first it gets the properties that it must have by name, then one for each other demand, then as many more as its least
// size requires.
func (s *solver) object(b branch) outcome {
	d := candidate{branch: b}
	d.collect()
	if len(d.patterns) > mostPatterns {
		return s.undecided("many patterns for the names of properties")
	}
	var open []classDemand
	for _, m := range b.object.demands {
		name, exact := m.exact()
		if !exact {
			open = append(open, m)
		} else if !d.uses(name) {
			d.slots = append(d.slots, slot{name: name, value: b.object.of(name)})
		}
	}
	return s.place(d, open)
}

// collect gathers the names and patterns in rules and demands.
func (d *candidate) collect() {
	add := func(all []string, more []string) []string {
		for _, x := range more {
			if !slices.Contains(all, x) {
				all = append(all, x)
			}
		}
		return all
	}
	for _, m := range slices.Concat(d.object.rules, d.object.demands) {
		d.known = add(d.known, m.listed)
		d.patterns = add(d.patterns, m.patterns)
	}
	d.known = add(d.known, d.object.absent)
}

func (d *candidate) uses(name string) bool {
	return slices.ContainsFunc(d.slots, func(s slot) bool { return !s.fresh && s.name == name })
}

// place finds a property for each demand: one that the candidate has, one that a schema mentions, or a fresh one.
func (s *solver) place(d candidate, open []classDemand) outcome {
	if s.spent() {
		return s.undecided(tooMany)
	}
	if len(d.slots) > d.size.most {
		return outcome{}
	}
	if len(open) == 0 {
		return s.complete(d)
	}
	result := outcome{}
	for way := range s.places(d, open[0]) {
		switch o := s.place(way, open[1:]); o.answer {
		case some:
			return o
		case unsure:
			result = o
		}
	}
	return result
}

// places yields copies of d, one for each property that could meet the demand; the properties that d has come first.
func (s *solver) places(d candidate, m classDemand) iter.Seq[candidate] {
	// with yields d with p as slot i, if p can meet the demand, too. It returns false when no more are wanted.
	with := func(i int, p slot, yield func(candidate) bool) bool {
		if may := p.fresh && d.matching(m.names, p.match) || !p.fresh && m.has(p.name); !may || !p.fresh && s.check(m.name, text(p.name)).answer == none {
			return true
		}
		p.value = slices.Clip(p.value).and(m.value)
		p.named = slices.Clip(p.named).and(m.name)
		if s.value(p.value).answer == none {
			return true
		}
		way := d
		way.slots = slices.Clone(d.slots)
		if i < len(way.slots) {
			way.slots[i] = p
		} else {
			way.slots = append(way.slots, p)
		}
		return yield(way)
	}
	return func(yield func(candidate) bool) {
		for i, p := range d.slots {
			if !with(i, p, yield) {
				return
			}
		}
		for _, p := range s.more(d) {
			if !with(len(d.slots), p, yield) {
				return
			}
		}
	}
}

// more returns the properties that could be added: those that schemas mention, and a fresh one for each combination of patterns.
func (s *solver) more(d candidate) (all []slot) {
	for _, name := range d.known {
		if !d.uses(name) && s.canHave(&d.object, name, nil) {
			all = append(all, slot{name: name, value: d.object.of(name)})
		}
	}
	for bits := range 1 << len(d.patterns) {
		p := slot{fresh: true}
		for i := range d.patterns {
			p.match = append(p.match, bits&(1<<i) != 0)
		}
		for _, r := range d.object.rules {
			if d.matching(r.names, p.match) {
				p.value = append(p.value, r.value...)
			}
		}
		if s.value(p.value).answer != none {
			all = append(all, p)
		}
	}
	return all
}

// matching reports whether a fresh name that matches those patterns belongs to c.
func (d *candidate) matching(c names, match []bool) bool {
	inside := slices.ContainsFunc(c.patterns, func(p string) bool { return match[slices.Index(d.patterns, p)] })
	return c.others != inside
}

// complete gives fresh properties their names, adds properties up to the least number, and makes the object.
func (s *solver) complete(d candidate) outcome {
	if d.size.least > mostItems {
		return s.undecided("an object of many properties")
	}
	taken := slices.Clone(d.known)
	d.slots = slices.Clone(d.slots)
	fresh := 0
	for i := range d.slots {
		if p := &d.slots[i]; p.fresh {
			fresh++
			o := s.name(d, *p, taken)
			switch {
			case o.answer == none && fresh > 1:
				return s.undecided("few names for several properties")
			case o.answer != some:
				return o
			}
			p.name = o.value.Text
			taken = append(taken, p.name)
		}
	}
	doubt := false
	for _, p := range s.more(d) {
		for len(d.slots) < d.size.least {
			if o := s.value(p.value); o.answer != some {
				doubt = doubt || o.answer == unsure
				break
			}
			if p.fresh {
				o := s.name(d, p, taken)
				if doubt = doubt || o.answer == unsure; o.answer != some {
					break
				}
				p.name = o.value.Text
				taken = append(taken, p.name)
			}
			d.slots = append(d.slots, p)
			if !p.fresh {
				break
			}
		}
	}
	switch {
	case len(d.slots) >= d.size.least:
		return s.build(d)
	case doubt || fresh > 0:
		return s.undecided("few names for several properties")
	}
	return outcome{}
}

// build gives every property a value, and tries the object.
func (s *solver) build(d candidate) outcome {
	v := &schema.Node{Kind: schema.Object}
	for _, p := range d.slots {
		o := s.value(p.value)
		if o.answer != some {
			return o
		}
		v.Members = append(v.Members, schema.Member{Key: p.name, Value: o.value})
	}
	if o := s.check(d.goal, v); o.answer == some {
		return o
	}
	return s.another(d, v)
}

// name looks for a name that matches the patterns of a slot, and that is not taken.
func (s *solver) name(d candidate, p slot, taken []string) outcome {
	g := slices.Clip(goal(d.object.names)).and(p.named)
	for i, matched := range p.match {
		g = append(g, s.written("pattern", text(d.patterns[i]), matched))
	}
	others := make([]*schema.Node, len(taken))
	for i, name := range taken {
		others[i] = text(name)
	}
	return s.ofKind(schema.String, append(g, s.noneOf(others)))
}

// another looks for an object near v, which meets the facts but not the goal, since an enum or const may exclude it: with another value for a property,
// or with one property more.
func (s *solver) another(d candidate, v *schema.Node) outcome {
	if len(d.excluded) == 0 {
		return s.undecided(d.because("rules for the properties of an object"))
	}
	for i, m := range v.Members {
		o := s.value(d.object.of(m.Key).and(goal{s.noneOf([]*schema.Node{m.Value})}))
		if o.answer != some {
			continue
		}
		w := &schema.Node{Kind: schema.Object, Members: slices.Clone(v.Members)}
		w.Members[i].Value = o.value
		if o := s.check(d.goal, w); o.answer == some {
			return o
		}
	}
	if len(v.Members) < min(d.size.most, mostItems) {
		d.size.least = len(v.Members) + 1
		d.excluded = nil
		if o := s.complete(d); o.answer == some {
			return o
		}
	}
	return s.undecided(d.because("an object that is excluded by itself"))
}
