package typing

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/schema"
)

// requirement says in words what a schema requires of a value, and the opposite: "is at least 5", "is less than 5". With a noun it is about a part
// of the value, for example noun "an object", yes "\"mode\" is \"fast\"".
type requirement struct {
	yes, no  string
	noun     string // for a value that has such parts: "an object", "an array"
	yesHasOr bool   // yes has an "or", so that it needs a comma before "and"
	noHasOr  bool

	but     string // the opposite in words is "anything but" this
	key     string // the only member that the requirement is about
	allowed string // what the opposite allows, in words: values of key, or of the whole value
	lacks   bool   // the opposite is that key is missing
}

const (
	requirementDepth = 4    // levels of nested schemas that people can still follow
	requirementBytes = 4000 // length of the longest text in a violation
)

// forbidden describes the values that "not" of owner refuses. The result is zero if the schema under it has too many parts, or keywords that do
// not fit into a short sentence.
func (l *lowering) forbidden(not, owner *schema.Node) requirement {
	about := l.shape(l.around(owner))
	s, ok := l.describe(l.ungrouped(allOf{not}), about, requirementDepth)
	if !ok || len(s.no) > requirementBytes {
		return requirement{}
	}
	if s.key == "" {
		s.allowed = s.opposite(about)
	}
	return s
}

// because describes the values that satisfy "if" of owner (then), and the others (otherwise).
func (l *lowering) because(tested, owner *schema.Node) (then, otherwise string) {
	about := *l.shape(l.around(owner))
	if about.kinds == model.KindAny && about.obj.at != nil {
		about.kinds = model.KindObject // an author who wrote keywords for objects rarely means values of other kinds
	}
	s, ok := l.describe(l.ungrouped(allOf{tested}), &about, requirementDepth)
	if !ok || len(s.yes)+len(s.no) > requirementBytes {
		return "", ""
	}
	if s.noun == "" {
		return "the value " + s.yes, "the value " + s.no
	}
	return s.yes, s.no
}

// around returns n and the schemas that n is a branch of, which apply to the same value. It goes down from the root, because only then is it certain
// that "then" is a keyword, and not the name of a property or definition.
func (l *lowering) around(n *schema.Node) allOf {
	var owners allOf
	at := l.home(n).Root
	for at.Pointer != n.Pointer { // n may be a copy (scopes)
		next := subschemaAround(n, at)
		if next == nil {
			return allOf{n} // n is below a member that is no keyword
		}
		if path, _ := below(next, at); branchPath().MatchString(path) {
			owners = append(owners, at)
		} else {
			owners = nil
		}
		at = next
	}
	return append(owners, n)
}

// branchPath matches the path from a schema to a branch of it.
var branchPath = lazyregexp.New(`^/(?:(?:allOf|anyOf|oneOf)/[0-9]+|then|else)$`)

// subschemaAround returns the schema directly below owner that n is, or is within; nil for none.
func subschemaAround(n, owner *schema.Node) (found *schema.Node) {
	schema.Subschemas(owner, func(sub *schema.Node) {
		if within(n, sub) {
			found = sub
		}
	})
	return found
}

// opposite is a noun phrase for the values of which s is not true.
func (s requirement) opposite(about *shape) string {
	switch {
	case s.but != "":
		return "anything but " + s.but
	case s.noun != "":
		return s.noun + " in which " + s.no
	case about.kinds&(about.kinds-1) == 0:
		return kindsInWords(about.kinds, about.integer) + " that " + s.no
	}
	return "a value that " + s.no
}

// ungrouped is the shape of the schemas of c before their groups narrow it.
func (l *lowering) ungrouped(c allOf) *shape {
	s := &shape{kinds: model.KindAny}
	for _, n := range c {
		s.and(l.own(n))
	}
	return s
}

// describe puts s into words, leaving out what about says of the same value already. ok is false if that is not possible.
func (l *lowering) describe(s, about *shape, depth int) (requirement, bool) {
	if depth == 0 || s.never != nil || s.kinds == 0 {
		return requirement{}, false
	}
	if s.enum != nil {
		return describeEnum(s.enum), s.hasNoFacets() && s.groups == nil && s.conditions == nil
	}
	all, ok := l.describeKeywords(s, about, depth)
	for _, g := range s.groups {
		either, can := l.describeAnyOf(g, about, depth)
		all, ok = append(all, either), ok && can
	}
	for _, c := range s.conditions {
		part, can := l.describeCondition(c, about, depth)
		all, ok = append(all, part), ok && can
	}
	if !ok || len(all) == 0 {
		return requirement{}, false
	}
	return joined(all), true
}

func describeEnum(e *enumFacet) requirement {
	var all []string
	for _, v := range e.values {
		all = append(all, compact(v))
	}
	list := strings.Join(all, ", ")
	if len(all) == 1 {
		return requirement{yes: "is " + list, no: "is not " + list, but: list}
	}
	return requirement{yes: "is one of " + list, no: "is none of " + list, but: "one of " + list}
}

