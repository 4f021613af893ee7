package subsume

import (
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
	"github.com/mcpkiln/mcpkiln/schema"
)

var (
	errUnknown = errors.New("a schema that is not understood")
	errSpent   = errors.New(tooMany)
)

// holds reports whether v satisfies a schema. Results are cached, because the values that are tried have many parts in common.
func (s *solver) holds(in site, v *schema.Node) (bool, error) {
	asked := [2]*schema.Node{in.node, v}
	if held, known := s.held[asked]; known {
		return held, nil
	}
	e := evaluation{solver: s, value: v}
	ok := e.schema(in)
	if e.err == nil {
		s.held[asked] = ok
	}
	return ok, e.err
}

// evaluation is the evaluation of one value by one schema, with the parts of the value that keywords have evaluated.
type evaluation struct {
	*solver
	value *schema.Node
	seen  []bool // which parts keywords have evaluated, by position of the item or member
	err   error  // once it is set, the results of the methods have no meaning
}

func (e *evaluation) schema(s site) bool {
	if s.node.Kind == schema.Bool {
		return s.node.Text == "true"
	}
	ok := true
	members := keywordsOf(s)
	for _, late := range []bool{false, true} { // the unevaluated… keywords come last
		for _, m := range members {
			if (m.Key == "unevaluatedProperties" || m.Key == "unevaluatedItems") == late && e.err == nil {
				ok = e.keyword(s, m) && ok
			}
		}
	}
	return ok
}

// keyword evaluates one keyword. A keyword for a single kind holds for values of all other kinds.
func (e *evaluation) keyword(s site, m schema.Member) bool {
	k, known := keywords[m.Key]
	if !known {
		e.err = errUnknown
	}
	if e.steps++; e.steps > mostSteps {
		e.err = errSpent
		return true
	}
	if !known || !k.any && k.kind != e.value.Kind {
		return true
	}
	switch m.Key {
	case "allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef", "dependentSchemas", "dependencies", "dependentRequired":
		return e.applied(s, m)
	case "then", "else":
		return true
	}
	switch e.value.Kind {
	case schema.Array:
		return e.ofItems(s, m)
	case schema.Object:
		return e.ofMembers(s, m)
	}
	return e.assertion(s, m)
}

// assertion evaluates a keyword that applies no schema.
func (e *evaluation) assertion(s site, m schema.Member) bool {
	v := e.value
	size := len(v.Items) + len(v.Members)
	if v.Kind == schema.String {
		size = utf8.RuneCountInString(v.Text)
	}
	switch m.Key {
	case "enum":
		return slices.ContainsFunc(m.Value.Items, func(o *schema.Node) bool { return schema.Equal(o, v) })
	case "const":
		return schema.Equal(m.Value, v)
	case "minLength", "minItems", "minProperties":
		return size >= count(m.Value)
	case "maxLength", "maxItems", "maxProperties":
		return size <= count(m.Value)
	case "pattern":
		re, err := pattern.Compile(m.Value.Text)
		if err != nil {
			e.err = err
			return true
		}
		return re.MatchString(v.Text)
	case "format":
		row, known := formats[m.Value.Text]
		return !known || row.format.Match(v.Text)
	}
	return e.typeOrNumber(s, m)
}

// typeOrNumber evaluates type, which may require an integer, and the keywords of numbers, by the facts that they demand.
func (e *evaluation) typeOrNumber(s site, m schema.Member) bool {
	options := keywords[m.Key].demands(atom{site: s, value: m.Value, kind: e.value.Kind, holds: true})
	if len(options) == 0 || e.value.Kind != schema.Number {
		return len(options) > 0
	}
	var f facts
	for _, t := range options[0] { // the only option: none of these keywords has more
		t.note(&f)
	}
	x := e.value.Rat()
	if x == nil || f.obstacle != "" {
		e.err = errUnknown
		return true
	}
	return f.number.within(x) && (f.number.multiple == nil || x.Quo(x, f.number.multiple).IsInt())
}

// sub evaluates another schema for the same value. If it holds, the parts that it has evaluated count.
func (e *evaluation) sub(s site) bool {
	other := evaluation{solver: e.solver, value: e.value}
	ok := other.schema(s)
	if other.err != nil {
		e.err = other.err
	}
	if ok {
		for i, seen := range other.seen {
			if seen {
				e.mark(i)
			}
		}
	}
	return ok
}

func (e *evaluation) mark(i int) {
	if e.seen == nil {
		e.seen = make([]bool, len(e.value.Items)+len(e.value.Members))
	}
	e.seen[i] = true
}

