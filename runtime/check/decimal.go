package check

import (
	"bytes"
	"math"
	"math/big"
	"math/bits"
)

// decimal is the exact value 0.DIGITS × 10^point: digits without leading or trailing zeros, none for 0.
type decimal struct {
	digits   []byte
	point    int
	negative bool
}

// decimal returns the exact value of a scanned number. An exponent beyond maxExponent is refused (VAL07), because exact
// arithmetic would need as many digits as the exponent says.
func (d *Decoder) decimal(n digits) (decimal, bool) {
	x, ok := parseDecimal(d.full[n.start:n.end])
	if !ok {
		d.refuse(NumberTooLarge, int(n.start), maxExponent)
	}
	return x, ok
}

// parseDecimal reads a valid JSON number; ok is false for an exponent beyond maxExponent, however it is written: that of 10e1000000 is 1000001.
func parseDecimal(s []byte) (x decimal, ok bool) {
	if s[0] == '-' {
		x.negative = true
		s = s[1:]
	}
	exp := 0
	if e := bytes.IndexAny(s, "eE"); e >= 0 {
		exp = parseExponent(s[e+1:])
		s = s[:e]
	}
	x.point = len(s)
	if p := bytes.IndexByte(s, '.'); p >= 0 {
		x.point = p
		joined := make([]byte, 0, len(s)-1)
		s = append(append(joined, s[:p]...), s[p+1:]...)
	}
	trimmed := bytes.TrimLeft(s, "0")
	x.point += exp - (len(s) - len(trimmed))
	x.digits = bytes.TrimRight(trimmed, "0")
	if len(x.digits) == 0 {
		return decimal{}, true
	}
	return x, x.exponent() <= maxExponent && x.exponent() >= -maxExponent
}

// exponent returns the exponent of the number in scientific notation, with one digit before the point.
func (x decimal) exponent() int { return x.point - 1 }

// SameNumber reports whether two texts are JSON numbers of the same value, of any size.
func SameNumber(a, b string) bool {
	order, ok := CompareNumbers(a, b)
	return ok && order == 0
}

// CompareNumbers returns -1, 0 or 1 if a is less than, equal to or greater than b, exactly. ok is false unless both are JSON numbers whose exponents
// are within maxExponent.
func CompareNumbers(a, b string) (order int, ok bool) {
	x, isA := numberOf(a)
	y, isB := numberOf(b)
	if !isA || !isB {
		return 0, false
	}
	return x.compare(y), true
}

func numberOf(s string) (decimal, bool) {
	if !isNumber([]byte(s)) {
		return decimal{}, false
	}
	return parseDecimal([]byte(s))
}

// isNumber reports whether a text is a JSON number, without white space around it.
func isNumber(s []byte) bool {
	digit := func(c byte) bool { return c-'0' <= 9 }
	return len(s) > 0 && (s[0] == '-' || digit(s[0])) && digit(s[len(s)-1]) && Valid(s, Limits{}) == nil
}

// IntegerDigits returns the plain digits of a JSON number, with its sign: 150 for 1.50e2. number is false for other
// text, integer for a number with a fraction. For an integer of more than most digits, digits is nil. most has to be less than maxExponent.
func IntegerDigits(s []byte, most int) (digits []byte, number, integer bool) {
	if !isNumber(s) {
		return nil, false, false
	}
	x, _ := parseDecimal(s) // an exponent beyond maxExponent is beyond most, too, or makes a fraction
	switch {
	case x.sign() == 0:
		return []byte("0"), true, true
	case !x.integer():
		return nil, true, false
	case x.point > most:
		return nil, true, true
	}
	if x.negative {
		digits = append(digits, '-')
	}
	digits = append(digits, x.digits...)
	return append(digits, bytes.Repeat([]byte("0"), x.point-len(x.digits))...), true, true
}

func parseExponent(s []byte) int {
	minus := s[0] == '-'
	if minus || s[0] == '+' {
		s = s[1:]
	}
	exp := 0
	for _, c := range s {
		exp = min(exp*10+int(c-'0'), hugeExponent)
	}
	if minus {
		return -exp
	}
	return exp
}

// hugeExponent stands for all larger exponents. It is so far beyond maxExponent that no fraction, however long, brings it back into range.
const hugeExponent = 1 << 27

func (x decimal) integer() bool { return len(x.digits) <= x.point || len(x.digits) == 0 }

