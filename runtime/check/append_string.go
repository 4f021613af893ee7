package check

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// AppendString writes a string. HTML is not escaped; invalid UTF-8 becomes U+FFFD, as in encoding/json.
func AppendString[S ~string](b []byte, s S) []byte { return appendString(b, string(s)) }

func appendString(b []byte, s string) []byte {
	if cap(b)-len(b) < len(s)+2 {
		b = slices.Grow(b, len(s)+2+escapes(s)) // at once: growing by steps leaves several times a long text as garbage
	}
	b = append(b, '"')
	start := len(b)
	b = append(b, s...)
	if end := plainEnd(b, start); end < len(b) {
		b = appendHardText(b[:end], s[end-start:])
	}
	return append(b, '"')
}

// escapes returns how many bytes the usual escapes of a text add to it.
func escapes(s string) int {
	n := 0
	for _, c := range []string{`"`, `\`, "\n", "\r", "\t"} {
		n += strings.Count(s, c)
	}
	return n
}

// AppendText is AppendString for bytes.
func AppendText(b, text []byte) []byte {
	return append(appendHardText(append(b, '"'), text), '"')
}

// appendHardText writes the rest of a string, from the first byte on that is no plain ASCII.
func appendHardText[T string | []byte](b []byte, s T) []byte {
	out, ascii := escape(b, s)
	if written := out[len(b):]; !ascii && notText(written) < len(written) { // escapes neither make nor mend a wrong byte
		out, _ = escape(b, string([]rune(string(s)))) // each of those becomes U+FFFD
	}
	return out
}

// escape writes a text without checking bytes beyond ASCII; ascii is false if there may be some.
func escape[T string | []byte](b []byte, s T) (out []byte, ascii bool) {
	seen := uint64(0)
	for {
		b = slices.Grow(b, len(s)+escapeBytes)
		room := b[len(b):cap(b)]
		read, written := 0, 0
		// Machine words are written before they are examined: a byte that ends a run of text is overwritten by its escape.
		for read+8 <= len(s) && written+8+escapeBytes <= len(room) {
			w := word(s[read : read+8])
			binary.LittleEndian.PutUint64(room[written:written+8], w)
			seen |= w
			marks := ending(w)
			if marks == 0 {
				read, written = read+8, written+8
				continue
			}
			n := bits.TrailingZeros64(marks) >> 3
			c := s[read+n]
			read, written = read+n+1, written+n
			if e := spellings[c]; e != 0 {
				binary.LittleEndian.PutUint16(room[written:written+2], uint16(e))
				written += 2
			} else {
				written += len(appendEscape(room[written:written], c))
			}
		}
		b, s = b[:len(b)+written], s[read:]
		if len(s) < 8 {
			break
		}
	}
	for i := range len(s) {
		seen |= uint64(s[i])
		b = appendByte(b, s[i])
	}
	return b, seen&highs == 0
}

func appendByte(b []byte, c byte) []byte {
	if c < ' ' || c == '"' || c == '\\' {
		return appendEscape(b, c)
	}
	return append(b, c)
}

const escapeBytes = 6 // of the longest, \u001f

// spellings has the one or two bytes with which a byte is written as a number, the first byte lowest, and how many they are in the third byte; 0 for
// a byte with an escape of six: measured, a branch for each costs more than the rest of the loop.
var spellings = func() (all [256]uint32) {
	for c := uint32(' '); c < 256; c++ {
		all[c] = 1<<16 | c
	}
	for c, letter := range map[byte]uint32{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't'} {
		all[c] = 2<<16 | letter<<8 | '\\'
	}
	return all
}()

// word returns the first eight bytes of a text as one number.
func word[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// appendEscape writes a byte that can not be in a string as it is.
func appendEscape(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
