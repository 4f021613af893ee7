package subsume

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// keyword describes a keyword. Values of other kinds than its own always satisfy it.
type keyword struct {
	kind    schema.Kind
	any     bool // it is for every kind
	form    form
	demands func(a atom) choice // what the keyword, or its negation, demands
}

// atom is a keyword of a schema, or its negation, for a value of some kind.
type atom struct {
	site
	value *schema.Node
	kind  schema.Kind
	holds bool
}

func (a atom) sub(n *schema.Node, holds bool) literal { return literal{a.at(n), holds} }

// form is where in the value of a keyword its schemas are.
type form uint8

const (
	noSchemas form = iota
	oneSchema
	schemaList
	schemaMap
)

var keywords map[string]keyword

func init() {
	keywords = map[string]keyword{
		"type":  {any: true, demands: atom.types},
		"enum":  {any: true, demands: func(a atom) choice { return a.oneOfValues(a.value.Items) }},
		"const": {any: true, demands: func(a atom) choice { return a.oneOfValues([]*schema.Node{a.value}) }},
		"allOf": {any: true, form: schemaList, demands: atom.allOf},
		"anyOf": {any: true, form: schemaList, demands: atom.anyOf},
		"oneOf": {any: true, form: schemaList, demands: atom.oneOf},
		"not":   {any: true, form: oneSchema, demands: func(a atom) choice { return must(a.sub(a.value, !a.holds)) }},
		"if":    {any: true, form: oneSchema, demands: atom.condition},
		"then":  {any: true, form: oneSchema, demands: nothing},
		"else":  {any: true, form: oneSchema, demands: nothing},
		"$ref":  {any: true, demands: atom.ref}, "$dynamicRef": {any: true, demands: atom.ref},

		"minimum":          {kind: schema.Number, demands: func(a atom) choice { return a.bound(false, false) }},
		"exclusiveMinimum": {kind: schema.Number, demands: func(a atom) choice { return a.bound(false, true) }},
		"maximum":          {kind: schema.Number, demands: func(a atom) choice { return a.bound(true, false) }},
		"exclusiveMaximum": {kind: schema.Number, demands: func(a atom) choice { return a.bound(true, true) }},
		"multipleOf":       {kind: schema.Number, demands: func(a atom) choice { return a.multiple(a.value.Rat()) }},

		"minLength": {kind: schema.String, demands: atom.least}, "maxLength": {kind: schema.String, demands: atom.most},
		"pattern": {kind: schema.String, demands: atom.pattern}, "format": {kind: schema.String, demands: atom.format},

		"minItems": {kind: schema.Array, demands: atom.least}, "maxItems": {kind: schema.Array, demands: atom.most},
		"uniqueItems": {kind: schema.Array, demands: atom.unique},
		"prefixItems": {kind: schema.Array, form: schemaList, demands: atom.prefix},
		"items":       {kind: schema.Array, form: oneSchema, demands: atom.items}, "additionalItems": {kind: schema.Array, form: oneSchema, demands: nothing},
		"contains": {kind: schema.Array, form: oneSchema, demands: atom.contains}, "minContains": {kind: schema.Array, demands: nothing},
		"maxContains": {kind: schema.Array, demands: nothing}, "unevaluatedItems": {kind: schema.Array, form: oneSchema, demands: atom.unevaluatedItems},

		"minProperties": {kind: schema.Object, demands: atom.least}, "maxProperties": {kind: schema.Object, demands: atom.most},
		"required":              {kind: schema.Object, demands: atom.required},
		"properties":            {kind: schema.Object, form: schemaMap, demands: atom.properties},
		"patternProperties":     {kind: schema.Object, form: schemaMap, demands: atom.patternProperties},
		"additionalProperties":  {kind: schema.Object, form: oneSchema, demands: atom.additionalProperties},
		"propertyNames":         {kind: schema.Object, form: oneSchema, demands: atom.propertyNames},
		"dependentRequired":     {kind: schema.Object, demands: atom.dependencies},
		"dependentSchemas":      {kind: schema.Object, form: schemaMap, demands: atom.dependencies},
		"dependencies":          {kind: schema.Object, form: schemaMap, demands: atom.dependencies},
		"unevaluatedProperties": {kind: schema.Object, form: oneSchema, demands: atom.unevaluatedProperties},
	}
}

// nothing is the demand of a keyword that is read with another one.
func nothing(a atom) choice {
	if a.holds {
		return always
	}
	return never
}

// asked is the key of solver.demands: a literal, by its node, for a value of some kind.
type asked struct {
	node  *schema.Node
	holds bool
	kind  schema.Kind
}

// demandsOf returns the demands of l on a value of some kind: all of the choices have to be met. They are cached, so that schemas made for them are
// the same nodes when l comes again, and goals with these have the same key.
func (s *solver) demandsOf(l literal, kind schema.Kind) []choice {
	a := asked{l.node, l.holds, kind}
	all, known := s.demands[a]
	if !known {
		all = demandsOf(l, kind)
		s.demands[a] = all
	}
	return all
}

