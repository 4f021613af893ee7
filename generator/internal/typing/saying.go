package typing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// saying is what a schema demands of a value, in words, and the opposite: is at least 5, is less than 5. With a noun it speaks
// of parts of the value: "mode" is "fast".
type saying struct {
	yes, no string
	noun    string // of a value that has such parts: an object, an array
	open    bool   // yes has an or
	wide    bool   // no has an or

	but     string // anything but this is the opposite
	key     string // the only member that it speaks of,
	allowed string // and what the opposite allows there
	lacks   bool   // the opposite is that it is missing
}

const (
	sayingDepth = 4    // schemas within schemas that a reader follows
	sayingBytes = 4000 // of a violation
)

// forbidden describes a value that does not fit under: what violations of not say. The zero saying has no words, since the schema has
// too many parts, or keywords that no short sentence holds.
func (l *lowering) forbidden(under, owner *schema.Node) saying {
	about := l.shape(l.around(owner))
	s, ok := l.say(l.said(conj{under}), about, sayingDepth)
	if !ok || len(s.no) > sayingBytes {
		return saying{}
	}
	if s.key == "" {
		s.allowed = s.opposite(about)
	}
	return s
}

// because describes the values that fit the schema of an if, and the others.
func (l *lowering) because(under, owner *schema.Node) (then, otherwise string) {
	about := *l.shape(l.around(owner))
	if about.kinds == model.KindAny && about.obj.at != nil {
		about.kinds = model.KindObject // others are rarely meant
	}
	s, ok := l.say(l.said(conj{under}), &about, sayingDepth)
	if !ok || len(s.yes)+len(s.no) > sayingBytes {
		return "", ""
	}
	if s.noun == "" {
		return "the value " + s.yes, "the value " + s.no
	}
	return s.yes, s.no
}

// around are the schemas that hold for the same value as n, by its place in them: those that it is a branch of.
func (l *lowering) around(n *schema.Node) conj {
	all := conj{n}
	doc := l.home(n)
	for path := strings.TrimPrefix(n.Pointer, doc.Root.Pointer); ; {
		branch := inPlace.FindString(path)
		path = strings.TrimSuffix(path, branch)
		owner := doc.Lookup(path)
		if branch == "" || owner == nil || strings.HasSuffix(path, "/properties") {
			return all
		}
		all = append(all, owner)
	}
}

// inPlace is how the path of a branch ends.
var inPlace = regexp.MustCompile(`/(?:(?:allOf|anyOf|oneOf)/[0-9]+|then|else)$`)

