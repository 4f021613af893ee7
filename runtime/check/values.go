package check

import (
	"bytes"
	"slices"
	"strconv"
	"sync"
)

// canonicalSet has the indexes of Values by their canonical forms, and of many by how they are written. It is made when a value
// first differs from the first few in writing.
type canonicalSet struct {
	once    sync.Once
	forms   map[string]int
	written map[string]int // nil if they are few
}

func (r *Values) canonicalSet() *canonicalSet {
	s := &r.canonical
	s.once.Do(func() {
		s.forms = make(map[string]int, len(r.JSON))
		if len(r.JSON) > fewValues {
			s.written = make(map[string]int, len(r.JSON))
		}
		for i, v := range slices.Backward(r.JSON) {
			c, _, _ := appendCanonical(nil, []byte(v), 0)
			s.forms[string(c)] = i
			if s.written != nil {
				s.written[v] = i
			}
		}
	})
	return s
}

func (r *Values) at() string {
	if r == nil {
		return ""
	}
	return r.At
}

// checkValues compares the value from start to pos, and returns its index in r.JSON; -1 after a violation.
func (d *Decoder) checkValues(r *Values, start int) int {
	raw := d.full[start:d.pos]
	for i, v := range r.JSON[:min(len(r.JSON), fewValues)] {
		if v == string(raw) {
			return i
		}
	}
	set := r.canonicalSet()
	if i, ok := set.written[string(raw)]; ok {
		return i
	}
	c, _, ok := appendCanonical(nil, raw, 0)
	if !ok {
		d.refuse(NumberTooLarge, start, maxExponent)
		return -1
	}
	if i, ok := set.forms[string(c)]; ok {
		return i
	}
	if d.countOnly() {
		return -1
	}
	allowed := listed(len(r.JSON), ", ", func(i int) string { return fact(r.JSON[i], factBytes) })
	if len(r.JSON) > 1 {
		allowed = "one of " + allowed
	}
	if !slices.Contains(r.JSON, "null") {
		allowed += d.orNull(start)
	}
	d.broke(start, r.At, enumOrConst(r.Const), allowed)
	return -1
}

// AppendCanonical appends the form that equal JSON values share, of valid JSON: {"b":10,"a":"\u0031"} and {"a":"1","b":1e1} have one. False
// for a number with an exponent beyond what is read (VAL07).
func AppendCanonical(b, value []byte) ([]byte, bool) {
	b, _, ok := appendCanonical(b, value, 0)
	return b, ok
}

// appendCanonical appends the form that equal JSON values share, of the value at i of valid JSON with unique keys: no
// white space, sorted members, shortest strings, exact numbers. It returns the index after the value; ok is false for
// an exponent beyond maxExponent.
func appendCanonical(b, data []byte, i int) (out []byte, end int, ok bool) {
	i = space(data, i)
	switch data[i] {
	case '{':
		return appendCanonicalObject(b, data, i+1)
	case '[':
		return appendCanonicalArray(b, data, i+1)
	case '"':
		end = stringEnd(data, i)
		return appendString(b, string(appendUnescaped(nil, data[i+1:end-1]))), end, true
	}
	end = i
	for end < len(data) && !bytes.ContainsRune([]byte(" \n\r\t,]}"), rune(data[end])) {
		end++
	}
	if kindOf(data[i]) != KindNumber {
		return append(b, data[i:end]...), end, true
	}
	x, ok := parseDecimal(data[i:end])
	return x.appendTo(b), end, ok
}

func appendCanonicalArray(b, data []byte, i int) (out []byte, end int, ok bool) {
	ok = true
	b = append(b, '[')
	for i = space(data, i); data[i] != ']'; i = space(data, i) {
		if data[i] == ',' {
			b = append(b, ',')
			i++
		}
		var good bool
		b, i, good = appendCanonical(b, data, i)
		ok = ok && good
	}
	return append(b, ']'), i + 1, ok
}

func appendCanonicalObject(b, data []byte, i int) (out []byte, end int, ok bool) {
	ok = true
	var members [][]byte
	for i = space(data, i); data[i] != '}'; i = space(data, i) {
		if data[i] == ',' {
			i = space(data, i+1)
		}
		keyEnd := stringEnd(data, i)
		m := appendString(nil, string(appendUnescaped(nil, data[i+1:keyEnd-1])))
		i = space(data, keyEnd) + 1 // the colon
		var good bool
		m, i, good = appendCanonical(append(m, ':'), data, i)
		ok = ok && good
		members = append(members, m)
	}
	slices.SortFunc(members, bytes.Compare)
	b = append(b, '{')
	b = append(b, bytes.Join(members, []byte{','})...)
	return append(b, '}'), i + 1, ok
}

func space(data []byte, i int) int {
	for data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r' {
		i++
	}
	return i
}

// stringEnd returns the index after the closing quote of the string at i.
func stringEnd(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// item is an element of an array with uniqueItems.
type item struct {
	start, end int32
	index      int32
	hash       uint64 // seeded, of the canonical form
}

func (d *Decoder) beginItem() {
	d.peek()
	if n := len(d.items); n == cap(d.items) {
		d.items = slices.Grow(d.items, n/4+fewItems)
		d.take((cap(d.items) - n) * sizeOf[item]())
	}
	d.items = append(d.items, item{start: int32(d.pos)})
}

func (d *Decoder) endItem() {
	if d.err == nil {
		d.items[len(d.items)-1].end = int32(d.pos)
	}
}

// checkUnique compares the elements: by hash, and those with equal hashes by their canonical form.
func (d *Decoder) checkUnique(f *frame) {
	if d.err != nil {
		return
	}
	items := d.items[f.extra:]
	d.items = d.items[:f.extra]
	if d.surelyUnique(items) {
		return
	}
	var scratch []byte
	for i := range items {
		it := &items[i]
		var ok bool
		if scratch, _, ok = appendCanonical(scratch[:0], d.full[it.start:], 0); !ok {
			d.refuse(NumberTooLarge, int(it.start), maxExponent)
			return
		}
		it.index, it.hash = int32(i), d.keys.hash(scratch)
	}
	slices.SortFunc(items, func(a, b item) int {
		if a.hash != b.hash {
			if a.hash < b.hash {
				return -1
			}
			return 1
		}
		return int(a.index - b.index)
	})
	for i := 1; i < len(items); i++ {
		if items[i].hash == items[i-1].hash && d.sameItem(items[i-1], items[i]) {
			d.report(problem{
				level: len(d.frames) - 1, at: f.array.At, keyword: "uniqueItems", offset: int(f.start), allowed: "items that all differ",
				found: "items " + strconv.Itoa(int(items[i-1].index)) + " and " + strconv.Itoa(int(items[i].index)) + " equal to " + d.show(d.full[items[i].start:items[i].end]),
			})
			break
		}
	}
}

// surelyUnique is true for a few plain strings that all differ. Comparing them in pairs costs less than one canonical form.
func (d *Decoder) surelyUnique(items []item) bool {
	if len(items) > 16 {
		return false
	}
	for i, a := range items {
		text := d.full[a.start:a.end]
		if text[0] != '"' || text[len(text)-1] != '"' || bytes.IndexByte(text, '\\') >= 0 {
			return false
		}
		for _, b := range items[:i] {
			if string(d.full[b.start:b.end]) == string(text) {
				return false
			}
		}
	}
	return true
}

func (d *Decoder) sameItem(a, b item) bool {
	x, _, _ := appendCanonical(nil, d.full[a.start:], 0)
	y, _, _ := appendCanonical(nil, d.full[b.start:], 0)
	return bytes.Equal(x, y)
}
