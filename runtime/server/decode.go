package server

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Params, arguments and answers are decoded here. What they decode to counts as the message does, until the request is over, since a few bytes of
// text can become a large struct (TSK28). What is decoded only to be validated counts until that is done.

// TakeDecoded implements check.Account.
func (r *request) TakeDecoded(bytes int) error {
	if r.p != nil && !r.counted {
		return nil // a request of the server itself
	}
	r.lockDecoding(int64(bytes))
	if err := r.countBytes(int64(bytes)); err != nil {
		return err
	}
	return nil
}

// countText counts the arguments of a task once more for its run: the store has them, and the handler gets their strings as copies.
func (r *request) countText(args []byte) *rpc.Error {
	if len(args) <= smallMessage {
		return nil
	}
	return r.countBytes(int64(len(args)))
}

// callAccount counts decoded input and answers in the request of a call, as long as the handler runs. What a goroutine that it left behind decodes is
// bounded by check.Limits alone.
type callAccount Call

// TakeDecoded implements check.Account.
func (c *callAccount) TakeDecoded(bytes int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r == nil {
		return nil
	}
	return c.r.TakeDecoded(bytes)
}

// giveDecoded gives back what was taken for values that are gone.
func (c *callAccount) giveDecoded(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r != nil {
		c.r.uncountBytes(bytes)
	}
}

// lockDecoding waits for the turn of the request if n more bytes would be beyond half of the limit: there, one input is decoded at a time, and its
// request waits for nothing else meanwhile. The limit may still refuse the bytes.
func (r *request) lockDecoding(n int64) {
	if s := r.reservation.s; r.decoding && !r.holdsDecoding && s.bytes.Used()+n > s.bytes.Max/2 {
		s.decoding <- struct{}{}
		r.holdsDecoding = true
	}
}

func (r *request) unlockDecoding() {
	r.holdsDecoding = false
	<-r.reservation.s.decoding
}

// validating counts, in the account of a call, an answer that is decoded only to validate it; end gives the bytes back.
type validating struct {
	call  *callAccount
	taken int64
}

// TakeDecoded implements check.Account.
func (j *validating) TakeDecoded(bytes int) error {
	err := j.call.TakeDecoded(bytes)
	if err == nil {
		j.taken += int64(bytes)
	}
	return err
}

func (j *validating) end() {
	if j.taken > 0 {
		j.call.giveDecoded(j.taken)
	}
}

// TakeDecoded implements check.Account. What an output is decoded to when it is checked counts in Server.coming until the output is encoded. The bytes
// are never refused, because the handler has done its work; instead, others wait.
func (r *reservation) TakeDecoded(bytes int) error {
	r.s.coming.change(&r.account.coming, int64(bytes))
	r.coming += int64(bytes)
	return nil
}

// decode reads v with d, and puts d back into its pool. v counts in the account, if that is not nil.
func decode[T any](d *check.Decoder, account check.Account, read func(*check.Decoder, *T), v *T) error {
	if account != nil {
		d.Charge(account)
	}
	read(d, v)
	err := d.FinishAfter(func(d *check.Decoder) { read(d, new(T)) })
	d.Put()
	return err
}

// orEmpty returns an empty object for an absent one.
func orEmpty(object []byte) []byte {
	if object == nil {
		return emptyObject
	}
	return object
}

// emptyObject stands for arguments and params that are absent. Nothing changes it: handlers get copies.
var emptyObject = []byte("{}")

// invalidInput returns the error for input that was not decoded: it exceeds a limit, or is invalid.
func invalidInput(err error) error {
	if own, ok := errors.AsType[*rpc.Error](err); ok {
		return own
	}
	return &inputError{err}
}

// reply is a client's answer as it is recorded: without the names that a revision gives its members, since a later run may be served in another revision.
type reply struct {
	Action  Action          `json:"action,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
	Error   *rpc.Error      `json:"error,omitempty"`
	// Unusable: the answer could not be read or kept, and Error says why.
	Unusable bool `json:"malformed,omitempty"`
	// Own: middleware answered in the client's place, or changed its answer, and Error is the middleware's; else Error is the client's.
	Own bool `json:"own,omitempty"`
}

// err returns the error of the question with that name, nil if it has an answer. Whatever rule an answer breaks, the error is an *AnswerError (CAN30).
func (r *reply) err(name string) error {
	switch {
	case r.Error == nil:
		return nil
	case r.Unusable:
		return &AnswerError{name, errors.New(r.Error.Message)}
	case r.Own:
		return r.Error
	}
	return &QuestionError{name, r.Error}
}

// decode reads an answer, which counts in the account, if that is not nil.
func (q *Question[T]) decode(data []byte, limits check.Limits, account check.Account) (Answer[T], error) {
	var r reply
	if err := json.Unmarshal(data, &r); err != nil {
		return Answer[T]{}, &AnswerError{q.Name, err}
	}
	if err := r.err(q.Name); err != nil {
		return Answer[T]{}, err
	}
	a := Answer[T]{Action: r.Action}
	if a.Action != Accepted {
		return a, nil
	}
	content := orEmpty(r.Content)
	err := decode(check.Get(content, limits), account, q.Decode, &a.Value)
	if err == nil {
		err = checkContent(content, limits)
	}
	if err != nil {
		return Answer[T]{}, &AnswerError{q.Name, err}
	}
	return a, nil
}

// readAnswer returns the client's result as a reply.
func (rev *revision) readAnswer(method string, raw []byte, limits check.Limits) ([]byte, error) {
	if method != askMethod {
		if len(raw) == 0 || raw[0] != '{' {
			return nil, errors.New("an answer must be an object")
		}
		if opOf(method) == wire.OpCustomRequest {
			raw = rev.withoutMeta(raw) // its schema does not have _meta
		}
		return json.Marshal(reply{Content: raw})
	}
	var result wire.ElicitResult
	if err := check.Decode(raw, limits, rev.ReadElicitResult, &result); err != nil {
		return nil, err
	}
	if meta := rev.metaOfAnswer(raw); len(meta) > 0 && meta[0] != '{' && string(meta) != "null" {
		return nil, fmt.Errorf("/%s: found %.80s, allowed: an object", rev.metaMember, meta)
	}
	switch action := Action(result.Action); action {
	case Accepted, Declined, Dismissed:
		return json.Marshal(reply{Action: action, Content: result.Content})
	}
	return nil, fmt.Errorf("%s: %q is none of %q, %q, %q", atAction, result.Action, Accepted, Declined, Dismissed)
}

// metaOfAnswer returns the _meta of an answer, nil without one.
func (rev *revision) metaOfAnswer(raw []byte) json.RawMessage {
	if rev.metaMember == "" || !check.Mentions(raw, rev.metaMember) {
		return nil // saves decoding a large answer once more
	}
	return membersOf(raw)[rev.metaMember]
}

// accept reads an answer that came with a request. The error says why it does not answer q.
func (c *Call) accept(q *task.Question, raw json.RawMessage, check answerCheck) ([]byte, error) {
	data, err := c.revision.readAnswer(q.Method, raw, c.s.cfg.limits)
	if err == nil && check != nil {
		account := validating{call: (*callAccount)(c)}
		err = check(data, &account)
		account.end()
	}
	if err != nil {
		c.s.log.Debug("answer refused", "question", q.Name, "error", err)
	}
	return data, err
}