// opposite is a noun phrase of the values of which s is not true.
func (s saying) opposite(about *shape) string {
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

// said is what the schemas of c say themselves, without what follows from their groups.
func (l *lowering) said(c conj) *shape {
	s := &shape{kinds: model.KindAny}
	for _, n := range c {
		s.and(l.own(n))
	}
	return s
}

// say words s, which holds for a value of which about is known anyway.
func (l *lowering) say(s, about *shape, depth int) (saying, bool) {
	if depth == 0 || s.never != nil || s.kinds == 0 {
		return saying{}, false
	}
	if s.enum != nil {
		return sayEnum(s.enum), s.plain() && s.groups == nil && s.also == nil
	}
	all, ok := l.sayKeywords(s, about, depth)
	for _, g := range s.groups {
		either, can := l.sayEither(g, about, depth)
		all, ok = append(all, either), ok && can
	}
	for _, c := range s.also {
		part, can := l.sayCondition(c, about, depth)
		all, ok = append(all, part), ok && can
	}
	if !ok || len(all) == 0 {
		return saying{}, false
	}
	return joined(all), true
}

func sayEnum(e *enumFacet) saying {
	var all []string
	for _, v := range e.values {
		all = append(all, compact(v))
	}
	list := strings.Join(all, ", ")
	if len(all) == 1 {
		return saying{yes: "is " + list, no: "is not " + list, but: list}
	}
	return saying{yes: "is one of " + list, no: "is none of " + list, but: "one of " + list}
}

// sayKeywords words the type and the keywords that are for one kind of values.
func (l *lowering) sayKeywords(s, about *shape, depth int) ([]saying, bool) {
	var kind []saying
	left := about.kinds & s.kinds
	number := left&model.KindNumber != 0 && s.integer && !about.integer
	if left != about.kinds || number && s.kinds != model.KindAny {
		words := kindsInWords(s.kinds, s.integer)
		kind = append(kind, saying{yes: "is " + words, no: "is not " + words, but: words})
	}
	for _, k := range []model.Kind{model.KindNumber, model.KindString, model.KindArray, model.KindObject} {
		if left&k == 0 {
			continue
		}
		parts, ok := l.sayOfKind(k, s, about, depth)
		if !ok {
			return nil, false
		}
		if len(parts) == 0 {
			continue
		}
		if p := joined(parts); left == about.kinds && left != k {
			kind = append(kind, p.unless(k)) // other kinds fit, whatever they are
		} else if left != k {
			return nil, false
		} else if kind != nil {
			kind = []saying{p.within(kind[0], k)}
		} else {
			kind = parts
		}
	}
	return kind, true
}

// unless is s for values of one kind, where all others fit.
func (s saying) unless(k model.Kind) saying {
	word := kindsInWords(k, false)
	if s.noun != "" {
		s.yes, s.open = "is not "+word+", or one in which "+s.yes, true
		return s // its opposite is an object in which it is not so
	}
	return saying{yes: "is not " + word + " or " + s.yes, open: true, no: "is " + word + " that " + s.no}
}

// within is s for values of one kind, where no others fit.
func (s saying) within(kind saying, k model.Kind) saying {
	word := kindsInWords(k, false)
	if kind.but != "" {
		word = kind.but
	}
	if s.noun != "" {
		return saying{yes: "is " + word + " in which " + s.yes, no: kind.no + ", or one in which " + s.no, wide: true}
	}
	return saying{yes: "is " + word + " that " + s.yes, no: kind.no + " or " + s.no, wide: true}
}

// predicate is s as something that is said of the value itself.
func (s saying) predicate() saying {
	if s.noun != "" {
		s.yes, s.no = "is "+s.noun+" in which "+s.yes, "is "+s.noun+" in which "+s.no
		s.noun, s.key = "", ""
	}
	return s
}

// joined is true where all are.
func joined(all []saying) saying {
	if len(all) == 1 {
		return all[0]
	}
	s := saying{noun: all[0].noun, wide: true}
	if slices.ContainsFunc(all, func(p saying) bool { return p.noun != s.noun }) {
		s.noun = ""
	}
	yes, no, and := make([]string, len(all)), make([]string, len(all)), " and "
	for i, p := range all {
		if s.noun == "" {
			p = p.predicate()
		}
		yes[i], no[i] = p.yes, p.no
		if p.open {
			and = ", and "
		}
	}
	s.yes, s.no = strings.Join(yes, and), strings.Join(no, " or ")
	return s
}

// opposed is true where s is not.
func (s saying) opposed() saying {
	return saying{yes: s.no, no: s.yes, noun: s.noun, open: s.wide, wide: s.open}
}

// sayEither words an anyOf.
func (l *lowering) sayEither(g group, about *shape, depth int) (saying, bool) {
	var all []saying
	for _, b := range g.branches {
		s, ok := l.say(l.said(conj{b}), about, depth-1)
		if !ok || g.one {
			return saying{}, false
		}
		all = append(all, s.opposed())
	}
	return joined(all).opposed(), len(all) > 0
}

// sayCondition words the conditions that a short sentence holds.
func (l *lowering) sayCondition(c condition, about *shape, depth int) (saying, bool) {
	under := c.at.Get(c.keyword)
	switch c.keyword {
	case "not":
		s, ok := l.say(l.said(conj{under}), about, depth-1)
		return s.opposed(), ok
	case "contains":
		low, high := l.containsBounds(c.at)
		s, ok := l.say(l.said(conj{under}), l.shape(about.arr.items), depth-1)
		s = s.predicate()
		return saying{yes: "an item " + s.yes, no: "no item " + s.yes, noun: "an array", open: s.open, wide: s.open}, ok && low == 1 && high == nil
	}
	return saying{}, false
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
