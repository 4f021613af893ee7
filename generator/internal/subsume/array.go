package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// mostItems bounds how many items a witness has.
const mostItems = 2_000

// array looks for an array: each item meets the rules of its position and some of the demands, and is counted in some of the counts.
func (s *solver) array(b branch) outcome {
	f := &b.array
	if f.unique && (f.repeated || slices.ContainsFunc(f.counts, func(c counted) bool { return s.fewer(goal{c.literal}, c.number.least) })) {
		return outcome{}
	}
	if f.repeated {
		return s.twice(b)
	}
	o := s.fill(b, nil)
	for extra := 1; o.answer == unsure && len(b.excluded) > 0 && extra < 3; extra++ { // another length, if that array is excluded
		b.size.least = max(b.size.least, extra)
		if longer := s.fill(b, nil); longer.answer == some {
			return longer
		}
	}
	return o
}

// fewer reports whether fewer than n different values meet g, for small n.
func (s *solver) fewer(g goal, n int) bool {
	var values []*schema.Node
	for range min(n, 10) {
		o := s.value(g.and(goal{s.noneOf(values)}))
		if o.answer != some {
			return o.answer == none
		}
		values = append(values, o.value)
	}
	return false
}

// twice looks for an array in which two items are equal: both have to meet the rules of both positions.
func (s *solver) twice(b branch) outcome {
	result := outcome{}
	last := b.array.boundary() + 1
	for j := 1; j <= last; j++ {
		for i := range j {
			way := b
			way.size.least = max(way.size.least, j+1)
			both := b.array.at(i).and(b.array.at(j))
			switch o := s.value(both); o.answer {
			case unsure:
				result = o
			case some:
				same := s.constant(o.value)
				if o := s.fill(way, map[int]goal{i: {same}, j: {same}}); o.answer == some {
					return o
				}
				if s.fill(way, map[int]goal{i: both, j: both}).answer != none {
					result = s.undecided("uniqueItems beside other rules for the items")
				}
			}
		}
	}
	return result
}

func (g goal) and(h goal) goal { return append(slices.Clip(g), h...) }

// boundary is the position from which on all items have the same rules.
func (f *items) boundary() (p int) {
	for _, r := range slices.Concat(f.rules, f.demands) {
		p = max(p, r.first)
		if r.end < unbounded {
			p = max(p, r.end)
		}
	}
	return p
}

// at returns the goal for the item at i.
func (f *items) at(i int) (g goal) {
	for _, r := range f.rules {
		if r.first <= i && i < r.end {
			g = append(g, r.literal)
		}
	}
	return g
}

// role is what an item does for the array beside keeping the rules: which demands it meets, and in which counts it is counted (bits of each).
type role struct{ demands, counted uint }

// filling is a way to fill the first items.
type filling struct {
	met    uint           // the demands that are met, a bit each
	counts [maxCounts]int // how many items are counted
	before *filling       // without its last item
	goal   goal           // of that item
}

const (
	maxCounts  = 4
	maxDemands = 4
)

// fill looks for items; more are additional goals by position. Of several ways with the same demands met and the same counts, one is followed.
func (s *solver) fill(b branch, more map[int]goal) outcome {
	f := &b.array
	if len(f.counts) > maxCounts || len(f.demands) > maxDemands {
		return s.undecided("many demands on the items of an array")
	}
	longest := f.boundary()
	for i := range more {
		longest = max(longest, i+1)
	}
	longest += len(f.demands)
	for _, c := range f.counts {
		longest += min(c.number.least, mostItems)
	}
	longest = min(max(longest, b.size.least), b.size.most)
	if longest > mostItems {
		return s.undecided("an array of many items")
	}
	result := outcome{}
	ways := []*filling{{}}
	for i := 0; ; i++ {
		for _, p := range ways {
			if i >= b.size.least && p.complete(f) {
				if o := s.assemble(b, p, i); o.answer != none {
					if o.answer == some {
						return o
					}
					result = o
				}
			}
		}
		if i >= longest || len(ways) == 0 {
			return result
		}
		var doubt bool
		if ways, doubt = s.extend(f, ways, i, more[i]); doubt {
			result = outcome{answer: unsure}
		}
	}
}

