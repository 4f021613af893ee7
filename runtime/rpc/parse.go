package rpc

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// envelope lists the members of a message in the order in which the raw array of Parse holds them.
var envelope = check.Object{Names: []string{"jsonrpc", "id", "method", "params", "result", "error"}, AdditionalProperties: check.Skip}

const (
	inVersion = iota
	inID
	inMethod
	inParams
	inResult
	inError
	members
)

type raw [members][]byte

// Parse takes one frame apart in one pass that also proves the frame to be well-formed. Integer ids do not allocate.
//
// With an error the Message holds what could be read, Kind and ID; see WantsReply. The codes:
//   - -32700: no JSON, or not UTF-8; without id
//   - -32600: batches (CAN24), repeated keys (but see Message.Repeated), limits (each named), wrong jsonrpc, method or id (CAN05), not exactly one of
//     method, result and error
//   - -32602: params that are no object, which this protocol never has, null included
func Parse(frame []byte, limits check.Limits) (Message, *Error) { return ParseInto(frame, limits, nil) }

// Reader reads params and results on the way. Its methods take the value that comes, whatever it is, with check.Within, or take
// nothing and return false. What they read is void if the frame is refused later.
type Reader interface {
	ReadParams(d *check.Decoder, method []byte) bool
	ReadResult(d *check.Decoder, id ID) bool
}

// Batch takes an array of messages apart; they alias the frame. It is for revisions that have batches: Parse refuses them. The array must
// have a message in it, and no more than MaxBatch.
func Batch(frame []byte, limits check.Limits) ([][]byte, *Error) {
	d := check.Get(frame, limits)
	defer d.Put()
	var all [][]byte
	for more := d.Array(nil); more; more = d.Item() {
		m := d.Position()
		d.Skip()
		all = append(all, d.Since(m))
	}
	switch err := d.Finish(); {
	case err != nil && !repeats(err): // a repeated key is refused with its message
		return nil, frameError(frame, err)
	case len(all) == 0:
		return nil, &Error{Code: CodeInvalidRequest, Message: "a batch must have a message in it"}
	case len(all) > MaxBatch:
		return nil, Errorf(CodeInvalidRequest, "a batch has at most %d messages, not %d", MaxBatch, len(all))
	}
	return all, nil
}

// WithoutAnswers returns a batch of answers that was written here without those about ids that are gone; nil if none is left. The frame
// itself does not change.
func WithoutAnswers(frame []byte, gone func(ID) bool) []byte {
	limits := check.Limits{Bytes: len(frame), Depth: 1 << 16}
	answers, err := Batch(frame, limits)
	if err != nil {
		return frame
	}
	left := slices.DeleteFunc(answers, func(answer []byte) bool {
		m, _ := Parse(answer, limits)
		return gone(m.ID)
	})
	if len(left) == 0 {
		return nil
	}
	return slices.Concat([]byte{'['}, bytes.Join(left, []byte{','}), []byte{']'})
}

// MaxBatch is how many messages one batch may have. Each is a request in flight, or an error in the answer.
const MaxBatch = 1_000

// IsBatch reports whether a frame is an array, as far as its beginning tells.
func IsBatch(frame []byte) bool {
	if len(frame) == 0 || frame[0] == '{' {
		return false
	}
	frame = bytes.TrimLeft(frame, space)
	return len(frame) > 0 && frame[0] == '['
}

// repeats reports whether nothing is wrong but repeated keys.
func repeats(err error) bool {
	var all check.Violations
	return errors.As(err, &all) && !slices.ContainsFunc(all, func(v check.Violation) bool { return v.Keyword != "duplicate" })
}

// ParseInto is Parse that offers params and results to a reader, so that they need not be gone over again. It does so where the
// method or the id stands before them, as most write it, and where the method is written without escapes.
func ParseInto(frame []byte, limits check.Limits, into Reader) (Message, *Error) {
	var r raw
	err := split(frame, limits, into, &r)
	repeated := err != nil && inArguments(&r, err)
	if err != nil && !repeated {
		return rescue(frame, err), frameError(frame, err)
	}
	m := Message{Kind: r.kind(), Repeated: repeated, Unclear: r.unclear()}
	if err := m.setID(r[inID]); err != nil {
		return m, err
	}
	if string(r[inVersion]) != `"2.0"` && !sameString(r[inVersion], "2.0") {
		return m, &Error{Code: CodeInvalidRequest, Message: `jsonrpc must be "2.0"`}
	}
	return m, m.fill(&r)
}

// inArguments reports whether the arguments of a tool call repeat a key, and nothing else is wrong: the tool's decoder refuses
// that, so that the model reads it (VAL02).
func inArguments(r *raw, err error) bool {
	var all check.Violations
	return errors.As(err, &all) && sameString(r[inMethod], "tools/call") && !slices.ContainsFunc(all, func(v check.Violation) bool {
		return v.Keyword != "duplicate" || !strings.HasPrefix(v.Instance, "/params/arguments/")
	})
}

