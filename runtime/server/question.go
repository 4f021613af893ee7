package server

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// OnUnsupported says what happens to a question that the client can not show.
type OnUnsupported uint8

// The zero value fails the call.
const (
	Fail       OnUnsupported = iota // Ask returns ErrUnsupported
	Decline                         // Ask returns a declined answer
	UseDefault                      // Ask returns Question.Default as accepted
)

// Question is one thing a handler may ask the user. Name is unique within the handler, stable and without #: recorded answers are
// found by it. The message and the schema belong to the name: a recorded answer to other words does not count (TSK29), so a question that changes with a
// release gets a new name.
type Question[T any] struct {
	Name    string
	Message string
	// Schema is the JSON Schema of the answer, as it is sent.
	Schema string
	// Timeout bounds one asking; 0 means the server's default.
	Timeout       time.Duration
	OnUnsupported OnUnsupported
	// Decode reads and checks an accepted answer. It is required.
	Decode  func(d *check.Decoder, v *T)
	Default T
}

// BeforeQuestion is a question that is asked before a call becomes a task (EXT17), with its own message.
type BeforeQuestion struct {
	name, message, schema string
	unsupported           OnUnsupported
	check                 func(limits check.Limits) answerCheck
	incomplete            error // why it can not be asked
}

// Before returns q as a question for Tool.Before.
func (q *Question[T]) Before() BeforeQuestion {
	return BeforeQuestion{q.Name, q.Message, q.Schema, q.OnUnsupported, func(limits check.Limits) answerCheck {
		return func(data []byte, account check.Account) error {
			_, err := q.decode(data, limits, account)
			return err
		}
	}, q.complete()}
}

// complete returns what the question lacks.
func (q *Question[T]) complete() error {
	if q.Decode == nil {
		return fmt.Errorf("server: the question %q has no Decode, which reads its answer: set it", q.Name)
	}
	return nil
}

// Action is what the user did with a question.
type Action string

// Declining and dismissing are answers, not errors.
const (
	Accepted  Action = "accept"
	Declined  Action = "decline"
	Dismissed Action = "cancel"
)

// Answer is the user's answer to a question. Value is set when Action is Accepted.
type Answer[T any] struct {
	Action Action
	Value  T
}

// Accepted reports whether the user gave a value.
func (a Answer[T]) Accepted() bool { return a.Action == Accepted }

// Errors of Ask.
var (
	ErrUnsupported     = errors.New("the client can not ask its user")
	ErrQuestionTimeout = errors.New("nobody answered the question in time")
)

// AnswerError is an answer that could not be read or kept, or breaks the question's schema. If a tool returns it, it becomes a tool error like other
// errors. From other handlers it becomes an error with the code of invalid params that says what is wrong: the client made the mistake.
type AnswerError struct {
	Question string
	Err      error
}

// Error implements error.
func (e *AnswerError) Error() string { return fmt.Sprintf("answer to %q: %v", e.Question, e.Err) }

// Unwrap returns the violations, or why the answer could not be read or kept.
func (e *AnswerError) Unwrap() error { return e.Err }

// QuestionError is the JSON-RPC error with which the client answered a question. It is not the handler's own: if a tool returns it, it becomes a tool
// error that says which question was refused, and from other handlers it becomes an internal error with that text (LET05).
type QuestionError struct {
	Question string // its name; the method of a request that was sent without one
	Err      *rpc.Error
}

// Error implements error.
func (e *QuestionError) Error() string {
	return fmt.Sprintf("the client answered the question %s with an error: %v", rpc.Quoted(e.Question), e.Err)
}

// Unwrap returns the client's error.
func (e *QuestionError) Unwrap() error { return e.Err }

