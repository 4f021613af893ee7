package check

import (
	"math"
	"strconv"
	"time"
)

// Member writes a comma, unless the member is the first of its object, and the key, which is given in quotes and with its colon.
func Member(b []byte, key string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(b, key...)
}

// AppendKey is Member for a name known only at run time.
func AppendKey(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(appendString(b, name), ':')
}

// AppendInt writes an integer.
func AppendInt[I ~int64](b []byte, n I) []byte { return appendInt(b, int64(n)) }

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// AppendFloat writes a number as encoding/json does. NaN and infinities, which JSON does not have, become null, which the
// validation of the output then refuses.
func AppendFloat[F ~float64](b []byte, f F) []byte { return appendFloat(b, float64(f)) }

func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	abs := math.Abs(f)
	if abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09 is e-9
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// AppendLiteral writes a number as it is; the empty Literal is written as 0.
func AppendLiteral(b []byte, n Literal) []byte {
	if n == "" {
		return append(b, '0')
	}
	for i := range len(n) {
		if symbols[n[i]] != inNumber {
			return append(b, noValue...)
		}
	}
	return append(b, n...)
}

// AppendBool writes a boolean.
func AppendBool[B ~bool](b []byte, v B) []byte { return strconv.AppendBool(b, bool(v)) }

// AppendTime writes a date-time (RFC 3339) with the precision of t, in UTC if its offset has seconds, which RFC 3339 does not have.
func AppendTime(b []byte, t time.Time) []byte {
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.UTC()
	}
	b = append(b, '"')
	b = t.AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

// AppendValue writes what Value returned; "" is written as null.
func AppendValue[S ~string](b []byte, text S) []byte {
	switch {
	case text == "":
		return append(b, "null"...)
	case !isOneValue([]byte(text)):
		return append(b, noValue...)
	}
	return append(b, text...)
}

// AppendRaw writes any JSON value; nil is written as null.
func AppendRaw(b []byte, r Raw) []byte {
	switch {
	case r == nil:
		return append(b, "null"...)
	case !isOneValue(r):
		return append(b, noValue...)
	}
	return append(b, r...)
}

// noValue is written in place of a text that is not one JSON value, since such a text could add members to the object around it. noValue is not JSON, so
// the validation of the output refuses it (LET01), as does json.Marshal.
const noValue = "<not one JSON value>"

// isOneValue reports whether a text can be one value and nothing else: no comma or colon outside brackets, and all brackets closed.
// Whether the value is valid is left to the validation of the output.
func isOneValue(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch symbols[text[i]] {
		case quotes:
			if i = quoteAfter(text, i+1); i >= len(text) {
				return false
			}
		case opens:
			depth++
		case closes:
			if depth--; depth < 0 {
				return false
			}
		case separates:
			if depth == 0 {
				return false
			}
		}
	}
	return depth == 0 && !blank(text)
}

// blank reports whether a text is only white space, which is no value.
func blank(text []byte) bool {
	for i := range len(text) {
		if !isSpace(text[i]) {
			return false
		}
	}
	return true
}

// symbol is the meaning of a byte outside of strings.
type symbol uint8

const (
	inNumber symbol = iota + 1
	quotes
	opens
	closes
	separates
)

var symbols = [256]symbol{
	'"': quotes, '{': opens, '[': opens, '}': closes, ']': closes, ',': separates, ':': separates,
	'0': inNumber, '1': inNumber, '2': inNumber, '3': inNumber, '4': inNumber, '5': inNumber, '6': inNumber, '7': inNumber,
	'8': inNumber, '9': inNumber, '-': inNumber, '+': inNumber, '.': inNumber, 'e': inNumber, 'E': inNumber,
}
