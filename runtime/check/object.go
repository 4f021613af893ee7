package check

import "math/bits"

// Object begins an object and returns the index of its first member in r.Names, Other for one that r does not name, or
// -1 at its end. A value that is no object is a violation and is skipped.
func (d *Decoder) Object(r *Object) int {
	if r == nil {
		r = &anyObject
	}
	if d.peek() != '{' {
		d.wrongType("an object", r.At)
		return -1
	}
	f := d.open(r.names(), nil)
	if f == nil {
		return -1
	}
	if len(r.Names) > 64 {
		d.widen(f)
	}
	if d.peek() == '}' {
		d.pos++
		d.endObject(f)
		return -1
	}
	return d.Next()
}

// widen adds words for the seen bits of more than 64 names.
func (d *Decoder) widen(f *frame) {
	f.base = int32(len(d.wide))
	for range (len(f.names.rule.Names) - 1) / 64 {
		d.wide = append(d.wide, 0)
	}
}

// Next returns the index of the next member of the object that Object began, as Object does.
//
// Most texts have their members in the same order, or in one of two, so the names that followed in earlier texts are compared first, with
// their quotes and colon: measured, half the cost of looking a name up.
func (d *Decoder) Next() int {
	for {
		data, i, f := d.data, d.pos, &d.frames[len(d.frames)-1]
		if f.count > 0 {
			if uint(i) >= uint(len(data)) || data[i] != ',' {
				if d.afterMember(f) {
					return -1
				}
				continue
			}
			if i++; uint(i) < uint(len(data)) && data[i] <= ' ' {
				if i++; data[i-1] != ' ' || uint(i) >= uint(len(data)) || data[i] <= ' ' { // Python's json.dumps writes one space
					i = spaceEnd(data, i-1)
				}
			}
		}
		n := f.names.expected(f.field)
		if n == nil || f.seen&n.bit != 0 || i+int(n.reads) > len(data) || !n.begins(data, i) {
			if n = f.otherName(data, i); n == nil {
				d.pos = i
				if index := d.anyMember(f); index != handled {
					return index
				}
				continue
			}
		}
		f.key = span{start: int32(i) + 1, end: int32(i) + 1 + n.length}
		f.count++
		f.field = n.index
		f.seen |= n.bit // a name that is expected is one of the first 64 (name.expectable)
		if i += int(n.length) + len(`"":`); uint(i) < uint(len(data)) && data[i] == ' ' {
			i++
		}
		d.pos = i
		if !n.null || !d.Null() { // null in place of a Nullable member leaves its field as it was
			return int(n.index)
		}
	}
}

// otherName returns the second of the two names that are expected next, if the key at i has it; else nil.
func (f *frame) otherName(data []byte, i int) *name {
	n := f.names.otherwise(f.field)
	if n == nil || f.seen&n.bit != 0 || i+int(n.reads) > len(data) || !n.begins(data, i) {
		return nil
	}
	return n
}

// afterMember goes on after a member that no comma directly follows, and reports whether the object ended: it did not if a comma comes after
// white space.
func (d *Decoder) afterMember(f *frame) bool {
	switch d.peek() {
	case ',':
		return false
	case '}':
		d.pos++
		d.endObject(f)
	default:
		d.unexpected("',' or '}'")
	}
	return true
}

// handled is the index of a member that the caller need not take: null, repeated, refused or skipped.
const handled = -2

// anyMember takes a key and its colon and returns the member's index in rule.Names, Other, handled, or -1 after a failure.
func (d *Decoder) anyMember(f *frame) int {
	t := f.names
	sign, ok := d.key(f)
	if !ok {
		return -1
	}
	i := d.index(f, t, sign)
	if i == Other {
		f.field = Other
		return d.additionalMember(f, sign)
	}
	t.expect(f.field, i)
	f.field = int32(i)
	word := &f.seen
	if i >= 64 {
		word = &d.wide[int(f.base)+i/64-1]
	}
	if n := &t.names[i]; *word&n.bit == 0 {
		*word |= n.bit
		if n.null && d.Null() {
			return handled
		}
		return i
	}
	d.repeatedKey(f)
	d.Skip()
	return handled
}

