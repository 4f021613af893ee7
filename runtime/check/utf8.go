package check

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// notUTF8 returns where text stops being UTF-8, its length if it does not. It takes what is ASCII, and sequences of two bytes, a word at a time:
// measured, Cyrillic text takes a third less time than with utf8.Valid, Japanese about the same.
func notUTF8(text []byte) int {
	i := 0
	for i+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[i : i+8])
		if high := w & highs; high != 0 {
			if ascii := bits.TrailingZeros64(high) >> 3; ascii > 0 {
				i += ascii
				continue
			}
		} else {
			i += 8
			continue
		}
		switch {
		case w&0xe0 == 0xc0:
			n := twoByteRunes(w)
			if i += 2 * n; n == 0 {
				return i
			}
		case w&0xc0c0f0 == 0x8080e0 && w&0x200f != 0 && w&0x200f != 0x200d: // neither overlong nor a surrogate
			i += 3
		default:
			r, size := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && size == 1 {
				return i
			}
			i += size
		}
	}
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return i
}

// twoByteRunes returns how many sequences of two bytes the word begins with.
func twoByteRunes(w uint64) int {
	const lanes = 0x0001000100010001
	other := w&(lanes*0xc0e0) ^ lanes*0x80c0
	overlong := ^(w&(lanes*0x1e) + lanes*0x7fff) & (lanes * 0x8000)
	return bits.TrailingZeros64(other|overlong) >> 4
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
