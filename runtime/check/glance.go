package check

// glance goes through the members of an object without validating them: the object is read afterwards. It understands what most
// texts have, keys without escapes and short values, and gives up at anything else; then its callers find the members by reading the object.
type glance struct {
	data []byte
	d    *Decoder // remembers where the last long string ends
	pos  int      // where the current value begins; -1: it gave up
	key  []byte   // of the current member
	sign uint64   // its signature
}

// next moves to the next member. It returns false at the end of the object, and where it gives up.
func (g *glance) next() bool {
	data, i := g.data, g.pos+1 // after the opening bracket,
	if g.key != nil {
		i = g.valueEnd() // or after the value
	}
	if i = tokenAt(data, i); i < len(data) && data[i] == ',' {
		if i++; i < len(data) && data[i] == ' ' { // Python's json.dumps writes one space
			i++
		}
		i = tokenAt(data, i)
	}
	if i+9 < len(data) && data[i] == '"' {
		w := (*[8]byte)(data[i+1 : i+9 : i+9])
		if n := nearEnd(w); n < 8 && data[i+1+n] == '"' && data[i+2+n] == ':' {
			g.key, g.sign = data[i+1:i+1+n], shortSignature(w, n)
			if i += n + 3; i < len(data) && data[i] == ' ' {
				i++
			}
			g.pos = tokenAt(data, i)
			return true
		}
	}
	return g.longNext(i)
}

// longNext is next for a key at i that has eight bytes or more, or is followed by white space; or for the end of the object at i.
func (g *glance) longNext(i int) bool {
	data := g.data
	if i < len(data) && data[i] == '}' {
		return false
	}
	if i < len(data) && data[i] == '"' {
		end := plainEnd(data, i+1)
		g.key = data[i+1 : end : end]
		if end < len(data) && data[end] == '"' {
			if i = tokenAt(data, end+1); i < len(data) && data[i] == ':' {
				g.sign, g.pos = signature(g.key), tokenAt(data, i+1)
				return true
			}
		}
	}
	g.pos = -1
	return false
}

// tokenAt returns the first index from i on without white space, as spaceEnd does, but is small enough to be inlined.
func tokenAt(data []byte, i int) int {
	if i < len(data) && data[i] > ' ' {
		return i
	}
	return spaceEnd(data, i)
}

// valueEnd returns the end of the current value, or of the data if the value is a long object or array: going over those would look at their content
// once for each object around them. A string, however long, is only looked at for the object that has it as a member.
func (g *glance) valueEnd() int {
	data, i := g.data, g.pos
	if i < len(data) && data[i] == '"' {
		return g.d.stringEnd(i + 1)
	}
	if i < len(data) && data[i] != '{' && data[i] != '[' {
		return valueEnd(data, i)
	}
	part := data[:min(len(data), i+extentBytes)]
	if i = valueEnd(part, i); i >= len(part) {
		return len(data)
	}
	return i
}

// stringEnd returns the index after the string whose text begins at start, or the end of the data. A long string (extentBytes) without \u escapes is
// validated at the same time, so that reading the object need not do it again.
func (d *Decoder) stringEnd(start int) int {
	data := d.data
	if d.hardString.start == int32(start) {
		return int(d.hardString.end) + 1
	}
	end := quoteAfter(data[:min(len(data), start+extentBytes)], start)
	if end < start+extentBytes {
		return min(end+1, len(data))
	}
	if _, _, end, ok := markedEnd(data, start, nil, 0); ok {
		d.hardString = span{start: int32(start), end: int32(end), escaped: true}
		return end + 1
	}
	return min(quoteAfter(data, start)+1, len(data))
}

// glanceAt returns where the value of the first member with that name begins in the object at pos, -1 if there is none. ok is false if the glance gave up.
func (d *Decoder) glanceAt(name string) (at int, ok bool) {
	g := glance{data: d.data, d: d, pos: d.pos}
	for g.next() {
		if string(g.key) == name {
			return g.pos, true
		}
	}
	return -1, g.pos >= 0
}

// glanceFirst returns where the value of the first member begins in the object at pos, if it has the name n; else -1.
func (d *Decoder) glanceFirst(n *name) (at int) {
	data, i := d.data, tokenAt(d.data, d.pos+1)
	if !n.expectable || i+int(n.reads) > len(data) || !n.begins(data, i) {
		return -1
	}
	if i += int(n.length) + len(`"":`); i < len(data) && data[i] == ' ' {
		i++
	}
	return tokenAt(data, i)
}

// glanceNames returns which of the names of r the object at pos has, a bit each. ok is false if the glance gave up, or r has more than 64 names.
func (d *Decoder) glanceNames(r *Object) (seen uint64, ok bool) {
	if len(r.Names) > 64 {
		return 0, false
	}
	d.nullable = 0 // the object is read again, and with it the last value that could have been null
	t := r.names()
	g := glance{data: d.data, d: d, pos: d.pos}
	for g.next() {
		if i := t.lookup(g.sign, g.key); i != Other {
			seen |= 1 << i
		}
	}
	return seen, g.pos >= 0
}