// Ask puts q to the user and blocks until it is answered, ctx ends or the question's timeout passes. message "" sends
// q.Message. When the handler runs again, the recorded answer is returned at once. A question that was answered can not be asked again in the
// same run, whatever its message: that is an error, unless each asking is Named. A question that was not answered, because its timeout passed or ctx
// ended, can be asked again: that is a new asking, and a task records it beside the first.
// Inline in a stateless revision the first asking does not wait: it returns ErrAsked, which the handler returns as it is.
// A form that asks for a secret is a *SecretError, and one that breaks the protocol's definition is an error, too: neither is sent (LET01, LET04).
// Other errors: ErrAsked, ErrUnsupported, ErrQuestionTimeout, *AnswerError, *QuestionError, the *rpc.Error of middleware that answered in the client's
// place, *task.NameError for a name that is taken, or under which an earlier run has asked in other words, *task.LimitError for a question that a task has
// no room for, task.ErrWithdrawn with the cause of ctx when ctx ended and the call goes on, or the cause of the call's end. When the handler of a task
// runs again, an asking that was withdrawn fails with task.ErrWithdrawn again.
func Ask[T any](ctx context.Context, c *Call, q *Question[T], message string, opts ...AskOption) (Answer[T], error) {
	if message == "" {
		message = q.Message
	}
	if err := q.complete(); err != nil {
		return Answer[T]{}, err
	}
	question, err := c.newQuestion(named(q.Name, opts), message, q.Schema, q.Timeout)
	if err != nil {
		return Answer[T]{}, err
	}
	question, refused := c.adapt(question)
	if refused != nil {
		return q.unsupported(refused)
	}
	data, err := c.ask(ctx, question, func(data []byte, account check.Account) error {
		_, err := q.decode(data, c.s.cfg.limits, account)
		return err
	})
	if refused, ok := errors.AsType[*UnsupportedError](err); ok {
		return q.unsupported(refused)
	}
	if err != nil {
		return Answer[T]{}, err
	}
	return q.decode(data, c.s.cfg.limits, (*callAccount)(c))
}

func (q *Question[T]) unsupported(refused *UnsupportedError) (Answer[T], error) {
	switch q.OnUnsupported {
	case Decline:
		return Answer[T]{Action: Declined}, nil
	case UseDefault:
		return Answer[T]{Action: Accepted, Value: q.Default}, nil
	}
	return Answer[T]{}, refused
}

