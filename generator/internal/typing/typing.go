package typing

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// Here a keyword becomes a part of a Go type, or a check beside it: readkeyword.go has read all keywords of a place into a shape, and the shape
// decides the type.

// valueOf decides the Go type of an allOf.
func (l *lowering) valueOf(c allOf, p place) model.Value {
	if len(l.decls)-l.declsBefore > l.MaxDecls {
		if !l.tooLarge {
			l.tooLarge = true
			l.Types.findings.Report(l.root, "schema-too-large", "each combination of schemas that an allOf makes is a declaration of its own: write one schema in place of an allOf of many $refs", "the schema leads to more than %d Go declarations", l.MaxDecls)
		}
		return model.Value{Type: model.Raw{}}
	}
	c = l.simplify(c)
	if target, ok := l.soleRef(c); ok && !p.needsOwnType {
		return l.ref(target, p)
	}
	if p.validateOnly {
		return l.conjunctionCheck(c, p)
	}
	return l.conjunction(c, p)
}

// soleRef returns the target of c if it is a reference with nothing but annotations beside it.
func (l *lowering) soleRef(c allOf) (*schema.Node, bool) {
	if len(c) != 1 {
		return nil, false
	}
	target, ok := l.follow(c[0])
	return target, ok
}

// ref returns the value of a $ref target.
func (l *lowering) ref(target *schema.Node, p place) model.Value {
	if p.validateOnly {
		return l.checkRef(target)
	}
	if v := l.named(target); v != nil {
		if p.keepAdditional {
			l.keepingAdditional = append(l.keepingAdditional, v.Type.(model.Named).Decl)
		}
		found := *v
		found.Checks = copyChecks(v.Checks) // a group gets a table of its own at each place
		return found
	}
	return l.valueOfShape(l.shape(allOf{target}), place{hint: p.hint, item: p.item}) // what is declared for it is named after the place that refers to it
}

// named returns the declared type of a $ref target, or nil if it needs none, such as a boolean.
func (l *lowering) named(target *schema.Node) *model.Value {
	if v, ok := l.declared[target]; ok {
		return v
	}
	s := l.shape(allOf{target})
	if !worthAName(s) || l.isAnyJSON(target) || strings.Contains(l.goTypeOf(s), ".") { // a type of another package needs no declaration
		return nil
	}
	v := &model.Value{Null: s.kinds&model.KindNull != 0}
	d := l.newDecl(l.refName(target), target)
	l.claims[d].rank, l.claims[d].other = l.targetRank(), l.longName(target)
	v.Type = model.Named{Decl: d}
	l.declared[target] = v
	t := *s
	if v.Null && !l.surelyAllowsNull(s) {
		v.Null = false // d's own functions read null, because conditions or branches of d restrict it
	} else {
		t.kinds &^= model.KindNull
	}
	l.fill(d, &t, place{hint: d.Name})
	if _, ok := d.Body.(*model.Enum); ok {
		v.Checks, d.Checks = d.Checks, nil // an enum has no decode function that could run the checks: those that read it do
	}
	return v
}

// worthAName reports whether s is worth a declared Go type.
func worthAName(s *shape) bool {
	kinds := s.kinds &^ model.KindNull
	return s.never == nil && kinds != 0 && kinds != model.KindBool && s.kinds != model.KindAny
}

// valueOfShape decides the Go type of a shape, and what must be checked beside it.
func (l *lowering) valueOfShape(s *shape, p place) model.Value {
	if l.listsAnyJSON(s) { // an anyOf lists every kind, as protocols define "any JSON"
		return model.Value{Type: model.Raw{}}
	}
	if s.never == nil && !p.validateOnly && len(s.groups) == 1 {
		if v, ok := l.union(s, p); ok {
			return v
		}
	}
	if p.validateOnly && l.isOneGroup(s) {
		all := l.assertions(s, p)
		all[0].(*model.Group).Alone = true // the ByKind beside it leaves the value to the group
		return model.Value{Type: &model.ByKind{Allowed: model.KindAny}, Checks: all}
	}
	p.keepAdditional = p.keepAdditional || len(s.groups) > 0 || s.conditions != nil
	v := l.valueOfKinds(s, p)
	v.Null = s.kinds&model.KindNull != 0 && s.never == nil && nullFirst(v.Type)
	v.Checks = append(v.Checks, l.assertions(s, p)...)
	return v
}

// isOneGroup reports whether s is one group and nothing that restricts its branches.
func (l *lowering) isOneGroup(s *shape) bool {
	if len(s.groups) != 1 || s.conditions != nil || s.never != nil || s.enum != nil || s.integer || !s.hasNoFacets() {
		return false
	}
	var kinds model.Kind
	for _, b := range l.shapes(s.groups[0]) {
		kinds |= b.kinds
	}
	return kinds&^s.kinds == 0
}

