package check

import (
	"math"
	"strconv"
)

// How a number is read: Int, Float and Skip try shortInt, shortFloat and shortNumber, which read most numbers. All others are taken by
// scanNumber as digits, which int64, float or decimal (decimal.go) turn into the value. The rules for numbers are in numberrule.go.

// digits is a scanned number: its place in the data and, if fits is true, its value ±mantissa × 10^exp.
type digits struct {
	span
	mantissa uint64
	exp      int
	negative bool
	plain    bool // neither fraction nor exponent
	fits     bool // the mantissa has at most 19 digits and the exponent is below 1000
}

const fitDigits = 19 // decimal digits, which always fit into a uint64

// Int takes an integer; 1.0 and 1e2 are integers. An integer outside int64 is a violation, see outOfRange.
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
			return 0 // decimal has refused it
		}
		if !x.integer() {
			d.violated(int(n.start), r.at(), "type", "an integer"+d.orNull(int(n.start)))
			return 0
		}
		if v, fits = x.int64(); !fits {
			if allowed := d.checkHugeInt(r, n); allowed {
				d.outOfRange(int(n.start), r.at(), "an integer between -9223372036854775808 and 9223372036854775807, which is the limit of this implementation")
			}
			return 0
		}
	}
	if r != nil {
		d.checkInt(r, v, int(n.start))
	}
	return v
}

// shortInt reads an integer of up to 18 digits, without fraction and exponent; end is 0 for any other text.
func shortInt(data []byte, i int) (v int64, end int) {
	negative := uint(i) < uint(len(data)) && data[i] == '-'
	if negative {
		i++
	}
	first := i
	for ; uint(i) < uint(len(data)) && data[i]-'0' <= 9; i++ {
		v = v*10 + int64(data[i]-'0')
	}
	if n := i - first; n < 1 || n > 18 || n > 1 && data[first] == '0' {
		return 0, 0
	}
	if uint(i) < uint(len(data)) && continuesNumber(data[i]) {
		return 0, 0
	}
	if negative {
		v = -v
	}
	return v, i
}

// continuesNumber reports whether c after digits belongs to the number.
func continuesNumber(c byte) bool { return c == '.' || c|0x20 == 'e' }

// Float takes a number. One that would become infinite as a float64 is a violation, see outOfRange.
func (d *Decoder) Float(r *Number) float64 {
	d.peek()
	if v, end := shortFloat(d.data, d.pos); end > 0 && (r == nil || r.surelyAllows(v)) {
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
		d.outOfRange(int(n.start), r.at(), floatRange)
		return 0
	}
	return v
}

// floatRange has the largest float64, rounded as strconv writes it.
const floatRange = "a number between -1.7976931348623157e308 and 1.7976931348623157e308, which is the limit of this implementation"

// shortFloat reads a number of up to 19 characters after its sign, without an exponent; end is 0 for any other text, and where only
// strconv.ParseFloat can tell. With up to 15 digits one division rounds correctly.
func shortFloat(data []byte, i int) (v float64, end int) {
	ok := false
	negative := uint(i) < uint(len(data)) && data[i] == '-'
	if negative {
		i++
	}
	first, m := i, int64(0)
	for ; uint(i) < uint(len(data)) && data[i]-'0' <= 9; i++ {
		m = m*10 + int64(data[i]-'0')
	}
	n, decimals := i-first, 0
	if n == 0 || n > 1 && data[first] == '0' {
		return 0, 0
	}
	if uint(i) < uint(len(data)) && data[i] == '.' {
		i++
		point := i
		for ; uint(i) < uint(len(data)) && data[i]-'0' <= 9; i++ {
			m = m*10 + int64(data[i]-'0')
		}
		if decimals = i - point; decimals == 0 {
			return 0, 0
		}
	}
	if i-first > fitDigits || uint(i) < uint(len(data)) && data[i]|0x20 == 'e' { // so it is within Limits.NumberBytes, which is at least 20
		return 0, 0
	}
	if n+decimals <= 15 {
		v = float64(m) / exactPowers[decimals]
	} else if v, ok = nearest(uint64(m), -decimals); !ok { // m may have overflowed int64, but its at most 19 digits fit uint64
		return 0, 0
	}
	if negative {
		v = -v
	}
	return v, i
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
	s := d.copyPart(d.full[n.start:n.end])
	if r != nil {
		d.checkNumber(r, n, d.float(n))
	}
	return Literal(s)
}

