package check

import (
	"bytes"
	"math"
	"slices"
)

// canonicalizer writes values in the form that all their spellings share (LET14): no white space, members in one order (sort), strings with as few
// escapes as possible, one spelling for each number. It needs valid JSON.
type canonicalizer struct {
	data      []byte
	out       []byte
	limit     int      // a longer out is useless, see full
	movesLeft int      // how many bytes may still be moved to sort members
	members   []member // of the open objects
	scratch   []byte
	shortened part // an array of which the items that begin after needed are left out, since readCanonical needs no more; the zero part: none
	needed    int  // in data
	cut       int  // where in out these items would begin; 0: none is left out
	inexact   bool // a number's exponent is beyond maxExponent
}

// member is the place of a member in canonicalizer.out: from the quote of its name to the end of its value. name is the end of its name.
type member struct{ start, name, end int }

// AppendCanonical appends the form that equal JSON values share, of valid JSON: {"b":10,"a":"\u0031"} and {"a":"1","b":1e1} have the same. It
// returns false if a number has an exponent beyond ±1,000,000 (VAL07).
func AppendCanonical(b, value []byte) ([]byte, bool) {
	b, _, ok := appendCanonical(b, value, 0)
	return b, ok
}

// appendCanonical is AppendCanonical for the value at i in data. end is the index after the value.
func appendCanonical(b, data []byte, i int) (out []byte, end int, ok bool) {
	c := canonicalizer{data: data, out: b, limit: math.MaxInt, movesLeft: math.MaxInt}
	end = c.value(i)
	return c.out, end, !c.inexact
}

// full reports whether the output is useless: it is longer than limit, or sorting it costs too much, which makes the limit negative.
func (c *canonicalizer) full() bool { return len(c.out) > c.limit }

// written returns the output, up to where it was cut.
func (c *canonicalizer) written() []byte {
	if c.cut > 0 {
		return c.out[:c.cut]
	}
	return c.out
}

// value writes the value at i and returns the index after it, which means nothing once c is full.
func (c *canonicalizer) value(i int) int {
	i = tokenAt(c.data, i)
	switch c.data[i] {
	case '{':
		return c.object(i + 1)
	case '[':
		return c.array(i + 1)
	case '"':
		return c.text(i)
	}
	if n, end := shortInt(c.data, i); end > 0 {
		c.out = appendInt(c.out, n)
		return end
	}
	end := i
	for end < len(c.data) && !isSpace(c.data[end]) && symbols[c.data[end]] != separates && symbols[c.data[end]] != closes {
		end++
	}
	if kindOf(c.data[i]) != KindNumber {
		c.out = append(c.out, c.data[i:end]...)
		return end
	}
	x, ok := parseDecimal(c.data[i:end])
	c.out = x.appendTo(c.out)
	c.inexact = c.inexact || !ok
	return end
}

func (c *canonicalizer) array(i int) int {
	start := i - 1
	c.out = append(c.out, '[')
	for i = tokenAt(c.data, i); c.data[i] != ']' && !c.full(); i = tokenAt(c.data, i) {
		if start == c.shortened.start && i > c.needed && c.shortened.end > i {
			c.cut = len(c.out)
			return c.shortened.end
		}
		if c.data[i] == ',' {
			c.out = append(c.out, ',')
			i++
		}
		if i = c.value(i); c.full() {
			return i
		}
	}
	c.out = append(c.out, ']')
	return i + 1
}

func (c *canonicalizer) object(i int) int {
	c.out = append(c.out, '{')
	first := len(c.members)
	for i = tokenAt(c.data, i); c.data[i] != '}'; i = tokenAt(c.data, i) {
		if c.data[i] == ',' {
			c.out = append(c.out, ',')
			i = tokenAt(c.data, i+1)
		}
		m := member{start: len(c.out)}
		i = tokenAt(c.data, c.text(i))
		m.name = len(c.out)
		c.out = append(c.out, ':')
		if i = c.value(i + 1); c.full() {
			return i
		}
		m.end = len(c.out)
		c.members = append(c.members, m)
	}
	c.sort(c.members[first:])
	c.members = c.members[:first]
	c.out = append(c.out, '}')
	return i + 1
}

// sort puts the members of an object, with which out ends, into the order of their names as they are written there, with quotes and escapes: "a!" comes
// before "a". Any order would do that is the same for all spellings.
func (c *canonicalizer) sort(members []member) {
	byName := func(a, b member) int { return bytes.Compare(c.out[a.start:a.name], c.out[b.start:b.name]) }
	if slices.IsSortedFunc(members, byName) {
		return
	}
	start := members[0].start
	if c.movesLeft -= len(c.out) - start; c.movesLeft < 0 {
		c.limit = -1
		return
	}
	slices.SortStableFunc(members, byName)
	c.scratch = c.scratch[:0]
	cut := c.cut
	for i, m := range members {
		if i > 0 {
			c.scratch = append(c.scratch, ',')
		}
		if m.start < c.cut && c.cut <= m.end {
			cut = start + len(c.scratch) + c.cut - m.start
		}
		c.scratch = append(c.scratch, c.out[m.start:m.end]...)
	}
	copy(c.out[start:], c.scratch)
	c.cut = cut
}

// longestEscape is the largest number of bytes that an escape takes for one byte of the value, as in \u0061.
const longestEscape = 6

// text writes the string at i.
func (c *canonicalizer) text(i int) int {
	end := quoteAfter(c.data, i+1) + 1
	raw := c.data[i+1 : end-1]
	switch {
	case len(raw)/longestEscape > c.limit:
		c.limit = -1 // without copying it
	case bytes.IndexByte(raw, '\\') < 0:
		c.out = append(c.out, c.data[i:end]...)
	default:
		c.scratch, _, _ = unescape(c.scratch[:0], raw, 0)
		c.out = appendString(c.out, string(c.scratch))
	}
	return end
}
