package format

import (
	"slices"
	"unicode"
)

// The rule of RFC 5893 for labels that are written from right to left, or are in a name with one that is. Only the characters that
// a label may have need a class, so scripts and digits determine it.

type bidiClass uint8

const (
	leftLetter bidiClass = iota
	rightLetter
	europeanDigit
	arabicDigit
	neutral // the hyphen
	mark    // non-spacing, and the joiners
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

func rightToLeft(label []rune) bool {
	return slices.ContainsFunc(label, func(r rune) bool { return bidi(r) == rightLetter || bidi(r) == arabicDigit })
}

// validBidi validates one label of a name that has right-to-left text.
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
