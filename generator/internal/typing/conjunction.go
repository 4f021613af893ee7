package typing

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// maxDecls is the most declarations that one root leads to. Merging recursive schemas can multiply them; no schema written by hand comes
// near.
const maxDecls = 1 << 16

// simplify drops repeated and empty schemas from c, so that more conjunctions are the same.
func (l *lowering) simplify(c allOf) allOf {
	if len(c) < 2 {
		return c
	}
	var out allOf
	seen := map[*schema.Node]bool{}
	for _, n := range c {
		target, _ := l.follow(n)
		if target.Kind == schema.Bool && target.Text == "true" || target.Kind == schema.Object && len(target.Members) == 0 {
			continue
		}
		if !seen[target] {
			out = append(out, n)
		}
		seen[target] = true
	}
	if out == nil {
		return c[:1]
	}
	return out
}

// key identifies the schemas of c. The same schemas have the same type, so that recursion through merged schemas ends.
func (l *lowering) key(c allOf, p place) string {
	all := make([]string, 0, 4)
	for _, n := range c {
		target, _ := l.follow(n)
		all = append(all, l.id(target))
	}
	slices.Sort(all)
	if p.keepAdditional {
		all = append(all, "keep")
	}
	return strings.Join(all, "\x00")
}

// id identifies a schema. Its position would not: several documents may have the same file name.
func (t *Types) id(n *schema.Node) string {
	i, ok := t.ids[n]
	if !ok {
		i = len(t.ids)
		t.ids[n] = i
	}
	return strconv.Itoa(i)
}

// loweredAllOf is the result of lowering one allOf. The value is complete when done is set; until then its declaration may lack a body.
type loweredAllOf struct {
	value model.Value
	done  bool
}

// conjunction is valueOf for schemas that may be recursive. If a conjunction contains itself and has no declaration yet
// (maps and slices need none), the inner place makes one, which is filled here.
func (l *lowering) conjunction(c allOf, p place) model.Value {
	s := l.shape(c)
	p.namedBy = firstChoice(c)
	if len(c) == 0 {
		return l.valueOfShape(s, p)
	}
	p.conjunction = l.key(c, p)
	if hint, open := l.inProgress[p.conjunction]; open && l.lowered[p.conjunction] == nil {
		l.lowered[p.conjunction] = &loweredAllOf{value: model.Value{Type: model.Named{Decl: l.newDecl(hint, nil)}}}
	}
	if k := l.lowered[p.conjunction]; k != nil {
		v := k.value
		v.Checks = copyChecks(v.Checks)
		if !k.done {
			v.Null = s.never == nil && s.kinds&model.KindNull != 0
			v.Checks = l.assertions(s, p)
		}
		return v
	}
	l.inProgress[p.conjunction] = p.hint
	v := l.valueOfShape(s, p)
	delete(l.inProgress, p.conjunction)
	if k := l.lowered[p.conjunction]; k != nil {
		k.value, k.done = closeLoop(k, v, s), true
		return k.value
	}
	return v
}

// closeLoop returns v, the value of a conjunction that contains itself; or the declaration that the inner place made for it, with v as the body.
func closeLoop(k *loweredAllOf, v model.Value, s *shape) model.Value {
	d := k.value.Type.(model.Named).Decl
	if d.Body != nil {
		return v
	}
	d.Doc = docLines(nil, &s.annotations)
	d.Body = &model.Defined{Value: model.Value{Type: v.Type, Values: v.Values, Checks: v.Checks}}
	return model.Value{Type: model.Named{Decl: d}, Null: v.Null}
}

// conjunctionCheck is conjunction for validators.
func (l *lowering) conjunctionCheck(c allOf, p place) model.Value {
	if len(c) == 0 {
		return l.valueOfShape(l.shape(c), p)
	}
	key := "check\x00" + l.key(c, p)
	if hint, open := l.inProgress[key]; open && l.validators[key] == nil {
		l.validators[key] = l.newFunc("check", hint)
	}
	if d := l.validators[key]; d != nil {
		return model.Value{Type: model.Named{Decl: d}}
	}
	l.inProgress[key] = p.hint
	v := l.valueOfShape(l.shape(c), p)
	delete(l.inProgress, key)
	if d := l.validators[key]; d != nil {
		d.Body = &model.Check{Value: v}
		return model.Value{Type: model.Named{Decl: d}}
	}
	return v
}

// copyChecks copies assertions for another place: a group has a rule table of its own there, and so another Var.
func copyChecks(all []model.Assertion) []model.Assertion {
	var out []model.Assertion
	for _, a := range all {
		if g, ok := a.(*model.Group); ok {
			c := *g
			a = &c
		}
		out = append(out, a)
	}
	return out
}
