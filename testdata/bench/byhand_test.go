package bench

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

var errByHand = errors.New("not an order")

// orderByHand decodes and checks the small input as a patient person would write it for this one schema: no escapes, no
// positions, no lists of violations.
func orderByHand(data []byte) error {
	var o sdkOrder
	h := hand{data: data}
	seen := 0
	if !h.take('{') {
		return errByHand
	}
	for !h.take('}') {
		key, ok := h.text()
		if !ok || !h.take(':') {
			return errByHand
		}
		switch string(key) {
		case "symbol":
			v, ok := h.text()
			if !ok || len(v) < 1 || len(v) > 8 || !upper(v) {
				return errByHand
			}
			o.Symbol = string(v)
			seen |= 1
		case "side":
			v, ok := h.text()
			if !ok || string(v) != "buy" && string(v) != "sell" {
				return errByHand
			}
			o.Side = string(v)
			seen |= 2
		case "quantity":
			n, err := strconv.Atoi(string(h.number()))
			if err != nil || n < 1 || n > 1_000_000 {
				return errByHand
			}
			o.Quantity = n
			seen |= 4
		case "limit":
			f, err := strconv.ParseFloat(string(h.number()), 64)
			if err != nil || f <= 0 {
				return errByHand
			}
			o.Limit = f
		case "note":
			v, ok := h.text()
			if !ok || !utf8.Valid(v) || utf8.RuneCount(v) > 80 {
				return errByHand
			}
			o.Note = string(v)
		default:
			return errByHand
		}
		h.take(',')
	}
	if seen != 7 || h.pos != len(data) {
		return errByHand
	}
	kept = o
	return nil
}

// kept keeps the compiler from leaving the work out.
var kept sdkOrder

func upper(v []byte) bool {
	for _, c := range v {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// hand is a position in a compact JSON text.
type hand struct {
	data []byte
	pos  int
}

func (h *hand) take(c byte) bool {
	if h.pos < len(h.data) && h.data[h.pos] == c {
		h.pos++
		return true
	}
	return false
}

func (h *hand) text() ([]byte, bool) {
	if !h.take('"') {
		return nil, false
	}
	start := h.pos
	for h.pos < len(h.data) {
		switch c := h.data[h.pos]; {
		case c == '"':
			h.pos++
			return h.data[start : h.pos-1], true
		case c == '\\' || c < ' ':
			return nil, false
		}
		h.pos++
	}
	return nil, false
}

func (h *hand) number() []byte {
	start := h.pos
	for h.pos < len(h.data) && (h.data[h.pos] >= '0' && h.data[h.pos] <= '9' || h.data[h.pos] == '.' || h.data[h.pos] == '-') {
		h.pos++
	}
	return h.data[start:h.pos]
}
