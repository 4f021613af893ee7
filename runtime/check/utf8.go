package check

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// notUTF8 returns where text stops being UTF-8, its length if it does not. It looks at a word at a time: the bytes of a word that begin
// sequences say which ones have to continue them. By instructions, Cyrillic and Japanese words take half of what a step for each sequence took.
func notUTF8(text []byte) int {
	i, due := 0, uint64(0) // due marks the bytes of the next word that have to continue a sequence of the last one
	for i < len(text) && len(text) >= 8 {
		var w uint64
		if i+8 <= len(text) {
			w = binary.LittleEndian.Uint64(text[i : i+8])
		} else {
			w = binary.LittleEndian.Uint64(text[len(text)-8:]) >> (8 * (i + 8 - len(text)))
		}
		high := w & highs
		if high|due == 0 {
			i += 8
			continue
		}
		two, low := high&(w<<1), w&(ones*0x0f)
		three := two & (w << 2)
		// What is longer, or may be overlong or a surrogate: C0 and C1; E0 and ED; F0 to FF.
		rare := two&^three&^(w&(ones*0x1e)+ones*0x7f) | three&^((low+ones*0x7f)&(low^ones*0x0d+ones*0x7f)) | three&(w<<3)
		if rare == 0 && high&^(w<<1) == due|two<<8|three<<16 {
			i, due = i+8, two>>56|three>>48
			continue
		}
		var ok bool
		if i, ok = sequences(text, i, due); !ok {
			return i
		}
		due = 0
	}
	if len(text) < 8 || due != 0 {
		i, _ = sequences(text, i, due)
	}
	return min(i, len(text))
}

// sequences reads about a word, a sequence at a time, from the one that due leaves open on. It returns where the first wrong one begins.
func sequences(text []byte, i int, due uint64) (next int, ok bool) {
	end := min(i+8, len(text))
	if due != 0 {
		for i--; !utf8.RuneStart(text[i]); i-- {
		}
	}
	for i < end {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i, false
		}
		i += size
	}
	return i, true
}

// runes returns how many characters valid UTF-8 has: its bytes that do not continue one.
func runes[T string | []byte](text T) int {
	n, i := len(text), 0
	for ; i+8 <= len(text); i += 8 {
		w := word(text[i : i+8])
		n -= bits.OnesCount64(w &^ (w << 1) & highs)
	}
	for ; i < len(text); i++ {
		if text[i]&0xc0 == 0x80 {
			n--
		}
	}
	return n
}
