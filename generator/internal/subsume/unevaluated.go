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
	return a.unevaluated(func(l evaluatedParts) option {
		c := l.names
		c.others = true
		return a.class(a.value, c)
	})
}

// unevaluatedItems does the same for items. Those that contains has found are evaluated, too.
func (a atom) unevaluatedItems() choice {
	return a.unevaluated(func(l evaluatedParts) option {
		n := a.value
		if len(l.contains) > 0 {
			either := &schema.Node{Kind: schema.Array, Items: append(slices.Clone(l.contains), n)}
			n = &schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: "anyOf", Value: either}}}
		}
		return a.ranged(n, l.items, unbounded)[0]
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
	for _, l := range ways {
		if l.all {
			if a.holds {
				c = append(c, l.option)
			}
			continue
		}
		c = append(c, l.option.and(rest(l)...))
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
func (a atom) evaluate(s site, way evaluatedParts) (ways []evaluatedParts, ok bool) {
	ways = []evaluatedParts{way}
	for _, m := range keywordsOf(s) {
		if m.Value == a.value {
			continue
		}
		var longer []evaluatedParts
		for _, w := range ways {
			next, ok := a.through(s, m, w)
			if !ok || len(longer)+len(next) > mostWays {
				return nil, false
			}
			longer = append(longer, next...)
		}
		ways = longer
	}
	return ways, true
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
	case m.Key == "dependentSchemas":
		return a.throughDependent(s, m.Value, w)
	}
	if a.kind == schema.Object {
		w.object(s, m)
	} else {
		w.array(s, m)
	}
	return []evaluatedParts{w}, true
}

// throughList extends a way by schemas that must hold, or may.
func (a atom) throughList(s site, all []*schema.Node, w evaluatedParts, must bool) ([]evaluatedParts, bool) {
	ways := []evaluatedParts{w}
	for _, n := range all {
		var longer []evaluatedParts
		for _, w := range ways {
			next, ok := a.with(s.at(n), w, true)
			if !must && ok && mayEvaluate(s.at(n), a.kind) {
				no, _ := a.with(s.at(n), w, false)
				next = append(next, no...)
			} else if !must && ok {
				next = []evaluatedParts{w} // it evaluates nothing, whether it holds or not
			}
			if !ok || len(longer)+len(next) > mostWays {
				return nil, false
			}
			longer = append(longer, next...)
		}
		ways = longer
	}
	return ways, true
}

// with extends a way by a schema that holds, or that does not hold and so evaluates nothing.
func (a atom) with(s site, w evaluatedParts, holds bool) ([]evaluatedParts, bool) {
	known := slices.ContainsFunc(w.option, func(t term) bool { return t.literal != nil && t.literal.node == s.node && t.literal.holds == holds })
	w.option = w.option.and(that(literal{s, holds}))
	if !holds || known || s.node.Kind == schema.Bool {
		return []evaluatedParts{w}, true
	}
	return a.evaluate(s, w)
}

func (a atom) throughCondition(s site, condition *schema.Node, w evaluatedParts) (ways []evaluatedParts, ok bool) {
	for _, holds := range []bool{true, false} {
		next, ok := a.with(s.at(condition), w, holds)
		n := s.get(map[bool]string{true: "then", false: "else"}[holds])
		for _, w := range next {
			branch := []evaluatedParts{w}
			if n != nil && ok {
				branch, ok = a.with(s.at(n), w, true)
			}
			ways = append(ways, branch...)
		}
		if !ok {
			return nil, false
		}
	}
	return ways, true
}

func (a atom) throughDependent(s site, v *schema.Node, w evaluatedParts) ([]evaluatedParts, bool) {
	ways := []evaluatedParts{w}
	for _, m := range v.Members {
		var longer []evaluatedParts
		for _, w := range ways {
			without := w
			without.option = w.option.and(lacks(m.Key)...)
			w.option = w.option.and(term{property: &classDemand{names: named(m.Key)}})
			next, ok := a.with(s.at(m.Value), w, true)
			if !ok || len(longer)+len(next) > mostWays {
				return nil, false
			}
			longer = append(append(longer, without), next...)
		}
		ways = longer
	}
	return ways, true
}

// object adds the properties that a keyword evaluates.
func (l *evaluatedParts) object(s site, m schema.Member) {
	switch m.Key {
	case "properties", "patternProperties":
		c := mentioned(site{s.doc, &schema.Node{Kind: schema.Object, Members: []schema.Member{m}}})
		l.names.listed = append(slices.Clip(l.names.listed), c.listed...)
		l.names.patterns = append(slices.Clip(l.names.patterns), c.patterns...)
	case "additionalProperties", "unevaluatedProperties":
		l.all = true
	}
}

// array adds the items that a keyword evaluates.
func (l *evaluatedParts) array(s site, m schema.Member) {
	switch m.Key {
	case "prefixItems":
		l.items = max(l.items, len(m.Value.Items))
	case "items", "unevaluatedItems":
		l.all = true
	case "contains":
		l.contains = append(slices.Clip(l.contains), m.Value)
	}
}

// mayEvaluate reports whether a schema may evaluate any parts of a value of that kind.
func mayEvaluate(s site, kind schema.Kind) bool {
	return slices.ContainsFunc(keywordsOf(s), func(m schema.Member) bool {
		k := keywords[m.Key]
		return k.kind == kind && !k.any && k.form != noSchemas || k.any && m.Key != "not" && (k.form != noSchemas || m.Key == "$ref" || m.Key == "$dynamicRef")
	})
}
