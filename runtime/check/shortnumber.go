package check

// shortFloat reads a number of up to 19 digits, the point among them, without an exponent; end is 0 for any other text. With up to 15 digits one division is exact.
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
	} else if v, ok = nearest(uint64(m), -decimals); !ok {
		return 0, 0
	}
	if negative {
		v = -v
	}
	return v, i
}

// shortNumber returns the end of a number of up to 18 digits without an exponent, 0 for any other text.
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
	if i-first > 19 || uint(i) < uint(len(data)) && data[i]|0x20 == 'e' { // so it is within Limits.NumberBytes, which is at least 20
		return 0
	}
	return i
}

// Powers of ten that float64 holds exactly: with a mantissa below 2^53 one division or multiplication rounds correctly.
var exactPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

func isExact(m uint64, exp int) bool {
	return m < 1<<53 && exp > -len(exactPowers) && exp < len(exactPowers)
}

// nearest returns the float64 nearest to m × 10^exp, if that is decided quickly.
func nearest(m uint64, exp int) (v float64, ok bool) {
	switch {
	case !isExact(m, exp):
		return longFloat(m, exp)
	case exp < 0:
		return float64(m) / exactPowers[-exp], true
	default:
		return float64(m) * exactPowers[exp], true
	}
}
