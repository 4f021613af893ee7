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

// number returns the exact value of a number, or nil if n is none or is beyond what any program computes with:
// an exponent of ten digits must not fill the memory.
func number(n *Node) *big.Rat {
	const mostDigits, mostExponent = 1000, 4
	if !n.Is(Number) || len(n.Text) > mostDigits {
		return nil
	}
	if i := strings.IndexAny(n.Text, "eE"); i >= 0 && len(strings.TrimLeft(n.Text[i+1:], "+-0")) > mostExponent-1 {
		return nil
	}
	if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
		return new(big.Rat).SetInt64(i) // nearly all numbers, much faster
	}
	r, ok := new(big.Rat).SetString(n.Text)
	if !ok {
		return nil
	}
	return r
}