// describeKeywords puts the type, and the keywords for one kind of values, into words.
func (l *lowering) describeKeywords(s, about *shape, depth int) ([]requirement, bool) {
	var kind []requirement
	left := about.kinds & s.kinds
	// A type that lists all kinds, with "integer" in place of "number", is left out: it would be a list of six kinds.
	becomesInteger := left&model.KindNumber != 0 && s.integer && !about.integer
	if left != about.kinds || becomesInteger && s.kinds != model.KindAny {
		words := kindsInWords(s.kinds, s.integer)
		kind = append(kind, requirement{yes: "is " + words, no: "is not " + words, but: words})
	}
	for _, k := range []model.Kind{model.KindNumber, model.KindString, model.KindArray, model.KindObject} {
		if left&k == 0 {
			continue
		}
		parts, ok := l.describeKind(k, s, about, depth)
		if !ok {
			return nil, false
		}
		if len(parts) == 0 {
			continue
		}
		if p := joined(parts); left == about.kinds && left != k {
			kind = append(kind, p.unless(k)) // values of other kinds satisfy s
		} else if left != k {
			return nil, false
		} else if kind != nil {
			kind = []requirement{p.within(kind[0], k)}
		} else {
			kind = parts
		}
	}
	return kind, true
}

// unless is s for a schema that also allows every value of another kind than k.
func (s requirement) unless(k model.Kind) requirement {
	word := kindsInWords(k, false)
	if s.noun != "" {
		s.yes, s.yesHasOr = "is not "+word+", or one in which "+s.yes, true
		return s // s.no is about a part of such a value already
	}
	return requirement{yes: "is not " + word + " or " + s.yes, yesHasOr: true, no: "is " + word + " that " + s.no}
}

// within is s for a schema that refuses values of other kinds than k.
func (s requirement) within(kind requirement, k model.Kind) requirement {
	word := kindsInWords(k, false)
	if kind.but != "" {
		word = kind.but
	}
	if s.noun != "" {
		return requirement{yes: "is " + word + " in which " + s.yes, no: kind.no + ", or one in which " + s.no, noHasOr: true}
	}
	return requirement{yes: "is " + word + " that " + s.yes, no: kind.no + " or " + s.no, noHasOr: true}
}

// predicate is s as a statement about the value itself, not about a part of it.
func (s requirement) predicate() requirement {
	if s.noun != "" {
		s.yes, s.no = "is "+s.noun+" in which "+s.yes, "is "+s.noun+" in which "+s.no
		s.noun, s.key = "", ""
	}
	return s
}

// joined returns one requirement for all: it is met if each of them is.
func joined(all []requirement) requirement {
	if len(all) == 1 {
		return all[0]
	}
	s := requirement{noun: all[0].noun, noHasOr: true}
	if slices.ContainsFunc(all, func(p requirement) bool { return p.noun != s.noun }) {
		s.noun = ""
	}
	yes, no, and := make([]string, len(all)), make([]string, len(all)), " and "
	for i, p := range all {
		if s.noun == "" {
			p = p.predicate()
		}
		yes[i], no[i] = p.yes, p.no
		if p.yesHasOr {
			and = ", and "
		}
	}
	s.yes, s.no = strings.Join(yes, and), strings.Join(no, " or ")
	return s
}

// opposed is the negation of s.
func (s requirement) opposed() requirement {
	return requirement{yes: s.no, no: s.yes, noun: s.noun, yesHasOr: s.noHasOr, noHasOr: s.yesHasOr}
}

// describeAnyOf puts an anyOf into words.
func (l *lowering) describeAnyOf(g group, about *shape, depth int) (requirement, bool) {
	var all []requirement
	for _, b := range g.branches {
		s, ok := l.describe(l.ungrouped(allOf{b}), about, depth-1)
		if !ok || g.oneOf {
			return requirement{}, false
		}
		all = append(all, s.opposed())
	}
	return joined(all).opposed(), len(all) > 0
}

// describeCondition puts a condition into words if a short sentence can.
func (l *lowering) describeCondition(c condition, about *shape, depth int) (requirement, bool) {
	under := c.at.Get(c.keyword)
	switch c.keyword {
	case "not":
		s, ok := l.describe(l.ungrouped(allOf{under}), about, depth-1)
		return s.opposed(), ok
	case "contains":
		low, high := l.containsBounds(c.at)
		s, ok := l.describe(l.ungrouped(allOf{under}), l.shape(about.arr.items), depth-1)
		s = s.predicate()
		return requirement{yes: "an item " + s.yes, no: "no item " + s.yes, noun: "an array", yesHasOr: s.yesHasOr, noHasOr: s.yesHasOr}, ok && low == 1 && high == nil
	}
	return requirement{}, false
}

// kindsInWords lists kinds as the runtime does.
func kindsInWords(kinds model.Kind, integer bool) string {
	number := "a number"
	if integer {
		number = "an integer"
	}
	var all []string
	for _, w := range []struct {
		kind model.Kind
		word string
	}{
		{model.KindBool, "a boolean"}, {model.KindNumber, number}, {model.KindString, "a string"},
		{model.KindArray, "an array"}, {model.KindObject, "an object"}, {model.KindNull, "null"},
	} {
		if kinds&w.kind != 0 {
			all = append(all, w.word)
		}
	}
	return strings.Join(all, " or ")
}

func quoted(name string) string { return strconv.Quote(name) }