// nullFirst reports whether null must be tested before a value of the type is read: the functions for the other types handle null themselves.
func nullFirst(t model.Type) bool {
	switch t.(type) {
	case model.Raw, *model.ByKind, *model.Never:
		return false
	}
	return true
}

// valueOfKinds decides the Go type by the kinds beside null. valueOfShape adds the validation of groups. A value of several kinds with a group beside
// them is kept as JSON, not made a union.
func (l *lowering) valueOfKinds(s *shape, p place) model.Value {
	kinds := s.kinds &^ model.KindNull
	switch {
	case s.never != nil, s.kinds == 0: // never is the schema that allows nothing
		return l.neverValue(s, p)
	case s.unconstrained():
		return model.Value{Type: model.Raw{}}
	case s.enum != nil && kinds != model.KindString && kinds != model.KindNumber:
		return l.enumOfKinds(s, p)
	case bits.OnesCount8(uint8(kinds)) == 1:
		return l.valueOfKind(kinds, s, p)
	case kinds == 0 || bits.OnesCount8(uint8(kinds)) > maxKinds || p.validateOnly || len(s.groups) > 0:
		return l.rawByKind(s, p)
	}
	return l.unionOfKinds(s, p)
}

// maxKinds is how many kinds a union, or a branch of one, has at most, since each kind becomes a member; a type switch over more is of little use.
const maxKinds = 3

// valueOfKind is valueOfKinds for values of one kind.
func (l *lowering) valueOfKind(kind model.Kind, s *shape, p place) model.Value {
	switch kind {
	case model.KindString:
		return l.text(s, p)
	case model.KindNumber:
		return l.number(s, p)
	case model.KindBool:
		return l.boolean(s, p)
	case model.KindArray:
		return l.slice(s, p)
	default:
		return l.object(s, p)
	}
}

// boolean lowers booleans to bool, which has no rule. Where messages of a validator have to name the location of "type", a ByKind has it.
func (l *lowering) boolean(s *shape, p place) model.Value {
	if at := l.ruleAt(s.kindsAt, p); p.validateOnly && at != "" {
		return model.Value{Type: &model.ByKind{Allowed: model.KindBool | s.kinds&model.KindNull, At: at}}
	}
	return model.Value{Type: model.Bool{}}
}

// neverValue lowers a schema that no value satisfies to Never.
func (l *lowering) neverValue(s *shape, p place) model.Value {
	at := first(s.never, s.kindsAt)
	never := &model.Never{At: l.at(at)}
	if p.validateOnly {
		return model.Value{Type: never}
	}
	d := l.newFunc("check", p.hint)
	d.Body = &model.Check{Value: model.Value{Type: never}}
	return model.Value{Type: model.Raw{}, Checks: []model.Assertion{&model.Conjunct{Decl: d}}}
}

// enumOfKinds lowers an enum or const whose values are neither all strings nor all numbers.
func (l *lowering) enumOfKinds(s *shape, p place) model.Value {
	rule := &model.ValuesRule{At: l.ruleAt(s.enum.at, p), Const: s.enum.isConst}
	for _, v := range s.enum.values {
		if kindOf[v.Kind]&s.kinds != 0 {
			rule.JSON = append(rule.JSON, compact(v))
		}
	}
	var t model.Type = model.Raw{}
	if s.kinds&^model.KindNull == model.KindBool {
		t = model.Bool{}
	}
	v := model.Value{Type: t, Values: rule}
	if !s.hasNoFacets() {
		others := *s // all but the enum; valueOfShape adds the groups and conditions
		others.enum, others.groups, others.conditions = nil, nil, nil
		v.Checks = []model.Assertion{&model.Conjunct{Decl: l.check(&others, p.hint)}}
	}
	if kinds := s.kinds &^ model.KindNull; !p.validateOnly && bits.OnesCount8(uint8(kinds)) > 1 && kinds&(model.KindArray|model.KindObject) == 0 {
		v.Type, v.Values = l.mixedEnum(s, rule, p), nil
	}
	return v
}

// mixedEnum is an enum of strings, numbers and booleans. The rule may list null, but it gets no constant: the presence says whether a
// value may be null.
func (l *lowering) mixedEnum(s *shape, rule *model.ValuesRule, p place) model.Type {
	d := l.declare(p, s)
	m := &model.Mixed{Rule: rule}
	texts := slices.DeleteFunc(slices.Clone(rule.JSON), func(text string) bool { return text == "null" })
	for i, word := range naming.Distinct(texts, mixedWord) {
		m.Values = append(m.Values, model.EnumValue{Name: word, Text: texts[i]})
	}
	d.Body = m
	return model.Named{Decl: d}
}

// mixedWord is constWord for a JSON text: 1.5 gives 1Point5.
func mixedWord(json string) string {
	if text, err := strconv.Unquote(json); err == nil {
		return constWord(text)
	}
	return constWord(strings.NewReplacer("-", "Minus ", ".", " Point ").Replace(json))
}

