package check

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// AppendString writes a string. HTML is not escaped; invalid UTF-8 becomes U+FFFD, as in encoding/json.
func AppendString[S ~string](b []byte, s S) []byte { return appendString(b, string(s)) }

func appendString(b []byte, s string) []byte {
	if cap(b)-len(b) < len(s)+2 {
		b = slices.Grow(b, len(s)+2+escapes(s)+spelling) // at once: growing by steps leaves garbage of several times the size of a long text
	}
	b = append(b, '"')
	start := len(b)
	b = append(b, s...)
	n := 0
	if len(s) < 16 {
		n = shortPlain(s)
	} else {
		n = plainEnd(b, start) - start
	}
	if n < len(s) {
		b = appendHardText(b[:start+n], s[n:])
	}
	return append(b, '"')
}

// shortPlain returns how many bytes of a string of less than 16 come before the first that is not plain. It reads the string, not its copy: the processor
// has to wait before it can read a word that was just written in parts.
func shortPlain(s string) int {
	if len(s) >= 8 {
		if marks := special(word(s[:8])); marks != 0 {
			return bits.TrailingZeros64(marks) >> 3
		}
		return len(s) - 8 + bits.TrailingZeros64(special(word(s[len(s)-8:])))>>3
	}
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || spellings[c]>>56 != 1 {
			return i
		}
	}
	return len(s)
}

// escapes returns by how many bytes the usual escapes make a text longer.
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

// appendHardText writes the rest of a string, from the first byte on that is not plain, up to the closing quote.
func appendHardText[T string | []byte](b []byte, s T) []byte {
	out, ascii := escape(b, s)
	if written := out[len(b):]; !ascii && !isText(written, 0, len(written)) { // s is invalid UTF-8, too: escaping neither adds nor removes wrong bytes
		out, _ = escape(b, string([]rune(string(s)))) // each wrong byte becomes U+FFFD
	}
	return out
}

// escape writes a text without checking bytes beyond ASCII; ascii is false if there may be some.
func escape[T string | []byte](b []byte, s T) (out []byte, ascii bool) {
	seen := uint64(0)
	for len(s) >= 8 {
		b = slices.Grow(b, len(s)+spelling)
		room := b[len(b):cap(b)]
		read, written, some := escapeBlocks(room, s)
		seen |= some
		// Machine words are written before they are examined: a byte that ends a run of text is overwritten by its escape.
		for read+8 <= len(s) && written+8+spelling <= len(room) {
			w, to := word(s[read:read+8]), (*[8 + spelling]byte)(room[written:written+8+spelling])
			binary.LittleEndian.PutUint64(to[:8], w)
			seen |= w
			marks := ending(w)
			if marks == 0 {
				read, written = read+8, written+8
				continue
			}
			n := bits.TrailingZeros64(marks) >> 3 & 7
			e := spellings[byte(w>>(8*n))]
			binary.LittleEndian.PutUint64(to[n:n+spelling], e)
			read, written = read+n+1, written+n+int(e>>56)
		}
		b, s = b[:len(b)+written], s[read:]
	}
	for i := range len(s) {
		seen |= uint64(s[i])
		b = appendByte(b, s[i])
	}
	return b, seen&highs == 0
}

// escapeBlocks is escape for the beginning of a long text. It finds the bytes to escape in 32 bytes at once: a branch for each byte would be
// mispredicted, which takes longer than all the rest.
func escapeBlocks[T string | []byte](room []byte, s T) (read, written int, seen uint64) {
	for read+2*run <= len(s) && written+run*(escapeBytes+1)+spelling <= len(room) {
		in := s[read : read+2*run]
		a, b, c, d := word(in[:8]), word(in[8:16]), word(in[16:24]), word(in[24:32])
		seen |= a | b | c | d
		places := gather(ending(a)) | gather(ending(b))<<8 | gather(ending(c))<<16 | gather(ending(d))<<24
		putRun(room[written:], a, b, c, d)
		from := 0
		for ; places != 0; places &= places - 1 { // a borrow may have marked a byte that needs no escape: its spelling is the byte itself
			n := bits.TrailingZeros64(places) & (run - 1)
			e := spellings[in[n]]
			written += n - from
			binary.LittleEndian.PutUint64(room[written:written+spelling], e)
			from, written = n+1, written+int(e>>56)
			rest := in[from:]
			putRun(room[written:], word(rest[:8]), word(rest[8:16]), word(rest[16:24]), word(rest[24:32])) // the excess is overwritten
		}
		read, written = read+run, written+run-from
	}
	return read, written, seen
}

func putRun(room []byte, a, b, c, d uint64) {
	to := (*[run]byte)(room[:run])
	binary.LittleEndian.PutUint64(to[:8], a)
	binary.LittleEndian.PutUint64(to[8:16], b)
	binary.LittleEndian.PutUint64(to[16:24], c)
	binary.LittleEndian.PutUint64(to[24:], d)
}

// appendByte writes one byte of a string.
func appendByte(b []byte, c byte) []byte {
	e := spellings[c]
	for range e>>56 - 1 {
		b = append(b, byte(e))
		e >>= 8
	}
	return append(b, byte(e))
}

const (
	spelling    = 8 // bytes reserved for the spelling of one byte
	escapeBytes = 6 // the length of the longest escape, \u001f
)

// spellings has for each byte what it is written as in a string, the first byte lowest; the highest byte says how many bytes that is. It is a table,
// because a branch for each escape costs more than the rest of the loop (measured).
var spellings = func() (all [256]uint64) {
	const hex = "0123456789abcdef"
	for c := range all {
		if all[c] = spell(string([]byte{byte(c)})); c < ' ' {
			all[c] = spell(`\u00` + hex[c>>4:c>>4+1] + hex[c&15:c&15+1])
		}
	}
	for c, text := range map[byte]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`} {
		all[c] = spell(text)
	}
	return all
}()

func spell(text string) uint64 {
	room := [spelling]byte{spelling - 1: byte(len(text))}
	copy(room[:], text)
	return binary.LittleEndian.Uint64(room[:])
}

// word returns the first eight bytes of a text as one number.
func word[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