// int64 returns the value of an integer; ok is false if int64 can not hold it.
func (x decimal) int64() (v int64, ok bool) {
	if x.point > 19 {
		return 0, false
	}
	var m uint64
	for i := 0; i < x.point; i++ {
		m *= 10
		if i < len(x.digits) {
			m += uint64(x.digits[i] - '0')
		}
	}
	switch { // 19 digits fit into uint64
	case x.negative && m <= 1<<63:
		return -int64(m), true
	case !x.negative && m <= math.MaxInt64:
		return int64(m), true
	}
	return 0, false
}

func (x decimal) compare(y decimal) int {
	sx, sy := x.sign(), y.sign()
	if sx != sy {
		return max(-1, min(1, sx-sy))
	}
	c := x.point - y.point
	if c == 0 {
		c = bytes.Compare(x.digits, y.digits) // no trailing zeros: a prefix is less
	}
	return max(-1, min(1, c)) * sx
}

func (x decimal) sign() int {
	switch {
	case len(x.digits) == 0:
		return 0
	case x.negative:
		return -1
	}
	return 1
}

// appendTo appends the form that equal numbers share, spelt as AppendFloat spells numbers.
func (x decimal) appendTo(b []byte) []byte {
	n := len(x.digits)
	if n == 0 {
		return append(b, '0')
	}
	if x.negative {
		b = append(b, '-')
	}
	switch {
	case x.exponent() >= 21 || x.exponent() < -6:
		if b = append(b, x.digits[0]); n > 1 {
			b = append(append(b, '.'), x.digits[1:]...)
		}
		if b = append(b, 'e'); x.point > 0 {
			b = append(b, '+')
		}
		return appendInt(b, int64(x.exponent()))
	case x.point <= 0:
		b = append(b, "0.00000"[:2-x.point]...)
		return append(b, x.digits...)
	case x.point < n:
		return append(append(append(b, x.digits[:x.point]...), '.'), x.digits[x.point:]...)
	}
	b = append(b, x.digits...)
	return append(b, "000000000000000000000"[:x.point-n]...)
}

// multiple reports, exactly, whether n is a multiple of a literal greater than 0: 19.99 is a multiple of 0.01.
func (d *Decoder) multiple(n digits, of string) bool {
	if n.fits && len(of) <= fitDigits {
		if m, exp, ok := smallDecimal(of); ok {
			if yes, ok := multipleOfSmall(n.mantissa, n.exp, m, exp); ok {
				return yes
			}
		}
	}
	x, ok := d.decimal(n)
	if !ok {
		return true
	}
	y, _ := parseDecimal([]byte(of))
	return x.multipleOf(y)
}

// smallDecimal reads a short literal without exponent, faster than parseDecimal.
func smallDecimal(s string) (m uint64, exp int, ok bool) {
	point := -1
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '.':
			point = i
		case c-'0' <= 9:
			m = m*10 + uint64(c-'0')
		default:
			return 0, 0, false
		}
	}
	if point >= 0 {
		exp = point + 1 - len(s)
	}
	return m, exp, m != 0
}

// multipleOfSmall is multipleOf where that needs no big integers; ok is false for other numbers.
func multipleOfSmall(v uint64, vexp int, m uint64, mexp int) (yes, ok bool) {
	if v == 0 {
		return true, true
	}
	for ; vexp < mexp; mexp-- {
		hi, lo := bits.Mul64(m, 10)
		if hi != 0 {
			return false, false
		}
		m = lo
	}
	v %= m
	for ; vexp > mexp && v != 0; vexp-- {
		hi, lo := bits.Mul64(v, 10)
		v = bits.Rem64(hi, lo, m)
	}
	return v == 0, true
}

// multipleOf reports whether x is a multiple of y. Of a large power of ten it only computes the remainder modulo the divisor.
func (x decimal) multipleOf(y decimal) bool {
	if len(x.digits) == 0 {
		return true
	}
	if len(y.digits) == 0 {
		return false
	}
	// v × 10^vexp against m × 10^mexp. If mexp is the larger, v would have to end in a zero, and its digits do not.
	shift := (x.point - len(x.digits)) - (y.point - len(y.digits))
	if shift < 0 {
		return false
	}
	v, _ := new(big.Int).SetString(string(x.digits), 10)
	m, _ := new(big.Int).SetString(string(y.digits), 10)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(shift)), m)
	return v.Mul(v, power).Mod(v, m).Sign() == 0
}
