package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// evaluatedParts is one way in which the schemas that are applied to a value hold or do not, with the parts of the value that they have evaluated then.
type evaluatedParts struct {
	option   option         // which schemas hold and which do not
	names    names          // the evaluated properties of an object
	items    int            // so many items of an array from the beginning
	contains []*schema.Node // and the items that satisfy one of these
	all      bool           // everything is evaluated
}

// mostWays bounds the number of ways for one unevaluated… keyword.
const mostWays = 256

// unevaluatedProperties demands its schema of the properties that no other keyword has evaluated. For each way in which the other keywords may hold,
// these properties are a class of names.
func (a atom) unevaluatedProperties() choice {
	return a.unevaluated(func(w evaluatedParts) option {
		c := w.names
		c.others = true
		return a.class(a.value, c)
	})
}

// unevaluatedItems does the same for items. Those that contains has found are evaluated, too.
func (a atom) unevaluatedItems() choice {
	return a.unevaluated(func(w evaluatedParts) option {
		n := a.value
		if len(w.contains) > 0 {
			either := &schema.Node{Kind: schema.Array, Items: append(slices.Clone(w.contains), n)}
			n = &schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: "anyOf", Value: either}}}
		}
		return a.ranged(n, w.items, unbounded)[0] // its only option
	})
}

// unevaluated returns an option for each way. The negation also demands that the other keywords of the schema hold: values that they refuse are covered
// by the negations of these.
func (a atom) unevaluated(rest func(evaluatedParts) option) choice {
	start := evaluatedParts{}
	if !a.holds {
		start.option = option{that(literal{a.without(a.value), true})}
	}
	ways, ok := a.evaluate(a.site, start)
	if !ok {
		return unknown("unevaluatedProperties or unevaluatedItems beside many other schemas")
	}
	c := never
	for _, w := range ways {
		switch {
		case !w.all:
			c = append(c, w.option.and(rest(w)...))
		case a.holds:
			c = append(c, w.option)
		}
	}
	return c
}

// without returns the schema without one of its keywords.
func (s site) without(value *schema.Node) site {
	n := *s.node
	n.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m schema.Member) bool { return m.Value == value })
	return s.at(&n)
}

// evaluate extends a way by the keywords of s, which holds.
func (a atom) evaluate(s site, w evaluatedParts) (ways []evaluatedParts, ok bool) {
	ways, ok = []evaluatedParts{w}, true
	for _, m := range keywordsOf(s) {
		if ok && m.Value != a.value {
			ways, ok = extended(ways, func(w evaluatedParts) ([]evaluatedParts, bool) { return a.through(s, m, w) })
		}
	}
	return ways, ok
}

// extended are the ways that each of the given ones is extended to; ok is false if these are too many, or are not known.
func extended(ways []evaluatedParts, by func(evaluatedParts) ([]evaluatedParts, bool)) (longer []evaluatedParts, ok bool) {
	for _, w := range ways {
		next, ok := by(w)
		if !ok || len(longer)+len(next) > mostWays {
			return nil, false
		}
		longer = append(longer, next...)
	}
	return longer, true
}

// through extends a way by one keyword.
func (a atom) through(s site, m schema.Member, w evaluatedParts) ([]evaluatedParts, bool) {
	switch {
	case m.Key == "allOf":
		return a.throughList(s, m.Value.Items, w, true)
	case m.Key == "anyOf", m.Key == "oneOf":
		return a.throughList(s, m.Value.Items, w, false)
	case m.Key == "$ref", m.Key == "$dynamicRef":
		target, ok := s.follow(m.Value)
		if !ok || m.Key == "$dynamicRef" && !soleAnchor(s, m.Value) {
			return nil, false
		}
		return a.with(target, w, true)
	case m.Key == "if":
		return a.throughCondition(s, m.Value, w)
	case a.kind == schema.Array:
		w.array(m)
	case m.Key == "dependentSchemas":
		return a.throughDependent(s, m.Value, w)
	default:
		w.object(s, m)
	}
	return []evaluatedParts{w}, true
}

