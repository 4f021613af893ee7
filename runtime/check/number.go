package check

import (
	"math"
	"strconv"
)

// digits is a scanned number: mantissa × 10^exp when fits, else only its place in the data.
type digits struct {
	span
	mantissa uint64
	exp      int
	negative bool
	integer  bool // neither fraction nor exponent
	fits     bool // the mantissa has at most 19 digits and the exponent is small
}

const fitDigits = 19

// scanNumber takes a number as RFC 8259 has it.
func (d *Decoder) scanNumber() (n digits, ok bool) {
	data, i := d.data, d.pos
	n.start = int32(i)
	n.integer, n.fits = true, true
	if i < len(data) && data[i] == '-' {
		n.negative = true
		i++
	}
	first := i
	for ; i < len(data) && data[i]-'0' <= 9; i++ {
		n.mantissa = n.mantissa*10 + uint64(data[i]-'0')
	}
	count := i - first
	if count == 0 || count > 1 && data[first] == '0' {
		d.pos = min(first+min(count, 1), len(data))
		d.unexpected("a digit")
		if count > 1 {
			d.err.(*SyntaxError).Want = "no digit after a leading zero"
		}
		return n, false
	}
	if i < len(data) && (data[i] == '.' || data[i]|0x20 == 'e') {
		n.integer = false
		if i, ok = d.scanFraction(&n, i, &count); !ok {
			return n, false
		}
	}
	n.fits = n.fits && count <= fitDigits
	n.end = int32(i)
	d.pos = i
	if i-int(n.start) > d.limits.NumberBytes {
		d.refuse(NumberTooLong, int(n.start), d.limits.NumberBytes)
		return n, false
	}
	return n, true
}

// scanFraction goes on at the point or the exponent.
func (d *Decoder) scanFraction(n *digits, i int, count *int) (int, bool) {
	data := d.data
	if data[i] == '.' {
		i++
		first := i
		for ; i < len(data) && data[i]-'0' <= 9; i++ {
			n.mantissa = n.mantissa*10 + uint64(data[i]-'0')
		}
		if i == first {
			d.pos = i
			d.unexpected("a digit after the point")
			return i, false
		}
		*count += i - first
		n.exp = first - i
	}
	if i == len(data) || data[i]|0x20 != 'e' {
		return i, true
	}
	i++
	minus := false
	if i < len(data) && (data[i] == '-' || data[i] == '+') {
		minus = data[i] == '-'
		i++
	}
	first, exp := i, 0
	for ; i < len(data) && data[i]-'0' <= 9; i++ {
		exp = min(exp*10+int(data[i]-'0'), maxExponent+1)
	}
	if i == first {
		d.pos = i
		d.unexpected("a digit of the exponent")
		return i, false
	}
	n.fits = n.fits && exp < 1000
	if minus {
		exp = -exp
	}
	n.exp += exp
	return i, true
}

func (d *Decoder) number(want, at string) (n digits, ok bool) {
	if c := d.peek(); c != '-' && c-'0' > 9 {
		d.wrongType(want, at)
		return n, false
	}
	return d.scanNumber()
}

func (d *Decoder) belowMin(has Has, start int, at, limit string) {
	if has&ExclusiveMinimum != 0 {
		d.broke(start, at, "exclusiveMinimum", "greater than "+limit)
		return
	}
	d.broke(start, at, "minimum", "at least "+limit)
}

func (d *Decoder) aboveMax(has Has, start int, at, limit string) {
	if has&ExclusiveMaximum != 0 {
		d.broke(start, at, "exclusiveMaximum", "less than "+limit)
		return
	}
	d.broke(start, at, "maximum", "at most "+limit)
}

// Float takes a number. One that float64 can only hold as infinity is a violation, see outOfRange.
func (d *Decoder) Float(r *Number) float64 {
	d.peek()
	if v, end := shortFloat(d.data, d.pos); end > 0 && (r == nil || r.withinBounds(v)) {
		d.pos = end
		return v
	}
	n, ok := d.number("a number", r.at())
	if !ok {
		return 0
	}
	v, before := d.float(n), d.broken
	if r != nil {
		d.checkNumber(r, n, v)
	}
	if math.IsInf(v, 0) && d.err == nil && d.broken == before {
		d.outOfRange(int(n.start), r.at(), "a number between -1.8e308 and 1.8e308")
		return 0
	}
	return v
}

