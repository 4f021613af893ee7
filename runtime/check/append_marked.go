package check

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// marks are where the escapes in the long strings of a text are, as found when it was read. To write the text as a string (AppendText), nothing else in
// those strings need be looked at.
type marks struct {
	wanted bool    // see MarkEscapes
	upto   int     // the end of the last of the strings
	at     []int32 // where the backslashes are, in their order
	in     []markedString
}

// markedString is the text between the quotes of a long string, as far as all of its backslashes are marked.
type markedString struct {
	part
	marks int // how many of marks.at are in it
}

// maxMarks is how many escapes a Decoder remembers: AppendText scans the text after them again.
const maxMarks = 8 << 10

// MarkEscapes has the Decoder remember what AppendText needs. Call it before anything is decoded.
func (d *Decoder) MarkEscapes() { d.marks.wanted = true }

// AppendText appends the text that the Decoder has read as a JSON string. The text must be valid: Finish has returned nil.
func (d *Decoder) AppendText(b []byte) []byte {
	b = append(b, '"')
	at, left := 0, d.marks.at
	for _, s := range d.marks.in {
		b = appendHardText(b, d.full[at:s.start])
		b, at = appendMarked(b, d.full, s.start, left[:s.marks])
		b = append(b, d.full[at:s.end]...)
		at, left = s.end, left[s.marks:]
	}
	return append(appendHardText(b, d.full[at:]), '"')
}

// appendMarked appends a part of a JSON text as part of a string: from an offset in one of the text's strings to the end of the last escape at marks. It
// returns that end.
func appendMarked(b, text []byte, from int, marks []int32) (out []byte, end int) {
	for len(marks) > 0 {
		some := marks[:min(len(marks), 64)] // growing for all at once could take much more than is needed
		marks = marks[len(some):]
		last := int(some[len(some)-1])
		b = slices.Grow(b, last-from+4*len(some)+run)
		room, at := b[:cap(b)], len(b)
		for _, mark := range some {
			n := int(mark) - from
			if from+run <= len(text) { // the excess is overwritten
				copyRun((*[run]byte)(room[at:at+run]), (*[run]byte)(text[from:from+run]))
			} else {
				copy(room[at:], text[from:mark])
			}
			if n > run {
				copy(room[at+run:], text[from+run:mark])
			}
			at += n
			letter := spellings[text[mark+1]]
			to := (*[4]byte)(room[at : at+4])
			binary.LittleEndian.PutUint16(to[:2], '\\'|'\\'<<8)
			binary.LittleEndian.PutUint16(to[2:], uint16(letter))
			at, from = at+2+int(letter>>56), int(mark)+2
		}
		b = room[:at]
	}
	return b, from
}

// run is how many bytes are copied at once: most often the next escape is not farther away.
const run = 32

// copyRun copies without the call that copying any number of bytes takes. It is small enough to be inlined.
func copyRun(to, from *[run]byte) {
	putRun(to[:], binary.LittleEndian.Uint64(from[:8]), binary.LittleEndian.Uint64(from[8:16]), binary.LittleEndian.Uint64(from[16:24]), binary.LittleEndian.Uint64(from[24:]))
}

// end drops the marks and keeps their memory.
func (m *marks) end() { *m = marks{at: m.at[:0], in: m.in[:0]} }

// scanMarked takes the string whose text begins at start and is plain up to i, if it is long and markedEnd finds its end. It marks the escapes.
func (d *Decoder) scanMarked(start, i int) (t span, ok bool) {
	m := &d.marks
	if start <= m.upto || len(m.at) == maxMarks { // it was marked before, or no more marks are kept
		return t, false
	}
	all, upto, end, ok := markedEnd(d.data, i, m.at, maxMarks)
	if !ok || end-start < extentBytes {
		return t, false
	}
	m.in, m.at, m.upto = append(m.in, markedString{part{start, upto}, len(all) - len(m.at)}), all, end
	d.hardString = span{start: int32(start), end: int32(end), escaped: true}
	d.pos = end + 1
	return d.hardString, true
}

// markedEnd returns where the string whose text goes on at i ends. all is marks with the places of the escapes appended, until it has as many as most
// says; from upto on, escapes are not marked. ok is false if the string is invalid or has an escape of more than two bytes. Then end is where that escape
// or a mistake is, with nothing before it but plain text, UTF-8 that is not validated, and shorter escapes.
func markedEnd(data []byte, i int, marks []int32, most int) (all []int32, upto, end int, ok bool) {
	start, seen, taken := i, uint64(0), uint64(0) // taken: the block's first byte belongs to the escape before it
	for ; i+33 <= len(data); i += 32 {
		in := (*[33]byte)(data[i : i+33])
		a, b := binary.LittleEndian.Uint64(in[:8]), binary.LittleEndian.Uint64(in[8:16])
		c, d := binary.LittleEndian.Uint64(in[16:24]), binary.LittleEndian.Uint64(in[24:32])
		seen |= a | b | c | d
		places := (gather(ending(a)) | gather(ending(b))<<8 | gather(ending(c))<<16 | gather(ending(d))<<24) &^ taken
		taken = 0
		for places != 0 {
			n := bits.TrailingZeros64(places) & 31
			switch c := in[n]; {
			case c == '\\':
				if unescapes[in[n+1]] == 0 {
					return marks, cmp.Or(upto, i+n), i + n, false
				}
				if len(marks) < most {
					marks = append(marks, int32(i+n))
				} else if upto == 0 {
					upto = i + n
				}
				places &^= 3 << n
				taken = uint64(n+1) >> 5
			case c == '"':
				return marks, cmp.Or(upto, i+n), i + n, seen&highs == 0 || isText(data, start, i+n)
			case c < ' ':
				return marks, cmp.Or(upto, i+n), i + n, false
			default: // nothing to do: a borrow in ending has set this bit
				places &= places - 1
			}
		}
	}
	if end, ok = markedTail(data, i+int(taken), &marks, most, &upto); !ok {
		return marks, cmp.Or(upto, end), end, false
	}
	if seen&highs == 0 {
		start = i
	}
	return marks, cmp.Or(upto, end), end, isText(data, start, end)
}

// gather packs the high bits of a word's bytes into its lowest byte.
func gather(marks uint64) uint64 { return marks >> 7 * 0x0102040810204080 >> 56 }

// markedTail is markedEnd for the last bytes of the data.
func markedTail(data []byte, i int, marks *[]int32, most int, upto *int) (end int, ok bool) {
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			return i, true
		case c < ' ', c == '\\' && (i+1 == len(data) || unescapes[data[i+1]] == 0):
			return i, false
		case c == '\\':
			if len(*marks) < most {
				*marks = append(*marks, int32(i))
			} else if *upto == 0 {
				*upto = i
			}
			i++
		}
	}
	return i, false
}
