package check

import (
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Member writes the comma, unless the member is the first, and the key, which comes quoted and with its colon.
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

// AppendString writes a string. HTML is not escaped; invalid UTF-8 becomes U+FFFD, as in encoding/json.
func AppendString[S ~string](b []byte, s S) []byte { return appendString(b, string(s)) }

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[from:i]...)
		b = appendEscape(b, c)
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// appendEscape writes a byte that can not stand in a string as it is.
func appendEscape(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	if c >= utf8.RuneSelf {
		return append(b, "\ufffd"...)
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// AppendInt writes an integer.
func AppendInt[I ~int64](b []byte, n I) []byte { return appendInt(b, int64(n)) }

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// AppendFloat writes a number as encoding/json does. NaN and infinities, which JSON has not, become null, which the
// check of the output then refuses.
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

// AppendLiteral writes a number as it is; the empty one is 0.
func AppendLiteral(b []byte, n Literal) []byte {
	if n == "" {
		return append(b, '0')
	}
	return append(b, n...)
}

// AppendBool writes a boolean.
func AppendBool[B ~bool](b []byte, v B) []byte { return strconv.AppendBool(b, bool(v)) }

// AppendTime writes a date-time (RFC 3339) with the precision that t has.
func AppendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

// AppendRaw writes any JSON value; nil is null.
func AppendRaw(b []byte, r Raw) []byte {
	if r == nil {
		return append(b, "null"...)
	}
	return append(b, r...)
}

// AppendOptional writes a member, or nothing when it is missing.
func AppendOptional[T any](b []byte, key string, v Optional[T], value func([]byte, T) []byte) []byte {
	if !v.Set {
		return b
	}
	return value(Member(b, key), v.Value)
}

// AppendOrNull writes a member, null when it is missing.
func AppendOrNull[T any](b []byte, key string, v Optional[T], value func([]byte, T) []byte) []byte {
	b = Member(b, key)
	if !v.Set {
		return append(b, "null"...)
	}
	return value(b, v.Value)
}

// AppendNullable writes a member, null, or nothing.
func AppendNullable[T any](b []byte, key string, v Nullable[T], value func([]byte, T) []byte) []byte {
	if v.Null {
		return append(Member(b, key), "null"...)
	}
	return AppendOptional(b, key, v.Optional, value)
}

// AppendPointer writes a member, or nothing for nil.
func AppendPointer[T any](b []byte, key string, v *T, value func([]byte, *T) []byte) []byte {
	if v == nil {
		return b
	}
	return value(Member(b, key), v)
}

// AppendPointerOrNull writes a member, null for nil.
func AppendPointerOrNull[T any](b []byte, key string, v *T, value func([]byte, *T) []byte) []byte {
	b = Member(b, key)
	if v == nil {
		return append(b, "null"...)
	}
	return value(b, v)
}

// AppendSlice writes an array of scalars; nil is [].
func AppendSlice[T any](b []byte, list []T, value func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = value(b, list[i])
	}
	return append(b, ']')
}

// AppendList writes an array of values that are encoded through a pointer; nil is [].
func AppendList[T any](b []byte, list []T, value func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = value(b, &list[i])
	}
	return append(b, ']')
}

// AppendMap writes an object, members in the order of their names; nil is {}.
func AppendMap[T any](b []byte, m map[string]T, value func([]byte, *T) []byte) []byte {
	return append(AppendMembers(append(b, '{'), m, value), '}')
}

// AppendMembers writes the members that Put took, in the order of their names, into an object that is open.
func AppendMembers[T any](b []byte, m map[string]T, value func([]byte, *T) []byte) []byte {
	for _, name := range names(m) {
		v := m[name]
		b = value(AppendKey(b, name), &v)
	}
	return b
}

// AppendExtra writes the members that Keep took, in the order of their names, into an object that is open.
func AppendExtra(b []byte, m map[string]Raw) []byte {
	for _, name := range names(m) {
		b = AppendRaw(AppendKey(b, name), m[name])
	}
	return b
}

func names[T any](m map[string]T) []string {
	if len(m) == 0 {
		return nil
	}
	list := make([]string, 0, len(m))
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
