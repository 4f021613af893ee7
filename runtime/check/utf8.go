package check

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// notUTF8 returns where text stops being UTF-8, its length if it does not. It looks at four machine words at a time, and at one where those have
// something rare: Cyrillic and Japanese take half the instructions of always one at a time.
func notUTF8(text []byte) int {
	i, due, ok := 0, uint64(0), true // due marks the bytes of the next word that have to continue a sequence of the last one
	for i+32 <= len(text) {
		block := (*[32]byte)(text[i : i+32 : i+32])
		a, b := binary.LittleEndian.Uint64(block[:8]), binary.LittleEndian.Uint64(block[8:16])
		c, d := binary.LittleEndian.Uint64(block[16:24]), binary.LittleEndian.Uint64(block[24:])
		if (a|b|c|d)&highs|due == 0 {
			i += 32
			continue
		}
		a, next := unproven(a, due)
		b, next = unproven(b, next)
		c, next = unproven(c, next)
		d, next = unproven(d, next)
		if (a|b|c|d)&highs == 0 {
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
			if at := min(i, len(text)-8); binary.LittleEndian.Uint64(text[at:at+8])&highs == 0 {
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

// provenWord checks the word at i and maybe a little more, and returns where it ended: ok is false at the first byte that is wrong.
func provenWord(text []byte, i int, due uint64) (next int, nextDue uint64, ok bool) {
	if i < len(text) {
		if wrong, next := unproven(wordAt(text, i), due); wrong&highs == 0 {
			return min(i+8, len(text)), next & highs, true
		}
	}
	next, ok = sequences(text, i, due)
	return next, 0, ok
}

// unproven marks the high bit of some byte unless the word is UTF-8 without rare sequences: the bytes that continue one are those that are due
// after the last word and those that this one demands. What it leaves due is next. No other bit counts. It is small enough to be inlined.
func unproven(w, due uint64) (wrong, next uint64) {
	two := w & (w << 1)
	three, low := two&(w<<2), w&(ones*0x0f)
	// Longer, or maybe overlong or a surrogate: F0 to FF, E0 and ED; C0 and C1. A subtraction finds zeros.
	rare := three&(w<<3|(highs-low)|(highs-(low^ones*0x0d))) | (two^three)&(highs-w&(ones*0x1e))
	return rare | (w ^ two ^ (due | two<<8 | three<<16)), two>>56 | three>>48
}

// sequences checks about a word, a sequence at a time, beginning with the one that due says is incomplete. It returns where it ended, or where the
// first wrong sequence begins.
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
