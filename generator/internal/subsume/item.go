package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// items is what is known of an array.
type items struct {
	rules    []ranged // literals that every item of a range has to meet
	demands  []ranged // literals that some item of a range has to meet
	counts   []counted
	unique   bool
	repeated bool // two items are equal
}

// ranged is a literal for the items from first to before end.
type ranged struct {
	literal
	first, end int
}

// counted is the number of items that have to meet a literal.
type counted struct {
	literal
	number span
}

// ranged demands that n holds for every item of a range, or if the atom is negated, that it does not hold for one of them.
func (a atom) ranged(n *schema.Node, first, end int) choice {
	r := ranged{a.sub(n, a.holds), first, end}
	return note(func(f *facts) {
		if a.holds {
			f.array.rules = append(slices.Clip(f.array.rules), r)
		} else {
			f.array.demands = append(slices.Clip(f.array.demands), r)
		}
	})
}

func (a atom) prefix() choice { return a.positions(a.value.Items) }

// positions gives each of the first items its schema.
func (a atom) positions(nodes []*schema.Node) choice {
	c := never
	if a.holds {
		c = always
	}
	for i, n := range nodes {
		item := a.ranged(n, i, i+1)
		if a.holds {
			c = choice{c[0].and(item[0]...)}
		} else {
			c = append(c, item[0])
		}
	}
	return c
}

// items demands its schema of the items after prefixItems; in draft-07 it may be the list itself, and additionalItems the rest.
func (a atom) items() choice {
	if a.value.Kind != schema.Array {
		return a.ranged(a.value, len(a.prefixes()), unbounded)
	}
	c := a.positions(a.value.Items)
	rest := a.get("additionalItems")
	if rest == nil {
		return c
	}
	other := a.ranged(rest, len(a.value.Items), unbounded)
	if a.holds {
		return choice{c[0].and(other[0]...)}
	}
	return append(c, other...)
}

func (a atom) prefixes() []*schema.Node {
	if n := a.get("prefixItems"); n != nil && a.dialect() == schema.Draft2020 {
		return n.Items
	}
	return nil
}

func (a atom) unique() choice {
	switch {
	case a.value.Text != "true":
		return nothing(a)
	case a.holds:
		return note(func(f *facts) { f.array.unique = true })
	}
	return note(func(f *facts) { f.array.repeated = true })
}

func (a atom) contains() choice {
	number := span{1, unbounded}
	if a.dialect() == schema.Draft2020 {
		if n := a.get("minContains"); n != nil {
			number.least = count(n)
		}
		if n := a.get("maxContains"); n != nil {
			number.most = count(n)
		}
	}
	add := func(number span) option {
		c := counted{a.sub(a.value, true), number}
		return option{{note: func(f *facts) { f.array.counts = append(slices.Clip(f.array.counts), c) }}}
	}
	if a.holds {
		return choice{add(number)}
	}
	c := never
	if number.least > 0 {
		c = append(c, add(span{0, number.least - 1}))
	}
	if number.most < unbounded {
		c = append(c, add(span{number.most + 1, unbounded}))
	}
	return c
}
