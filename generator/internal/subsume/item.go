package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// items is what is known of an array.
type items struct {
	rules    []ranged // hold for every item of a range
	demands  []ranged // hold for some item of a range
	counts   []counted
	unique   bool
	repeated bool // two items are the same
}

// ranged is a literal for the items from first to before last.
type ranged struct {
	literal
	first, end int
}

// counted is how many items satisfy a schema.
type counted struct {
	literal
	number span
}

// ranged adds what holds for the items of a range, or that it does not for one of them.
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

// items holds for what comes after prefixItems; in draft-07 it may be the list itself, and additionalItems the rest.
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