// questionPayload is the task.Question.Payload of a question that Ask asks.
type questionPayload struct {
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"schema"`
}

// newQuestion makes a question to the user, as it is recorded.
func (c *Call) newQuestion(name, message, schema string, timeout time.Duration) (task.Question, error) {
	if err := checkAsked("", []byte(schema), message); err != nil {
		return task.Question{}, fmt.Errorf("server: the form of the question %q can not be sent: %w", name, err)
	}
	payload, err := json.Marshal(questionPayload{Message: message, Schema: json.RawMessage(schema)})
	if err != nil {
		return task.Question{}, fmt.Errorf("question %q: %w", name, err)
	}
	if timeout == 0 {
		timeout = c.s.cfg.askTimeout
	}
	return task.Question{Name: name, Method: askMethod, Payload: payload, Deadline: time.Now().Add(timeout)}, nil
}

// askAgain returns q for a client whose answer was not accepted. The message of a question to the user begins with what is wrong, so that the
// next answer can be right. Requests for anything else have no place for that: then ok is false, and the retry is refused with what is wrong, since a
// program that is asked the same again answers the same again (LET05). What is recorded of q stays as it is.
func askAgain(q task.Question, wrong error) (again task.Question, ok bool) {
	if answer, ok := errors.AsType[*AnswerError](wrong); ok {
		wrong = answer.Err
	}
	members, message := membersOf(q.Payload), ""
	if opOf(q.Method) != wire.OpElicit || json.Unmarshal(members["message"], &message) != nil {
		return q, false
	}
	members["message"], _ = json.Marshal(fmt.Sprintf("The last answer was not accepted: %v\n\n%s", wrong, message)) // a string does not fail
	q.Payload, _ = json.Marshal(members)                                                                            // nor does raw JSON
	return q, true
}

// adapt returns q in the form in which the client is asked, or why it can not be asked. A question that may have its answer already, in the journal or in
// the request, need not be asked: then a client that does not declare the capability in this try is refused only where q would be sent (DUR05).
func (c *Call) adapt(q task.Question) (task.Question, *UnsupportedError) {
	if c.canNotAsk { // a result of the method has no place for questions in this revision
		return q, &UnsupportedError{}
	}
	if c.peer != nil && c.peer.sessionless {
		return q, &UnsupportedError{why: ErrUnsupported.Error() + ": that needs a session, and this server is served without them"}
	}
	adapted, refused := c.revision.adaptFor(c.can, q)
	if refused != nil && refused.Capability != "" && c.mayBeAnswered(q.Name) {
		return c.revision.adaptFor(^ability(0), q)
	}
	return adapted, refused
}

// mayBeAnswered reports whether something is recorded under the key of the next asking of a question, or the client has sent an answer to it with its call.
func (c *Call) mayBeAnswered(name string) bool {
	key := c.keyFor(name)
	if c.taskRun != nil {
		return c.local.earlier.has(key)
	}
	c.openJournal()
	t := c.stateless()
	return t != nil && t.has(key)
}

// adaptFor returns q in the form in which a client with these abilities is asked, or why it can not be asked.
func (rev *revision) adaptFor(can ability, q task.Question) (task.Question, *UnsupportedError) {
	if refused := rev.unsupported(can, &q); refused != nil {
		return q, refused
	}
	adapted, ok := rev.adaptQuestion(q)
	if !ok {
		return q, &UnsupportedError{}
	}
	return adapted, nil
}

// unsupported returns why a client with these abilities can not be asked q, nil if it can: a question whose capability was not
// declared is never sent (EXT18).
func (rev *revision) unsupported(can ability, q *task.Question) *UnsupportedError {
	params := rev.paramsOf(q)
	if q.Method == askMethod {
		params = rev.form // the payload is no params yet: every question of Ask is sent as a form
	}
	if params == nil {
		return &UnsupportedError{}
	}
	op := opOf(q.Method)
	for i := range rev.questionRules {
		if a := &rev.questionRules[i]; a.Op == op && (op != wire.OpCustomRequest || a.Name == q.Method) {
			return a.undeclared(can, params)
		}
	}
	return &UnsupportedError{}
}

// undeclared names a capability that these params require and the client did not declare, nil if there is none. can includes what the
// declaration of a whole capability implies (revision.abilities).
func (q *questionRule) undeclared(can ability, params []byte) *UnsupportedError {
	members := membersOf(params)
	for i, n := range q.Needs {
		switch {
		case can&q.parts[i] != 0 || !n.Applies(members[n.Member]):
		case n.Default && can&q.base == 0:
			return &UnsupportedError{Capability: q.Capability} // declaring that is enough
		default:
			return &UnsupportedError{Capability: n.Capability}
		}
	}
	if can&q.base == 0 {
		return &UnsupportedError{Capability: q.Capability}
	}
	return nil
}

// opOf returns the operation that asks a question, by the question's task.Question.Method.
func opOf(method string) wire.Op {
	switch {
	case method == messageMethod:
		return wire.OpCreateMessage
	case method == rootsMethod:
		return wire.OpListRoots
	case strings.Contains(method, "/"): // as every name of a custom request has, and none of the journal's own
		return wire.OpCustomRequest
	}
	return wire.OpElicit
}

// membersOf returns the members of a JSON object, nil for any other value.
func membersOf(object []byte) (members map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &members) // anything but an object has no members
	return members
}

// AskOption is an option for one asking of a question, such as Named.
type AskOption func(name string) string

// Named is for a question that is asked about several things, such as files to delete: instance tells this asking from others of the same
// question. It has to be the same when the handler runs again, since the recorded answer is found by it.
func Named(instance string) AskOption {
	return func(name string) string { return name + instanceMark + keyOf(instance) }
}

// named applies the options to the name of a question.
func named(name string, opts []AskOption) string {
	for _, o := range opts {
		name = o(name)
	}
	return name
}

// instanceMark separates the name of a question from its instance. Names do not have it elsewhere.
const instanceMark = "#"

// keyOf makes a short and safe object key of instance: instance itself if that is short and safe, else ~ and its hash.
func keyOf(instance string) string {
	if len(instance) <= 64 && strings.Trim(instance, keyLetters) == "" {
		return instance
	}
	h := sha256.Sum256([]byte(instance))
	return "~" + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h[:16])
}

const keyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

// maxName bounds the names that handlers choose for their requests, in bytes.
const maxName = 128

func checkName(name string) error {
	if len(name) > maxName || strings.Contains(name, instanceMark) {
		return &task.NameError{Name: name, Why: "has more than 128 bytes, or a #: say what it is about with server.Named"}
	}
	return nil
}
