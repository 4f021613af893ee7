package typing

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// maxDecls bounds what one package may grow to. Merged recursive schemas can multiply; no schema written by hand comes
// near.
const maxDecls = 1 << 16

// simplify drops what c says twice and what says nothing, so that fewer conjunctions differ.
func (l *lowering) simplify(c conj) conj {
	if len(c) < 2 {
		return c
	}
	var out conj
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

// key identifies the schemas of c. The same schemas have the same type, which is how recursion through merged schemas ends.
func (l *lowering) key(c conj, p place) string {
	var all []string
	for _, n := range c {
		target, _ := l.follow(n)
		all = append(all, l.id(target))
	}
	slices.Sort(all)
	if p.keep {
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

// known is the result for a conj. Its value is complete when done is set; until then its declaration may lack a body.
type known struct {
	value model.Value
	done  bool
}

// conjunction is value for schemas that may be recursive. If one is met again before a declaration was made
// (maps and slices need none), one is made then, and filled here.
func (l *lowering) conjunction(c conj, p place) model.Value {
	s := l.shape(c)
	p.by = firstChoice(c)
	if len(c) == 0 {
		return l.typed(s, p)
	}
	p.key = l.key(c, p)
	if hint, open := l.open[p.key]; open && l.known[p.key] == nil {
		l.known[p.key] = &known{value: model.Value{Type: model.Named{Decl: l.newDecl(hint, nil)}}}
	}
	if k := l.known[p.key]; k != nil {
		v := k.value
		v.Checks = again(v.Checks)
		if !k.done {
			v.Null = s.never == nil && s.kinds&model.KindNull != 0
			v.Checks = l.assertions(s, p)
		}
		return v
	}
	l.open[p.key] = p.hint
	v := l.typed(s, p)
	delete(l.open, p.key)
	if k := l.known[p.key]; k != nil {
		k.value, k.done = closeLoop(k, v, s), true
		return k.value
	}
	return v
}

// closeLoop returns v, or the declaration that a place inside of it had to make, filled with v.
func closeLoop(k *known, v model.Value, s *shape) model.Value {
	d := k.value.Type.(model.Named).Decl
	if d.Body != nil {
		return v
	}
	d.Doc = docLines(nil, &s.annotations)
	d.Body = &model.Defined{Value: model.Value{Type: v.Type, Values: v.Values, Checks: v.Checks}}
	return model.Value{Type: model.Named{Decl: d}, Null: v.Null}
}

// conjunctionCheck is conjunction for validators.
func (l *lowering) conjunctionCheck(c conj, p place) model.Value {
	if len(c) == 0 {
		return l.typed(l.shape(c), p)
	}
	key := "check\x00" + l.key(c, p)
	if hint, open := l.open[key]; open && l.checked[key] == nil {
		l.checked[key] = l.newFunc("check", hint)
	}
	if d := l.checked[key]; d != nil {
		return model.Value{Type: model.Named{Decl: d}}
	}
	l.open[key] = p.hint
	v := l.typed(l.shape(c), p)
	delete(l.open, key)
	if d := l.checked[key]; d != nil {
		d.Body = &model.Check{Value: v}
		return model.Value{Type: model.Named{Decl: d}}
	}
	return v
}

// again copies assertions for another place: each group has a rule table of its own there.
func again(all []model.Assertion) []model.Assertion {
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
