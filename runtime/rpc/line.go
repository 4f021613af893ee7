package rpc

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Some readers end a line not only at \n. So \n and \r, which JSON has only between tokens, become spaces in a line, and U+2028 and U+2029, which
// it has only in strings, are escaped. That is done where a frame becomes a line, because encoders do not escape U+2028 and U+2029, and frames contain
// raw JSON that others wrote.

// appendLine appends frame as one line. plain is isPlainLine of the frame. It is found before a lineWriter's lock is taken, so that the lock is held for
// the copy only; but under the lock for frames that are written together, or have waited.
func appendLine(b, frame []byte, plain bool) []byte {
	b = slices.Grow(b, len(frame)+1) // at once: a long frame would be copied again for the end of its line
	if plain {
		return append(append(b, frame...), '\n')
	}
	return append(appendPart(b, frame), '\n')
}

// isPlainLine reports whether a frame can be a line as it is, as most can: for a long frame, three searches for a byte show that in half the time of
// appendPart.
func isPlainLine(frame []byte) bool {
	return len(frame) <= shortFrame && isPlainASCII(frame) ||
		bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0 && bytes.IndexByte(frame, lineSeparator[0]) < 0
}

// shortFrame is the size, in bytes, up to which a frame is checked by words: for longer ones package bytes, which has wide registers, is faster.
const shortFrame = 512

// isPlainASCII reports whether a frame is ASCII without control characters, as most are. The last block or word, which is looked at first, may overlap
// the one before it.
func isPlainASCII(frame []byte) bool {
	wrong, n := uint64(0), len(frame)
	switch {
	case n >= 32:
		wrong = blockNotASCII((*[32]byte)(frame[n-32:]))
		for i := 0; i < n-32; i += 32 {
			wrong |= blockNotASCII((*[32]byte)(frame[i : i+32]))
		}
	case n >= 8:
		wrong = notASCII(binary.LittleEndian.Uint64(frame[n-8:]))
		for i := 0; i < n-8; i += 8 {
			wrong |= notASCII(binary.LittleEndian.Uint64(frame[i : i+8]))
		}
	default:
		for _, c := range frame {
			wrong |= notASCII(uint64(c) | spaces7)
		}
	}
	return wrong&highBits == 0
}

// blockNotASCII is notASCII for four words.
func blockNotASCII(b *[32]byte) uint64 {
	return notASCII(binary.LittleEndian.Uint64(b[:8])) | notASCII(binary.LittleEndian.Uint64(b[8:16])) |
		notASCII(binary.LittleEndian.Uint64(b[16:24])) | notASCII(binary.LittleEndian.Uint64(b[24:]))
}

// spaces7 has spaces in all bytes of a word but the lowest.
const spaces7 = 0x2020202020202000

const highBits = 0x8080808080808080

// notASCII returns a word that has the high bit of some byte if a byte of w is a control character or beyond ASCII.
func notASCII(w uint64) uint64 { return w - 0x2020202020202020 | w }

// appendPart appends a part of a frame as part of a line. The part must not end within U+2028 or U+2029.
func appendPart(b, frame []byte) []byte {
	at := len(b)
	for {
		i := bytes.Index(frame, lineSeparator)
		if i < 0 {
			break
		}
		end := i + 2
		if end < len(frame) && frame[end]|1 == 0xa9 {
			b = append(append(b, frame[:i]...), `\u202`...)
			b = append(b, '8'+frame[end]-0xa8)
			end++
		} else {
			b = append(b, frame[:end]...)
		}
		frame = frame[end:]
	}
	b = append(b, frame...)
	spaces(b[at:], '\n')
	spaces(b[at:], '\r')
	return b
}

// lineSeparator has the first two bytes of the line separators, as this package calls U+2028 and U+2029.
var lineSeparator = []byte("\xe2\x80")

// hasLineSeparator reports whether a frame has U+2028 or U+2029.
func hasLineSeparator(frame []byte) bool {
	for {
		i := bytes.Index(frame, lineSeparator)
		if i < 0 || i+2 == len(frame) {
			return false
		}
		if frame[i+2]|1 == 0xa9 {
			return true
		}
		frame = frame[i+2:]
	}
}

// spaces replaces each c by a space.
func spaces(b []byte, c byte) {
	for {
		i := bytes.IndexByte(b, c)
		if i < 0 {
			return
		}
		b[i] = ' '
		b = b[i+1:]
	}
}
