package rpc

import (
	"errors"
	"strconv"
)

// ID is a request id or progress token, comparable with ==, by JSON type and exact value (CAN05): 1 is not "1", and "\u0031"
// is "1". Integers of any size are exact; -0 is 0. The zero ID is no id.
type ID struct {
	text string // string: decoded value; big: digits with sign
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

// Why a token is not an id. They are told to the peer.
var (
	errIDType     = errors.New("id must be a string or an integer")
	errIDFraction = errors.New("id must be an integer without fraction or exponent")
	errIDSize     = errors.New("id longer than " + strconv.Itoa(MaxIDBytes) + " bytes")
	errIDString   = errors.New("id is not a valid JSON string")
)

// IntID is the id of an integer.
func IntID(n int64) ID { return ID{num: n, kind: idInt} }

// StringID is the id of a string, which must be valid UTF-8.
func StringID(s string) ID { return ID{text: s, kind: idString} }

// IsZero tells whether there is no id.
func (id ID) IsZero() bool { return id.kind == idNone }

// Int returns the value of an integer id that fits.
func (id ID) Int() (n int64, ok bool) { return id.num, id.kind == idInt }

// AppendJSON appends the id as JSON, the zero ID as null.
func (id ID) AppendJSON(b []byte) []byte {
	switch id.kind {
	case idInt:
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

// ParseID reads one JSON token. Fractions, exponents, null, booleans, arrays and objects are errors, never rounded.
// Integers within 64 bits do not allocate; nothing aliases token.
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

// Text returns the value of a string id or the digits of an integer beyond 64 bits, else "".
func (id ID) Text() string { return id.text }

// parseNumberID reads a JSON number. Digits are checked here, because tokens also come from elsewhere than Parse.
func parseNumberID(token []byte) (ID, error) {
	digits := token
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' {
		return ID{}, errIDType
	}
	var n uint64
	for _, c := range digits {
		if c == '.' || c == 'e' || c == 'E' {
			return ID{}, errIDFraction
		}
		if c < '0' || c > '9' {
			return ID{}, errIDType
		}
		n = n*10 + uint64(c-'0')
	}
	if len(digits) <= 18 {
		return IntID(sign(token) * int64(n)), nil
	}
	return largeID(token)
}

func sign(token []byte) int64 {
	if token[0] == '-' {
		return -1
	}
	return 1
}

// largeID reads 19 digits or more. A value that fits is an idInt however it got here, so that == holds.
func largeID(token []byte) (ID, error) {
	if n, err := strconv.ParseInt(string(token), 10, 64); err == nil {
		return IntID(n), nil
	}
	return ID{text: string(token), kind: idBig}, nil
}

func parseStringID(token []byte) (ID, error) {
	text, ok := unquote(token)
	if !ok {
		return ID{}, errIDString
	}
	return StringID(text), nil
}