// applied evaluates a keyword that applies schemas to the value itself, or that depends on which members it has.
func (e *evaluation) applied(s site, m schema.Member) bool {
	held := 0
	for _, n := range m.Value.Items {
		if e.sub(s.at(n)) {
			held++
		}
	}
	switch m.Key {
	case "allOf":
		return held == len(m.Value.Items)
	case "anyOf":
		return held > 0
	case "oneOf":
		return held == 1
	case "not":
		return !e.alone(s.at(m.Value), e.value)
	case "if":
		next := s.get("else")
		if e.sub(s.at(m.Value)) {
			next = s.get("then")
		}
		return next == nil || e.sub(s.at(next))
	case "$ref", "$dynamicRef":
		target, ok := s.follow(m.Value)
		if !ok || m.Key == "$dynamicRef" && !soleAnchor(s, m.Value) { // the target depends on the dynamic scope
			e.err = errUnknown
			return true
		}
		return e.sub(target)
	}
	return e.dependent(s, m.Value)
}

// dependent evaluates dependentRequired, dependentSchemas or dependencies, whose value is v.
func (e *evaluation) dependent(s site, v *schema.Node) bool {
	ok := true
	for _, m := range v.Members {
		switch {
		case e.value.Get(m.Key) == nil:
		case m.Value.Kind == schema.Array:
			ok = ok && e.hasAll(m.Value)
		default:
			ok = e.sub(s.at(m.Value)) && ok
		}
	}
	return ok
}

func (e *evaluation) hasAll(names *schema.Node) bool {
	return !slices.ContainsFunc(names.Items, func(n *schema.Node) bool { return e.value.Get(n.Text) == nil })
}

// part evaluates a schema for the part of the value at i, which counts as evaluated.
func (e *evaluation) part(s site, i int, v *schema.Node) bool {
	e.mark(i)
	return e.alone(s, v)
}

// alone evaluates a schema without counting the parts that it has evaluated.
func (e *evaluation) alone(s site, v *schema.Node) bool {
	ok, err := e.holds(s, v)
	if err != nil {
		e.err = err
	}
	return ok
}

// ofItems evaluates a keyword of arrays.
func (e *evaluation) ofItems(s site, m schema.Member) bool {
	ok := true
	each := func(n *schema.Node, first, end int) {
		for i := first; i < min(end, len(e.value.Items)); i++ {
			ok = e.part(s.at(n), i, e.value.Items[i]) && ok
		}
	}
	list := m.Value.Items
	switch m.Key {
	case "prefixItems", "items":
		if m.Value.Kind != schema.Array {
			each(m.Value, len(atom{site: s}.prefixes()), len(e.value.Items))
			return ok
		}
		for i, n := range list {
			each(n, i, i+1)
		}
		if rest := s.get("additionalItems"); rest != nil && m.Key == "items" {
			each(rest, len(list), len(e.value.Items))
		}
	case "unevaluatedItems":
		for i := range e.value.Items {
			if e.seen == nil || !e.seen[i] {
				each(m.Value, i, i+1)
			}
		}
	case "contains":
		return e.contains(s, m.Value)
	case "uniqueItems":
		return m.Value.Text != "true" || !repeats(e.value.Items)
	case "additionalItems", "minContains", "maxContains":
	default:
		return e.assertion(s, m)
	}
	return ok
}

func repeats(items []*schema.Node) bool {
	for i, v := range items {
		if slices.ContainsFunc(items[:i], func(o *schema.Node) bool { return schema.Equal(o, v) }) {
			return true
		}
	}
	return false
}

func (e *evaluation) contains(s site, n *schema.Node) bool {
	found := 0
	for i, v := range e.value.Items {
		if e.alone(s.at(n), v) {
			found++
			if s.dialect() == schema.Draft2020 {
				e.mark(i)
			}
		}
	}
	var f facts // contains demands one option with one term: a note of how many items have to satisfy the schema
	atom{site: s, value: n, kind: schema.Array, holds: true}.contains()[0][0].note(&f)
	return f.array.counts[0].number.holds(found)
}

// ofMembers evaluates a keyword of objects.
func (e *evaluation) ofMembers(s site, m schema.Member) bool {
	additional := mentioned(s)
	additional.others = true // all names but the mentioned ones
	ok := true
	for i, member := range e.value.Members {
		switch m.Key {
		case "properties":
			if n := m.Value.Get(member.Key); n != nil {
				ok = e.part(s.at(n), i, member.Value) && ok
			}
		case "patternProperties":
			for _, p := range m.Value.Members {
				if matches(p.Key, member.Key) {
					ok = e.part(s.at(p.Value), i, member.Value) && ok
				}
			}
		case "additionalProperties":
			if additional.has(member.Key) {
				ok = e.part(s.at(m.Value), i, member.Value) && ok
			}
		case "unevaluatedProperties":
			if e.seen == nil || !e.seen[i] {
				ok = e.part(s.at(m.Value), i, member.Value) && ok
			}
		case "propertyNames":
			ok = e.alone(s.at(m.Value), text(member.Key)) && ok
		}
	}
	switch {
	case m.Key == "required":
		return e.hasAll(m.Value)
	case keywords[m.Key].form == noSchemas:
		return e.assertion(s, m)
	}
	return ok
}
