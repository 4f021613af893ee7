package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// term is one demand on a value: one of the fields is set.
type term struct {
	literal  *literal
	property *classDemand // the object has a property that meets this
	absent   *string      // the object has no property of that name
	note     func(*facts)
}

// option is what has to be met together, choice what has to be met by one of its options. A choice without options can not be met.
type (
	option []term
	choice []option
)

var (
	never  = choice{}
	always = choice{{}}
)

// that makes a term, has and lacks make options of one term, must and note make choices of one option.
func that(l literal) term             { return term{literal: &l} }
func note(f func(*facts)) choice      { return choice{{{note: f}}} }
func must(l literal) choice           { return choice{{that(l)}} }
func has(m classDemand) option        { return option{{property: &m}} }
func lacks(name string) option        { return option{{absent: &name}} }
func (o option) and(t ...term) option { return append(slices.Clip(o), t...) }

// facts are what is known of a value of one kind.
type facts struct {
	kind     schema.Kind
	values   []*schema.Node // the only possible values, if listed
	listed   bool
	excluded []*schema.Node
	size     span // characters, items or properties
	number   numbers
	text     texts
	array    items
	object   members
	obstacle string // a demand that facts can not express: a value may be found, but that there is none can not be concluded
}

// branch is a partial solution of a goal.
type branch struct {
	goal    goal
	taken   []literal // literals whose demands have been added
	choices []choice
	facts
}

func (s *solver) ofKind(kind schema.Kind, g goal) outcome {
	b := branch{goal: g, facts: facts{kind: kind, size: span{most: unbounded}}}
	o := make(option, len(g))
	for i, l := range g {
		o[i] = that(l)
	}
	if !s.take(&b, o) {
		return outcome{}
	}
	return s.solve(b)
}

// take adds all terms of an option to b. It is false if they contradict what b has.
func (s *solver) take(b *branch, o option) bool {
	for _, t := range o {
		switch {
		case t.literal != nil:
			if !s.takeLiteral(b, *t.literal) {
				return false
			}
		case t.property != nil:
			b.object.demands = append(b.object.demands, *t.property)
		case t.absent != nil:
			b.object.absent = append(b.object.absent, *t.absent)
		default:
			t.note(&b.facts)
		}
	}
	return true
}

func (s *solver) takeLiteral(b *branch, l literal) bool {
	s.steps++
	if l.node.Kind == schema.Bool {
		return (l.node.Text == "true") == l.holds
	}
	for _, m := range b.taken {
		if m.node == l.node && m.holds == l.holds {
			return true
		}
		if m.holds != l.holds && s.alike(m.site, l.site) {
			return false
		}
	}
	b.taken = append(b.taken, l)
	for _, c := range s.demandsOf(l, b.kind) {
		if len(c) == 1 {
			if !s.take(b, c[0]) {
				return false
			}
			continue
		}
		b.choices = append(b.choices, c)
	}
	return true
}

// alike caches same.
func (s *solver) alike(a, b site) bool {
	pair := [2]*schema.Node{a.node, b.node}
	is, known := s.same[pair]
	if !known {
		is = a.dialect() == b.dialect() && same(a, b)
		s.same[pair] = is
	}
	return is
}

// solve looks for a value that meets the goal of a branch: it adds the terms that are forced, then follows the options of one choice. When no choice
// is left, the branch is a leaf.
func (s *solver) solve(b branch) outcome {
	if s.spent() {
		return s.undecided(tooMany)
	}
	for {
		if b.listed {
			return s.listed(b)
		}
		if s.contradicts(&b.facts) {
			return outcome{}
		}
		forced, ok := s.narrow(&b)
		switch {
		case !ok || !s.take(&b, forced):
			return outcome{}
		case len(forced) > 0:
		case len(b.choices) == 0:
			return s.leaf(b)
		default:
			return s.each(b)
		}
	}
}

// narrow drops the options that can not be met any more. Choices with one option left are removed, and forced has the terms of these options;
// ok is false if a choice has none left.
func (s *solver) narrow(b *branch) (forced option, ok bool) {
	var open []choice
	for _, c := range b.choices {
		c = slices.DeleteFunc(slices.Clone(c), func(o option) bool { return !s.possible(b, o) })
		switch len(c) {
		case 0:
			return nil, false
		case 1:
			forced = append(forced, c[0]...)
		default:
			open = append(open, c)
		}
	}
	b.choices = open
	return forced, true
}

