package rpc

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Some readers end a line at more than \n: in a line, a carriage return, which in JSON stands between tokens alone, is a space, as \n is, and
// U+2028 and U+2029, which stand in strings alone, are escaped. Frames come from encoders that write the last two as they are, and have raw JSON of
// others in them: so here, where each frame becomes a line, is where it is made one.

// appendLine appends frame as one line.
func appendLine(b, frame []byte) []byte {
	b = slices.Grow(b, len(frame)+1) // at once: a long frame would be copied again for the end of its line
	if len(frame) <= shortFrame {
		at := len(b)
		line := b[:at+len(frame)+1]
		if copyASCII(line[at:at+len(frame)], frame) {
			line[len(line)-1] = '\n'
			return line
		}
	}
	if isPlainLine(frame) {
		return append(append(b, frame...), '\n')
	}
	return append(appendPart(b, frame), '\n')
}

// shortFrame is up to how many bytes a frame is gone over by words: longer ones are copied and searched by what has a processor's wide registers.
const shortFrame = 512

// copyASCII copies a frame to where there is room for it, and reports whether it is ASCII without controls, as most are: then it is a line. To copy
// and to judge at once takes less than the calls that each of them would be.
func copyASCII(to, frame []byte) bool {
	to = to[:len(frame)]
	wrong, i := uint64(0), 0
	for ; i < len(frame)-31; i += 32 {
		in, out := frame[i:i+32], to[i:i+32]
		a, b := binary.LittleEndian.Uint64(in), binary.LittleEndian.Uint64(in[8:])
		c, d := binary.LittleEndian.Uint64(in[16:]), binary.LittleEndian.Uint64(in[24:])
		binary.LittleEndian.PutUint64(out, a)
		binary.LittleEndian.PutUint64(out[8:], b)
		binary.LittleEndian.PutUint64(out[16:], c)
		binary.LittleEndian.PutUint64(out[24:], d)
		wrong |= notASCII(a) | notASCII(b) | notASCII(c) | notASCII(d)
	}
	for ; i < len(frame)-7; i += 8 {
		w := binary.LittleEndian.Uint64(frame[i : i+8])
		binary.LittleEndian.PutUint64(to[i:i+8], w)
		wrong |= notASCII(w)
	}
	if n := len(frame); i < n && n >= 8 { // once more what comes before the last bytes, with them
		w := binary.LittleEndian.Uint64(frame[n-8:])
		binary.LittleEndian.PutUint64(to[n-8:], w)
		return (wrong|notASCII(w))&highBits == 0
	}
	for ; i < len(frame); i++ {
		to[i] = frame[i]
		wrong |= notASCII(uint64(frame[i]) | spaces7)
	}
	return wrong&highBits == 0
}

// spaces7 has spaces in all bytes of a word but the lowest.
const spaces7 = 0x2020202020202000

const highBits = 0x8080808080808080

// notASCII has a high bit if a byte of the word is a control or beyond ASCII.
func notASCII(w uint64) uint64 { return w - 0x2020202020202020 | w }

// isPlainLine reports whether a frame can be a line as it is. Most can: three searches for a byte take half the time of appendPart.
func isPlainLine(frame []byte) bool {
	return bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0 && bytes.IndexByte(frame, lineSeparator[0]) < 0
}

// appendPart appends a part of a line that does not end within a line separator.
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

// lineSeparator has the first two bytes of U+2028 and U+2029.
var lineSeparator = []byte("\xe2\x80")

// hasLineSeparator reports whether a frame has one of these characters.
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
