package check

// Skip takes one value of any kind and drops it. Its syntax, its limits and its keys are checked all the same.
//
// It keeps its own stack of frames, so that hostile nesting costs no goroutine stack (VAL07).
func (d *Decoder) Skip() {
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
			f, ok := d.open()
			if !ok {
				return false
			}
			if d.peek() == '}' {
				d.pos++
				d.shut()
				return true
			}
			f.object = &anyObject
			if !d.freeKey(f) {
				return false
			}
		case '[':
			f, ok := d.open()
			if !ok {
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
	name, ok := d.key(f)
	if !ok {
		return false
	}
	if f.key.escaped {
		d.keys.scratch = appendUnescaped(d.keys.scratch[:0], name)
		name = d.keys.scratch
	}
	f.field = Other
	d.unknownKey(f, name)
	return true
}

// key takes a key and its colon. The name is as it is written.
func (d *Decoder) key(f *frame) (name []byte, ok bool) {
	// Most keys are plain and stand without white space.
	if start := d.pos + 1; start < len(d.data) && d.data[d.pos] == '"' {
		end := plainEnd(d.data, start)
		if end+1 < len(d.data) && d.data[end] == '"' && d.data[end+1] == ':' {
			f.key = span{start: int32(start), end: int32(end)}
			f.count++
			d.pos = end + 2
			return d.data[start:end], true
		}
	}
	return d.hardKey(f)
}

func (d *Decoder) hardKey(f *frame) (name []byte, ok bool) {
	if d.peek() != '"' {
		d.unexpected("a key in quotes")
		return nil, false
	}
	t, ok := d.scanString()
	if !ok {
		return nil, false
	}
	f.key = t.span
	f.count++
	if d.peek() != ':' {
		d.unexpected("':'")
		return nil, false
	}
	d.pos++
	return d.data[t.start:t.end], true
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
