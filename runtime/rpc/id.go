package rpc

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// ID is a request id or progress token. Ids are the same by JSON type and exact value (CAN05), which Same tells: 1 is not "1", "\u0031" is
// "1", and 1.0, 1e0 and 1 are one integer (LET14). Integers of any size are exact. A number goes back as it was spelt, because some
// clients look for their 1.0 in a table in which 1 is another key; so == is too strict for ids that a peer spelt twice. The zero ID is no id.
type ID struct {
	text string // string: decoded value; int: as it was spelt, "" for its plain digits; big: as it was spelt
	num  int64  // integer that fits
	kind idKind
}

type idKind uint8

const (
	idNone idKind = iota
	idInt
	idBig
	idString
)

// MaxIDBytes is the longest id that is read, as written in the frame.
const MaxIDBytes = 4096

// Why a token is not an id. The peer gets them as errors.
var (
	errIDType     = errors.New("id must be a string or an integer")
	errIDFraction = errors.New("id must be an integer, without a fraction")
	errIDSize     = errors.New("id longer than " + strconv.Itoa(MaxIDBytes) + " bytes")
	errIDString   = errors.New("id is not a valid JSON string")
)

// IntID is the id of an integer.
func IntID(n int64) ID { return ID{num: n, kind: idInt} }

// StringID is the id of a string, which must be valid UTF-8.
func StringID(s string) ID { return ID{text: s, kind: idString} }

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.kind == idNone }

// Int returns the value of an integer id that fits.
func (id ID) Int() (n int64, ok bool) { return id.num, id.kind == idInt }

// Same reports whether two ids are the same, however they are spelt.
func (id ID) Same(other ID) bool { return id == other || id.Plain() == other.Plain() }

// Plain is the id in the spelling that all ids of its value have in common.
func (id ID) Plain() ID {
	switch {
	case id.kind == idInt:
		id.text = ""
	case id.kind == idBig && !plainDigits(id.text):
		digits, _ := integerDigits([]byte(id.text)) // it was read before
		id.text = string(digits)
	}
	return id
}

// ByID is a map whose keys are ids, whatever their spelling.
type ByID[V any] map[ID]V

// Get returns the value of the id, the zero value if there is none.
func (m ByID[V]) Get(id ID) V { return m[id.Plain()] }

// Set sets the value of the id. The map must not be nil.
func (m ByID[V]) Set(id ID, v V) { m[id.Plain()] = v }

// Delete removes the id.
func (m ByID[V]) Delete(id ID) { delete(m, id.Plain()) }

// AppendJSON appends the id as JSON, numbers as they were spelt, the zero ID as null.
func (id ID) AppendJSON(b []byte) []byte {
	switch id.kind {
	case idInt:
		if id.text != "" {
			return append(b, id.text...)
		}
		return strconv.AppendInt(b, id.num, 10)
	case idBig:
		return append(b, id.text...)
	case idString:
		return appendString(b, id.text)
	default:
		return append(b, "null"...)
	}
}

// String is the id as JSON, for logs.
func (id ID) String() string { return string(id.AppendJSON(nil)) }

// ParseID reads one JSON token. Numbers with a fraction, null, booleans, arrays and objects are errors, never rounded.
// Integers within 64 bits in plain digits do not allocate; nothing aliases token.
func ParseID(token []byte) (ID, error) {
	switch {
	case len(token) == 0:
		return ID{}, errIDType
	case len(token) > MaxIDBytes:
		return ID{}, errIDSize
	case token[0] == '"':
		return parseStringID(token)
	case token[0] == '-' || token[0] >= '0' && token[0] <= '9':
		return parseNumberID(token)
	}
	return ID{}, errIDType
}

// Text returns the value of a string id, or an integer as it was spelt if those are not its plain digits or it has more than 64 bits, else "".
func (id ID) Text() string { return id.text }

// parseNumberID reads a JSON number. Digits are checked here, because tokens also come from elsewhere than Parse.
func parseNumberID(token []byte) (ID, error) {
	digits := token
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return ID{}, errIDType
	}
	var n uint64
	for _, c := range digits {
		if c == '.' || c == 'e' || c == 'E' {
			return spelledID(token)
		}
		if c < '0' || c > '9' {
			return ID{}, errIDType
		}
		n = n*10 + uint64(c-'0')
	}
	switch {
	case n == 0 && token[0] == '-' && len(digits) == 1:
		return ID{text: "-0", kind: idInt}, nil
	case len(digits) <= 18:
		return IntID(sign(token) * int64(n)), nil
	}
	return largeID(token), nil
}

func sign(token []byte) int64 {
	if token[0] == '-' {
		return -1
	}
	return 1
}

// largeID reads 19 plain digits or more. A value that fits is an idInt however it got here, so that ids of one value are the same.
func largeID(digits []byte) ID {
	if n, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
		return IntID(n)
	}
	return ID{text: string(digits), kind: idBig}
}

// spelledID reads an integer that is written with a point or an exponent.
func spelledID(token []byte) (ID, error) {
	digits, err := integerDigits(token)
	if err != nil {
		return ID{}, err
	}
	id := largeID(digits)
	id.text = string(token)
	return id, nil
}

// plainDigits tells whether the text of an integer is its digits.
func plainDigits(text string) bool { return !strings.ContainsAny(text, ".eE") }

// integerDigits are the digits of a JSON number, with its sign, that has no fraction.
func integerDigits(token []byte) ([]byte, error) {
	if c := token[len(token)-1]; c < '0' || c > '9' || check.Valid(token, check.Limits{}) != nil {
		return nil, errIDType
	}
	mantissa, exponent := token, 0
	if e := bytes.IndexAny(token, "eE"); e >= 0 {
		mantissa = token[:e]
		var err error
		if exponent, err = strconv.Atoi(string(token[e+1:])); err != nil {
			exponent = math.MaxInt32
		}
	}
	whole, fraction, _ := bytes.Cut(bytes.TrimPrefix(mantissa, []byte("-")), []byte("."))
	point := len(whole) + exponent
	digits := append(bytes.Clone(whole), fraction...)
	significant := bytes.TrimLeft(digits, "0")
	point -= len(digits) - len(significant)
	significant = bytes.TrimRight(significant, "0")
	switch {
	case len(significant) == 0:
		return []byte("0"), nil
	case point < len(significant):
		return nil, errIDFraction
	case point > MaxIDBytes:
		return nil, errIDSize
	}
	digits = append(significant, bytes.Repeat([]byte("0"), point-len(significant))...)
	if token[0] == '-' {
		digits = append([]byte("-"), digits...)
	}
	return digits, nil
}

func parseStringID(token []byte) (ID, error) {
	text, ok := unquote(token)
	if !ok {
		return ID{}, errIDString
	}
	return StringID(text), nil
}
