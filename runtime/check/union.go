package check

import (
	"math/bits"
	"slices"
)

// The kind excludes forms first, then the tag, then members; a later test is made only if more than one form is left.

// look looks at the kind of the value, its tag, or its members, and returns the only possible form; -1 if there are several, or none. Then likely are
// the forms to attempt, a bit each: the one that a member indicates (a later member may show another), or, of an anyOf without Key and Members, all
// that the kinds of the value and of its KindKey leave. Of such a oneOf it is the only one that they leave: once it fits, the others need not be
// tried, because a form that KindKey excludes can not fit. Most unions need no trial: measured, a fifth less time for a small one.
func (d *Decoder) look(u *Union, kind Kind) (only int, likely uint64) {
	if kind == KindObject {
		switch {
		case u.Key != "":
			return d.onlyTagged(u), 0
		case u.byNames():
			return d.lookAtNames(u)
		}
	}
	if len(u.Forms) > 64 {
		return u.only(kind, nil), 0
	}
	left := u.byKind().of(kind)
	switch {
	case left&(left-1) == 0:
		return bits.Len64(left) - 1, 0
	case u.One && u.KindKey == "" || !d.prepareAttempts(): // a oneOf is decided by all its forms
		return -1, 0
	}
	if kind == KindObject && u.KindKey != "" {
		left &= d.byKindOfKey(u)
	}
	if u.One && left&(left-1) != 0 {
		return -1, 0
	}
	return -1, left
}

// byNames reports whether the forms that take objects are distinguished by names of members.
func (u *Union) byNames() bool { return u.Key == "" && len(u.Members.Names) > 0 }

// lookAtNames goes through the members until one of them indicates a form, which is worth an attempt, or to the end, if there are no attempts.
func (d *Decoder) lookAtNames(u *Union) (only int, likely uint64) {
	if len(u.Members.Names) > 64 {
		return -1, 0
	}
	d.nullable = 0 // as in glanceNames and rewind, so that the words of a violation do not depend on how the names were found
	members, attempts := u.byMember(), d.misled < mostMisled && d.prepareAttempts()
	t, data, seen := u.Members.names(), d.data, uint64(0)
	for i, at := tokenAt(data, d.pos+1), 0; ; i = d.nextKey(at) {
		end, sign := 0, uint64(0)
		if end, sign, at = glanceKey(data, i); at < 0 {
			if i < len(data) && data[i] == '}' {
				return u.onlyWith(seen), 0
			}
			return -1, 0 // it gave up
		}
		k := t.lookup(sign, data[i+1:end])
		if k == Other {
			continue
		}
		if seen |= 1 << k; attempts && members.indicates[k] >= 0 {
			return -1, 1 << members.indicates[k]
		}
	}
}

// onlyWith returns the only form that takes an object whose named members are those in seen, of the first 64; -1 if there are more, or none.
func (u *Union) onlyWith(seen uint64) int {
	form := -1
	for i := range u.Forms {
		f := &u.Forms[i]
		if f.Needs&^seen != 0 || !f.takesObjects() {
			continue
		}
		if form >= 0 {
			return -1
		}
		form = i
	}
	return form
}

// only returns the only form that takes a kind and a tag (nil: any); -1 if there are more, or none.
func (u *Union) only(kind Kind, tag []byte) int {
	form := -1
	for i := range u.Forms {
		f := &u.Forms[i]
		if f.Kinds != 0 && f.Kinds&kind == 0 || tag != nil && f.tagged() && !f.has(tag) {
			continue
		}
		if form >= 0 {
			return -1
		}
		form = i
	}
	return form
}

// narrow finds which forms are possible by kind, tag and members, and returns how many. If one is possible, t.form is that one.
func (t *trial) narrow() int {
	d, u := t.d, t.union
	if (t.kind != KindObject || u.Key == "" && len(u.Members.Names) == 0) && len(u.Forms) <= 64 {
		t.left = u.byKind().of(t.kind)
		t.form = bits.Len64(t.left) - 1
		return bits.OnesCount64(t.left)
	}
	t.seen = ^uint64(0) // until the names are read, any may be there
	if t.kind == KindObject && u.Key != "" {
		t.readTag() // worth its time: a union with a Key has at least two forms that take objects
	}
	n := t.countPossible()
	if n > 1 && t.kind == KindObject && len(u.Members.Names) > 0 && d.err == nil {
		t.readNames()
		n = t.countPossible()
	}
	return n
}

