package check

import (
	"slices"
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// String takes a string and returns a copy of its value.
func (d *Decoder) String(r *String) string {
	if d.peek() != '"' {
		d.wrongType("a string", r.at())
		return ""
	}
	start := d.pos + 1
	end := start
	if data := d.data; end+8 <= len(data) {
		end += nearEnd((*[8]byte)(data[end : end+8 : end+8]))
	}
	if uint(end) >= uint(len(d.data)) || d.data[end] != '"' {
		return d.longString(r, start, end)
	}
	d.pos = end + 1
	s := ""
	if !d.unread || r.asksForText() {
		s = d.copyPart(d.data[start:end])
	}
	if r != nil {
		d.checkString(r, s, end-start, start-1)
	}
	return s
}

// longString is String for a string whose text begins at start and is plain up to i.
func (d *Decoder) longString(r *String, start, i int) string {
	i = plainEnd(d.data, i)
	if i < len(d.data) && d.data[i] == '"' {
		d.pos = i + 1
		s := ""
		if !d.unread || r.asksForText() {
			s = d.copyPart(d.data[start:i])
		}
		if r != nil {
			d.checkString(r, s, i-start, start-1)
		}
		return s
	}
	s, n, ok := d.hardText(start, i)
	if !ok {
		t, ok := d.scanHardString(start, i)
		if !ok || r == nil && d.unread {
			return ""
		}
		if d.unread && !r.asksForText() {
			d.checkString(r, "", d.characters(t), start-1)
			return ""
		}
		s, n = d.text(t), -1
	}
	if r != nil {
		if n < 0 {
			n = r.length(s)
		}
		d.checkString(r, s, n, start-1)
	}
	return s
}

// hardText takes a hard string that is plain up to hard, and copies its value in the same pass. characters is negative if it did not count them. ok is
// false, and nothing is taken, if the string is malformed, has been scanned before, or is not to be copied.
func (d *Decoder) hardText(start, hard int) (s string, characters int, ok bool) {
	if d.unread || d.hardString.start == int32(start) {
		return "", 0, false
	}
	data := d.data
	if end, n, ok := unescapedEnd(data, hard); ok {
		d.pos = end + 1
		return d.copyPart(data[start:end]), hard - start + n, true
	}
	text, end, ascii := unescape(slices.Grow(d.scratch[:0], hard-start+unescapeRoom), data, start)
	d.scratch = text
	if end == len(data) || data[end] != '"' || !ascii && !isText(data, hard, end) {
		return "", 0, false
	}
	d.pos = end + 1
	return d.copyPart(d.scratch), -1, true
}

// Text takes and validates a string without keeping it.
func (d *Decoder) Text(r *String) {
	if d.peek() != '"' {
		d.wrongType("a string", r.at())
		return
	}
	start := d.pos
	t, ok := d.scanString()
	switch {
	case !ok || r == nil:
	case *r == String{At: r.At, Format: format.Byte}: // it may be long, so it is not copied
		if !format.IsBase64(d.value(t)) && !d.countUndescribed() {
			d.violated(start, r.At, "format", r.Format.Describe())
		}
	case !r.asksForText():
		d.checkString(r, "", d.characters(t), start)
	default:
		s := d.text(t)
		d.checkString(r, s, r.length(s), start)
	}
}

// asksForText reports whether r looks at more of a string than its length.
func (r *String) asksForText() bool { return r != nil && (r.Pattern != nil || r.Format != 0) }

func (r *String) at() string {
	if r == nil {
		return ""
	}
	return r.At
}

// length returns how many characters s has, or how many bytes where these prove that r allows the length: a character has one to four bytes.
func (r *String) length(s string) int {
	if n := len(s); r.Min <= (n+3)/4 && (r.Max == 0 || n <= bound(r.Max)) {
		return n
	}
	return runes(s)
}

// checkString reports every constraint of r that s, of n characters, breaks. A violation is described only if countUndescribed returns false.
func (d *Decoder) checkString(r *String, s string, n, start int) {
	if n < r.Min && !d.countUndescribed() {
		d.violated(start, r.At, "minLength", "at least "+plural(r.Min, "character")+", not "+strconv.Itoa(n))
	}
	if r.Max != 0 && n > bound(r.Max) && !d.countUndescribed() {
		d.violated(start, r.At, "maxLength", "at most "+plural(bound(r.Max), "character")+", not "+strconv.Itoa(n))
	}
	if r.Pattern != nil && !r.Pattern.Match(s) && !d.countUndescribed() {
		d.violated(start, r.At, "pattern", "text that matches "+printableUpTo(r.Pattern.Source, maxShownExactly))
	}
	if r.Format != 0 && !r.Format.Match(s) && !d.countUndescribed() {
		d.violated(start, r.At, "format", r.Format.Describe())
	}
}

// Time takes a date-time. The leap second at the end of the year 9999 is a violation, since it is read as the second after it, in the year 10000.
func (d *Decoder) Time(r *String) time.Time {
	return formatted(d, r, format.DateTime, format.ParseDateTime, "a date-time before the year 10000, which is the limit of this implementation")
}

// Enum takes a string that is one of r.Values and returns the one in the table; "" after a violation.
func (d *Decoder) Enum(r *Enum) string {
	if d.peek() != '"' {
		if d.countUndescribed() {
			d.Skip()
		} else {
			allowed := r.allowed()
			if len(r.Values) < 2 {
				allowed = "one of " + allowed
			}
			d.wrong(r.keyword(), allowed, r.At)
		}
		return ""
	}
	start := d.pos
	got, ok := d.stringValue()
	if !ok {
		return ""
	}
	if i := r.find(got); i >= 0 {
		return r.Values[i]
	}
	if d.countUndescribed() {
		return ""
	}
	d.violated(start, r.At, r.keyword(), r.allowed()+d.orNull(start))
	return ""
}

// allowed names the values, in words, which are made once: each item of a list may have the same violation.
func (r *Enum) allowed() string {
	if words := r.words.Load(); words != nil {
		return *words
	}
	words := list(r.Values, ", ")
	if len(r.Values) > 1 {
		words = "one of " + words
	}
	r.words.Store(&words)
	return words
}

// find returns the index of a text in Values, or -1.
func (r *Enum) find(text []byte) int {
	if len(r.Values) > fewValues {
		if i, ok := r.index.of(r.Values)[string(text)]; ok {
			return i
		}
		return -1
	}
	for i := range r.Values {
		if r.Values[i] == string(text) {
			return i
		}
	}
	return -1
}

func (r *Enum) keyword() string { return enumOrConst(r.Const) }

func enumOrConst(isConst bool) string {
	if isConst {
		return "const"
	}
	return "enum"
}

// Bool takes a boolean; r, if not nil, says which booleans are allowed.
func (d *Decoder) Bool(r *Values) bool {
	c := d.peek()
	if c != 't' && c != 'f' {
		d.wrongType("a boolean", r.at())
		return false
	}
	start := d.pos
	if c == 't' && !d.literalName("true") || c == 'f' && !d.literalName("false") {
		return false
	}
	if r != nil {
		d.checkValues(r, start)
	}
	return c == 't'
}

// Null takes the next value if it is null, and reports whether it is.
func (d *Decoder) Null() bool {
	if d.peek() == 'n' {
		return d.literalName("null")
	}
	d.nullable = d.pos + 1
	return false
}

// Raw takes any value and returns a copy of it as it is written.
func (d *Decoder) Raw(r *Values) Raw {
	alias := d.Alias(r)
	if alias == nil || d.discard {
		return alias
	}
	return d.copyRaw(alias)
}

// Value takes a value that is one of r.JSON and returns the text in the table; "" after a violation.
func (d *Decoder) Value(r *Values) string {
	d.peek()
	start := d.pos
	if d.Skip(); d.err != nil {
		return ""
	}
	if i := d.checkValues(r, start); i >= 0 {
		return r.JSON[i]
	}
	return ""
}

// Alias takes any value and returns it as a part of the data given to Get or Reset.
func (d *Decoder) Alias(r *Values) []byte {
	d.peek()
	start := d.pos
	d.Skip()
	if d.err != nil {
		return nil
	}
	end := d.pos
	if r != nil {
		d.checkValues(r, start)
	}
	return d.full[start:end:end]
}
