package check

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// This file says why a value has none of the forms of a union, or too many.

// countIfImpossible is how many violations are counted for a value that no form of a union can take: then the outer form, of which this value is a
// part, was hardly meant.
const countIfImpossible = 100

// reportImpossible reports the members, tag or kind of the value that no form takes.
func (t *trial) reportImpossible() {
	d, u := t.d, t.union
	if d.counting {
		d.counted += countIfImpossible
	}
	switch {
	case d.countUndescribed():
		d.Skip()
	case t.namesRead:
		d.wrong(u.Keyword, "an object with "+t.needs(), u.At)
	case t.tagRead:
		t.badTag()
	default:
		kinds := Kind(0)
		for i := range u.Forms {
			kinds |= u.Forms[i].Kinds
		}
		d.wrong(u.Keyword, kinds.words(), u.At)
	}
}

// needs says in words which members each form needs, of those that the kind and the tag do not exclude.
func (t *trial) needs() string {
	var forms []*Form
	for i := range t.union.Forms {
		if f := &t.union.Forms[i]; t.kindAndTagFit(f) {
			forms = append(forms, f)
		}
	}
	return join(len(forms), ", or with ", func(i int) string { return list(t.union.needs(forms[i]), " and ") })
}

// both says in words which two forms a value fits that must fit exactly one, and which members to leave out.
func (u *Union) both(kind Kind, first, second int) string {
	text := "a value that fits exactly one of " + plural(len(u.Forms), "form") + "; it fits " + u.describe(kind, first) + " and " + u.describe(kind, second)
	a, b := u.needs(&u.Forms[first]), u.needs(&u.Forms[second])
	only := append(lacking(a, b), lacking(b, a)...)
	slices.Sort(only)
	if kind != KindObject || len(only) == 0 {
		return text
	}
	return text + ": leave out " + list(only, " or ")
}

// lacking returns the names of a that b lacks.
func lacking(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return slices.Contains(b, name) })
}

// describe names a form by its number, its title, and the tag, members or kind that selects it.
func (u *Union) describe(kind Kind, form int) string {
	f := &u.Forms[form]
	var says []string
	if f.Title != "" {
		says = append(says, quote(f.Title))
	}
	switch {
	case kind == KindObject && f.tagged():
		says = append(says, quote(u.Key)+" is "+f.tags(" or "))
	case kind == KindObject && (f.Needs != 0 || f.More != nil):
		says = append(says, "with "+list(u.needs(f), " and "))
	case kind != KindObject && f.Kinds != 0:
		says = append(says, f.Kinds.words())
	}
	text := "form " + strconv.Itoa(form+1)
	if len(says) > 0 {
		text += " (" + strings.Join(says, ", ") + ")"
	}
	return text
}

// tags says in words which tags a form takes.
func (f *Form) tags(sep string) string {
	n := len(f.Tags)
	return join(n+len(f.JSON), sep, func(i int) string {
		if i < n {
			return quote(f.Tags[i])
		}
		return f.JSON[i-n]
	})
}

// needs returns the names of the members that a form needs.
func (u *Union) needs(f *Form) []string {
	var names []string
	for set := f.Needs; set != 0; set &= set - 1 {
		names = append(names, u.Members.Names[bits.TrailingZeros64(set)])
	}
	for _, i := range f.More {
		names = append(names, u.Members.Names[i])
	}
	return names
}

// badTag reports the tag, which excludes all forms, or that it is missing.
func (t *trial) badTag() {
	d, u := t.d, t.union
	var all Form
	for i := range u.Forms {
		if f := &u.Forms[i]; f.Kinds == 0 || f.Kinds&t.kind != 0 {
			all.Tags, all.JSON = append(all.Tags, f.Tags...), append(all.JSON, f.JSON...)
		}
	}
	p := problem{level: len(d.frames), at: u.At, keyword: u.Keyword, below: u.Key != "", last: u.Key, found: nothing, allowed: "one of " + all.tags(", "), offset: t.start}
	if t.tagAt >= 0 {
		d.pos, p.offset = t.tagAt, t.tagAt
		d.Skip()
		if d.err != nil {
			return
		}
		p.found = d.show(d.data[t.tagAt:d.pos])
	}
	d.pos = t.start
	d.Skip()
	d.report(p)
}