func (p *filling) complete(f *items) bool {
	for i, c := range f.counts {
		if !c.number.holds(p.counts[i]) {
			return false
		}
	}
	return p.met == 1<<len(f.demands)-1
}

// extend adds an item to each way. doubt says that an item was left out because the search for it was undecided.
func (s *solver) extend(f *items, ways []*filling, i int, more goal) (longer []*filling, doubt bool) {
	type signature struct {
		met    uint
		counts [maxCounts]int
	}
	seen := map[signature]bool{}
	for _, r := range f.roles(i) {
		g := f.as(i, r).and(more)
		o := s.value(g)
		doubt = doubt || o.answer == unsure
		if o.answer != some {
			continue
		}
		for _, p := range ways {
			next := &filling{met: p.met | r.demands, counts: p.counts, before: p, goal: g}
			for k, c := range f.counts {
				if r.counted&(1<<k) != 0 {
					next.counts[k]++
				}
				if next.counts[k] > c.number.most {
					next = nil
					break
				}
				next.counts[k] = min(next.counts[k], c.number.enough())
			}
			if next != nil && !seen[signature{next.met, next.counts}] {
				seen[signature{next.met, next.counts}] = true
				longer = append(longer, next)
			}
		}
	}
	return longer, doubt
}

// enough is the number from which on a larger one makes no difference.
func (s span) enough() int {
	if s.most < unbounded {
		return s.most + 1
	}
	return s.least
}

// roles returns the roles that the item at i may have: it may meet any of the demands for its position, and be in any of the counts.
func (f *items) roles(i int) (all []role) {
	open := uint(0)
	for k, d := range f.demands {
		if d.first <= i && i < d.end {
			open |= 1 << k
		}
	}
	for sides := range uint(1) << len(f.counts) {
		for demands := range open + 1 {
			if demands&^open == 0 {
				all = append(all, role{demands, sides})
			}
		}
	}
	return all
}

// as returns the goal for the item at i in that role.
func (f *items) as(i int, r role) goal {
	g := f.at(i)
	for k, d := range f.demands {
		if r.demands&(1<<k) != 0 {
			g = append(g, d.literal)
		}
	}
	for k, c := range f.counts {
		g = append(g, literal{c.site, r.counted&(1<<k) != 0})
	}
	return g
}

// crowded reports whether n items can not all differ, judged by the rules of their positions alone: each value that one item may have is the only value
// of another.
func (s *solver) crowded(f *items, n int) bool {
	var forced []*schema.Node // items that can be one value only
	for i := range min(n, f.boundary()+1) {
		switch o := s.value(f.at(i).and(goal{s.noneOf(forced)})); {
		case o.answer == none:
			return true
		case o.answer == some && s.value(f.at(i).and(goal{s.noneOf(append(slices.Clip(forced), o.value))})).answer == none:
			forced = append(slices.Clip(forced), o.value)
		}
	}
	return false
}

// assemble makes the array of a way with n items. If items must differ, each excludes the values of those before it.
func (s *solver) assemble(b branch, p *filling, n int) outcome {
	goals := make([]goal, n)
	for i := n - 1; i >= 0; i, p = i-1, p.before {
		goals[i] = p.goal
	}
	v := &schema.Node{Kind: schema.Array}
	for _, g := range goals {
		if b.array.unique && len(v.Items) > 0 {
			g = g.and(goal{s.noneOf(v.Items)})
		}
		o := s.value(g)
		if o.answer != some {
			if f := &b.array; o.answer == none && f.boundary() == 0 && len(f.counts)+len(f.demands) == 0 {
				return outcome{} // there are fewer values than items, which all have the same rules
			}
			if s.crowded(&b.array, n) {
				return outcome{}
			}
			return s.undecided("uniqueItems beside other rules for the items")
		}
		v.Items = append(v.Items, o.value)
	}
	if o := s.check(b.goal, v); o.answer == some {
		return o
	}
	for i, g := range goals { // the array may be excluded: try another value for one of the items
		o := s.value(g.and(goal{s.noneOf(v.Items)}))
		if o.answer != some {
			continue
		}
		w := *v
		w.Items = slices.Clone(v.Items)
		w.Items[i] = o.value
		if o := s.check(b.goal, &w); o.answer == some {
			return o
		}
	}
	return s.undecided(b.because("rules for the items of an array"))
}
