package streamhttp

import (
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// sameNumber compares two decimal numbers of any size exactly.
func sameNumber(a, b string) bool {
	if check.Valid([]byte(b), check.Limits{}) != nil {
		return false
	}
	x, ok := normal(a)
	y, ok2 := normal(b)
	return ok && ok2 && x == y
}

// number is a decimal number in one form: 0.digits times a power of ten, no zeros around digits.
type number struct {
	negative bool
	digits   string
	exponent int
}

func normal(s string) (n number, ok bool) {
	s, n.negative = strings.CutPrefix(s, "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(s), "e")
	if mantissa == "" || mantissa[0] < '0' || mantissa[0] > '9' || len(power) > 9 {
		return n, false
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	n.exponent = len(whole) + integer(power)
	n.digits = strings.TrimLeft(whole+part, "0")
	n.exponent -= len(whole) + len(part) - len(n.digits)
	n.digits = strings.TrimRight(n.digits, "0")
	if n.digits == "" {
		return number{}, true
	}
	return n, true
}

// integer reads an exponent of at most nine characters.
func integer(s string) (n int) {
	s, negative := strings.CutPrefix(s, "-")
	for _, c := range strings.TrimPrefix(s, "+") {
		n = n*10 + int(c-'0')
	}
	if negative {
		return -n
	}
	return n
}
