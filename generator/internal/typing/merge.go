package typing

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// and merges t into s. The result is exact: a value satisfies it if and only if it satisfies both.
func (s *shape) and(t *shape) {
	if t.kindsAt != nil && (s.kindsAt == nil || s.kinds&t.kinds != s.kinds) {
		s.kindsAt = t.kindsAt
	}
	s.kinds &= t.kinds
	s.integer = s.integer || t.integer
	if s.never == nil {
		s.never = t.never
	}
	s.str.and(&t.str)
	s.num.and(&t.num)
	s.arr.and(&t.arr)
	s.obj.and(&t.obj)
	if t.enum != nil {
		s.allowOnly(t.enum)
	}
	s.groups = unite(s.groups, t.groups, groupKey)
	s.conditions = unite(s.conditions, t.conditions, self)
	s.annotations.and(&t.annotations)
	s.goType = cmp.Or(s.goType, t.goType)
}

// unite appends the elements of b that a lacks. Each is kept once: otherwise a schema that is referred to many times would be in the
// list as often.
func unite[S ~[]T, T any, K comparable](a, b S, key func(T) K) S {
	a = slices.Clip(a)
	if (len(a)+len(b))*len(b) > manyPairs {
		return uniteMany(a, b, key)
	}
	for _, y := range b {
		if !slices.ContainsFunc(a, func(x T) bool { return key(x) == key(y) }) {
			a = append(a, y)
		}
	}
	return a
}

// manyPairs is the number of comparisons above which unite uses a map.
const manyPairs = 100

func uniteMany[S ~[]T, T any, K comparable](a, b S, key func(T) K) S {
	has := make(map[K]bool, len(a)+len(b))
	for _, x := range a {
		has[key(x)] = true
	}
	for _, y := range b {
		if k := key(y); !has[k] {
			has[k] = true
			a = append(a, y)
		}
	}
	return a
}

func self[T comparable](x T) T { return x }

// groupKey identifies a group: one schema may have an anyOf and a oneOf.
func groupKey(g group) groupID { return groupID{g.at, g.oneOf} }

type groupID struct {
	at    *schema.Node
	oneOf bool
}

func setKey(s patternSet) *schema.Node { return s.at }

func textOf(w textRule) string { return w.text }

// and returns the schemas of both, each once.
func (c allOf) and(d allOf) allOf { return unite(c, d, self) }

func (s *stringFacet) and(t *stringFacet) {
	s.at = first(s.at, t.at)
	s.min, s.max = higherInt(s.min, t.min), lowerInt(s.max, t.max)
	s.patterns = unite(s.patterns, t.patterns, textOf)
	s.formats = unite(s.formats, t.formats, textOf)
}

func (s *numberFacet) and(t *numberFacet) {
	s.at = first(s.at, t.at)
	s.min, s.max = higher(s.min, t.min), lower(s.max, t.max)
	s.multiple = LCM(s.multiple, t.multiple)
}

func (s *arrayFacet) and(t *arrayFacet) {
	s.at = first(s.at, t.at)
	s.min, s.max = higherInt(s.min, t.min), lowerInt(s.max, t.max)
	s.unique = s.unique || t.unique
	var prefix []allOf
	for i := range max(len(s.prefix), len(t.prefix)) {
		prefix = append(prefix, s.item(i).and(t.item(i)))
	}
	s.prefix = prefix
	s.items = s.items.and(t.items)
}

// item returns the schemas for the item at i.
func (s *arrayFacet) item(i int) allOf {
	if i < len(s.prefix) {
		return s.prefix[i]
	}
	return s.items
}

