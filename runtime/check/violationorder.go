package check

import (
	"cmp"
	"errors"
)

// errEnough ends a second reading that has found as many violations as are listed; callers of the package never see it.
var errEnough = errors.New("check: there is enough to list")

// FinishAfter is Finish for a Decoder with which read was called. Where the order of the text decides which violations are listed, read is called
// once more, with another Decoder, on the text in canonical form: texts that mean the same have the same violations (LET14).
func (d *Decoder) FinishAfter(read func(*Decoder)) error {
	err := d.Finish()
	if wrong, ok := err.(Violations); ok && d.byOrder {
		return d.inCanonicalOrder(wrong, d.full, read)
	}
	return err // as it is: another interface of the same violations would be another allocation
}

// inCanonicalOrder returns the violations of text in its canonical form instead of those found, where these depend on the order of the text.
// It keeps those found of a text with repeated keys, which has no meaning that others could share, and of one that the caller wrongly said was scanned:
// only valid JSON has a canonical form. The first reading has counted all violations, so the second one ends when its list is full.
//
// Rejected: replacing listed violations by those that sort before them. A form of a union ends at its first violation, the form that fits best is
// found by how far each was read, and a violation beyond the limit is not described: all of that would have to change.
func (d *Decoder) inCanonicalOrder(found Violations, text []byte, read func(*Decoder)) Violations {
	if !d.byOrder || d.err != nil || len(d.repeated) > 0 || d.scanned && Valid(text, d.limits) != nil {
		return found
	}
	if !d.tied && len(text) == len(d.full) && len(d.violations) >= d.limits.Violations {
		if listed, ok := d.readCanonical(d.aroundLast, found, text, read); ok {
			return listed
		}
	}
	listed, _ := d.readCanonical(part{}, found, text, read)
	return listed
}

// readCanonical reads the canonical form of text and returns the violations to list. That form ends with the item of the array around that has the last
// violation found: the second reading seldom comes to later items before it has enough to list, and writing them would be most of the cost of a
// refusal. ok is false if the items up to there have too few violations.
func (d *Decoder) readCanonical(around part, found Violations, text []byte, read func(*Decoder)) (listed Violations, ok bool) {
	limits, last := d.limits, found.last()
	room := len(text) - max(0, around.end-last)
	if d.countScratch(2 * room); d.err != nil {
		return found, true
	}
	c := canonicalizer{data: text, out: make([]byte, 0, room), limit: limits.Bytes, movesLeft: sortedBytes * limits.Bytes, shortened: around, needed: last}
	if c.value(0); c.full() {
		return found, true
	}
	limits.NumberBytes += len("0.e+1000000") // a number may be longer in its canonical form
	again := Get(c.written(), limits)
	again.Discard()
	again.account, again.granted, again.hidden, again.stops = d.account, d.granted, d.hidden, true
	again.scanned = c.cut == 0
	read(again)
	ok = again.err == errEnough || c.cut > 0 && len(again.violations) >= limits.Violations
	if ok {
		// The number of all: those that again has listed or counted, and those that only the first reading came to, since again ended early.
		found = again.bounded(again.violations, again.broken-again.omitted+d.found-again.found)
	} else if sorted, wrong := again.Finish().(Violations); wrong {
		found = sorted
	}
	again.Put()
	return found, ok || c.cut == 0
}

// noteBroken sets aroundLast to the array that ends, if no other array is around it and the violation listed last is in it.
func (d *Decoder) noteBroken(f *frame) {
	for i := range d.frames[:len(d.frames)-1] {
		if d.frames[i].names == nil {
			return
		}
	}
	if n := len(d.violations); n > 0 && d.violations[n-1].offset >= int(f.start) { // each offset is before d.pos
		d.aroundLast = part{int(f.start), d.pos}
	}
}

// last returns the largest offset of a value that has a violation.
func (v Violations) last() int {
	at := 0
	for i := range v {
		at = max(at, v[i].offset)
	}
	return at
}

// sortedBytes is how many bytes may be moved to sort the members of a text, for each byte that a text may have.
const sortedBytes = 64

// comparePointers orders JSON Pointers by their steps: containers before their values, items by their indexes and before members.
func comparePointers(a, b string) int {
	from := 0 // the steps before it are the same
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		if a[i] == '/' {
			from = i + 1
		}
	}
	x, xIsIndex := firstStep(a[from:])
	y, yIsIndex := firstStep(b[from:])
	switch {
	case x == y:
		return cmp.Compare(len(a), len(b))
	case xIsIndex && yIsIndex && len(x) != len(y):
		return cmp.Compare(len(x), len(y))
	case xIsIndex == yIsIndex:
		return cmp.Compare(x, y)
	case xIsIndex:
		return -1
	}
	return 1
}

// firstStep is what comes before the first slash, and whether it can be the index of an item.
func firstStep(pointer string) (step string, isIndex bool) {
	isIndex = pointer != "" && pointer[0] != '/'
	for i := range len(pointer) {
		if pointer[i] == '/' {
			return pointer[:i], isIndex
		}
		isIndex = isIndex && pointer[i]-'0' <= 9
	}
	return pointer, isIndex
}
