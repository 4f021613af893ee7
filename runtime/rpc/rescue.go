package rpc

import (
	"bytes"
	"errors"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

const space = " \t\r\n"

// byteOrderMark is what some clients write before a message, though JSON that is sent over a network must not begin with one (RFC 8259, section 8.1).
var byteOrderMark = []byte("\ufeff")

// rescue reads the kind and the id of a frame that is refused with err, so that the call that it belongs to ends with an error instead of waiting.
// The id may follow the fault: some clients write it last. The id of an answer is used whatever the fault is, as long as it can be
// read; that of a request only if the frame is JSON. Of a repeated member the first one counts. A repeated id counts as none, unless
// the frame is an answer and has the same id each time.
func rescue(frame []byte, err error) Message {
	var r raw
	whole, twice, ok := splitLoosely(frame, &r)
	m := Message{Kind: r.kind()}
	var limit *check.LimitError
	wellFormed := whole && !errors.As(err, new(*check.SyntaxError)) && !(errors.As(err, &limit) && limit.Reason == check.InvalidUTF8)
	if !ok || (twice || !wellFormed) && !m.Answers() || m.setID(r[inID]) != nil {
		return Message{}
	}
	m.Unclear = wellFormed && r.unclear()
	return m
}

// splitLoosely finds the members of a message without validating their values, in constant memory. The last one may be cut off: then whole is
// false, and the member is left out if nothing of its value is there. twice says that the same id is there twice. ok is false if there are two
// different ids, or the id is cut off, or the frame does not begin as an object does.
func splitLoosely(frame []byte, r *raw) (whole, twice, ok bool) {
	rest := bytes.TrimLeft(bytes.TrimPrefix(frame, byteOrderMark), space)
	if len(rest) == 0 || rest[0] != '{' {
		return false, false, false
	}
	for rest[0] == '{' || rest[0] == ',' {
		rest = bytes.TrimLeft(rest[1:], space)
		colon := valueEnd(rest, ':')
		if colon == len(rest) {
			return false, twice, true
		}
		member := memberOf(bytes.TrimRight(rest[:colon], space))
		rest = bytes.TrimLeft(rest[colon+1:], space)
		end := valueEnd(rest, ',')
		cut := end == len(rest)
		if end == 0 { // there is no value, and raw.kind reads its first byte
			return false, twice, cut && member != inID
		}
		again := member >= 0 && r[member] != nil
		if member == inID && (cut || again && !sameID(r[inID], bytes.TrimRight(rest[:end], space))) {
			return false, false, false
		}
		twice = twice || member == inID && again
		if member >= 0 && !again {
			r[member] = bytes.TrimRight(rest[:end], space)
		}
		if cut {
			return false, twice, true
		}
		rest = rest[end:]
	}
	return true, twice, true
}

// sameID reports whether both tokens are the same id, however it is spelt (LET14).
func sameID(a, b []byte) bool {
	one, wrong := ParseID(a)
	two, err := ParseID(b)
	return wrong == nil && err == nil && one.Same(two)
}

// maxNameBytes is the length of the longest name of a member of the envelope, as it may be written: each character may be an escape of six bytes.
const maxNameBytes = len(`""`) + 6*len("jsonrpc")

// memberOf returns which member of the envelope a key is, however it is spelt (LET14), or -1.
func memberOf(key []byte) int {
	if len(key) > maxNameBytes {
		return -1
	}
	name, _ := unquote(key)
	return slices.Index(envelope.Names, name)
}

// valueEnd returns where the value at the beginning of b ends: at stop, or at a closing bracket that closes none of the value's own, or with b.
func valueEnd(b []byte, stop byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			i = stringEnd(b, i)
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		default:
			if depth == 0 && c == stop {
				return i
			}
		}
	}
	return len(b)
}

// stringEnd returns the index of the quote that closes the string whose opening quote is at i; len(b) or more if there is none.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}