// additionalMember treats a member that the rule does not name as the rule says, and returns Other or handled.
func (d *Decoder) additionalMember(f *frame, sign uint64) int {
	switch f.names.rule.AdditionalProperties {
	case Refuse, RefuseUnevaluated:
		d.refusedKey(f)
		d.skipForReport()
		return handled
	case Skip:
		d.unknownKey(f, sign)
		d.skipForReport()
		return handled
	default:
		d.unknownKey(f, sign)
		return Other
	}
}

// endObject checks what can only be known at the end, and pops the frame.
func (d *Decoder) endObject(f *frame) {
	r := f.names.rule
	if t := f.names; t.required&^f.seen != 0 || len(t.requiredMore) > 0 {
		d.missing(f)
	}
	if r.Min != 0 && int(f.count) < bound(r.Min) {
		d.size(f, "minProperties", "at least ", bound(r.Min), "member")
	}
	if r.Max != 0 && int(f.count) > bound(r.Max) {
		d.size(f, "maxProperties", "at most ", bound(r.Max), "member")
	}
	if len(r.Names) > 64 && d.err == nil {
		d.wide = d.wide[:f.base]
	}
	if d.outline.records {
		d.recordPart(f, d.pos)
	}
	d.closeFrame(f)
}

// missing reports each required member that did not come.
func (d *Decoder) missing(f *frame) {
	d.missingOf(f, 0, f.names.required&^f.seen)
	for w, required := range f.names.requiredMore {
		d.missingOf(f, 64*(w+1), required&^d.wide[int(f.base)+w])
	}
}

// missingOf reports the names whose bits are set in lack. Its lowest bit stands for the name with index first.
func (d *Decoder) missingOf(f *frame, first int, lack uint64) {
	for ; lack != 0; lack &= lack - 1 {
		d.missingKey(f, f.names.rule.Names[first+bits.TrailingZeros64(lack)])
	}
}

// bound returns the value of a rule's bound, which is written as Zero if it is 0.
func bound(n int) int {
	if n == Zero {
		return 0
	}
	return n
}

// Key returns a copy of the current member's name.
func (d *Decoder) Key() string {
	if d.err != nil {
		return ""
	}
	return d.text(d.frames[len(d.frames)-1].key)
}

// Keep takes the current member's value and stores it in *m, as it is written.
func (d *Decoder) Keep(m *map[string]Raw) {
	key := d.Key()
	v := d.Raw(nil)
	if d.err != nil {
		return
	}
	if *m == nil {
		d.countMemory(mapHeader)
		*m = map[string]Raw{}
	}
	countEntry[Raw](d, len(*m))
	(*m)[key] = v
}

// AddMember takes the current member's value and stores it in *m.
func AddMember[T any](d *Decoder, m *map[string]T, decode func(*Decoder, *T)) {
	key := d.Key()
	var v T
	decode(d, &v)
	if *m == nil {
		d.countMemory(mapHeader)
		*m = map[string]T{}
	}
	countEntry[T](d, len(*m))
	(*m)[key] = v
}

// Map takes an object of which every member is a T. Unless the value is unread, the map is never nil, so that {} stays {}.
func Map[T any](d *Decoder, r *Object, decode func(*Decoder, *T)) map[string]T {
	v := new(T) // one for all members, because passing it to decode allocates it
	if d.unread {
		for f := d.Object(r); f >= 0; f = d.Next() {
			decode(d, v)
		}
		return nil
	}
	d.countMemory(mapHeader)
	m := map[string]T{}
	for f := d.Object(r); f >= 0; f = d.Next() {
		countEntry[T](d, len(m))
		var zero T
		*v = zero
		key := d.Key()
		decode(d, v)
		m[key] = *v
	}
	return m
}

// New takes a value and returns a pointer to it.
func New[T any](d *Decoder, decode func(*Decoder, *T)) *T {
	d.countMemory(sizeOf[T]())
	v, ok := d.spare.(*T)
	if ok {
		var zero T
		*v, d.spare = zero, nil
	} else {
		v = new(T)
	}
	if decode(d, v); d.misfits() {
		d.spare = v // the form did not fit: nobody else has v
	}
	return v
}

// EachMember takes an object and validates the value of every member.
func (d *Decoder) EachMember(r *Object, check func(*Decoder)) {
	for f := d.Object(r); f >= 0; f = d.Next() {
		check(d)
	}
}
