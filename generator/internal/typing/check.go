package typing

import (
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// assertions are the groups of s that did not become its Go type, and its conditions.
func (l *lowering) assertions(s *shape, p place) []model.Assertion {
	var all []model.Assertion
	for _, g := range s.groups {
		a := &model.Group{At: l.ruleAt(g.at, p), One: g.oneOf}
		word := "AnyOf"
		if g.oneOf {
			word = "OneOf"
		}
		for i, b := range g.branches {
			a.Branches = append(a.Branches, l.checkNode(b, p.hint+word+ordinal(i)))
		}
		a.Key, a.KindKey, a.Forms = l.forms(l.shapes(g))
		all = append(all, a)
	}
	for _, c := range s.conditions {
		if d := l.condition(c, p.hint); d != nil {
			all = append(all, &model.Conjunct{Decl: d})
		}
	}
	return all
}

// check returns a validator for s.
func (l *lowering) check(s *shape, hint string) *model.Decl {
	d := l.newFunc("check", hint)
	d.Body = &model.Check{Value: l.valueOfShape(s, place{hint: hint, validateOnly: true})}
	return d
}

// checkNode returns the validator of a schema: one per schema, so that recursion ends.
func (l *lowering) checkNode(n *schema.Node, hint string) *model.Decl {
	if target, ok := l.follow(n); ok {
		n, hint = target, l.refName(target)
	}
	if d := l.checks[n]; d != nil {
		return d
	}
	d := l.newFunc("check", hint)
	l.checks[n] = d
	d.Body = &model.Check{Value: l.valueOfShape(l.shape(allOf{n}), place{hint: hint, validateOnly: true})}
	return d
}

// checkRef is lowering.ref for validators.
func (l *lowering) checkRef(target *schema.Node) model.Value {
	return model.Value{Type: model.Named{Decl: l.checkNode(target, l.refName(target))}}
}