func demandsOf(l literal, kind schema.Kind) []choice {
	var all []choice
	for _, m := range keywordsOf(l.site) {
		k, known := keywords[m.Key]
		if known && (k.any || k.kind == kind) {
			all = append(all, k.demands(atom{l.site, m.Value, kind, l.holds}))
		} else if !known {
			all = append(all, unknown("keyword "+m.Key))
		}
	}
	if l.holds {
		return all
	}
	return []choice{slices.Concat(all...)} // one of them does not hold
}

// unknown is a demand that facts can not express: an obstacle.
func unknown(why string) choice {
	return note(func(f *facts) { f.obstacle = why })
}

func (a atom) types() choice {
	names := a.value.Items
	if a.value.Kind == schema.String {
		names = []*schema.Node{a.value}
	}
	allows, integer := false, false
	for _, n := range names {
		allows = allows || n.Text == a.kind.String()
		integer = integer || n.Text == "integer" && a.kind == schema.Number
	}
	switch {
	case !allows && integer:
		return a.multiple(one)
	case allows == a.holds:
		return always
	}
	return never
}

func (a atom) oneOfValues(values []*schema.Node) choice {
	if a.holds {
		return note(func(f *facts) { f.allowOnly(values) })
	}
	return note(func(f *facts) { f.exclude(values) })
}

// all returns the demand that every one of the schemas holds, or that none does; each the demand that one of them holds, or does not.
func (a atom) all(nodes []*schema.Node, holds bool) choice {
	o := option{}
	for _, n := range nodes {
		o = append(o, that(a.sub(n, holds)))
	}
	return choice{o}
}

func (a atom) each(nodes []*schema.Node, holds bool) choice {
	c := never
	for _, n := range nodes {
		c = append(c, option{that(a.sub(n, holds))})
	}
	return c
}

func (a atom) allOf() choice {
	if a.holds {
		return a.all(a.value.Items, true)
	}
	return a.each(a.value.Items, false)
}

func (a atom) anyOf() choice {
	if a.holds {
		return a.each(a.value.Items, true)
	}
	return a.all(a.value.Items, false)
}

// condition is if with then and else, which may be missing.
func (a atom) condition() choice {
	c := never
	for _, branch := range []struct {
		keyword string
		holds   bool
	}{{"then", true}, {"else", false}} {
		o := option{that(a.sub(a.value, branch.holds))}
		if n := a.get(branch.keyword); n != nil {
			o = append(o, that(a.sub(n, a.holds)))
		} else if !a.holds {
			continue
		}
		c = append(c, o)
	}
	return c
}

func (a atom) ref() choice {
	target, ok := a.follow(a.value)
	switch {
	case !ok:
		return unknown("a reference that leads nowhere")
	case a.get("$dynamicRef") == a.value && !soleAnchor(a.site, a.value):
		return unknown("$dynamicRef with several targets")
	}
	return must(literal{target, a.holds})
}

// soleAnchor reports whether only one schema of the document has the anchor that a $dynamicRef names: then that is its target in every dynamic scope.
func soleAnchor(s site, ref *schema.Node) bool {
	_, name, _ := strings.Cut(ref.Text, "#")
	count := 0
	s.doc.Root.Walk(func(n *schema.Node) bool {
		if a := n.Get("$dynamicAnchor"); a.Is(schema.String) && a.Text == name {
			count++
		}
		return true
	})
	return count <= 1
}

func (a atom) least() choice {
	n := count(a.value)
	if a.holds {
		return note(func(f *facts) { f.size = f.size.and(span{n, unbounded}) })
	}
	return note(func(f *facts) { f.size = f.size.and(span{0, n - 1}) })
}

func (a atom) most() choice {
	n := count(a.value)
	if a.holds {
		return note(func(f *facts) { f.size = f.size.and(span{0, n}) })
	}
	return note(func(f *facts) { f.size = f.size.and(span{n + 1, unbounded}) })
}

// count reads a number of characters, items or properties.
func count(n *schema.Node) int {
	if x := n.Rat(); x != nil && x.IsInt() && x.Num().IsInt64() {
		return int(min(x.Num().Int64(), unbounded-1))
	}
	return unbounded - 1
}

// subschemas returns the schemas in the value of a keyword by their names or positions; nil if the keyword has no schemas. The lists of names in
// dependencies are among them.
func subschemas(word string, v *schema.Node) map[string]*schema.Node {
	form := keywords[word].form
	all := map[string]*schema.Node{}
	switch {
	case form == noSchemas:
		return nil
	case v.Kind == schema.Array:
		for i, n := range v.Items {
			all[strconv.Itoa(i)] = n
		}
	case form == schemaMap:
		for _, m := range v.Members {
			all[m.Key] = m.Value
		}
	default:
		all[""] = v
	}
	return all
}