// and merges two objects. additionalProperties of one side applies to the properties that only the other one names.
func (o *objectFacet) and(t *objectFacet) {
	if t.at == nil {
		return
	}
	o.at = first(o.at, t.at)
	o.min, o.max = higherInt(o.min, t.min), lowerInt(o.max, t.max)
	props := slices.Clone(o.props)
	for i := range props {
		p := &props[i]
		if q := t.prop(p.key); q != nil {
			p.schema = p.schema.and(q.schema)
		} else {
			p.schema = p.schema.and(t.additionalFor(p.key))
		}
	}
	for _, q := range t.props {
		if o.prop(q.key) == nil {
			props = append(props, property{q.key, q.schema.and(o.additionalFor(q.key))})
		}
	}
	o.props = props
	o.additionalProperties = o.additionalProperties.and(t.additionalProperties)
	o.patternSets = unite(o.patternSets, t.patternSets, setKey)
	o.unevaluated = o.unevaluated || t.unevaluated
	for _, name := range t.required {
		if !slices.Contains(o.required, name) {
			o.required = append(slices.Clip(o.required), name)
		}
	}
}

// additionalFor returns the schemas for a property that is not in props.
func (o *objectFacet) additionalFor(key string) allOf {
	c := o.additionalProperties
	for i := range o.patternSets {
		c = c.and(o.patternSets[i].additionalFor(key))
	}
	return c
}

func (t *patternSet) additionalFor(key string) allOf {
	c, matched := t.matching(key)
	if !matched {
		return t.additionalProperties
	}
	return c
}

// matching returns the schemas of the patterns that key matches.
func (t *patternSet) matching(key string) (c allOf, matched bool) {
	for i, p := range t.patterns {
		if t.compiled[i].MatchString(key) {
			c, matched = append(c, p.schema...), true
		}
	}
	return c, matched
}

// allowOnly narrows s to the values of e.
func (s *shape) allowOnly(e *enumFacet) {
	if s.enum != nil {
		e = &enumFacet{at: s.enum.at, values: common(s.enum.values, e.values), isConst: s.enum.isConst || e.isConst}
	}
	s.enum = e
	var kinds model.Kind
	for _, v := range e.values {
		kinds |= kindOf[v.Kind]
	}
	s.kinds &= kinds
	s.kindsAt = first(s.kindsAt, e.at)
}

var kindOf = map[schema.Kind]model.Kind{
	schema.Null: model.KindNull, schema.Bool: model.KindBool, schema.Number: model.KindNumber,
	schema.String: model.KindString, schema.Array: model.KindArray, schema.Object: model.KindObject,
}

// common returns the values of a that are in b too.
func common(a, b []*schema.Node) []*schema.Node {
	in := map[string]bool{}
	for _, v := range b {
		in[canonical(v)] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(v *schema.Node) bool { return !in[canonical(v)] })
}

func (n *annotations) and(m *annotations) {
	if n.title == "" {
		n.title = m.title
	}
	if n.description == "" {
		n.description = m.description
	}
	if n.byDefault == nil {
		n.byDefault = m.byDefault
	}
	n.deprecated = n.deprecated || m.deprecated
}

func first(a, b *schema.Node) *schema.Node {
	if a != nil {
		return a
	}
	return b
}

func higherInt(a, b *int) *int {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func lowerInt(a, b *int) *int {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// higher returns the narrower of two lower bounds.
func higher(a, b *bound) *bound {
	if a == nil || b != nil && (b.value.Cmp(a.value) > 0 || b.value.Cmp(a.value) == 0 && b.exclusive) {
		return b
	}
	return a
}

// lower returns the narrower of two upper bounds.
func lower(a, b *bound) *bound {
	if a == nil || b != nil && (b.value.Cmp(a.value) < 0 || b.value.Cmp(a.value) == 0 && b.exclusive) {
		return b
	}
	return a
}

// LCM returns the least common multiple, so that one multipleOf can stand for both. nil is no multipleOf.
func LCM(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	x := new(big.Int).Mul(a.Num(), b.Denom())
	y := new(big.Int).Mul(b.Num(), a.Denom())
	gcd := new(big.Int).GCD(nil, nil, x, y)
	num := new(big.Int).Mul(new(big.Int).Quo(x, gcd), y)
	return new(big.Rat).SetFrac(num, new(big.Int).Mul(a.Denom(), b.Denom()))
}
