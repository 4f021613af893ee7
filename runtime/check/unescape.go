package check

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// unescapes has the meanings of escapes of two bytes, by their second byte; 0 for a byte that no such escape has.
var unescapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends the value of the string text at i to b. It ends before a quote, a control character, a malformed escape, or at the end of the
// data. ascii is false if the text may have bytes beyond ASCII; those are not validated.
//
// Machine words are written before they are examined, as in escape: a value is never longer than its text.
func unescape(b, data []byte, i int) (value []byte, end int, ascii bool) {
	room, written, seen := b[:cap(b)], len(b), uint64(0)
	for i < len(data) {
		if written+unescapeRoom > len(room) {
			room = slices.Grow(room[:written], min(max(64, 3*written), len(data)-i+unescapeRoom)) // few steps: each leaves its buffer as garbage
			room = room[:cap(room)]
		}
		w := wordAt(data, i)
		binary.LittleEndian.PutUint64(room[written:written+8], w)
		seen |= w
		marks := ending(w)
		if marks == 0 {
			i, written = i+8, written+8
			continue
		}
		n := bits.TrailingZeros64(marks) >> 3
		i, written = i+n, written+n
		if i+1 >= len(data) || data[i] != '\\' {
			break
		}
		if c := unescapes[data[i+1]]; c != 0 {
			room[written] = c
			i, written = i+2, written+1
			continue
		}
		ok := false
		if i, written, ok = unescapeUnicode(data, i, room, written); !ok {
			break
		}
	}
	return room[:written], i, seen&highs == 0
}

// unescapeUnicode writes the values of the \u escapes that follow each other from i on, as far as room goes. It returns the index after them; if ok is
// false, that of a malformed one.
func unescapeUnicode(data []byte, i int, room []byte, written int) (end, nowWritten int, ok bool) {
	for data[i] == '\\' && data[i+1] == 'u' && written+utf8.UTFMax <= len(room) {
		r, n := unicodeEscape(data, i)
		if n == 0 {
			return i, written, false
		}
		i, written, ok = i+n, written+utf8.EncodeRune(room[written:], r), true
		if i+1 >= len(data) {
			break
		}
	}
	return i, written, ok
}

// unescapeRoom is how many bytes are free at least before each step: for a machine word and a character.
const unescapeRoom = 16
