package check

import "encoding/binary"

// Skip takes one value of any kind and drops it. Its syntax, its limits and its keys are checked all the same.
//
// It keeps its own stack of frames, so that hostile nesting costs no goroutine stack (VAL07).
func (d *Decoder) Skip() {
	if d.scanned {
		d.peek()
		d.jump()
		return
	}
	base := len(d.frames)
	for {
		if !d.skipScalarOrOpen() {
			return
		}
		for { // after a value: what its container says next
			if len(d.frames) == base {
				return
			}
			more, ok := d.afterValue()
			if !ok {
				return
			}
			if more {
				break
			}
		}
	}
}

// skipScalarOrOpen takes a scalar, an empty container, or the opening of containers up to the first such value.
func (d *Decoder) skipScalarOrOpen() bool {
	for {
		switch c := d.peek(); c {
		case '{':
			f := d.open(&anyObject, nil)
			if f == nil {
				return false
			}
			if d.peek() == '}' {
				d.pos++
				d.shut()
				return true
			}
			if !d.freeKey(f) {
				return false
			}
		case '[':
			f := d.open(nil, &anyArray)
			if f == nil {
				return false
			}
			if d.peek() == ']' {
				d.pos++
				d.shut()
				return true
			}
			f.count = 1
		default:
			return d.skipScalar(c)
		}
	}
}

func (d *Decoder) skipScalar(c byte) bool {
	switch c {
	case '"':
		_, ok := d.scanString()
		return ok
	case 't':
		return d.word("true")
	case 'f':
		return d.word("false")
	case 'n':
		return d.word("null")
	default:
		if c == '-' || '0' <= c && c <= '9' {
			if end := shortNumber(d.data, d.pos); end > 0 {
				d.pos = end
				return true
			}
			_, ok := d.scanNumber()
			return ok
		}
		d.unexpected("a value")
		return false
	}
}

// afterValue takes a comma and what leads to the next value (more), or the closing bracket.
func (d *Decoder) afterValue() (more, ok bool) {
	f := &d.frames[len(d.frames)-1]
	c := d.peek()
	if f.object != nil {
		switch c {
		case ',':
			d.pos++
			return true, d.freeKey(f)
		case '}':
			d.pos++
			d.shut()
			return false, true
		}
		d.unexpected("',' or '}'")
		return false, false
	}
	switch c {
	case ',':
		d.pos++
		f.count++
		return true, true
	case ']':
		d.pos++
		d.shut()
		return false, true
	}
	d.unexpected("',' or ']'")
	return false, false
}

var anyObject = Object{}

// freeKey takes a key and its colon and records it, in an object without known names.
func (d *Decoder) freeKey(f *frame) bool {
	sign, ok := d.key(f)
	if !ok {
		return false
	}
	f.field = Other
	d.unknownKey(f, sign)
	return true
}

// key takes a key and its colon and returns its signature. Most keys are plain and stand without white space; of those, keys
// of up to seven bytes are found and signed by the same word: measured, half the instructions.
func (d *Decoder) key(f *frame) (sign uint64, ok bool) {
	data, start := d.data, d.pos+1
	if start+8 >= len(data) || data[start-1] != '"' {
		return d.hardKey(f)
	}
	w := (*[8]byte)(data[start : start+8 : start+8])
	n, end := nearEnd(w), 0
	if end = start + n; n == 8 {
		end = plainEnd(data, end)
	}
	if end+1 >= len(data) || data[end] != '"' || data[end+1] != ':' {
		return d.hardKey(f)
	}
	f.key = span{start: int32(start), end: int32(end)}
	f.count++
	d.pos = end + 2
	if n == 8 {
		return signature(data[start:end]), true
	}
	return binary.LittleEndian.Uint64(w[:])&(1<<(8*n&63)-1) | uint64(n)<<56, true
}

func (d *Decoder) hardKey(f *frame) (sign uint64, ok bool) {
	if d.peek() != '"' {
		d.unexpected("a key in quotes")
		return 0, false
	}
	t, ok := d.scanString()
	if !ok {
		return 0, false
	}
	f.key = t
	f.count++
	if d.peek() != ':' {
		d.unexpected("':'")
		return 0, false
	}
	d.pos++
	return signature(d.value(f.key)), true
}

// jump is Skip over what is known to be right.
func (d *Decoder) jump() {
	data, depth, i := d.data, 0, d.pos
	for ; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = quoteAfter(data, i+1)
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':', ' ', '\t', '\n', '\r':
			continue
		default: // a number or a word
			for i+1 < len(data) && data[i+1] > ' ' && data[i+1] != ',' && data[i+1] != ']' && data[i+1] != '}' {
				i++
			}
		}
		if depth <= 0 {
			i++
			break
		}
	}
	d.pos = min(i, len(data))
}

// quoteAfter returns the index of the quote that ends the text at i.
func quoteAfter(data []byte, i int) int {
	for {
		i = plainEnd(data, i)
		switch {
		case i >= len(data) || data[i] == '"':
			return i
		case data[i] == '\\':
			i++
		}
		i++
	}
}

// word takes a literal name.
func (d *Decoder) word(w string) bool {
	if len(d.data)-d.pos >= len(w) && string(d.data[d.pos:d.pos+len(w)]) == w {
		d.pos += len(w)
		return true
	}
	for i := 0; i < len(w) && d.pos < len(d.data) && d.data[d.pos] == w[i]; i++ {
		d.pos++
	}
	d.unexpected(w)
	return false
}
