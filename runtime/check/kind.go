package check

import "strings"

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
