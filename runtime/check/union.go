package check

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Forms are excluded by kind, then by tag, then by members. The next one is looked at only if more than one form is left.

// onlyForm returns the only form that the kind of the value, or its tag, leaves; -1 if there are more, or none. Most unions need no
// trial: measured, a fifth less for a small one.
func (d *Decoder) onlyForm(u *Union) int {
	kind := kindOf(d.peek())
	if kind != KindObject || u.Key == "" {
		return u.only(kind, nil)
	}
	start, form := d.pos, -1
	if d.find(u.Key) && d.peek() == '"' {
		if s, ok := d.scanString(); ok {
			form = u.onlyTagged(d.value(s))
		}
	}
	d.leave(start)
	return form
}

// only returns the form that takes a kind and has a tag, if there is one.
func (u *Union) only(kind Kind, tag []byte) int {
	form := -1
	for i := range u.Forms {
		f := &u.Forms[i]
		if f.Kinds != 0 && f.Kinds&kind == 0 || tag != nil && f.Tags != nil && !f.has(tag) {
			continue
		}
		if form >= 0 {
			return -1
		}
		form = i
	}
	return form
}

// onlyTagged is only for an object with a tag, of many forms by an index.
func (u *Union) onlyTagged(tag []byte) int {
	if len(u.Forms) <= fewValues {
		return u.only(KindObject, tag)
	}
	forms := u.byTag()
	if form, ok := forms[string(tag)]; ok {
		return form
	}
	if len(forms) > 0 {
		return -1
	}
	return u.only(KindObject, tag)
}

// byTag says for a text of Key which form alone takes an object that has it, -1 if several do. It is empty if some form takes objects of
// any text.
func (u *Union) byTag() map[string]int {
	if m := u.tags.Load(); m != nil {
		return *m
	}
	m := make(map[string]int, len(u.Forms))
	for i := range u.Forms {
		f := &u.Forms[i]
		if f.Kinds != 0 && f.Kinds&KindObject == 0 {
			continue
		}
		if f.Tags == nil {
			m = map[string]int{}
			break
		}
		for _, tag := range f.Tags {
			if other, taken := m[tag]; taken && other != i {
				m[tag] = -1
			} else {
				m[tag] = i
			}
		}
	}
	u.tags.Store(&m)
	return m
}

// narrow returns how many forms are possible. If it is one, that is t.form.
func (t *trial) narrow() int {
	d, u := t.d, t.union
	t.seen = ^uint64(0)
	if t.kind == KindObject && u.Key != "" {
		t.readTag() // then more than one form takes objects
	}
	n := t.left()
	if n > 1 && t.kind == KindObject && len(u.Members.Names) > 0 && d.err == nil {
		t.readNames()
		n = t.left()
	}
	return n
}

// left counts the forms that are possible.
func (t *trial) left() int {
	n := 0
	for i := range t.union.Forms {
		if t.possible(&t.union.Forms[i]) {
			n++
			t.form = i
		}
	}
	return n
}

func (t *trial) possible(f *Form) bool {
	return t.alike(f) && (t.kind != KindObject || f.Needs&^t.seen == 0 && (f.More == nil || t.hasAll(f.More)))
}

// hasAll reports whether the object may have all of some members: it has, or nobody has looked.
func (t *trial) hasAll(members []int) bool {
	return !t.named || !slices.ContainsFunc(members, func(i int) bool { return !t.more[i] })
}

// alike is possible, ignoring required members.
func (t *trial) alike(f *Form) bool {
	if f.Kinds != 0 && f.Kinds&t.kind == 0 {
		return false
	}
	return t.kind != KindObject || !t.tagged || f.Tags == nil || t.text && f.has(t.tag)
}

func (f *Form) has(tag []byte) bool {
	for i := range f.Tags {
		if f.Tags[i] == string(tag) {
			return true
		}
	}
	return false
}

// readTag finds out the text of the member that excludes forms.
func (t *trial) readTag() {
	d := t.d
	t.tagged, t.tagAt = true, -1
	if d.find(t.union.Key) {
		c := d.peek()
		t.tagAt = d.pos
		if c == '"' {
			var s span
			if s, t.text = d.scanString(); t.text {
				t.tag = d.value(s)
			}
		}
	}
	d.leave(t.start)
}

// readNames finds out which of the members that some forms need the object has.
func (t *trial) readNames() {
	d := t.d
	t.named, t.seen = true, 0
	if n := len(t.union.Members.Names); n > 64 {
		t.more = make([]bool, n)
	}
	d.lookaheads++
	for f := d.Object(&t.union.Members); f >= 0; f = d.Next() {
		if t.seen |= 1 << f; f < len(t.more) {
			t.more[f] = true
		}
		d.leap()
	}
	d.lookaheads--
	d.rewind(t.start)
}

// nearly decides for the form of which the object has the most members that it needs, though not all: what it lacks are the
// union's violations.
func (t *trial) nearly() bool {
	if !t.named || t.d.quiet {
		return false
	}
	most, least, tie := 0, 0, false
	for i := range t.union.Forms {
		f := &t.union.Forms[i]
		has, lacks := t.count(f)
		switch {
		case !t.alike(f) || has < most || has == most && lacks > least && most > 0:
		case has == most && lacks == least:
			tie = true
		default:
			most, least, tie = has, lacks, false
			t.form = i
		}
	}
	if most == 0 || tie {
		return false
	}
	t.step = stepDecide
	return true
}

