package server

import (
	"bytes"
	"encoding/json"
)

// MessageResult is the result of a request on its way through middleware. It is valid until the outermost middleware returns.
type MessageResult struct {
	own json.RawMessage // middleware's own result, or one that is in no request's answer
	m   *Message        // the answer of its request contains the result; nil: own is the result
}

// ResultOf is a result that middleware made itself: a JSON object.
func ResultOf(object json.RawMessage) *MessageResult { return &MessageResult{own: object} }

// JSON returns the result as it is on the wire. It reads the data of an Opener into memory, at most half of WithMaxBytesUnread, and may wait for room
// there until the call ends; middleware that returns the result of next without calling JSON leaves the data unread. If JSON fails, the request is
// answered with its error, unless the middleware returns something of its own. Do not call JSON concurrently, and do not change the bytes: to send
// another result, return a ResultOf, which is validated.
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

// bytes returns the result without reading the data of an Opener, nil for no result. If r is what next returned for the request served, the bytes are a
// part of that request's answer.
func (r *MessageResult) bytes(served *request) []byte {
	switch {
	case r == nil:
		return nil
	case r.m != nil && r.m.request == served && served != nil:
		return served.answer[served.head:]
	}
	return r.own
}

// fillAnswer puts the data of Openers into the request's answer, for middleware that reads it.
func (r *request) fillAnswer() error {
	b, err := r.fillPlaceholders(r.answer, r.head)
	r.answer = b
	return err
}

// dropPlaceholders puts empty strings in place of data that is no longer needed.
func (r *request) dropPlaceholders(b []byte, start int) []byte {
	if r.placeholders == nil {
		return b
	}
	r.placeholders = nil
	r.closeReaders()
	return append(b[:start], bytes.ReplaceAll(b[start:], placeholderMark, []byte(`""`))...)
}
