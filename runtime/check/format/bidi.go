package format

import (
	"slices"
	"unicode"
)

// This file has the Bidi Rule of RFC 5893, for labels with right-to-left text and for the other labels of the same name. It needs the bidirectional class
// only of characters that a label may have, so scripts and digits determine the class.

type bidiClass uint8

const (
	leftLetter bidiClass = iota
	rightLetter
	europeanDigit
	arabicDigit
	neutral // the hyphen
	mark    // a non-spacing mark or a zero-width joiner or non-joiner
)

var rightScripts = []*unicode.RangeTable{
	unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan, unicode.Mandaic, unicode.Adlam,
	unicode.Hanifi_Rohingya, unicode.Mende_Kikakui, unicode.Phoenician, unicode.Imperial_Aramaic, unicode.Old_South_Arabian, unicode.Yezidi,
}

func bidi(r rune) bidiClass {
	switch {
	case r == '-':
		return neutral
	case '0' <= r && r <= '9' || '\u06f0' <= r && r <= '\u06f9':
		return europeanDigit
	case '\u0660' <= r && r <= '\u0669':
		return arabicDigit
	case unicode.Is(unicode.Mn, r) || r == '\u200c' || r == '\u200d':
		return mark
	case unicode.In(r, rightScripts...):
		return rightLetter
	}
	return leftLetter
}

// rightToLeft reports whether a label has right-to-left text.
func rightToLeft(label []rune) bool {
	return slices.ContainsFunc(label, func(r rune) bool { return bidi(r) == rightLetter || bidi(r) == arabicDigit })
}

// validBidi reports whether a label of a name that has right-to-left text keeps the Bidi Rule.
func validBidi(label []rune) bool {
	first := bidi(label[0])
	if first != leftLetter && first != rightLetter {
		return false
	}
	var has [mark + 1]bool
	last := first
	for _, r := range label {
		c := bidi(r)
		has[c] = true
		if c != mark {
			last = c
		}
	}
	if first == leftLetter {
		return !has[rightLetter] && !has[arabicDigit] && (last == leftLetter || last == europeanDigit)
	}
	return !has[leftLetter] && !(has[europeanDigit] && has[arabicDigit]) && last != neutral
}
