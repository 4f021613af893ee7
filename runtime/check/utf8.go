package check

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// notText returns where the first control character or invalid UTF-8 sequence of text begins, len(text) if there is none. It looks at four machine words
// at a time, and at single ones where the four have something rare: Cyrillic and Japanese take a third of the instructions that single words take.
func notText(text []byte) int {
	i, due, ok := 0, uint64(0), true // due marks the bytes of the next word that have to continue a sequence of the last one
	for i+32 <= len(text) {
		block := (*[32]byte)(text[i : i+32 : i+32])
		a, b := binary.LittleEndian.Uint64(block[:8]), binary.LittleEndian.Uint64(block[8:16])
		c, d := binary.LittleEndian.Uint64(block[16:24]), binary.LittleEndian.Uint64(block[24:])
		if (a|b|c|d)&highs|due == 0 && ((a-ones*' ')|(b-ones*' ')|(c-ones*' ')|(d-ones*' '))&highs == 0 {
			i += 32 // ASCII
			continue
		}
		wrongA, threeA, next := unproven(a, due)
		wrongB, threeB, next := unproven(b, next)
		wrongC, threeC, next := unproven(c, next)
		wrongD, threeD, next := unproven(d, next)
		wrong := wrongA | wrongB | wrongC | wrongD
		if (threeA|threeB|threeC|threeD)&highs != 0 {
			wrong |= rare(a, threeA) | rare(b, threeB) | rare(c, threeC) | rare(d, threeD)
		}
		if wrong&highs == 0 {
			i, due = i+32, next&highs
			continue
		}
		for end := i + 32; i < end; {
			if i, due, ok = provenWord(text, i, due); !ok {
				return i
			}
		}
	}
	for i < len(text) || due != 0 {
		if due == 0 && len(text) >= 8 {
			at := min(i, len(text)-8)
			if w := binary.LittleEndian.Uint64(text[at : at+8]); (w|(w-ones*' '))&highs == 0 {
				i = at + 8
				continue
			}
		}
		if i, due, ok = provenWord(text, i, due); !ok {
			return i
		}
	}
	return len(text)
}

// provenWord checks the word at i, and where that ends within a sequence maybe a little more. It returns the index after what it checked; if ok is
// false, that of the first wrong sequence.
func provenWord(text []byte, i int, due uint64) (next int, nextDue uint64, ok bool) {
	w := uint64(0)
	if i+8 <= len(text) {
		w = binary.LittleEndian.Uint64(text[i : i+8])
	} else {
		w = lastWord(text, i) | ones*' '<<(8*uint(len(text)-i)) // spaces after the end
	}
	if wrong, three, next := unproven(w, due); (wrong|rare(w, three))&highs == 0 {
		return min(i+8, len(text)), next & highs, true
	}
	next, ok = sequences(text, i, due)
	return next, 0, ok
}

// unproven sets in wrong the high bit of some byte unless the word is UTF-8 without control characters, as far as that can be told without rare. The
// bytes that continue a sequence have to be those that are due after the last word and those that the first bytes of this word's sequences demand. three
// marks the bytes that begin sequences of three bytes or more, and next the bytes that are due after the word. Only the high bits of each byte count. It
// is small enough to be inlined.
func unproven(w, due uint64) (wrong, three, next uint64) {
	two := w & (w << 1)
	three = two & (w << 2)
	wrong = (w - ones*' ') &^ w                      // a control; a borrow can disturb only what is above one
	wrong |= (two ^ three) & (highs - w&(ones*0x1e)) // overlong: C0 and C1; a subtraction finds zeros
	wrong |= w ^ two ^ (due | two<<8 | three<<16)
	return wrong, three, two>>56 | three>>48
}

// rare marks, of the bytes that begin sequences of three bytes or more, those that begin four (F0 to FF), and those that may begin an overlong
// sequence (E0) or a surrogate (ED).
func rare(w, three uint64) uint64 {
	low := w & (ones * 0x0f)
	return three & (w<<3 | (highs - low) | (highs - (low ^ ones*0x0d)))
}

// sequences checks about a word, one sequence at a time, beginning with the one that due says is incomplete. It returns the index after what it
// checked, or where the first wrong sequence begins.
func sequences(text []byte, i int, due uint64) (next int, ok bool) {
	end := min(i+8, len(text))
	if due != 0 {
		for i--; !utf8.RuneStart(text[i]); i-- {
		}
	}
	for i < end {
		r, size := utf8.DecodeRune(text[i:])
		if r < ' ' || r == utf8.RuneError && size == 1 {
			return i, false
		}
		i += size
	}
	return i, true
}

// runes returns how many characters valid UTF-8 has: as many as it has bytes that do not continue a character.
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
