package bench

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// The decoders by hand are what a patient person writes for one schema: every rule of it is checked and every string is
// copied into the result, in the types that are generated. They have no positions, lists of violations, limits or repeated
// keys, and what they keep must be written without escapes.

var errByHand = errors.New("not what the schema says")

// hand is a position in a JSON text. After a failure there is no text left, so that every loop ends.
type hand struct {
	data []byte
	pos  int
	bad  bool
}

func (h *hand) fail() { h.data, h.pos, h.bad = nil, 0, true }

// require fails unless ok.
func (h *hand) require(ok bool) {
	if !ok {
		h.fail()
	}
}

// end reports whether all went well and nothing follows.
func (h *hand) end() error {
	if h.bad || h.peek() != 0 || h.pos < len(h.data) {
		return errByHand
	}
	return nil
}

// peek returns the next byte that is not white space; 0 at the end.
func (h *hand) peek() byte {
	if h.pos < len(h.data) {
		if c := h.data[h.pos]; c > ' ' {
			return c
		}
	}
	return h.peekFar()
}

//go:noinline
func (h *hand) peekFar() byte {
	for ; h.pos < len(h.data); h.pos++ {
		switch c := h.data[h.pos]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return c
		}
	}
	return 0
}

func (h *hand) expect(c byte) {
	if h.pos < len(h.data) && h.data[h.pos] == c {
		h.pos++
	} else {
		h.expectFar(c)
	}
}

// expectFar takes white space first.
//
//go:noinline
func (h *hand) expectFar(c byte) {
	if h.peek() != c {
		h.fail()
		return
	}
	h.pos++
}

// open takes the bracket that opens an object or array, and reports whether something is in it.
func (h *hand) open(bracket, closing byte) bool {
	h.expect(bracket)
	if h.peek() == closing {
		h.pos++
		return false
	}
	return !h.bad
}

// more takes a comma, or the closing bracket.
func (h *hand) more(closing byte) bool {
	if h.pos < len(h.data) && h.data[h.pos] == ',' {
		h.pos++
		return true
	}
	return h.moreFar(closing)
}

func (h *hand) moreFar(closing byte) bool {
	switch h.peek() {
	case ',':
		h.pos++
		return true
	case closing:
		h.pos++
	default:
		h.fail()
	}
	return false
}

// field takes a name with its colon and returns its index in names, which have quotes and colon too; -1 for any other. It
// looks first at the one that is expected. A name with escapes fails.
func (h *hand) field(names []string, expected int) int {
	if expected < len(names) {
		name := names[expected]
		if end := h.pos + len(name); end <= len(h.data) && string(h.data[h.pos:end]) == name {
			h.pos = end
			return expected
		}
	}
	key := h.text()
	h.expect(':')
	for i, name := range names {
		if len(name) == len(key)+3 && name[1:len(key)+1] == string(key) {
			return i
		}
	}
	return -1
}

// text takes a string without escapes. The result is a part of the data.
func (h *hand) text() []byte {
	h.expect('"')
	data, start := h.data, h.pos
	i := start
	for ; i+8 <= len(data); i += 8 {
		m := special(binary.LittleEndian.Uint64(data[i:]))
		if m == 0 {
			continue
		}
		if i += bits.TrailingZeros64(m) / 8; i < len(data) && data[i] == '"' {
			h.pos = i + 1
			return data[start:i]
		}
		break
	}
	return h.wideText(start, plainEnd(data, i))
}

