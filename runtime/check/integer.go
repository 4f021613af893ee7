package check

import (
	"math"
	"strconv"
)

// Int takes an integer; 1.0 and 1e2 are integers. One outside int64 is a violation.
func (d *Decoder) Int(r *Int) int64 {
	d.peek()
	if v, end := shortInt(d.data, d.pos); end > 0 {
		start := d.pos
		d.pos = end
		if r != nil {
			d.checkInt(r, v, start)
		}
		return v
	}
	n, ok := d.number("an integer", r.at())
	if !ok {
		return 0
	}
	var v int64
	if n.whole && n.mantissa <= math.MaxInt64 && n.fits {
		if v = int64(n.mantissa); n.negative {
			v = -v
		}
	} else if v, ok = d.hardInt(n, r.at()); !ok {
		return 0
	}
	if r != nil {
		d.checkInt(r, v, int(n.start))
	}
	return v
}

// shortInt reads a number of up to 18 digits and nothing else; end is 0 for any other text.
func shortInt(data []byte, i int) (v int64, end int) {
	negative := uint(i) < uint(len(data)) && data[i] == '-'
	if negative {
		i++
	}
	first := i
	for ; uint(i) < uint(len(data)) && data[i]-'0' <= 9; i++ {
		v = v*10 + int64(data[i]-'0')
	}
	if n := i - first; n-1 >= 18 || n < 1 || n > 1 && data[first] == '0' {
		return 0, 0
	}
	if uint(i) < uint(len(data)) && goesOn(data[i]) {
		return 0, 0
	}
	if negative {
		v = -v
	}
	return v, i
}

// goesOn reports whether c after digits belongs to the number.
func goesOn(c byte) bool { return c == '.' || c|0x20 == 'e' }

func (r *Int) at() string {
	if r == nil {
		return ""
	}
	return r.At
}

// hardInt finds the integer in a number with a fraction, an exponent or many digits.
func (d *Decoder) hardInt(n digits, at string) (int64, bool) {
	x, ok := d.decimal(n)
	if !ok {
		return 0, false
	}
	if !x.integer() {
		d.broke(int(n.start), at, "type", "an integer"+d.orNull())
		return 0, false
	}
	v, ok := x.int64()
	if !ok {
		d.broke(int(n.start), at, "type", "an integer between -9223372036854775808 and 9223372036854775807"+d.orNull())
	}
	return v, ok
}

func (d *Decoder) checkInt(r *Int, v int64, start int) {
	if r.Has&(Minimum|ExclusiveMinimum) != 0 && (v < r.Min || v == r.Min && r.Has&ExclusiveMinimum != 0) {
		d.belowMin(r.Has, start, r.At, strconv.FormatInt(r.Min, 10))
	}
	if r.Has&(Maximum|ExclusiveMaximum) != 0 && (v > r.Max || v == r.Max && r.Has&ExclusiveMaximum != 0) {
		d.aboveMax(r.Has, start, r.At, strconv.FormatInt(r.Max, 10))
	}
	if r.MultipleOf != 0 && v%r.MultipleOf != 0 && !d.lost() {
		d.broke(start, r.At, "multipleOf", "a multiple of "+strconv.FormatInt(r.MultipleOf, 10))
	}
	if r.Enum == nil {
		return
	}
	allowed := ""
	for i, e := range r.Enum {
		if e == v {
			return
		}
		if i > 0 {
			allowed += ", "
		}
		allowed += strconv.FormatInt(e, 10)
	}
	d.broke(start, r.At, enumOrConst(r.Const), allowed)
}