// throughList extends a way by schemas that must hold, or may.
func (a atom) throughList(s site, all []*schema.Node, w evaluatedParts, must bool) (ways []evaluatedParts, ok bool) {
	ways, ok = []evaluatedParts{w}, true
	for _, n := range all {
		if !ok {
			break
		}
		ways, ok = extended(ways, func(w evaluatedParts) ([]evaluatedParts, bool) {
			holding, ok := a.with(s.at(n), w, true)
			switch {
			case must || !ok:
				return holding, ok
			case !mayEvaluate(s.at(n), a.kind):
				return []evaluatedParts{w}, true // nothing is evaluated, whether it holds or not
			}
			failing, _ := a.with(s.at(n), w, false)
			return append(holding, failing...), true
		})
	}
	return ways, ok
}

// with extends a way by a schema that holds, or that does not hold and so evaluates nothing.
func (a atom) with(s site, w evaluatedParts, holds bool) ([]evaluatedParts, bool) {
	entered := slices.ContainsFunc(w.option, func(t term) bool { return t.literal != nil && t.literal.node == s.node && t.literal.holds == holds })
	w.option = w.option.and(that(literal{s, holds}))
	if !holds || entered || s.node.Kind == schema.Bool {
		return []evaluatedParts{w}, true
	}
	return a.evaluate(s, w)
}

func (a atom) throughCondition(s site, condition *schema.Node, w evaluatedParts) (ways []evaluatedParts, ok bool) {
	for _, holds := range []bool{true, false} {
		next, ok := a.with(s.at(condition), w, holds)
		n := s.get(map[bool]string{true: "then", false: "else"}[holds])
		if n != nil && ok {
			next, ok = extended(next, func(w evaluatedParts) ([]evaluatedParts, bool) { return a.with(s.at(n), w, true) })
		}
		if !ok || len(ways)+len(next) > mostWays {
			return nil, false
		}
		ways = append(ways, next...)
	}
	return ways, true
}

func (a atom) throughDependent(s site, v *schema.Node, w evaluatedParts) (ways []evaluatedParts, ok bool) {
	ways, ok = []evaluatedParts{w}, true
	for _, m := range v.Members {
		if !ok {
			break
		}
		ways, ok = extended(ways, func(w evaluatedParts) ([]evaluatedParts, bool) {
			without := w
			without.option = w.option.and(lacks(m.Key)...)
			w.option = w.option.and(term{property: &classDemand{names: named(m.Key)}})
			next, ok := a.with(s.at(m.Value), w, true)
			return append([]evaluatedParts{without}, next...), ok
		})
	}
	return ways, ok
}

// object adds the properties that a keyword evaluates.
func (w *evaluatedParts) object(s site, m schema.Member) {
	switch m.Key {
	case "properties", "patternProperties":
		c := mentioned(site{s.doc, &schema.Node{Kind: schema.Object, Members: []schema.Member{m}}})
		w.names.listed = append(slices.Clip(w.names.listed), c.listed...)
		w.names.patterns = append(slices.Clip(w.names.patterns), c.patterns...)
	case "additionalProperties", "unevaluatedProperties":
		w.all = true
	}
}

// array adds the items that a keyword evaluates.
func (w *evaluatedParts) array(m schema.Member) {
	switch m.Key {
	case "prefixItems":
		w.items = max(w.items, len(m.Value.Items))
	case "items", "unevaluatedItems":
		w.all = true
	case "contains":
		w.contains = append(slices.Clip(w.contains), m.Value)
	}
}

// mayEvaluate reports whether a schema may evaluate any parts of a value of that kind.
func mayEvaluate(s site, kind schema.Kind) bool {
	return slices.ContainsFunc(keywordsOf(s), func(m schema.Member) bool {
		switch k := keywords[m.Key]; {
		case m.Key == "$ref" || m.Key == "$dynamicRef":
			return true
		case k.any: // its schemas are for the value itself
			return m.Key != "not" && k.form != noSchemas
		default:
			return k.kind == kind && k.form != noSchemas
		}
	})
}
