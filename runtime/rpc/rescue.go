package rpc

import (
	"bytes"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

const space = " \t\r\n"

// rescue reads kind and id of a frame that is JSON and yet refused, for a limit or a repeated key, so that the sender's call
// ends with an error instead of waiting. The id may stand behind the fault: some clients write it last.
func rescue(frame []byte, err error) Message {
	var limit *check.LimitError
	if errors.As(err, new(*check.SyntaxError)) || errors.As(err, &limit) && limit.Reason == check.InvalidUTF8 {
		return Message{}
	}
	var r raw
	if !splitLoosely(frame, &r) {
		return Message{}
	}
	m := Message{Kind: r.kind()}
	if m.setID(r[inID]) != nil {
		return Message{}
	}
	return m
}

// splitLoosely finds the members of a message without judging their values, in constant memory. False: a member is repeated,
// or this is no message.
func splitLoosely(frame []byte, r *raw) bool {
	rest := bytes.TrimLeft(frame, space)
	if len(rest) == 0 || rest[0] != '{' {
		return false
	}
	for rest[0] == '{' || rest[0] == ',' {
		rest = bytes.TrimLeft(rest[1:], space)
		colon := valueEnd(rest, ':')
		key := bytes.TrimRight(rest[:colon], space)
		if colon == len(rest) || bytes.IndexByte(key, '\\') >= 0 {
			return false
		}
		rest = bytes.TrimLeft(rest[colon+1:], space)
		end := valueEnd(rest, ',')
		if end == 0 || end == len(rest) || !r.keep(key, bytes.TrimRight(rest[:end], space)) {
			return false
		}
		rest = rest[end:]
	}
	return true
}

// keep stores a member of the envelope. False: it is there already.
func (r *raw) keep(key, value []byte) bool {
	for i, name := range envelope.Names {
		if len(key) == len(name)+2 && string(key[1:len(key)-1]) == name {
			first := r[i] == nil
			r[i] = value
			return first
		}
	}
	return true
}

// valueEnd returns where the value at the front of b ends: at stop or at a closing bracket that was not opened in it.
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

// stringEnd returns the index of the quote that closes the string at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}
