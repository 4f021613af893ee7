package check

// Skip takes one value of any kind and drops it. The value's syntax, limits and keys are checked all the same.
//
// Nesting is kept in the Decoder's frames, so that hostile nesting costs no goroutine stack (VAL07). The position is a local variable,
// -1 after a failure, and short strings and commas are taken without a call: measured, a third less time.
func (d *Decoder) Skip() {
	if d.scanned && !d.remembersEnds {
		d.peek()
		d.jump()
		return
	}
	data, i, base := d.data, d.pos, len(d.frames)
	for i >= 0 {
		valueComes := false
		if uint(i) < uint(len(data)) && data[i] == '"' {
			end := i + 1
			if i+9 <= len(data) {
				end += nearEnd((*[8]byte)(data[i+1 : i+9 : i+9]))
			}
			if uint(end) < uint(len(data)) && data[end] == '"' {
				i = end + 1
			} else {
				i = d.skipLongString(i+1, end)
			}
		} else {
			i, valueComes = d.skipOther(i)
		}
		for i >= 0 && !valueComes {
			if len(d.frames) == base {
				d.pos = i
				return
			}
			f := &d.frames[len(d.frames)-1]
			if uint(i) >= uint(len(data)) || data[i] != ',' {
				i = d.skipClosing(f, i)
				continue
			}
			valueComes = true
			if f.names != nil {
				i = d.freeKey(f, i+1)
			} else {
				i++
				f.count++
			}
		}
	}
}

func isSpace(c byte) bool { return c <= ' ' && uint64(1<<' '|1<<'\n'|1<<'\t'|1<<'\r')>>c&1 != 0 }

func (d *Decoder) skipLongString(start, i int) int {
	if _, ok := d.scanStringFrom(start, i); !ok {
		return -1
	}
	return d.pos
}

// skipOther takes one of these at i: white space, a number, true, false or null, an empty container, or the beginning of another container: its opening
// bracket, and of an object the first key. It returns the index after that, -1 after a failure, and whether a value has to come next.
func (d *Decoder) skipOther(i int) (end int, valueComes bool) {
	c := byte(0)
	if uint(i) < uint(len(d.data)) {
		c = d.data[i]
	}
	switch {
	case c == '{' || c == '[':
		return d.skipBracket(i, c)
	case isSpace(c):
		return spaceEnd(d.data, i+1), true
	case c == '-' || c-'0' <= 9:
		if end := shortNumber(d.data, i); end > 0 {
			return end, false
		}
	}
	return d.skipScalar(i, c), false
}

func (d *Decoder) skipScalar(i int, c byte) int {
	d.pos = i
	ok := false
	switch c {
	case 't':
		ok = d.literalName("true")
	case 'f':
		ok = d.literalName("false")
	case 'n':
		ok = d.literalName("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		_, ok = d.scanNumber()
	default:
		d.unexpected("a value")
	}
	if !ok {
		return -1
	}
	return d.pos
}

func (d *Decoder) skipBracket(i int, c byte) (end int, valueComes bool) {
	names, array, closing := anyObject.names(), (*Array)(nil), byte('}')
	if c == '[' {
		names, array, closing = nil, &anyArray, ']'
	}
	d.pos = i
	f := d.open(names, array)
	if f == nil {
		return -1, false
	}
	if d.peek() == closing {
		d.closeFrame(f)
		return d.pos + 1, false
	}
	if c == '[' {
		f.count = 1
		return d.pos, true
	}
	f.field = Other
	return d.freeKey(f, d.pos), true
}

// skipClosing takes white space, or the closing bracket of f. Anything else at i is an error.
func (d *Decoder) skipClosing(f *frame, i int) int {
	c := byte(0)
	if uint(i) < uint(len(d.data)) {
		c = d.data[i]
	}
	switch {
	case c == '}' && f.names != nil, c == ']' && f.names == nil:
		if d.remembersEnds && i-int(f.start) >= extentBytes {
			d.remember(outcome{schema: &extent, start: f.start, end: int32(i) + 1, fits: true})
		}
		if d.outline.records {
			d.recordPart(f, i+1)
		}
		d.closeFrame(f)
		return i + 1
	case isSpace(c):
		return spaceEnd(d.data, i+1)
	}
	d.pos = i
	if f.names != nil {
		d.unexpected("',' or '}'")
	} else {
		d.unexpected("',' or ']'")
	}
	return -1
}

var anyObject = Object{}

// freeKey takes a key and its colon, in an object whose names no rule lists, and records the key, so that a repeated one is found.
func (d *Decoder) freeKey(f *frame, i int) int {
	data := d.data
	if i+9 < len(data) && data[i] == '"' {
		w := (*[8]byte)(data[i+1 : i+9 : i+9])
		n := nearEnd(w)
		end := i + 1 + n
		if n < 8 && data[end] == '"' && data[end+1] == ':' {
			f.key = span{start: int32(i + 1), end: int32(end)}
			f.count++
			d.unknownKey(f, shortSignature(w, n))
			return end + 2
		}
	} else if i < len(data) && data[i] <= ' ' {
		if after := spaceEnd(data, i); after > i {
			return d.freeKey(f, after)
		}
	}
	d.pos = i
	sign, ok := d.key(f)
	if !ok {
		return -1
	}
	d.unknownKey(f, sign)
	return d.pos
}

// key takes a key and its colon and returns the key's signature. Most keys are plain and followed by the colon at once; if they have up to seven
// bytes, one machine word gives both their end and their signature: measured, half the instructions.
func (d *Decoder) key(f *frame) (sign uint64, ok bool) {
	data, start := d.data, d.pos+1
	if start+8 >= len(data) || data[start-1] != '"' {
		return d.hardKey(f)
	}
	w := (*[8]byte)(data[start : start+8 : start+8])
	n := nearEnd(w)
	if n == 8 {
		return d.longKey(f, start)
	}
	end := start + n
	if data[end] != '"' || data[end+1] != ':' {
		return d.hardKey(f)
	}
	f.key = span{start: int32(start), end: int32(end)}
	f.count++
	d.pos = end + 2
	return shortSignature(w, n), true
}

func (d *Decoder) longKey(f *frame, start int) (sign uint64, ok bool) {
	data, end := d.data, plainEnd(d.data, start+8)
	if end+1 >= len(data) || data[end] != '"' || data[end+1] != ':' {
		return d.hardKey(f)
	}
	f.key = span{start: int32(start), end: int32(end)}
	f.count++
	d.pos = end + 2
	return longSignature(data[start:end]), true
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

// jump is Skip for a value that is known to be valid.
func (d *Decoder) jump() {
	if end := d.outline.endOf(d.pos); end > 0 && d.err == nil {
		d.pos = end
		return
	}
	d.pos = valueEnd(d.data, d.pos)
}

// valueEnd returns the index after the value at i, which is not validated; the end of the data if that comes first.
func valueEnd(data []byte, i int) int {
	for depth := 0; i < len(data); i++ {
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
		default: // a number, true, false or null
			for i+1 < len(data) && data[i+1] > ' ' && data[i+1] != ',' && data[i+1] != ']' && data[i+1] != '}' {
				i++
			}
		}
		if depth <= 0 {
			i++
			break
		}
	}
	return min(i, len(data))
}

// quoteAfter returns the index of the quote that ends the string whose text begins at i.
func quoteAfter(data []byte, i int) int {
	for i = textEnd(data, i); i < len(data) && data[i] == '\\'; i = textEnd(data, i+2) {
	}
	return i
}

// literalName takes true, false or null, whichever w is.
func (d *Decoder) literalName(w string) bool {
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
