package typing

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// others lowers the value of the properties that are not named. The schemas of patternProperties are checked beside its type,
// unless there is only one and names that do not match are refused: then that schema determines the type.
func (l *lowering) others(o *objectFacet, p place) model.Value {
	if l.hasSolePattern(o) {
		set := &o.patternSets[0]
		p.node = nil
		v := l.valueOf(set.patterns[0].schema, p)
		v.Checks = append([]model.Assertion{&model.SolePattern{At: l.at(set.at), Pattern: set.patterns[0].key}}, v.Checks...)
		return v
	}
	v := l.valueOf(o.additionalProperties, p)
	for i := range o.patternSets {
		if d := l.matched(&o.patternSets[i], p.hint); d != nil {
			v.Checks = append(slices.Clip(v.Checks), &model.Conjunct{Decl: d})
		}
	}
	return v
}

// hasSolePattern reports whether one pattern decides the type of all additional properties.
func (l *lowering) hasSolePattern(o *objectFacet) bool {
	return o.additionalProperties == nil && len(o.patternSets) == 1 && len(o.patternSets[0].patterns) == 1 && o.patternSets[0].additionalProperties != nil &&
		l.shape(o.patternSets[0].additionalProperties).never != nil
}

// matched returns the validator for the members whose names match patterns, or nil if there is nothing to check.
func (l *lowering) matched(set *patternSet, hint string) *model.Decl {
	m := &model.Matched{At: l.at(set.at)}
	something := false
	for i, p := range set.patterns {
		m.Patterns = append(m.Patterns, p.key)
		d := l.checkUnlessFree(p.schema, hint+"Pattern"+ordinal(i))
		m.Schemas = append(m.Schemas, d)
		something = something || d != nil
	}
	if set.additionalProperties != nil {
		m.Refuse = l.shape(set.additionalProperties).never != nil
		if !m.Refuse {
			m.AdditionalProperties = l.checkUnlessFree(set.additionalProperties, hint+"Rest")
		}
	}
	if !something && m.AdditionalProperties == nil && !m.Refuse {
		return nil
	}
	d := l.newFunc("check", hint+"Name")
	d.Body = m
	return d
}

// checkUnlessFree returns the validator of a schema, or nil if it allows everything.
func (l *lowering) checkUnlessFree(c allOf, hint string) *model.Decl {
	if l.shape(c).unconstrained() {
		return nil
	}
	return l.checkNode(c[0], hint)
}
