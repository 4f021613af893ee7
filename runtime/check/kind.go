package check

import (
	"math/bits"
	"strings"
)

// Kind returns the kind of the next value, which it does not take. With a rule, a kind that the rule does not allow is a violation: the value is
// skipped and the result is 0.
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

// kindOf returns the kind of a value that begins with c, 0 if none does.
func kindOf(c byte) Kind { return kinds[c] }

// kinds is a table because kinds come in no order that a processor could predict.
var kinds = [256]Kind{
	'"': KindString, '{': KindObject, '[': KindArray, 't': KindBool, 'f': KindBool, 'n': KindNull, '-': KindNumber,
	'0': KindNumber, '1': KindNumber, '2': KindNumber, '3': KindNumber, '4': KindNumber,
	'5': KindNumber, '6': KindNumber, '7': KindNumber, '8': KindNumber, '9': KindNumber,
}

// kindTable says for each kind which of the first 64 forms of a union take it, a bit each. Its index is the number of the kind's lowest bit; the last
// entry is for kind 0.
type kindTable [9]uint64

// of returns which of the first 64 forms take a kind.
func (t *kindTable) of(kind Kind) uint64 { return t[bits.TrailingZeros8(uint8(kind))] }

func (u *Union) byKind() *kindTable {
	if t := u.kinds.Load(); t != nil {
		return t
	}
	return u.makeKinds()
}

func (u *Union) makeKinds() *kindTable {
	t := new(kindTable)
	t.set(u.Forms, func(f *Form) Kind { return f.Kinds })
	u.kinds.Store(t)
	return t
}

// set makes the table of forms, each of which takes the kinds that kinds returns, 0 for all.
func (t *kindTable) set(forms []Form, kinds func(f *Form) Kind) {
	for _, kind := range []Kind{KindNull, KindBool, KindNumber, KindString, KindArray, KindObject, 0} {
		for i := range min(64, len(forms)) {
			if takes := kinds(&forms[i]); takes == 0 || takes&kind != 0 {
				t[bits.TrailingZeros8(uint8(kind))] |= 1 << i
			}
		}
	}
}

// kindWords are in the order in which messages list them, null last.
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
