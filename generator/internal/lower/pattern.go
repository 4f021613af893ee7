package lower

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// others is the value of the properties that are not named. Schemas for patterns of names are checked beside its type,
// unless there is only one and no other name is allowed: then it is the type.
func (l *lowering) others(o *objectFacet, p place) model.Value {
	c := o.rest
	sole := l.soleSet(o)
	if sole {
		c, p.node = o.sets[0].patterns[0].schema, nil
	}
	v := l.value(c, p)
	for i := range o.sets {
		if d := l.matched(&o.sets[i], sole, p.hint); d != nil {
			v.Checks = append(slices.Clip(v.Checks), &model.Also{Decl: d})
		}
	}
	return v
}

// soleSet reports whether all other properties have the type of one pattern.
func (l *lowering) soleSet(o *objectFacet) bool {
	return o.rest == nil && len(o.sets) == 1 && len(o.sets[0].patterns) == 1 && o.sets[0].rest != nil &&
		l.shape(o.sets[0].rest).never != nil
}

// matched returns the validator of the values that are told by patterns, or nil if there is nothing to check. With sole
// only names are left to be looked at.
func (l *lowering) matched(set *patternSet, sole bool, hint string) *model.Decl {
	m := &model.Matched{At: l.at(set.at)}
	something := false
	for i, p := range set.patterns {
		m.Patterns = append(m.Patterns, p.key)
		var d *model.Decl
		if !sole {
			d = l.checkUnlessFree(p.schema, hint+"Pattern"+itoa(i))
		}
		m.Schemas = append(m.Schemas, d)
		something = something || d != nil
	}
	if set.rest != nil {
		m.Refuse = l.shape(set.rest).never != nil
		if !m.Refuse {
			m.Rest = l.checkUnlessFree(set.rest, hint+"Rest")
		}
	}
	if !something && m.Rest == nil && !m.Refuse {
		return nil
	}
	d := l.newFunc("check", hint+"Name")
	d.Body = m
	return d
}

// checkUnlessFree returns the validator of a schema, or nil if it allows everything.
func (l *lowering) checkUnlessFree(c conj, hint string) *model.Decl {
	if l.shape(c).free() {
		return nil
	}
	return l.checkNode(c[0], hint)
}

// tuple is an array whose items are told by their position. Their types differ, so it is a slice of raw values, each
// checked where it stands.
func (l *lowering) tuple(s *shape, p place) model.Value {
	t := &model.Slice{}
	rule := model.ArrayRule{At: l.ruleAt(first(s.arr.at, s.kindsAt), p), Min: s.arr.min, Max: s.arr.max, Unique: s.arr.unique}
	if rule != (model.ArrayRule{}) {
		t.Rule = &rule
	}
	drop := place{drop: true}
	items := &model.ByIndex{}
	for i, c := range s.arr.first {
		drop.hint = p.hint + "Item" + itoa(i)
		items.Cases = append(items.Cases, l.value(c, drop))
	}
	drop.hint = p.hint + "Rest"
	items.Rest = l.value(s.arr.items, drop)
	if p.drop {
		t.Elem = model.Value{Type: items}
		return model.Value{Type: t}
	}
	d := l.newFunc("check", p.hint+"Item")
	d.Body = &model.Check{Value: model.Value{Type: items}}
	t.Elem = model.Value{Type: model.Raw{}, Checks: []model.Assertion{&model.Also{Decl: d}}}
	t.Func = l.element(&t.Elem, p.hint+"Item")
	return model.Value{Type: t}
}