// count returns how many of the members that f needs the object has, and how many it lacks.
func (t *trial) count(f *Form) (has, lacks int) {
	has, lacks = bits.OnesCount64(f.Needs&t.seen), bits.OnesCount64(f.Needs&^t.seen)
	for _, i := range f.More {
		if t.more[i] {
			has++
		} else {
			lacks++
		}
	}
	return has, lacks
}

// otherForm is what a union counts for of which no form is possible: the value is rather meant to be something else.
const otherForm = 100

// refuse reports what the value shows that no form takes.
func (t *trial) refuse() {
	d, u := t.d, t.union
	if d.counting {
		d.counted += otherForm
	}
	switch {
	case d.countOnly():
		d.Skip()
	case t.named:
		d.wrong(u.Keyword, "an object with "+t.needs(), u.At)
	case t.tagged:
		t.badTag()
	default:
		kinds := Kind(0)
		for i := range u.Forms {
			kinds |= u.Forms[i].Kinds
		}
		d.wrong(u.Keyword, kinds.words(), u.At)
	}
}

// needs lists the members of each form that is left.
func (t *trial) needs() string {
	var forms []*Form
	for i := range t.union.Forms {
		if f := &t.union.Forms[i]; t.alike(f) {
			forms = append(forms, f)
		}
	}
	return listed(len(forms), ", or with ", func(i int) string { return list(t.union.needs(forms[i]), " and ") })
}

// both says which two forms a value fits of which it must fit one, and what to leave out so that it does.
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

// describe names a form by its number, its title, and what an object or another value shows that is of it.
func (u *Union) describe(kind Kind, form int) string {
	f := &u.Forms[form]
	var says []string
	if f.Title != "" {
		says = append(says, quote(f.Title))
	}
	switch {
	case kind == KindObject && f.Tags != nil:
		says = append(says, quote(u.Key)+" is "+list(f.Tags, " or "))
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

// needs are the members that a form needs.
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

// badTag reports the member that excludes all forms, or that it is missing.
func (t *trial) badTag() {
	d, u := t.d, t.union
	var tags []string
	for i := range u.Forms {
		if f := &u.Forms[i]; f.Kinds == 0 || f.Kinds&t.kind != 0 {
			tags = append(tags, f.Tags...)
		}
	}
	p := problem{level: len(d.frames), at: u.At, keyword: u.Keyword, below: u.Key != "", last: u.Key, found: nothing, allowed: "one of " + list(tags, ", "), offset: t.start}
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

// find enters the object at pos and stops before the value of a member. leave goes back.
func (d *Decoder) find(name string) bool {
	d.lookaheads++
	found := d.findMember(name)
	d.lookaheads--
	return found
}

func (d *Decoder) findMember(name string) bool {
	f := d.open(anyObject.names(), nil)
	if f == nil {
		return false
	}
	f.field = Other
	for d.peek(); d.pos < len(d.data) && d.data[d.pos] != '}'; d.peek() {
		if f.count > 0 {
			if d.data[d.pos] != ',' {
				d.unexpected("',' or '}'")
				return false
			}
			d.pos++
		}
		if _, ok := d.key(f); !ok {
			return false
		}
		if string(d.value(f.key)) == name {
			return true
		}
		d.leap()
		if d.err != nil {
			return false
		}
		f = &d.frames[len(d.frames)-1] // leap may have moved the stack
	}
	return false
}

func (d *Decoder) leave(start int) {
	if d.err == nil {
		d.shut()
		d.again(d.pos - start)
	}
	if d.err == nil {
		d.pos = start
	}
}

// Kind returns the kind of the next value. With a rule, a kind that the rule does not take is a violation, the value is skipped and
// the result is 0.
func (d *Decoder) Kind(u *Union) Kind {
	k := kindOf(d.peek())
	if u != nil && k != 0 && k&u.Kinds == 0 {
		d.wrong(u.Keyword, u.Kinds.words(), u.At)
		return 0
	}
	if k == 0 {
		d.unexpected("a value")
	}
	return k
}

func kindOf(c byte) Kind {
	switch c {
	case '"':
		return KindString
	case '{':
		return KindObject
	case '[':
		return KindArray
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	}
	if c == '-' || c-'0' <= 9 {
		return KindNumber
	}
	return 0
}

// kindWords stand in the order in which they are listed: what a value may be besides, null, comes last.
var kindWords = []struct {
	kind Kind
	word string
}{{KindBool, "a boolean"}, {fraction, "a number"}, {KindInteger, "an integer"}, {KindString, "a string"}, {KindArray, "an array"}, {KindObject, "an object"}, {KindNull, "null"}}

func (k Kind) words() string {
	if k&fraction != 0 {
		k &^= KindInteger
	}
	var all []string
	for _, w := range kindWords {
		if k&w.kind != 0 {
			all = append(all, w.word)
		}
	}
	if all == nil {
		return "no value"
	}
	return strings.Join(all, " or ")
}