// possible takes a step for each term of o, and reports whether none plainly contradicts b.
func (s *solver) possible(b *branch, o option) bool {
	for _, t := range o {
		s.steps++
		switch {
		case t.literal != nil:
			if t.literal.node.Kind == schema.Bool && (t.literal.node.Text == "true") != t.literal.holds {
				return false
			}
			if slices.ContainsFunc(b.taken, func(m literal) bool { return m.holds != t.literal.holds && s.alike(m.site, t.literal.site) }) {
				return false
			}
		case t.absent != nil:
			if b.object.needs(*t.absent) {
				return false
			}
		case t.property != nil:
			if name, exact := t.property.exact(); exact && !s.canHave(&b.object, name, t.property.value) {
				return false
			}
		}
	}
	return true
}

// each follows the options of the smallest choice, the cheapest first.
func (s *solver) each(b branch) outcome {
	next := 0
	for i, c := range b.choices {
		if len(c) < len(b.choices[next]) {
			next = i
		}
	}
	c := b.choices[next]
	slices.SortStableFunc(c, func(o, p option) int { return o.cost() - p.cost() })
	b.choices = slices.Delete(b.choices, next, next+1)
	result := outcome{}
	for _, o := range c {
		way := b.fork()
		if !s.take(&way, o) {
			continue
		}
		switch o := s.solve(way); o.answer {
		case some:
			return o
		case unsure:
			result = o
		}
	}
	return result
}

// cost estimates how expensive an option is: 0 without a demand for a property, 1 with one for a property of a given name, 2 with one whose name has
// to be searched for.
func (o option) cost() (n int) {
	for _, t := range o {
		if t.property == nil {
			continue
		}
		if _, exact := t.property.exact(); exact {
			n = max(n, 1)
		} else {
			n = max(n, 2)
		}
	}
	return n
}

// fork returns a copy of b that can be extended without changing b.
func (b branch) fork() branch {
	b.taken, b.choices = slices.Clip(b.taken), slices.Clip(b.choices)
	b.object.demands, b.object.absent = slices.Clip(b.object.demands), slices.Clip(b.object.absent)
	return b
}

// listed tries the values that an enum or const leaves.
func (s *solver) listed(b branch) outcome {
	return s.first(b.goal, slices.DeleteFunc(slices.Clone(b.values), func(v *schema.Node) bool { return v.Kind != b.kind })...)
}

// leaf looks for a value that fits the facts of b.
func (s *solver) leaf(b branch) outcome {
	switch b.kind {
	case schema.Null:
		return s.first(b.goal, &schema.Node{})
	case schema.Bool:
		return s.first(b.goal, &schema.Node{Kind: schema.Bool, Text: "false"}, &schema.Node{Kind: schema.Bool, Text: "true"})
	case schema.Number:
		return s.number(b)
	case schema.String:
		return s.text(b)
	case schema.Array:
		return s.array(b)
	}
	return s.object(b)
}

// contradicts reports whether no value can fit the facts, as far as a cheap test shows.
func (s *solver) contradicts(f *facts) bool {
	return f.size.empty() || f.kind == schema.Number && f.number.empty() || f.kind == schema.String && f.text.empty(f.size) ||
		f.kind == schema.Object && s.contradictory(&f.object)
}

// allowOnly narrows the possible values to these.
func (f *facts) allowOnly(values []*schema.Node) {
	if f.listed {
		values = slices.DeleteFunc(slices.Clone(f.values), func(v *schema.Node) bool {
			return !slices.ContainsFunc(values, func(o *schema.Node) bool { return schema.Equal(v, o) })
		})
	}
	f.values, f.listed = values, true
}

func (f *facts) exclude(values []*schema.Node) {
	for _, v := range values {
		if v.Kind == f.kind {
			f.excluded = append(slices.Clip(f.excluded), v)
		}
	}
}

// span is a range of sizes, both ends included.
type span struct{ least, most int }

const unbounded = 1 << 30

func (s span) empty() bool      { return s.least > s.most }
func (s span) and(t span) span  { return span{max(s.least, t.least), min(s.most, t.most)} }
func (s span) holds(n int) bool { return s.least <= n && n <= s.most }

// because is the reason why a leaf is undecided: its obstacle, or else why.
func (f *facts) because(why string) string {
	if f.obstacle != "" {
		return f.obstacle
	}
	return why
}
