package check

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// Date is a day of the calendar, a value of format date. The zero Date is no day.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf reads a date such as 2026-07-28; it returns the zero Date for any other text.
func DateOf(text string) Date {
	year, month, day, _ := format.ParseDate(text)
	return Date{year, month, day}
}

// Time returns the beginning of the day in UTC.
func (d Date) Time() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

// String returns the date as it is sent.
func (d Date) String() string {
	b := []byte("0000-00-00")
	put := func(end, n int) {
		for ; n > 0 && end >= 0; n /= 10 {
			b[end] = byte('0' + n%10)
			end--
		}
	}
	put(3, d.Year)
	put(6, int(d.Month))
	put(9, d.Day)
	return string(b)
}

// MarshalText implements encoding.TextMarshaler.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Date) UnmarshalText(text []byte) error {
	if !format.Date.Match(string(text)) {
		return errors.New("check: " + format.Date.Describe() + " is expected")
	}
	*d = DateOf(string(text))
	return nil
}

// UUID is a value of format uuid. It is written in lower case.
type UUID [16]byte

// UUIDOf reads a UUID; it returns the zero UUID for any other text.
func UUIDOf(text string) (u UUID) {
	if format.UUID.Match(text) {
		hex.Decode(u[:], []byte(strings.ReplaceAll(text, "-", "")))
	}
	return u
}

// String returns the UUID as it is sent.
func (u UUID) String() string {
	s := hex.EncodeToString(u[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// MarshalText implements encoding.TextMarshaler.
func (u UUID) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *UUID) UnmarshalText(text []byte) error {
	if !format.UUID.Match(string(text)) {
		return errors.New("check: " + format.UUID.Describe() + " is expected")
	}
	*u = UUIDOf(string(text))
	return nil
}

// TimeOf reads a date-time; it returns the zero Time for any other text. A leap second becomes the second after it, and fractions of a
// nanosecond are lost.
func TimeOf(text string) time.Time {
	t, _ := format.ParseDateTime(text)
	return t
}

// DurationOf reads a duration such as P1DT2H, with days of 24 hours; it returns 0 for any other text, and for one with years or months.
func DurationOf(text string) time.Duration {
	d, _ := format.ParseDuration(text)
	return d
}

// formatted takes a string and returns its value; without a rule, any string with the format. A valid string that parse can not represent is out of range; allowed says in words
// what parse can represent.
func formatted[T any](d *Decoder, r *String, f format.Format, parse func(string) (T, bool), allowed string) (v T) {
	if r == nil {
		r = &String{Format: f}
	}
	if d.peek() != '"' {
		d.wrongType("a string", r.At)
		return v
	}
	start := d.pos
	t, ok := d.scanString()
	if !ok {
		return v
	}
	s, before := d.text(t), d.broken
	d.checkString(r, s, runes(s), start)
	v, ok = parse(s)
	if !ok && d.broken == before && d.err == nil && r.Format.Match(s) {
		d.outOfRange(start, r.At, allowed)
	}
	return v
}

// Date takes a string with the format date.
func (d *Decoder) Date(r *String) Date {
	return formatted(d, r, format.Date, func(s string) (Date, bool) { return DateOf(s), true }, "")
}

// UUID takes a string with the format uuid.
func (d *Decoder) UUID(r *String) UUID {
	return formatted(d, r, format.UUID, func(s string) (UUID, bool) { return UUIDOf(s), true }, "")
}

// Duration takes a string with the format duration. One that time.Duration can not hold is a violation.
func (d *Decoder) Duration(r *String) time.Duration {
	return formatted(d, r, format.Duration, format.ParseDuration, "a duration without years and months, at most 292 years long, which is the limit of this implementation")
}

// Bytes takes a string with the format byte.
func (d *Decoder) Bytes(r *String) []byte {
	return formatted(d, r, format.Byte, func(s string) ([]byte, bool) {
		b, err := base64.StdEncoding.DecodeString(s)
		return b, err == nil
	}, "")
}

// AppendBytes writes bytes as base64.
func AppendBytes(b []byte, data []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), data), '"')
}

// AppendDate writes a date.
func AppendDate(b []byte, d Date) []byte { return appendString(b, d.String()) }

// AppendUUID writes a UUID.
func AppendUUID(b []byte, u UUID) []byte { return appendString(b, u.String()) }

// AppendDuration writes a duration in hours, minutes and seconds, rounded to whole seconds: format duration has no fractions (RFC 3339,
// appendix A). A negative one is written, too, though the format has none: the validation of the output then refuses it.
func AppendDuration(b []byte, d time.Duration) []byte {
	b = append(b, '"')
	all := d.Round(time.Second) / time.Second
	if all < 0 {
		b, all = append(b, '-'), -all
	}
	b = append(b, "PT"...)
	hours, minutes, seconds := int64(all/3600), int64(all/60%60), int64(all%60)
	if hours > 0 {
		b = append(strconv.AppendInt(b, hours, 10), 'H')
	}
	if minutes > 0 || hours > 0 && seconds > 0 {
		b = append(strconv.AppendInt(b, minutes, 10), 'M')
	}
	if seconds > 0 || all == 0 {
		b = append(strconv.AppendInt(b, seconds, 10), 'S')
	}
	return append(b, '"')
}
