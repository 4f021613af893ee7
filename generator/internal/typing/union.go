package typing

import (
	"math/bits"
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// union makes a Go type of the only group of s: the type of its only branch besides null, an enum, or a sealed interface. ok is false, and nothing
// is declared, if the group has to be a check beside the type that follows from the rest of s.
func (l *lowering) union(s *shape, p place) (model.Value, bool) {
	g := s.groups[0]
	base := *s
	base.groups, base.conditions = nil, nil
	p.keepAdditional = p.keepAdditional || s.conditions != nil
	all := l.branches(&base, g)
	null := s.kinds&model.KindNull != 0
	branches, ok := l.splitNull(all, g.oneOf)
	v, ok := l.unionOf(s, &base, branches, ok, null, p)
	if null && v.Checks != nil && slices.ContainsFunc(all, func(b branch) bool { return b.shape.kinds == model.KindNull }) {
		v.Checks = l.unlessNull(v.Checks, p.hint)
	}
	if ok {
		t := shape{conditions: s.conditions}
		v.Checks = append(slices.Clip(v.Checks), l.assertions(&t, p)...)
	}
	return v, ok
}

// unlessNull returns assertions that make all values but null satisfy those of one branch; another branch allows null.
func (l *lowering) unlessNull(all []model.Assertion, hint string) []model.Assertion {
	inner := l.newFunc("check", hint+"Value")
	inner.Body = &model.Check{Value: model.Value{Type: model.Raw{}, Checks: all}}
	d := l.newFunc("check", hint+"OrNull")
	d.Body = &model.Check{Value: model.Value{Type: model.Named{Decl: inner}, Null: true}}
	return []model.Assertion{&model.Conjunct{Decl: d}}
}

// unionOf is union without the conditions beside the group.
func (l *lowering) unionOf(s, base *shape, branches []branch, ok, null bool, p place) (model.Value, bool) {
	g := s.groups[0]
	switch {
	case !ok || len(branches) == 0 || !base.replaceableBy(branches): // a Go type of the branches alone would lose what base says
		return model.Value{}, false
	case len(branches) == 1:
		return l.onlyBranch(base, branches[0], null, p), true
	}
	if e := commonEnum(branches, g); e != nil && base.hasNoFacets() && base.enum == nil {
		base.allowOnly(e)
		v := model.Value{Type: l.enum(base, p), Null: null}
		return v, true
	}
	rule, forms := l.unionRule(g, branches, p)
	if rule == nil {
		return model.Value{}, false
	}
	return model.Value{Type: l.declareUnion(s, rule, forms, branches, p), Null: null}, true
}

// unionRule decides how the member of a value is found, in this order: by kind, by a constant property, by trying. rule is nil if a branch
// can not be a member: two have the same target, one is a union itself, allows every kind or more than maxKinds, or is a $ref whose type
// includes null. It is also nil if branches share a kind other than objects, or share objects and one of them has several kinds.
func (l *lowering) unionRule(g group, branches []branch, p place) (rule model.UnionRule, forms []model.Form) {
	var seen, twice model.Kind
	targets := map[*schema.Node]bool{}
	for _, b := range branches {
		target, named := l.follow(b.node)
		if targets[target] || named && b.keepsKinds() && l.nullWithin(target) { // the member would be the type of the $ref
			return nil, nil
		}
		targets[target] = true
		kinds := b.shape.kinds &^ model.KindNull
		if b.shape.kinds == model.KindAny || bits.OnesCount8(uint8(kinds)) > maxKinds || l.isUnion(b.shape) {
			return nil, nil
		}
		twice |= seen & kinds
		seen |= kinds
	}
	shapes := make([]*shape, len(branches))
	for i := range branches {
		shapes[i] = branches[i].shape
	}
	key, kindKey, forms := l.forms(shapes)
	switch {
	case twice == 0:
		return &model.ByJSONKind{At: l.ruleAt(g.at, p), Keyword: keywordOf(g)}, forms
	case twice != model.KindObject || slices.ContainsFunc(branches, hasSeveralKinds):
		return nil, nil
	case seen == model.KindObject && exclusive(forms):
		return &model.ByTag{At: l.ruleAt(g.at, p), Key: key, Keyword: keywordOf(g)}, forms
	}
	return &model.Tried{At: l.ruleAt(g.at, p), Key: key, KindKey: kindKey, One: g.oneOf}, forms
}

// exclusive reports whether every form has tags, and no two have one in common.
func exclusive(forms []model.Form) bool {
	seen := map[model.Tag]bool{}
	for i := range forms {
		for _, tag := range forms[i].Tags {
			if seen[tag] {
				return false
			}
			seen[tag] = true
		}
		if len(forms[i].Tags) == 0 {
			return false
		}
	}
	return true
}

// isUnion reports whether s, or its part for objects, would become an interface, which can not be a member of another one.
func (l *lowering) isUnion(s *shape) bool {
	if len(s.groups) != 1 {
		return false
	}
	base := *s
	base.groups, base.conditions = nil, nil
	if base.replaceableBy(l.branches(&base, s.groups[0])) {
		return true
	}
	base.kinds &= model.KindObject
	return base.kinds != 0 && base.replaceableBy(l.branches(&base, s.groups[0]))
}

// hasSeveralKinds reports whether a branch allows several kinds beside null.
func hasSeveralKinds(b branch) bool { return bits.OnesCount8(uint8(b.shape.kinds&^model.KindNull)) > 1 }

func keywordOf(g group) string {
	if g.oneOf {
		return "oneOf"
	}
	return "anyOf"
}

// declareUnion declares the interface and its members.
func (l *lowering) declareUnion(s *shape, rule model.UnionRule, forms []model.Form, branches []branch, p place) model.Type {
	d := l.declare(p, s)
	u := &model.Union{Rule: rule}
	d.Body = u
	_, byKind := rule.(*model.ByJSONKind)
	_, tried := rule.(*model.Tried)
	words := newMemberWords(branches)
	for i, b := range branches {
		if byKind && hasSeveralKinds(b) {
			u.Members = append(u.Members, l.kindMembers(d, b.shape, place{keepAdditional: p.keepAdditional})...)
			continue
		}
		m := &model.UnionMember{Form: forms[i]}
		m.Form.Kinds &^= model.KindNull
		tagged := ""
		if rule, ok := rule.(*model.ByTag); ok {
			tagged = tagWord(rule.Key, m.Form.Tags[0])
			m.Form.Needs = nil // the tag is enough
		}
		keep := p.keepAdditional || tried || b.shape.namesNoProperties() // tried: additional properties may decide which branch fits
		m.Decl = l.member(b, place{hint: d.Name + words.of(i, tagged), needsOwnType: true, keepAdditional: keep}, s.hasNoFacets())
		u.Members = append(u.Members, m)
	}
	return model.Named{Decl: d}
}

// nullWithin reports whether the type of a $ref target includes null. Such a type may be a pointer or an interface, which can not have
// methods and so can not be a member.
func (l *lowering) nullWithin(target *schema.Node) bool {
	s := l.shape(allOf{target})
	if s.kinds&model.KindNull == 0 || !worthAName(s) {
		return false
	}
	if v := l.declared[target]; v != nil {
		return !v.Null // else null is taken out of the type
	}
	return !l.surelyAllowsNull(s) // where that is not sure, null is not taken out
}

// member returns the declaration of a branch: that of its $ref, or a new one. plain says that the type of the $ref can stand for the branch: no facets
// are beside the group.
func (l *lowering) member(b branch, p place, plain bool) *model.Decl {
	if target, ok := l.follow(b.node); ok && plain && b.keepsKinds() {
		if v := l.named(target); v != nil && v.Checks == nil {
			return v.Type.(model.Named).Decl
		}
	}
	t := *b.shape
	t.kinds &^= model.KindNull
	m := l.newDecl(p.hint, b.node)
	p.hint = m.Name
	l.fill(m, &t, p)
	return m
}
