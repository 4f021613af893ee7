package typing

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// describeKind puts the keywords of s for one kind into words.
func (l *lowering) describeKind(k model.Kind, s, about *shape, depth int) ([]requirement, bool) {
	switch k {
	case model.KindNumber:
		return describeNumber(&s.num), true
	case model.KindString:
		return describeString(&s.str), true
	case model.KindArray:
		return l.describeArray(&s.arr, about, depth)
	default:
		return l.describeObject(&s.obj, about, depth)
	}
}

func describeNumber(f *numberFacet) []requirement {
	var all []requirement
	if b := f.min; b != nil && b.exclusive {
		all = append(all, requirement{yes: "is greater than " + b.text, no: "is at most " + b.text})
	} else if b != nil {
		all = append(all, requirement{yes: "is at least " + b.text, no: "is less than " + b.text})
	}
	if b := f.max; b != nil && b.exclusive {
		all = append(all, requirement{yes: "is less than " + b.text, no: "is at least " + b.text})
	} else if b != nil {
		all = append(all, requirement{yes: "is at most " + b.text, no: "is greater than " + b.text})
	}
	if f.multiple != nil {
		all = append(all, requirement{yes: "is a multiple of " + Decimal(f.multiple), no: "is no multiple of " + Decimal(f.multiple)})
	}
	return all
}

func describeString(f *stringFacet) []requirement {
	all := describeLength(f.min, f.max, "character")
	for _, p := range f.patterns {
		all = append(all, requirement{yes: "matches " + p.text, no: "does not match " + p.text})
	}
	for _, w := range f.formats {
		all = append(all, requirement{yes: "has the format " + w.text, no: "does not have the format " + w.text})
	}
	return all
}

// describeLength puts bounds of a length into words.
func describeLength(least, most *int, noun string) []requirement {
	var all []requirement
	if least != nil && *least > 0 {
		n := counted(*least, noun)
		all = append(all, requirement{yes: "has at least " + n, no: "has fewer than " + n})
	}
	if most != nil {
		n := counted(*most, noun)
		all = append(all, requirement{yes: "has at most " + n, no: "has more than " + n})
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

func (l *lowering) describeArray(f *arrayFacet, about *shape, depth int) ([]requirement, bool) {
	all := describeLength(f.min, f.max, "item")
	if f.unique {
		all = append(all, requirement{yes: "has no item twice", no: "has an item twice"})
	}
	if f.items == nil || l.shape(f.items).unconstrained() {
		return all, f.prefix == nil
	}
	s, ok := l.describe(l.ungrouped(f.items), l.shape(about.arr.items), depth-1)
	s = s.predicate()
	each := requirement{yes: "each item " + s.yes, no: "an item " + s.no, noun: "an array", yesHasOr: s.yesHasOr, noHasOr: s.noHasOr}
	return append(all, each), ok && f.prefix == nil
}

// describeObject puts the members of an object into words.
func (l *lowering) describeObject(f *objectFacet, about *shape, depth int) ([]requirement, bool) {
	all := describeLength(f.min, f.max, "property")
	ok := f.patternSets == nil && (f.additionalProperties == nil || l.shape(f.additionalProperties).unconstrained())
	names := slices.Clone(f.required)
	for _, p := range f.props {
		if ok && !l.shape(p.schema).unconstrained() {
			names = slices.DeleteFunc(names, func(name string) bool { return name == p.key })
			s, can := l.describeMember(f, p, about, depth)
			all, ok = append(all, s), can
		}
	}
	if len(names) > 0 {
		all = append(all, describeRequired(names))
	}
	return all, ok
}

// describeMember puts a property, and whether it is required, into words.
func (l *lowering) describeMember(f *objectFacet, p property, about *shape, depth int) (requirement, bool) {
	known := l.shape(about.obj.propOrOther(p.key))
	s, ok := l.describe(l.ungrouped(p.schema), known, depth-1)
	if !ok {
		return requirement{}, false
	}
	allowed := s.opposite(known)
	s = s.predicate()
	name := quoted(p.key) + " "
	m := requirement{yes: name + s.yes, no: name + s.no, noun: "an object", yesHasOr: s.yesHasOr, noHasOr: s.noHasOr, key: p.key, allowed: allowed}
	if !slices.Contains(f.required, p.key) && !slices.Contains(about.obj.required, p.key) {
		m.yes, m.yesHasOr = name+"is missing or "+s.yes, true
		m.no = name + "is there and " + s.no
	}
	return m, true
}

// describeRequired puts required members into words, whatever their values.
func describeRequired(names []string) requirement {
	if len(names) == 1 {
		name := quoted(names[0])
		return requirement{yes: name + " is there", no: name + " is missing", noun: "an object", key: names[0], lacks: true, allowed: "no " + name}
	}
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = quoted(name)
	}
	last := len(all) - 1
	first := strings.Join(all[:last], ", ")
	return requirement{yes: first + " and " + all[last] + " are there", no: first + " or " + all[last] + " is missing", noun: "an object"}
}