// outOfRange is for a number that its schema allows and its Go type can not hold. That is a violation where the number is kept.
// A form on trial fits all the same: only the schema decides which forms do.
func (d *Decoder) outOfRange(start int, at, allowed string) {
	if d.quiet || d.counting {
		d.overflow = true
		return
	}
	d.broke(start, at, "type", allowed+d.orNull(start))
}

// withinBounds is true when v lies within the bounds and nothing else is asked.
func (r *Number) withinBounds(v float64) bool {
	return r.MultipleOf == "" && !r.Integer && r.Enum == nil && r.MinText == "" && r.MaxText == "" &&
		(r.Has&(Minimum|ExclusiveMinimum) == 0 || v > r.Min) && (r.Has&(Maximum|ExclusiveMaximum) == 0 || v < r.Max)
}

// Literal takes a number as it is written.
func (d *Decoder) Literal(r *Number) Literal {
	want := "a number"
	if r != nil && r.Integer {
		want = "an integer"
	}
	n, ok := d.number(want, r.at())
	if !ok {
		return "0"
	}
	s := d.copyPart(int(n.start), int(n.end))
	if r != nil {
		d.checkNumber(r, n, d.float(n))
	}
	return Literal(s)
}

func (r *Number) at() string {
	if r == nil {
		return ""
	}
	return r.At
}

func (n *digits) exact() bool { return n.fits && isExact(n.mantissa, n.exp) }

func (d *Decoder) float(n digits) float64 {
	if n.fits {
		if v, ok := nearest(n.mantissa, n.exp); ok {
			if n.negative {
				v = -v
			}
			return v
		}
	}
	v, _ := strconv.ParseFloat(string(d.data[n.start:n.end]), 64) // out of range is ±Inf, which the caller looks for
	return v
}

// checkNumber compares floats first. Rounding preserves order, so only equal floats need the decimals.
func (d *Decoder) checkNumber(r *Number, n digits, v float64) {
	if r.Has&(Minimum|ExclusiveMinimum) != 0 {
		c := d.compare(n, v, r.Min, r.MinText)
		if c < 0 || c == 0 && r.Has&ExclusiveMinimum != 0 {
			d.belowMin(r.Has, int(n.start), r.At, boundText(r.Min, r.MinText))
		}
	}
	if r.Has&(Maximum|ExclusiveMaximum) != 0 {
		c := d.compare(n, v, r.Max, r.MaxText)
		if c > 0 || c == 0 && r.Has&ExclusiveMaximum != 0 {
			d.aboveMax(r.Has, int(n.start), r.At, boundText(r.Max, r.MaxText))
		}
	}
	if r.Integer && !n.integer && !d.multiple(n, "1") {
		d.broke(int(n.start), r.At, "type", "an integer")
	}
	if r.MultipleOf != "" && !d.multiple(n, r.MultipleOf) {
		d.broke(int(n.start), r.At, "multipleOf", "a multiple of "+r.MultipleOf)
	}
	if r.Enum != nil && !d.oneOfNumbers(n, r) && !d.countOnly() {
		allowed := listed(len(r.Enum), ", ", func(i int) string { return r.Enum[i] })
		d.broke(int(n.start), r.At, enumOrConst(r.Const), allowed+d.orNull(int(n.start)))
	}
}

func boundText(f float64, literal string) string {
	if literal != "" {
		return literal
	}
	return string(appendFloat(nil, f))
}

func (d *Decoder) compare(n digits, v, limit float64, literal string) int {
	switch {
	case literal != "": // limit may be anything: the literal may lie outside float64
	case v < limit:
		return -1
	case v > limit:
		return 1
	case n.exact() && n.mantissa < 1e15:
		return 0 // two decimals of at most 15 digits with the same float64 are the same
	}
	x, ok := d.decimal(n)
	if !ok {
		return 0
	}
	if literal == "" {
		literal = strconv.FormatFloat(limit, 'g', -1, 64)
	}
	y, _ := parseDecimal([]byte(literal))
	return x.compare(y)
}

func (d *Decoder) oneOfNumbers(n digits, r *Number) bool {
	x, ok := d.decimal(n)
	if !ok {
		return true
	}
	var room [64]byte
	_, ok = r.listed()[string(x.appendTo(room[:0]))]
	return ok
}

// listed indexes Enum by canonical decimal.
func (r *Number) listed() map[string]int {
	if m := r.index.made.Load(); m != nil {
		return *m
	}
	all := make([]string, len(r.Enum))
	for i, e := range r.Enum {
		x, _ := parseDecimal([]byte(e))
		all[i] = string(x.appendTo(nil))
	}
	return r.index.make(all)
}
