package typing

import (
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// isAnyJSON reports whether a schema allows every JSON value although it lists the kinds, as protocols define "any JSON":
// anyOf string, number, boolean, null, an array and an object of any JSON. Such a schema becomes check.Raw.
func (l *lowering) isAnyJSON(n *schema.Node) bool {
	return (&anyJSON{l, map[*schema.Node]bool{}}).node(n)
}

// listsAnyJSON does the same for an inline shape.
func (l *lowering) listsAnyJSON(s *shape) bool {
	return onlyGroup(s) && (&anyJSON{l, map[*schema.Node]bool{}}).group(s.groups[0])
}

// onlyGroup reports whether s is nothing but a group, one that allows values of every kind.
func onlyGroup(s *shape) bool {
	return s.never == nil && s.hasNoFacets() && s.enum == nil && s.conditions == nil && s.kinds == model.KindAny && !s.integer && len(s.groups) == 1
}

// anyJSON is the state of isAnyJSON.
type anyJSON struct {
	l       *lowering
	assumed map[*schema.Node]bool // true until disproved: a schema may contain itself
}

func (a *anyJSON) node(n *schema.Node) bool {
	n, _ = a.l.follow(n)
	if a.assumed[n] {
		return true
	}
	a.assumed[n] = true
	s := a.l.shape(allOf{n})
	return s.unconstrained() || onlyGroup(s) && a.group(s.groups[0])
}

// group reports whether g is an anyOf whose branches together allow every value of every kind.
func (a *anyJSON) group(g group) bool {
	var kinds model.Kind
	for _, b := range g.branches {
		kinds |= a.wholeKinds(a.l.shape(allOf{b}))
	}
	return !g.oneOf && kinds == model.KindAny
}

// wholeKinds returns the kinds of which s allows every value.
func (a *anyJSON) wholeKinds(s *shape) model.Kind {
	if s.never != nil || s.enum != nil || len(s.groups) > 0 || s.conditions != nil {
		return 0
	}
	kinds := s.kinds
	if s.str.at != nil {
		kinds &^= model.KindString
	}
	if s.num.at != nil || s.integer {
		kinds &^= model.KindNumber
	}
	if r := &s.arr; r.at != nil && (r.min != nil || r.max != nil || r.unique || r.prefix != nil || !a.nodes(r.items)) {
		kinds &^= model.KindArray
	}
	if o := &s.obj; o.at != nil && (o.min != nil || o.max != nil || o.props != nil || o.required != nil || o.patternSets != nil || !a.nodes(o.additionalProperties)) {
		kinds &^= model.KindObject
	}
	return kinds
}

func (a *anyJSON) nodes(c allOf) bool {
	for _, n := range c {
		if !a.node(n) {
			return false
		}
	}
	return true
}
