package check

// A glance goes through the members of an object without validating them: the object is read afterwards. It understands what most
// texts have, keys without escapes and short values, and gives up at anything else; then its callers find the members by reading the object.
//
//	for i := tokenAt(data, d.pos+1); ; i = d.nextKey(at) {
//		end, sign, at := glanceKey(data, i) // at < 0: no key is at i
//	}

// glanceKey reads the key at i. It returns where the key ends, its signature, and where its value begins; -1 if no key is there that a glance understands.
func glanceKey(data []byte, i int) (end int, sign uint64, at int) {
	if i+10 <= len(data) && data[i] == '"' {
		w := (*[8]byte)(data[i+1 : i+9])
		n := nearEnd(w)
		if end = i + 1 + n; n < 8 && data[end] == '"' && data[end+1] == ':' {
			if at = end + 2; at < len(data) && data[at] == ' ' { // most often it is one space, if any
				at++
			}
			return end, shortSignature(w, n), tokenAt(data, at)
		}
	}
	return glanceLongKey(data, i)
}

// glanceLongKey is glanceKey for a key that has eight bytes or more, or is followed by white space.
func glanceLongKey(data []byte, i int) (end int, sign uint64, at int) {
	if i < len(data) && data[i] == '"' {
		if end = plainEnd(data, i+1); end < len(data) && data[end] == '"' {
			if at = tokenAt(data, end+1); at < len(data) && data[at] == ':' {
				return end, signature(data[i+1 : end]), tokenAt(data, at+1)
			}
		}
	}
	return 0, 0, -1
}

// nextKey returns where the key after the value at i is; the end of the object if no other follows.
func (d *Decoder) nextKey(i int) int {
	data := d.data
	if i+12 <= len(data) && data[i] == '"' {
		if end := i + 1 + nearEnd((*[8]byte)(data[i+1:i+9])); data[end] == '"' {
			if data[end+1] == ',' && data[end+2] > ' ' {
				return end + 2
			}
			return keyAfter(data, end+1)
		}
	}
	return keyAfter(data, d.glanceEnd(i))
}

// keyAfter is nextKey after a value that ends at i.
func keyAfter(data []byte, i int) int {
	if i = tokenAt(data, i); i < len(data) && data[i] == ',' {
		if i++; i < len(data) && data[i] == ' ' { // Python's json.dumps writes one space
			i++
		}
		i = tokenAt(data, i)
	}
	return i
}

// tokenAt returns the first index from i on without white space, as spaceEnd does, but is small enough to be inlined.
func tokenAt(data []byte, i int) int {
	if i < len(data) && data[i] > ' ' {
		return i
	}
	return spaceEnd(data, i)
}

// glanceEnd returns the end of the value at i, or of the data if the value is a long object or array: going over those would look at their content
// once for each object around them. A string, however long, is only looked at for the object that has it as a member.
func (d *Decoder) glanceEnd(i int) int {
	data := d.data
	if i < len(data) && data[i] == '"' {
		return d.stringEnd(i + 1)
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

// glanceAt returns where the value of the first member with that name, whose signature is sign, begins in the object at pos; -1 if there is none. ok is
// false if the glance gave up.
func (d *Decoder) glanceAt(name string, sign uint64) (at int, ok bool) {
	data := d.data
	for i := tokenAt(data, d.pos+1); ; i = d.nextKey(at) {
		end, found := 0, uint64(0)
		if end, found, at = glanceKey(data, i); at < 0 {
			return -1, i < len(data) && data[i] == '}'
		}
		if found == sign && (sign&long == 0 || string(data[i+1:end]) == name) {
			return at, true
		}
	}
}

// glanceNames returns which of the names of r the object at pos has, a bit each. ok is false if the glance gave up, or r has more than 64 names.
func (d *Decoder) glanceNames(r *Object) (seen uint64, ok bool) {
	if len(r.Names) > 64 {
		return 0, false
	}
	d.nullable = 0 // the object is read again, and with it the last value that could have been null
	t, data := r.names(), d.data
	for i, at := tokenAt(data, d.pos+1), 0; ; i = d.nextKey(at) {
		end, sign := 0, uint64(0)
		if end, sign, at = glanceKey(data, i); at < 0 {
			return seen, i < len(data) && data[i] == '}'
		}
		if k := t.lookup(sign, data[i+1:end]); k != Other {
			seen |= 1 << k
		}
	}
}
