package server

import (
	"bytes"
	"encoding/json"
)

// MessageResult is the result of a request on its way through middleware. It is valid until the outermost middleware returns.
type MessageResult struct {
	own json.RawMessage
	m   *Message // whose request has it; nil: own is it
}

// ResultOf is a result of middleware's own: a JSON object.
func ResultOf(object json.RawMessage) *MessageResult { return &MessageResult{own: object} }

// JSON is the result as it is on the wire. Data of an Opener is read into memory for it, within half of WithMaxBytesUnread, and is waited for
// until the call ends; a middleware that returns what next returned, and does not call JSON, leaves it where it is. An error is that of the answer,
// too, unless the middleware answers itself. It is not called concurrently, and the bytes must not be changed: what is to go out instead is a ResultOf,
// which is validated.
func (r *MessageResult) JSON() (json.RawMessage, error) {
	if r == nil || r.m == nil {
		return r.bytes(nil), nil
	}
	if !r.m.passes.hold() {
		return nil, r.m.peer.s.misuse(nil, "a result was read late, for %s", r.m)
	}
	defer r.m.passes.leave()
	if r.m.served == nil {
		r.m.served = r.m.request.fillAnswer()
	}
	if r.m.served != nil {
		return nil, r.m.served
	}
	return r.bytes(r.m.request), nil
}

// bytes is what is known of the result; served is the request whose next may have returned it.
func (r *MessageResult) bytes(served *request) []byte {
	switch {
	case r == nil:
		return nil
	case r.m != nil && r.m.request == served && served != nil:
		return served.answer[served.head:]
	}
	return r.own
}

// fillAnswer puts data into the answer of a request whose middleware reads it.
func (r *request) fillAnswer() error {
	b, err := r.fillPlaceholders(r.answer, r.head)
	r.answer = b
	return err
}

// dropPlaceholders lets go of data that nobody wants any more.
func (r *request) dropPlaceholders(b []byte, start int) []byte {
	if r.placeholders == nil {
		return b
	}
	r.placeholders = nil
	return append(b[:start], bytes.ReplaceAll(b[start:], placeholderMark, []byte(`""`))...)
}