// wideText goes on at i with what is not ASCII.
func (h *hand) wideText(start, i int) []byte {
	for i < len(h.data) && h.data[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(h.data[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		i = plainEnd(h.data, i+size)
	}
	if i >= len(h.data) || h.data[i] != '"' {
		h.fail()
		return nil
	}
	h.pos = i + 1
	return h.data[start:i]
}

const ones = 0x0101010101010101

// plainEnd returns the first index from i on with a quote, a backslash, a control character or anything beyond ASCII.
func plainEnd(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		if m := special(binary.LittleEndian.Uint64(data[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	if rest := len(data) - i; rest > 0 && len(data) >= 8 {
		w := binary.LittleEndian.Uint64(data[len(data)-8:]) >> (64 - 8*rest) // zeros move in behind, and end it
		return i + bits.TrailingZeros64(special(w))/8
	}
	for ; i < len(data); i++ {
		if c := data[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// special marks the high bits of bytes that end plain text, exactly up to the lowest: there the subtractions borrow.
func special(w uint64) uint64 {
	return (w | ((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones) | (w - ' '*ones)) & (0x80 * ones)
}

// integer takes an integer of int64. What has a fraction or an exponent, such as 1.0, must be whole.
func (h *hand) integer() int64 {
	negative := h.peek() == '-'
	if negative {
		h.pos++
	}
	start, n := h.pos, int64(0)
	for h.pos < len(h.data) && h.data[h.pos]-'0' <= 9 {
		n = n*10 + int64(h.data[h.pos]-'0')
		h.pos++
	}
	digits := h.pos - start
	rest := h.pos < len(h.data) && (h.data[h.pos] == '.' || h.data[h.pos]|0x20 == 'e')
	if digits == 0 || digits > 18 || rest || digits > 1 && h.data[start] == '0' {
		return h.oddInteger(start, negative)
	}
	if negative {
		return -n
	}
	return n
}

func (h *hand) oddInteger(start int, negative bool) int64 {
	if h.pos = start; negative {
		h.pos--
	}
	token := h.digits()
	if n, err := strconv.ParseInt(string(token), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(token), 64)
	h.require(err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53)
	return int64(f)
}

var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// float takes a number. Up to 15 digits and a power of ten are exact in float64, and so their quotient is rounded once.
func (h *hand) float() float64 {
	h.peek()
	start, n, point := h.pos, int64(0), -1
	i := start
	for ; i < len(h.data); i++ {
		if c := h.data[i]; c-'0' <= 9 {
			n = n*10 + int64(c-'0')
		} else if c == '.' && point < 0 {
			point = i
		} else {
			break
		}
	}
	digits, fraction := i-start, 0
	if point >= 0 {
		digits, fraction = digits-1, i-point-1
	}
	odd := i < len(h.data) && (h.data[i]|0x20 == 'e' || h.data[i] == '-')
	if whole := digits - fraction; odd || whole == 0 || digits > 15 || whole > 1 && h.data[start] == '0' || point >= 0 && fraction == 0 {
		f, err := strconv.ParseFloat(string(h.digits()), 64)
		h.require(err == nil)
		return f
	}
	h.pos = i
	return float64(n) / tens[fraction]
}

// digits takes a number by JSON's grammar.
func (h *hand) digits() []byte {
	start := h.pos
	if h.peek() == '-' {
		h.pos++
	}
	if h.pos < len(h.data) && h.data[h.pos] == '0' {
		h.pos++
	} else {
		h.run()
	}
	if h.pos < len(h.data) && h.data[h.pos] == '.' {
		h.pos++
		h.run()
	}
	if h.pos < len(h.data) && h.data[h.pos]|0x20 == 'e' {
		if h.pos++; h.pos < len(h.data) && (h.data[h.pos] == '+' || h.data[h.pos] == '-') {
			h.pos++
		}
		h.run()
	}
	if h.bad {
		return nil
	}
	return h.data[start:h.pos]
}

// run takes one digit and those after it.
func (h *hand) run() {
	start := h.pos
	for h.pos < len(h.data) && h.data[h.pos]-'0' <= 9 {
		h.pos++
	}
	h.require(h.pos > start)
}

func (h *hand) boolean() bool {
	if h.peek() == 't' {
		h.word("true")
		return true
	}
	h.word("false")
	return false
}

// null takes null if it is there.
func (h *hand) null() bool {
	if h.peek() != 'n' {
		return false
	}
	h.word("null")
	return true
}

func (h *hand) word(w string) {
	h.peek()
	if end := h.pos + len(w); end <= len(h.data) && string(h.data[h.pos:end]) == w {
		h.pos = end
		return
	}
	h.fail()
}

// skip takes any value and returns it as it is written.
func (h *hand) skip() []byte {
	first := h.peek()
	start := h.pos
	switch first {
	case '"':
		h.skipText()
	case '{':
		for more := h.open('{', '}'); more; more = h.more('}') {
			h.skipText()
			h.expect(':')
			h.skip()
		}
	case '[':
		for more := h.open('[', ']'); more; more = h.more(']') {
			h.skip()
		}
	case 't', 'f':
		h.boolean()
	case 'n':
		h.null()
	default:
		h.digits()
	}
	if h.bad {
		return nil
	}
	return h.data[start:h.pos]
}

// skipText takes a string with or without escapes.
func (h *hand) skipText() {
	h.expect('"')
	for i := h.pos; i < len(h.data); {
		i = plainEnd(h.data, i)
		switch rest := h.data[i:]; {
		case len(rest) == 0:
		case rest[0] == '"':
			h.pos = i + 1
			return
		case rest[0] >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(rest)
			if r == utf8.RuneError && size == 1 {
				i = len(h.data)
			}
			i += size
		default:
			i += escape(rest)
		}
	}
	h.fail()
}

// escape returns the length of the escape at the front of b; beyond b's end if it is none.
func escape(b []byte) int {
	switch {
	case len(b) > 1 && b[0] == '\\' && bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) >= 0:
		return 2
	case len(b) > 5 && b[0] == '\\' && b[1] == 'u' && allHex(b[2:6]):
		return 6
	}
	return len(b) + 1
}

func allHex(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 && c|0x20-'a' > 5 {
			return false
		}
	}
	return true
}
