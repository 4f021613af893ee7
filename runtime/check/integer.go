package check

import (
	"math"
	"slices"
	"strconv"
)

// Int takes an integer; 1.0 and 1e2 are integers. One outside int64 is a violation, see outOfRange.
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
	v, fits := n.int64()
	if !fits {
		x, ok := d.decimal(n)
		if !ok {
			return 0
		}
		if !x.integer() {
			d.broke(int(n.start), r.at(), "type", "an integer"+d.orNull(int(n.start)))
			return 0
		}
		if v, fits = x.int64(); !fits {
			if d.checkHugeInt(r, n) {
				d.outOfRange(int(n.start), r.at(), "an integer between -9223372036854775808 and 9223372036854775807, which is the limit of this server")
			}
			return 0
		}
	}
	if r != nil {
		d.checkInt(r, v, int(n.start))
	}
	return v
}

// int64 is the value of a number without fraction, exponent or too many digits.
func (n *digits) int64() (v int64, ok bool) {
	if !n.integer || !n.fits || n.mantissa > math.MaxInt64 {
		return 0, false
	}
	if v = int64(n.mantissa); n.negative {
		v = -v
	}
	return v, true
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

// checkHugeInt is checkInt for an integer beyond int64: true when r allows it.
func (d *Decoder) checkHugeInt(r *Int, n digits) bool {
	start, before := int(n.start), d.broken
	switch {
	case r == nil:
	case n.negative && r.Has&(Minimum|ExclusiveMinimum) != 0:
		d.belowMin(r.Has, start, r.At, strconv.FormatInt(r.Min, 10))
	case !n.negative && r.Has&(Maximum|ExclusiveMaximum) != 0:
		d.aboveMax(r.Has, start, r.At, strconv.FormatInt(r.Max, 10))
	case r.MultipleOf != 0 && !d.multiple(n, strconv.FormatInt(r.MultipleOf, 10)):
		d.broke(start, r.At, "multipleOf", "a multiple of "+strconv.FormatInt(r.MultipleOf, 10))
	case r.Enum != nil:
		d.broke(start, r.At, enumOrConst(r.Const), r.allowed()+d.orNull(start))
	}
	return d.err == nil && d.broken == before
}

func (d *Decoder) checkInt(r *Int, v int64, start int) {
	if r.Has&(Minimum|ExclusiveMinimum) != 0 && (v < r.Min || v == r.Min && r.Has&ExclusiveMinimum != 0) {
		d.belowMin(r.Has, start, r.At, strconv.FormatInt(r.Min, 10))
	}
	if r.Has&(Maximum|ExclusiveMaximum) != 0 && (v > r.Max || v == r.Max && r.Has&ExclusiveMaximum != 0) {
		d.aboveMax(r.Has, start, r.At, strconv.FormatInt(r.Max, 10))
	}
	if r.MultipleOf != 0 && v%r.MultipleOf != 0 && !d.countOnly() {
		d.broke(start, r.At, "multipleOf", "a multiple of "+strconv.FormatInt(r.MultipleOf, 10))
	}
	if r.Enum == nil {
		return
	}
	if !r.lists(v) && !d.countOnly() {
		d.broke(start, r.At, enumOrConst(r.Const), r.allowed()+d.orNull(start))
	}
}

// lists reports whether v is one of Enum.
func (r *Int) lists(v int64) bool {
	if len(r.Enum) <= fewValues {
		return slices.Contains(r.Enum, v)
	}
	_, ok := r.index.of(r.Enum)[v]
	return ok
}

// allowed lists Enum.
func (r *Int) allowed() string {
	return listed(len(r.Enum), ", ", func(i int) string { return strconv.FormatInt(r.Enum[i], 10) })
}
