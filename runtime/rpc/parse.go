package rpc

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// envelope lists the members of a message, in the order of the indexes of raw.
var envelope = check.Object{Names: []string{"jsonrpc", "id", "method", "params", "result", "error"}, AdditionalProperties: check.Skip}

const (
	inVersion = iota
	inID
	inMethod
	inParams
	inResult
	inError
	members // how many there are
)

// raw has the members of a frame as they are written; nil: it has none.
type raw [members][]byte

// Parse splits one frame into its members, in one pass that also proves the frame to be well-formed. Integer ids do not allocate.
//
// With an error the Message has the Kind and ID as far as they could be read; see WantsReply. The codes:
//   - -32700: no JSON, or not UTF-8; without id
//   - -32600: batches (CAN24), repeated keys (but see Message.Repeated), limits (each named), wrong jsonrpc, method or id (CAN05), not exactly one of
//     method, result and error
//   - -32602: params that are no object, which MCP never has; null is none
func Parse(frame []byte, limits check.Limits) (Message, *Error) { return ParseInto(frame, limits, nil) }

// Reader decodes params and results while a frame is parsed. Its methods take the next value, whatever it is, with check.Within, and return true,
// or take nothing and return false. Discard what they decoded if the frame is refused.
type Reader interface {
	ReadParams(d *check.Decoder, method []byte) bool
	ReadResult(d *check.Decoder, id ID) bool
}

// onlyRepeats reports whether err says nothing but that keys are repeated.
func onlyRepeats(err error) bool {
	var all check.Violations
	return errors.As(err, &all) && !slices.ContainsFunc(all, func(v check.Violation) bool { return v.Keyword != "duplicate" })
}

// ParseInto is Parse, but offers params and results to a Reader, so that they need not be scanned again. It does so where the
// method or the id comes before them, as most peers write it, and where the method is written without escapes.
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

// inArguments reports whether err says nothing but that keys are repeated in the arguments of a tool call: the tool's decoder refuses
// those, so that the model can read why (VAL02).
func inArguments(r *raw, err error) bool {
	var all check.Violations
	return errors.As(err, &all) && sameString(r[inMethod], "tools/call") && !slices.ContainsFunc(all, func(v check.Violation) bool {
		return v.Keyword != "duplicate" || !strings.HasPrefix(v.Instance, "/params/arguments/")
	})
}

// split finds the members of a frame, and offers params and result to into, if that is not nil.
func split(frame []byte, limits check.Limits, into Reader, r *raw) error {
	d := check.Get(frame, limits)
	defer d.Put()
	for i := d.Object(&envelope); i >= 0; i = d.Next() {
		m := d.Position()
		if into == nil || i != inParams && i != inResult || !r.offer(d, i, into) {
			d.Skip()
		}
		r[i] = d.Since(m)
	}
	return d.Finish()
}

// offer offers a member to the Reader, and reports whether the Reader took it.
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

// unescaped reports whether a token is a string without escapes.
func unescaped(token []byte) bool {
	return len(token) > 0 && token[0] == '"' && bytes.IndexByte(token, '\\') < 0
}

// kind returns the kind by which members there are, so that a message with wrong values is still a request or an answer.
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

// unclear returns Message.Unclear.
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

// fill sets the members that belong to the message's kind.
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
	e, err := ReadError(token)
	if err != nil {
		return Errorf(CodeInvalidRequest, "error: %v", err)
	}
	m.Error = e
	return nil
}

// ReadError reads the object of a JSON-RPC error. Its Data aliases the object.
func ReadError(object []byte) (*Error, error) {
	d := check.Get(object, check.Limits{})
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
		return nil, err
	}
	return e, nil
}

// frameError returns the JSON-RPC error for an error of split or of Batch's decoder. Violations there are repeated keys, or that the frame is no object.
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

// MaxIDBytes is the length of the longest id that is read, as written in the frame.
const MaxIDBytes = 4096

// These errors say why a token is not an id. The peer gets them in an answer.
var (
	errIDType     = errors.New("id must be a string or an integer")
	errIDFraction = errors.New("id must be an integer, without a fraction")
	errIDSize     = errors.New("id longer than " + strconv.Itoa(MaxIDBytes) + " bytes")
	errIDString   = errors.New("id is not a valid JSON string")
)

// ParseID reads an id from one JSON value. Numbers with a fraction, which are never rounded, null, booleans, arrays and objects are errors.
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

// parseNumberID reads an id that is a number. It validates the digits, because not all tokens come from Parse.
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
		return ID{num: sign(token) * int64(n), kind: idInt}, nil
	}
	return largeID(token), nil
}

func sign(token []byte) int64 {
	if token[0] == '-' {
		return -1
	}
	return 1
}

// largeID reads an integer in plain digits, however many. One that fits into int64 is always an idInt, so that ids of one value are the same.
func largeID(digits []byte) ID {
	if n, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
		return IntID(n)
	}
	return ID{text: string(digits), kind: idBig}
}

// spelledID reads an id that is written with a point or an exponent, and keeps its spelling.
func spelledID(token []byte) (ID, error) {
	digits, number, integer := check.IntegerDigits(token, MaxIDBytes)
	switch {
	case !number:
		return ID{}, errIDType
	case !integer:
		return ID{}, errIDFraction
	case digits == nil:
		return ID{}, errIDSize
	}
	id := largeID(digits)
	id.text = string(token)
	return id, nil
}

func parseStringID(token []byte) (ID, error) {
	text, ok := unquote(token)
	if !ok {
		return ID{}, errIDString
	}
	return StringID(text), nil
}
