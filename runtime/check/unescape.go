package check

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// unescapes says what escapes of two bytes stand for, by their letters; 0 for what is no letter of one.
var unescapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends to b what the text at i stands for. It ends before what is no part of it: a quote, a control, a wrong escape, or the end of the
// data. ascii is false if the text may have bytes beyond; those are not judged.
//
// Words are written before they are judged, as appendHardText does: the value is never longer than what it is written as.
func unescape(b, data []byte, i int) (value []byte, end int, ascii bool) {
	room, written, seen := b[:cap(b)], len(b), uint64(0)
	for i < len(data) {
		if written+unescapeRoom > len(room) {
			room = slices.Grow(room[:written], min(max(64, 3*written), len(data)-i+unescapeRoom)) // few steps: each leaves its room behind
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
		taken := escapeLen(data, i)
		if taken == 0 {
			break
		}
		written += utf8.EncodeRune(room[written:], unicodeEscape(data[i:i+taken]))
		i += taken
	}
	return room[:written], i, seen&highs == 0
}

// unescapeRoom is how much room there is at least, behind what is unescaped, for a word and a character.
const unescapeRoom = 16

// unicodeEscape returns what an escape stands for that begins with \u.
func unicodeEscape(escape []byte) rune {
	r, _ := hex4(escape, 2)
	if utf16.IsSurrogate(r) {
		low, _ := hex4(escape, 8)
		r = utf16.DecodeRune(r, low)
	}
	return r
}