// rawByKind lowers a value that is stored as JSON, or only validated, by its kind.
func (l *lowering) rawByKind(s *shape, p place) model.Value {
	t := &model.ByKind{Allowed: s.kinds, Integer: s.integer}
	if s.kinds != model.KindAny {
		t.At = l.at(s.kindsAt) // always: only of a rule can the runtime derive the location
	}
	checkOnly := place{hint: p.hint, node: p.node, validateOnly: true}
	for _, kind := range []model.Kind{model.KindNumber, model.KindString, model.KindArray, model.KindObject} {
		if s.kinds&kind != 0 && s.hasKeywordsFor(kind) {
			t.Cases = append(t.Cases, model.KindCase{Kind: kind, Value: l.valueOfKind(kind, s, checkOnly)})
		}
	}
	if p.validateOnly {
		return model.Value{Type: t}
	}
	if t.Allowed == model.KindAny && t.Cases == nil {
		return model.Value{Type: model.Raw{}}
	}
	d := l.newFunc("check", p.hint)
	d.Body = &model.Check{Value: model.Value{Type: t}}
	return model.Value{Type: model.Raw{}, Checks: []model.Assertion{&model.Conjunct{Decl: d}}}
}

// hasKeywordsFor reports whether s has keywords for that kind.
func (s *shape) hasKeywordsFor(kind model.Kind) bool {
	switch kind {
	case model.KindNumber:
		return s.num.at != nil || s.integer
	case model.KindString:
		return s.str.at != nil
	case model.KindArray:
		return s.arr.at != nil
	default:
		return s.obj.at != nil
	}
}

// unionOfKinds lowers "type": ["string", "integer"].
func (l *lowering) unionOfKinds(s *shape, p place) model.Value {
	d := l.declare(p, s)
	u := &model.Union{Rule: &model.ByJSONKind{At: l.ruleAt(s.kindsAt, p), Keyword: "type"}}
	d.Body = u
	t := *s // conditions are validated beside the union, and its declaration has the annotations
	t.conditions, t.annotations = nil, annotations{}
	u.Members = l.kindMembers(d, &t, p)
	return model.Value{Type: model.Named{Decl: d}}
}

// kindMembers returns a member for each kind of s, for a union or a branch of one that has several, such as "type": ["string", "integer"].
func (l *lowering) kindMembers(d *model.Decl, s *shape, p place) []*model.UnionMember {
	var all []*model.UnionMember
	for _, kind := range []model.Kind{model.KindString, model.KindNumber, model.KindBool, model.KindArray, model.KindObject} {
		if s.kinds&kind == 0 {
			continue
		}
		t := *s
		t.kinds = kind
		if all != nil {
			t.annotations.title, t.annotations.description = "", "" // the first member has them
		}
		m := l.newDecl(d.Name+kindWord(kind, t.integer), nil) // nil: several members share the schema
		keep := p.keepAdditional || t.namesNoProperties()     // without names, all properties are additional ones
		l.fill(m, &t, place{hint: m.Name, node: p.node, needsOwnType: true, keepAdditional: keep})
		all = append(all, &model.UnionMember{Decl: m, Form: model.Form{Kinds: kind, Integer: t.integer}})
	}
	return all
}

// kindWord is the word for a kind in the Go name of a union's member.
func kindWord(kind model.Kind, integer bool) string {
	switch kind {
	case model.KindString:
		return "String"
	case model.KindNumber:
		if integer {
			return "Integer"
		}
		return "Number"
	case model.KindBool:
		return "Boolean"
	case model.KindArray:
		return "List"
	default:
		return "Object"
	}
}

// declare returns the declaration for a struct, enum or union at p. The goType of a schema (namedBy, or the one that s was read from) names it, else the
// place.
func (l *lowering) declare(p place, s *shape) *model.Decl {
	d := p.decl
	if d == nil {
		d = l.newDecl(p.hint, first(p.namedBy, schemaOf(s)))
	}
	if p.conjunction != "" { // one that contains itself refers to this declaration
		l.lowered[p.conjunction] = &loweredAllOf{value: model.Value{Type: model.Named{Decl: d}}}
	}
	d.Doc = docLines(p.doc, &s.annotations)
	return d
}

// docLines returns the lines of a comment: first the generator's, then the schema's.
func docLines(doc []string, n *annotations) []string {
	lines := slices.Clone(doc)
	text := n.description
	if text == "" {
		text = n.title
	}
	if text = strings.TrimSpace(text); text != "" {
		lines = append(lines, strings.Split(text, "\n")...)
	}
	if n.deprecated && len(lines) > 0 {
		lines = append(lines, "")
	}
	if n.deprecated {
		lines = append(lines, "Deprecated: the schema says so.")
	}
	return lines
}
