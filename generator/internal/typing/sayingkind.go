package typing

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// sayOfKind words what s says of values of one kind.
func (l *lowering) sayOfKind(k model.Kind, s, about *shape, depth int) ([]saying, bool) {
	switch k {
	case model.KindNumber:
		return sayNumber(&s.num), true
	case model.KindString:
		return sayString(&s.str), true
	case model.KindArray:
		return l.sayArray(&s.arr, about, depth)
	default:
		return l.sayObject(&s.obj, about, depth)
	}
}

func sayNumber(f *numberFacet) []saying {
	var all []saying
	if b := f.min; b != nil && b.exclusive {
		all = append(all, saying{yes: "is greater than " + b.text, no: "is at most " + b.text})
	} else if b != nil {
		all = append(all, saying{yes: "is at least " + b.text, no: "is less than " + b.text})
	}
	if b := f.max; b != nil && b.exclusive {
		all = append(all, saying{yes: "is less than " + b.text, no: "is at least " + b.text})
	} else if b != nil {
		all = append(all, saying{yes: "is at most " + b.text, no: "is greater than " + b.text})
	}
	if f.multiple != nil {
		all = append(all, saying{yes: "is a multiple of " + decimal(f.multiple), no: "is no multiple of " + decimal(f.multiple)})
	}
	return all
}

func sayString(f *stringFacet) []saying {
	all := saySize(f.min, f.max, "character")
	for _, p := range f.patterns {
		all = append(all, saying{yes: "matches " + p.text, no: "does not match " + p.text})
	}
	for _, w := range f.formats {
		all = append(all, saying{yes: "has the format " + w.text, no: "does not have the format " + w.text})
	}
	return all
}

// saySize words how many of something a value has.
func saySize(least, most *int, noun string) []saying {
	var all []saying
	if least != nil && *least > 0 {
		n := counted(*least, noun)
		all = append(all, saying{yes: "has at least " + n, no: "has fewer than " + n})
	}
	if most != nil {
		n := counted(*most, noun)
		all = append(all, saying{yes: "has at most " + n, no: "has more than " + n})
	}
	return all
}

func counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func (l *lowering) sayArray(f *arrayFacet, about *shape, depth int) ([]saying, bool) {
	all := saySize(f.min, f.max, "item")
	if f.unique {
		all = append(all, saying{yes: "has no item twice", no: "has an item twice"})
	}
	if f.items == nil || l.shape(f.items).free() {
		return all, f.first == nil
	}
	s, ok := l.say(l.said(f.items), l.shape(about.arr.items), depth-1)
	s = s.predicate()
	each := saying{yes: "each item " + s.yes, no: "an item " + s.no, noun: "an array", open: s.open, wide: s.wide}
	return append(all, each), ok && f.first == nil
}

// sayObject words which members there are, and what they are.
func (l *lowering) sayObject(f *objectFacet, about *shape, depth int) ([]saying, bool) {
	all := saySize(f.min, f.max, "property")
	ok := f.sets == nil && (f.rest == nil || l.shape(f.rest).free())
	names := slices.Clone(f.required)
	for _, p := range f.props {
		if ok && !l.shape(p.schema).free() {
			names = slices.DeleteFunc(names, func(name string) bool { return name == p.key })
			s, can := l.sayMember(f, p, about, depth)
			all, ok = append(all, s), can
		}
	}
	if len(names) > 0 {
		all = append(all, sayThere(names))
	}
	return all, ok
}

// sayMember words a property and whether it is there.
func (l *lowering) sayMember(f *objectFacet, p property, about *shape, depth int) (saying, bool) {
	known := l.shape(about.obj.propOrOther(p.key))
	s, ok := l.say(l.said(p.schema), known, depth-1)
	if !ok {
		return saying{}, false
	}
	s = s.predicate()
	name := quoted(p.key) + " "
	m := saying{yes: name + s.yes, no: name + s.no, noun: "an object", open: s.open, wide: s.wide, key: p.key, allowed: s.opposite(known)}
	if !slices.Contains(f.required, p.key) && !slices.Contains(about.obj.required, p.key) {
		m.yes, m.open = name+"is missing or "+s.yes, true
		m.no = name + "is there and " + s.no
	}
	return m, true
}

// sayThere words members that must be there, whatever they are.
func sayThere(names []string) saying {
	if len(names) == 1 {
		name := quoted(names[0])
		return saying{yes: name + " is there", no: name + " is missing", noun: "an object", key: names[0], lacks: true, allowed: "no " + name}
	}
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = quoted(name)
	}
	last := len(all) - 1
	first := strings.Join(all[:last], ", ")
	return saying{yes: first + " and " + all[last] + " are there", no: first + " or " + all[last] + " is missing", noun: "an object"}
}