// number scans a number; another value is a violation, which says what is wanted instead.
func (d *Decoder) number(want, at string) (n digits, ok bool) {
	if c := d.peek(); c != '-' && c-'0' > 9 {
		d.wrongType(want, at)
		return n, false
	}
	return d.scanNumber()
}

// scanNumber takes a number by the grammar of RFC 8259.
func (d *Decoder) scanNumber() (n digits, ok bool) {
	data, i := d.data, d.pos
	n.start = int32(i)
	n.plain, n.fits = true, true
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
		d.pos = min(first+min(count, 1), len(data)) // after the sign, or after the leading zero
		d.unexpected("a digit")
		if count > 1 {
			d.err.(*SyntaxError).Want = "no digit after a leading zero"
		}
		return n, false
	}
	if i < len(data) && (data[i] == '.' || data[i]|0x20 == 'e') {
		n.plain = false
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

// scanFraction continues scanNumber at the point or the exponent.
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

// int64 returns the value of a number that is plain and at most math.MaxInt64 without its sign; ok is false for any other.
func (n *digits) int64() (v int64, ok bool) {
	if !n.plain || !n.fits || n.mantissa > math.MaxInt64 {
		return 0, false
	}
	if v = int64(n.mantissa); n.negative {
		v = -v
	}
	return v, true
}

func (d *Decoder) float(n digits) float64 {
	if n.fits {
		if v, ok := nearest(n.mantissa, n.exp); ok {
			if n.negative {
				v = -v
			}
			return v
		}
	}
	v, _ := strconv.ParseFloat(string(d.full[n.start:n.end]), 64) // out of range is ±Inf, which the caller looks for
	return v
}

// hasExactFactors is exactFactors for a scanned number.
func (n *digits) hasExactFactors() bool { return n.fits && exactFactors(n.mantissa, n.exp) }

// Powers of ten that float64 holds exactly: with a mantissa below 2^53 one division or multiplication rounds correctly.
var exactPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// exactFactors reports whether float64 holds m and the power of ten in m × 10^exp exactly, so that multiplying or dividing them rounds once.
func exactFactors(m uint64, exp int) bool {
	return m < 1<<53 && exp > -len(exactPowers) && exp < len(exactPowers)
}

// nearest returns the float64 nearest to m × 10^exp; ok is false where only strconv.ParseFloat can tell.
func nearest(m uint64, exp int) (v float64, ok bool) {
	switch {
	case !exactFactors(m, exp):
		return longFloat(m, exp)
	case exp < 0:
		return float64(m) / exactPowers[-exp], true
	default:
		return float64(m) * exactPowers[exp], true
	}
}

// shortNumber returns the end of a number without an exponent and of up to 19 characters after its sign, 0 for any other text.
func shortNumber(data []byte, i int) (end int) {
	if uint(i) < uint(len(data)) && data[i] == '-' {
		i++
	}
	first := i
	for uint(i) < uint(len(data)) && data[i]-'0' <= 9 {
		i++
	}
	if n := i - first; n == 0 || n > 1 && data[first] == '0' {
		return 0
	}
	if uint(i) < uint(len(data)) && data[i] == '.' {
		point := i + 1
		for i++; uint(i) < uint(len(data)) && data[i]-'0' <= 9; i++ {
		}
		if i == point {
			return 0
		}
	}
	if i-first > fitDigits || uint(i) < uint(len(data)) && data[i]|0x20 == 'e' { // so it is within Limits.NumberBytes, which is at least 20
		return 0
	}
	return i
}
