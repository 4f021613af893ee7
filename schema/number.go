package schema

import (
	"math/big"
	"strconv"
	"strings"
)

// isNumber reports whether s follows JSON's grammar of numbers.
func isNumber(s string) bool {
	i := 0
	digits := func() bool {
		start := i
		for i < len(s) && '0' <= s[i] && s[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	leadingZero := i < len(s) && s[i] == '0'
	start := i
	if !digits() || leadingZero && i > start+1 {
		return false
	}
	if i < len(s) && s[i] == '.' {
		if i++; !digits() {
			return false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(s)
}

// Limits of exact numbers: an exponent of ten digits must not fill the memory. The exponents of float64 end at 308.
const (
	maxExponent = 5000
	maxNumber   = 10000 // bytes
)

// Rat returns the exact value of a number; nil if n is no number or its exponent is beyond 5000.
func (n *Node) Rat() *big.Rat {
	if !n.Is(Number) || len(n.Text) > maxNumber {
		return nil
	}
	if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
		return new(big.Rat).SetInt64(i) // nearly all numbers, much faster
	}
	if i := strings.IndexAny(n.Text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(n.Text[i+1:]); err != nil || e > maxExponent || e < -maxExponent {
			return nil
		}
	}
	r, ok := new(big.Rat).SetString(n.Text)
	if !ok {
		return nil
	}
	return r
}
