package typing

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// narrowByGroups drops the branches that no value can satisfy beside the rest of s, and the kinds that no branch of a group
// allows: the Go type follows from what is left. A group that is left with one branch is merged into s.
func narrowByGroups(r *reader, s *shape) {
	groups := s.groups
	s.groups = nil
	for i := 0; i < len(groups); i++ {
		g := groups[i]
		live := r.narrow(s, g)
		if len(live) != 1 {
			g.branches = live
			s.groups = append(s.groups, g)
			continue
		}
		only := *r.own(live[0])
		groups = unite(groups, only.groups, groupKey)
		only.groups = nil
		s.and(&only)
	}
}

// narrow returns the branches of g that are possible in s and restricts s to their kinds.
func (r *reader) narrow(s *shape, g group) (live []*schema.Node) {
	if r.narrowing[g.at] {
		r.report.Report(g.at, "endless-ref", "", "the schema contains itself without a step into the value")
		s.never = g.at
		return g.branches
	}
	r.narrowing[g.at] = true
	defer delete(r.narrowing, g.at)
	var kinds model.Kind
	nulls := 0
	seen := map[*schema.Node]bool{}
	for _, b := range g.branches {
		t := r.shape(allOf{b})
		target, _ := r.follow(b)
		if t.never != nil || t.kinds&s.kinds == 0 || !g.oneOf && seen[target] {
			continue
		}
		seen[target] = true
		live = append(live, b)
		kinds |= t.kinds
		if r.surelyAllowsNull(t) {
			nulls++
		}
	}
	if g.oneOf && nulls > 1 {
		kinds &^= model.KindNull // two branches allow null, so the oneOf does not
	}
	if s.kinds&kinds != s.kinds {
		s.kinds &= kinds
		s.kindsAt = first(s.kindsAt, g.at)
	}
	return live
}

// surelyAllowsNull reports whether s certainly allows null: it has no condition that null may violate, and in each of its groups a
// branch allows it; in a oneOf only one.
func (r *reader) surelyAllowsNull(s *shape) bool {
	allows, known := r.nulls[s]
	if !known {
		allows = r.computeSurelyAllowsNull(s)
		r.nulls[s] = allows
	}
	return allows
}

func (r *reader) computeSurelyAllowsNull(s *shape) bool {
	if s.never != nil || s.kinds&model.KindNull == 0 || s.nullMayViolate() {
		return false
	}
	for _, g := range s.groups {
		if r.narrowing[g.at] {
			return false
		}
		r.narrowing[g.at] = true
		may, does := 0, 0
		for _, b := range g.branches {
			t := r.shape(allOf{b})
			if t.never == nil && t.kinds&model.KindNull != 0 {
				may++
			}
			if r.surelyAllowsNull(t) {
				does++
			}
		}
		delete(r.narrowing, g.at)
		if does == 0 || g.oneOf && may > 1 {
			return false
		}
	}
	return true
}

// narrowByEnum drops the values of an enum that other keywords refuse. Afterwards these keywords say nothing more,
// except for formats and the contents of arrays and objects.
func (s *shape) narrowByEnum() {
	if s.enum == nil {
		return
	}
	e := *s.enum
	e.values = slices.DeleteFunc(slices.Clone(e.values), func(v *schema.Node) bool { return !s.allows(v) })
	s.enum, s.kinds = &e, 0
	for _, v := range e.values {
		s.kinds |= kindOf[v.Kind]
	}
	if len(e.values) == 0 && s.never == nil {
		s.never = e.at
	}
}

// allows reports whether the other keywords allow a value of an enum.
func (s *shape) allows(v *schema.Node) bool {
	switch {
	case kindOf[v.Kind]&s.kinds == 0:
		return false
	case v.Kind == schema.String:
		return s.str.fits(v.Text)
	case v.Kind == schema.Number:
		return s.num.fits(v, s.integer)
	}
	return true
}