// countPossible counts the forms that are possible.
func (t *trial) countPossible() int {
	n := 0
	t.left = 0
	for i := range t.union.Forms {
		if t.possible(&t.union.Forms[i]) {
			n++
			t.form = i
			t.left |= 1 << i
		}
	}
	return n
}

// isLeft reports whether the form with that index was possible when the trial was last narrowed.
func (t *trial) isLeft(i int) bool {
	if i < 64 {
		return t.left>>i&1 != 0
	}
	return t.possible(&t.union.Forms[i])
}

// possible reports whether nothing that is known of the value excludes f. The first 64 members are a bit each in Needs and in seen; the others are
// indexes in More and into seenMore.
func (t *trial) possible(f *Form) bool {
	if t.kind != KindObject {
		return f.Kinds == 0 || f.Kinds&t.kind != 0
	}
	return f.Needs&^t.seen == 0 && t.kindAndTagFit(f) && (f.More == nil || t.hasAll(f.More))
}

// hasAll reports whether the object may have all of these members: it has them, or its names were not read.
func (t *trial) hasAll(members []int) bool {
	return !t.namesRead || !slices.ContainsFunc(members, func(i int) bool { return !t.seenMore[i] })
}

// kindAndTagFit is like possible, without regard to required members.
func (t *trial) kindAndTagFit(f *Form) bool {
	if f.Kinds != 0 && f.Kinds&t.kind == 0 {
		return false
	}
	return t.kind != KindObject || !t.tagRead || !f.tagged() || t.tagFits(f)
}

func (f *Form) takesObjects() bool { return f.Kinds == 0 || f.Kinds&KindObject != 0 }

// readNames finds which of the members that some forms need are in the object.
func (t *trial) readNames() {
	d, ok := t.d, false
	t.namesRead = true
	if t.seen, ok = d.glanceNames(&t.union.Members); ok {
		return
	}
	t.seen = 0
	if n := len(t.union.Members.Names); n > 64 {
		t.seenMore = make([]bool, n)
	}
	d.lookaheads++
	for f := d.Object(&t.union.Members); f >= 0; f = d.Next() { // Next skips members that are not in the table
		if t.seen |= 1 << f; f < len(t.seenMore) {
			t.seenMore[f] = true
		}
		d.skipRemembering()
	}
	d.lookaheads--
	d.rewind(t.start)
}

// decideNearest chooses a form where none is possible, so that the form's violations are the union's: of those whose kind and tag fit, the one that
// has most of its required members present, then fewest missing. It returns false on a tie, or if no required member is present.
func (t *trial) decideNearest() bool {
	if !t.namesRead || t.d.quiet {
		return false
	}
	most, least, tie := 0, 0, false
	for i := range t.union.Forms {
		f := &t.union.Forms[i]
		has, lacks := t.count(f)
		farther := has < most || has == most && lacks > least && most > 0
		switch {
		case farther, !t.kindAndTagFit(f): // it is not the nearest
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
		if t.seenMore[i] {
			has++
		} else {
			lacks++
		}
	}
	return has, lacks
}

// find enters the object at pos and stops before the value of the member with that name, and reports whether there is one. Either way leave has to
// follow.
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
		d.skipRemembering()
		if d.err != nil {
			return false
		}
		f = &d.frames[len(d.frames)-1] // skipRemembering may have moved the stack
	}
	return false
}

// leave goes back from where find stopped to start, the object's beginning.
func (d *Decoder) leave(start int) {
	if d.err == nil {
		d.closeFrame(&d.frames[len(d.frames)-1])
		d.spendReread(d.pos - start)
	}
	if d.err == nil {
		d.pos = start
	}
}
