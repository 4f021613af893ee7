package format

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file has the internationalised labels of host names, RFC 5890 to 5893: punycode, and which characters are allowed where. Those are derived
// from Unicode's categories as in RFC 5892, with its exceptions as tables.

// isIDNHostname accepts host names whose labels are ASCII, A-labels or U-labels.
func isIDNHostname(s string) bool {
	labels := strings.Split(idnDots.Replace(s), ".")
	length, bidi := 0, false
	for _, label := range labels {
		if !validLabel(label, true) {
			return false
		}
		runes := []rune(label)
		length += encodedLen(runes) + 1
		bidi = bidi || rightToLeft(runes)
	}
	for _, label := range labels {
		if bidi && !validBidi([]rune(label)) {
			return false
		}
	}
	return length <= 254
}

// idnDots replaces the other characters that separate labels, the ideographic, fullwidth and halfwidth full stops.
var idnDots = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// validUnicodeLabel accepts a U-label.
func validUnicodeLabel(label []rune) bool {
	n := len(label)
	if n == 0 || n > 63 || encodedLen(label) > 63 || label[0] == '-' || label[n-1] == '-' || n >= 4 && label[2] == '-' && label[3] == '-' || unicode.Is(unicode.M, label[0]) {
		return false
	}
	for i, r := range label {
		if !validInLabel(label, i, r) {
			return false
		}
	}
	return true
}

func validInLabel(label []rune, i int, r rune) bool {
	if r < utf8.RuneSelf {
		return r == '-' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
	}
	switch {
	case strings.ContainsRune("\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b", r):
		return false
	case strings.ContainsRune("\u00df\u03c2\u06fd\u06fe\u0f0b\u3007", r):
		return true
	case strings.ContainsRune("\u200c\u200d\u00b7\u0375\u05f3\u05f4\u30fb", r):
		return validInContext(label, i, r)
	case '\u0660' <= r && r <= '\u0669':
		return !containsBetween(label, '\u06f0', '\u06f9')
	case '\u06f0' <= r && r <= '\u06f9':
		return !containsBetween(label, '\u0660', '\u0669')
	}
	return unicode.In(r, unicode.Ll, unicode.Lo, unicode.Lm, unicode.Mn, unicode.Mc, unicode.Nd)
}

// validInContext has the contextual rules of RFC 5892, appendix A, for a character that is allowed only beside others.
func validInContext(label []rune, i int, r rune) bool {
	at := func(j int) rune {
		if j < 0 || j >= len(label) {
			return -1
		}
		return label[j]
	}
	before, after := at(i-1), at(i+1)
	switch r {
	case '\u00b7':
		return before == 'l' && after == 'l'
	case '\u0375':
		return after >= 0 && unicode.Is(unicode.Greek, after)
	case '\u05f3', '\u05f4':
		return before >= 0 && unicode.Is(unicode.Hebrew, before)
	case '\u30fb':
		for _, r := range label {
			if unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) {
				return true
			}
		}
		return false
	}
	if before >= 0 && strings.ContainsRune(viramas, before) {
		return true
	}
	// A zero-width non-joiner may also be between letters that join: those of the scripts in joining do.
	return r == '\u200c' && before >= 0 && after >= 0 && unicode.In(before, joining...) && unicode.In(after, joining...)
}

// viramas are the characters after which both joiners are allowed.
const viramas = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84\u1039\u103a\u1714\u1734\u17d2\u1a60\u1b44\u1baa\u1bab\u1bf2\u1bf3\u2d7f\ua806\ua82c\ua8c4\ua953\ua9c0\uaaf6\uabed"

var joining = []*unicode.RangeTable{unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Phags_Pa}

func containsBetween(label []rune, low, high rune) bool {
	for _, r := range label {
		if low <= r && r <= high {
			return true
		}
	}
	return false
}

// validPunycode accepts what follows xn-- in an A-label.
func validPunycode(s string) bool {
	label, ok := decodePunycode(s)
	if !ok || encodedLen(label) != len(s)+len("xn--") || !validUnicodeLabel(label) || rightToLeft(label) && !validBidi(label) {
		return false
	}
	for _, r := range label {
		if r >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// The parameters of RFC 3492.
const (
	punyBase = 36
	punyTMin = 1
	punyTMax = 26
	punySkew = 38
	punyDamp = 700
	punyBias = 72
)

func decodePunycode(s string) (label []rune, ok bool) {
	if i := strings.LastIndexByte(s, '-'); i >= 0 {
		label = []rune(strings.ToLower(s[:i]))
		s = s[i+1:]
	}
	n, i, bias := rune(utf8.RuneSelf), 0, punyBias
	for s != "" {
		old, weight := i, int64(1)
		for k := punyBase; ; k += punyBase {
			if s == "" {
				return nil, false
			}
			digit := punyDigit(s[0])
			s = s[1:]
			sum := int64(i) + int64(digit)*weight // where int has 32 bits, too
			if digit < 0 || sum > unicode.MaxRune*64 {
				return nil, false
			}
			i = int(sum)
			t := punyThreshold(k, bias)
			if digit < t {
				break
			}
			if weight *= int64(punyBase - t); weight > 1<<40 {
				return nil, false
			}
		}
		count := len(label) + 1
		bias = punyAdapt(i-old, count, old == 0)
		n += rune(i / count)
		i %= count
		if n > unicode.MaxRune {
			return nil, false
		}
		label = append(label[:i], append([]rune{n}, label[i:]...)...)
		i++
	}
	return label, true
}

func punyDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c-'0') + 26
	case isAlpha(c):
		return int(c | 0x20 - 'a')
	}
	return -1
}

func punyThreshold(k, bias int) int { return min(max(k-bias, punyTMin), punyTMax) }

func punyAdapt(delta, count int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / count
	k := 0
	for ; delta > (punyBase-punyTMin)*punyTMax/2; k += punyBase {
		delta /= punyBase - punyTMin
	}
	return k + (punyBase-punyTMin+1)*delta/(delta+punySkew)
}

// encodedLen returns the length of a label in ASCII: in punycode with the prefix xn--, unless it is ASCII already.
func encodedLen(label []rune) int {
	length, n, delta, bias := 0, rune(utf8.RuneSelf), 0, punyBias
	for _, r := range label {
		if r < utf8.RuneSelf {
			length++
		}
	}
	basic := length
	if basic == len(label) {
		return basic
	}
	if basic > 0 {
		length++ // the hyphen after the ASCII characters
	}
	for done := basic; done < len(label); n++ {
		next := rune(unicode.MaxRune)
		for _, r := range label {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r == n {
				length += punyLen(delta, bias)
				bias = punyAdapt(delta, done+1, done == basic)
				delta = 0
				done++
			}
		}
		delta++
	}
	return length + len("xn--")
}

// punyLen returns how many punycode digits delta takes.
func punyLen(delta, bias int) int {
	for k, n := punyBase, 1; ; k, n = k+punyBase, n+1 {
		t := punyThreshold(k, bias)
		if delta < t {
			return n
		}
		delta = (delta - t) / (punyBase - t)
	}
}