func split(frame []byte, limits check.Limits, into Reader, r *raw) error {
	d := check.Get(frame, limits)
	defer d.Put()
	for i := d.Object(&envelope); i >= 0; i = d.Next() {
		m := d.Position()
		if into == nil || !r.offer(d, i, into) {
			d.Skip()
		}
		r[i] = d.Since(m)
	}
	return d.Finish()
}

// offer is true when the reader took the member.
func (r *raw) offer(d *check.Decoder, member int, into Reader) bool {
	switch method := r[inMethod]; {
	case member == inParams && unescaped(method):
		return into.ReadParams(d, method[1:len(method)-1])
	case member == inResult && method == nil && r[inID] != nil:
		id, err := ParseID(r[inID])
		return err == nil && into.ReadResult(d, id)
	}
	return false
}

// unescaped is true for a string without escapes.
func unescaped(token []byte) bool {
	return len(token) > 0 && token[0] == '"' && bytes.IndexByte(token, '\\') < 0
}

// kind looks at the members alone, so that a message with bad values is still a request or an answer.
func (r *raw) kind() Kind {
	switch method := r[inMethod]; {
	case method != nil && method[0] != '"':
		return KindInvalid
	case method != nil && r[inID] != nil:
		return KindRequest
	case method != nil:
		return KindNotification
	case r[inResult] != nil:
		return KindResult
	case r[inError] != nil:
		return KindError
	default:
		return KindInvalid
	}
}

func (r *raw) unclear() bool {
	answers := r[inResult] != nil || r[inError] != nil
	return r[inID] != nil && answers == (r[inMethod] != nil)
}

func (m *Message) setID(token []byte) *Error {
	if token == nil || m.Kind == KindError && string(token) == "null" {
		return nil
	}
	id, err := ParseID(token)
	if err != nil {
		return &Error{Code: CodeInvalidRequest, Message: err.Error()}
	}
	m.ID = id
	return nil
}

// fill copies the members that belong to the kind.
func (m *Message) fill(r *raw) *Error {
	both := r[inResult] != nil && r[inError] != nil || r[inMethod] != nil && (r[inResult] != nil || r[inError] != nil)
	switch {
	case both:
		return &Error{Code: CodeInvalidRequest, Message: "only one of method, result and error may be present"}
	case m.Kind == KindInvalid && r[inMethod] != nil:
		return &Error{Code: CodeInvalidRequest, Message: "method must be a string"}
	case m.Kind == KindInvalid:
		return &Error{Code: CodeInvalidRequest, Message: "one of method, result and error is required"}
	case m.Kind == KindResult && m.ID.IsZero():
		return &Error{Code: CodeInvalidRequest, Message: "a result needs an id"}
	case m.Kind == KindResult:
		m.Result = r[inResult]
	case m.Kind == KindError:
		return m.setError(r[inError])
	default:
		return m.setCall(r[inMethod], r[inParams])
	}
	return nil
}

func (m *Message) setCall(method, params []byte) *Error {
	m.Method = method[1 : len(method)-1]
	if bytes.IndexByte(m.Method, '\\') >= 0 {
		text, _ := unquote(method)
		m.Method = []byte(text)
	}
	if params != nil && params[0] != '{' {
		return &Error{Code: CodeInvalidParams, Message: "params must be an object", Data: []byte(`{"violations":["(root): type: params must be an object"]}`)}
	}
	m.Params = params
	return nil
}

var errorObject = check.Object{Names: []string{"code", "message", "data"}, Required: []string{"code", "message"}, AdditionalProperties: check.Skip}

func (m *Message) setError(token []byte) *Error {
	d := check.Get(token, check.Limits{})
	defer d.Put()
	e := new(Error)
	for i := d.Object(&errorObject); i >= 0; i = d.Next() {
		switch i {
		case 0:
			e.Code = int(d.Int(nil))
		case 1:
			e.Message = d.String(nil)
		case 2:
			e.Data = d.Alias(nil)
		}
	}
	if err := d.Finish(); err != nil {
		return Errorf(CodeInvalidRequest, "error: %v", err)
	}
	m.Error = e
	return nil
}

// frameError is the JSON-RPC error for what split found. Where any value may stand, only repeated keys can be violations.
func frameError(frame []byte, err error) *Error {
	var limit *check.LimitError
	if errors.As(err, &limit) && limit.Reason != check.InvalidUTF8 {
		return &Error{Code: CodeInvalidRequest, Message: err.Error()}
	}
	var violations check.Violations
	if !errors.As(err, &violations) {
		return &Error{Code: CodeParseError, Message: err.Error()}
	}
	text := "a message must be an object"
	switch bytes.TrimLeft(frame, space)[0] {
	case '{':
		text = "repeated key " + violations[0].Found + " at " + violations[0].Instance
	case '[':
		text = "batches are not supported: send one message at a time"
	}
	return &Error{Code: CodeInvalidRequest, Message: text}
}
