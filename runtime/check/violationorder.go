package check

import (
	"cmp"
	"errors"
	"strings"
)

// errEnough ends a second reading that has found what is listed; callers of the package never see it.
var errEnough = errors.New("check: there is enough to list")

// FinishAfter is Finish for a Decoder that read was called with. Where the order of the text decides which violations are listed, read is called
// once more, with another Decoder, on the text in canonical form: texts that mean the same have the same violations (LET14).
func (d *Decoder) FinishAfter(read func(*Decoder)) error {
	err := d.Finish()
	if wrong, ok := err.(Violations); ok {
		return d.inCanonicalOrder(wrong, d.full, read)
	}
	return err
}

// inCanonicalOrder returns the violations of text in its canonical form, instead of those that were found first, where that makes a difference.
// It does not for a text with repeated keys, which has no meaning that others could share, nor for one that was said to be scanned and is not valid:
// only valid JSON has a canonical form. How many violations there are in all is known from
// the first reading, so the second one ends where the list does.
//
// Rejected: replacing what is listed by what sorts before it. A form of a union ends at its first violation, the form that fits best is
// found by how far each was read, and a violation beyond the limit costs no words: all of it would have to change.
func (d *Decoder) inCanonicalOrder(found Violations, text []byte, read func(*Decoder)) Violations {
	if !d.byOrder || d.err != nil || len(d.repeated) > 0 || d.scanned && Valid(text, d.limits) != nil {
		return found
	}
	limits := d.limits
	if d.countScratch(2 * len(text)); d.err != nil {
		return found
	}
	c := canonicalizer{data: text, out: make([]byte, 0, len(text)), limit: limits.Bytes, movesLeft: sortedBytes * limits.Bytes}
	if c.value(0); c.full() {
		return found
	}
	limits.NumberBytes += len("0.e+1000000") // a number may be longer in its canonical form
	again := GetScanned(c.out, limits)
	again.account, again.granted, again.hidden, again.stops = d.account, d.granted, d.hidden, true
	read(again)
	if again.err == errEnough {
		// In all: what again has listed or could have, and what only the first reading got to, since again ended early.
		found = again.bounded(again.violations, again.broken-again.same+d.found-again.found)
	} else if sorted, ok := again.Finish().(Violations); ok {
		found = sorted
	}
	again.Put()
	return found
}

// sortedBytes is how many bytes are moved at most to sort the members of a text, for each that a text may have.
const sortedBytes = 64

// comparePointers orders JSON Pointers by their steps: values before what is in them, items by their numbers and before members.
func comparePointers(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a = firstStep(a)
		y, b = firstStep(b)
		if c := compareSteps(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// firstStep cuts a pointer behind its first step, which it returns without the slash.
func firstStep(pointer string) (step, rest string) {
	if end := strings.IndexByte(pointer[1:], '/'); end >= 0 {
		return pointer[1 : 1+end], pointer[1+end:]
	}
	return pointer[1:], ""
}

func compareSteps(a, b string) int {
	first, second := isIndex(a), isIndex(b)
	switch {
	case first && second:
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case first:
		return -1
	case second:
		return 1
	}
	return cmp.Compare(a, b)
}

// isIndex reports whether a step can be the number of an item.
func isIndex(step string) bool {
	for i := range len(step) {
		if step[i]-'0' > 9 {
			return false
		}
	}
	return step != ""
}
