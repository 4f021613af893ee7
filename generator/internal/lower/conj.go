package lower

import (
	"slices"
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

// key names what stands at a place: the same schemas have the same type, which is how recursion through merged schemas
// ends.
func (l *lowering) key(c conj, p place) string {
	var all []string
	for _, n := range c {
		target, _ := l.follow(n)
		all = append(all, target.Pos.File+"#"+target.Pointer)
	}
	slices.Sort(all)
	if p.keep {
		all = append(all, "keep")
	}
	return strings.Join(all, "\x00")
}

// known is what was made of a conj. Its value is complete when done.
type known struct {
	value model.Value
	done  bool
}

// conjunction is value for schemas that may be met again below themselves.
func (l *lowering) conjunction(c conj, p place) model.Value {
	s := l.shape(c)
	if len(c) == 0 {
		return l.typed(s, p)
	}
	p.key = l.key(c, p)
	if k := l.known[p.key]; k != nil {
		v := k.value
		v.Checks = again(v.Checks)
		if !k.done {
			v.Null = s.never == nil && s.kinds&model.KindNull != 0
			v.Checks = l.assertions(s, p)
		}
		return v
	}
	var v model.Value
	if len(c) > 1 && worthAName(s) && s.kinds&(model.KindArray|model.KindObject) != 0 && refers(c) {
		v = l.declareFirst(s, p)
	} else {
		v = l.typed(s, p)
	}
	if k := l.known[p.key]; k != nil {
		k.value, k.done = v, true
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

// conjunctionCheck is conjunction where nothing is kept.
func (l *lowering) conjunctionCheck(c conj, p place) model.Value {
	if len(c) < 2 {
		return l.typed(l.shape(c), p)
	}
	key := l.key(c, p)
	d := l.checked[key]
	if d == nil {
		d = l.newFunc("check", p.hint)
		l.checked[key] = d
		p.node = nil
		d.Body = &model.Check{Value: l.typed(l.shape(c), p)}
	}
	return model.Value{Type: model.Named{Decl: d}}
}

// declareFirst gives a conjunction a declaration before its inside is looked at, where it may be met again.
func (l *lowering) declareFirst(s *shape, p place) model.Value {
	v := model.Value{Null: s.kinds&model.KindNull != 0}
	d := l.newDecl(p.hint)
	v.Type = model.Named{Decl: d}
	l.known[p.key] = &known{value: v}
	t := *s
	t.kinds &^= model.KindNull
	l.fill(d, &t, p)
	return v
}

// refers reports whether a $ref stands anywhere in c.
func refers(c conj) bool {
	found := false
	for _, n := range c {
		n.Walk(func(n *schema.Node) bool {
			found = found || n.Get("$ref") != nil
			return !found
		})
	}
	return found
}
