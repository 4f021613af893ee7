package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// looked is one way in which the schemas that are applied to a value hold or do not, with what those that hold have looked at.
type looked struct {
	option   option
	names    names // of an object
	items    int   // the first of an array
	contains []*schema.Node
	all      bool
}

// mostWays bounds the ways in which the schemas beside an unevaluated… may hold.
const mostWays = 256

// unevaluatedProperties holds for the properties that no other keyword has looked at: for each way in which the schemas beside it may
// hold, that is a class of names.
func (a atom) unevaluatedProperties() choice {
	return a.unevaluated(func(l looked) option {
		c := l.names
		c.others = true
		return a.class(a.value, c)
	})
}

// unevaluatedItems is the same for items; one that contains has found is looked at, too.
func (a atom) unevaluatedItems() choice {
	return a.unevaluated(func(l looked) option {
		n := a.value
		if len(l.contains) > 0 {
			either := &schema.Node{Kind: schema.Array, Items: append(slices.Clone(l.contains), n)}
			n = &schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: "anyOf", Value: either}}}
		}
		return a.ranged(n, l.items, unbounded)[0]
	})
}

// unevaluated returns a choice for each way. Its negation says that all beside it holds: where that does not, the schema does not hold either.
func (a atom) unevaluated(rest func(looked) option) choice {
	start := looked{}
	if !a.holds {
		start.option = option{that(literal{a.without(a.value), true})}
	}
	ways, ok := a.lookedAt(a.site, start)
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

// lookedAt continues a way through the keywords of s, which holds.
func (a atom) lookedAt(s site, way looked) (ways []looked, ok bool) {
	ways = []looked{way}
	for _, m := range keywordsOf(s) {
		if m.Value == a.value {
			continue
		}
		var longer []looked
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

// through continues a way with one keyword.
func (a atom) through(s site, m schema.Member, w looked) ([]looked, bool) {
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
	return []looked{w}, true
}

// throughList continues with schemas that hold, or may.
func (a atom) throughList(s site, all []*schema.Node, w looked, must bool) ([]looked, bool) {
	ways := []looked{w}
	for _, n := range all {
		var longer []looked
		for _, w := range ways {
			next, ok := a.with(s.at(n), w, true)
			if !must && ok && looksAtAll(s.at(n), a.kind) {
				no, _ := a.with(s.at(n), w, false)
				next = append(next, no...)
			} else if !must && ok {
				next = []looked{w} // it looks at nothing, whether it holds or not
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

// with continues with a schema that holds, or does not and so has looked at nothing.
func (a atom) with(s site, w looked, holds bool) ([]looked, bool) {
	known := slices.ContainsFunc(w.option, func(t term) bool { return t.literal != nil && t.literal.node == s.node && t.literal.holds == holds })
	w.option = w.option.and(that(literal{s, holds}))
	if !holds || known || s.node.Kind == schema.Bool {
		return []looked{w}, true
	}
	return a.lookedAt(s, w)
}

func (a atom) throughCondition(s site, condition *schema.Node, w looked) (ways []looked, ok bool) {
	for _, holds := range []bool{true, false} {
		next, ok := a.with(s.at(condition), w, holds)
		n := s.get(map[bool]string{true: "then", false: "else"}[holds])
		for _, w := range next {
			branch := []looked{w}
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

func (a atom) throughDependent(s site, v *schema.Node, w looked) ([]looked, bool) {
	ways := []looked{w}
	for _, m := range v.Members {
		var longer []looked
		for _, w := range ways {
			without := w
			without.option = w.option.and(lacks(m.Key)...)
			w.option = w.option.and(term{demand: &member{names: named(m.Key)}})
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

// object adds the properties that a keyword looks at.
func (l *looked) object(s site, m schema.Member) {
	switch m.Key {
	case "properties", "patternProperties":
		c := mentioned(site{s.doc, &schema.Node{Kind: schema.Object, Members: []schema.Member{m}}})
		l.names.listed = append(slices.Clip(l.names.listed), c.listed...)
		l.names.patterns = append(slices.Clip(l.names.patterns), c.patterns...)
	case "additionalProperties", "unevaluatedProperties":
		l.all = true
	}
}

// array adds the items that a keyword looks at.
func (l *looked) array(s site, m schema.Member) {
	switch m.Key {
	case "prefixItems":
		l.items = max(l.items, len(m.Value.Items))
	case "items", "unevaluatedItems":
		l.all = true
	case "contains":
		l.contains = append(slices.Clip(l.contains), m.Value)
	}
}

// looksAtAll reports whether a schema may look at parts of a value of that kind.
func looksAtAll(s site, kind schema.Kind) bool {
	return slices.ContainsFunc(keywordsOf(s), func(m schema.Member) bool {
		k := keywords[m.Key]
		return k.kind == kind && !k.any && k.form != noSchemas || k.any && m.Key != "not" && (k.form != noSchemas || m.Key == "$ref" || m.Key == "$dynamicRef")
	})
}
