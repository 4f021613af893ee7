package server

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// ClientRequest is one request that handlers may make of the client: sampling, roots, questions with a schema of their own.
// Generated code has one per request, and a function or method that calls Send with it.
type ClientRequest[In, Out any] struct {
	Op     Op // OpCreateMessage, OpListRoots, OpElicit
	Codecs []ClientCodec[In, Out]
}

// ClientCodec writes the params and reads the answer as one revision has them.
type ClientCodec[In, Out any] struct {
	Revision string                        // "" stands for all that have no codec of their own
	Append   func(b []byte, in *In) []byte // nil: the request has no params of its own
	Check    func(d *check.Decoder)        // validates what Append wrote (LET01); nil: any JSON will do
	Decode   func(d *check.Decoder, out *Out)
}

// Send makes the request and blocks until it is answered, ctx ends or the server's question timeout passes. It travels as
// Ask's questions do, in every revision, inline and as a task: name, of at most 128 bytes without #, is its key, unique and stable
// within the call. Errors are those of Ask; *UnsupportedError when the client did not declare what it takes.
func Send[In, Out any](ctx context.Context, c *Call, r *ClientRequest[In, Out], name string, in *In, opts ...AskOption) (*Out, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	name = named(name, opts)
	codec := r.codec(c.wire.Revision)
	if codec == nil {
		return nil, &UnsupportedError{}
	}
	params := codec.params(in)
	if err := c.s.validate(params, codec.Check); err != nil {
		return nil, fmt.Errorf("server: the params of %s are invalid: %w", name, err)
	}
	q := task.Question{
		Name: name, Method: askOf(r.Op), Payload: params, Deadline: time.Now().Add(c.s.cfg.askTimeout),
	}
	if refused := c.refuses(&q); refused != nil {
		return nil, refused
	}
	out := new(Out)
	data, err := c.ask(ctx, q, func(data []byte) error { return codec.decode(data, &q, c.s.cfg.limits, nil, new(Out)) })
	if err != nil {
		return nil, err
	}
	if err := codec.decode(data, &q, c.s.cfg.limits, (*callAccount)(c), out); err != nil {
		return nil, err
	}
	return out, nil
}

func (r *ClientRequest[In, Out]) codec(revision string) (found *ClientCodec[In, Out]) {
	for i := range r.Codecs {
		switch r.Codecs[i].Revision {
		case revision:
			return &r.Codecs[i]
		case "":
			found = &r.Codecs[i]
		}
	}
	return found
}

func (c *ClientCodec[In, Out]) params(in *In) []byte {
	if c.Append == nil {
		return []byte("{}")
	}
	return c.Append(nil, in)
}

// decode reads the answer to q, which for a form is one that fits it (LET12). The account, if not nil, pays for it.
func (c *ClientCodec[In, Out]) decode(data []byte, q *task.Question, limits check.Limits, account check.Account, out *Out) error {
	var r reply
	if err := json.Unmarshal(data, &r); err != nil {
		return &AnswerError{q.Name, err}
	}
	if r.Error != nil {
		return r.Error
	}
	if q.Method == elicitMethod {
		if err := checkForm(q.Payload, r.Content, limits); err != nil {
			return &AnswerError{q.Name, err}
		}
	}
	if err := decode(check.Get(r.Content, limits), account, c.Decode, out); err != nil {
		return &AnswerError{q.Name, err}
	}
	return nil
}

// ElicitationComplete tells the client that what the user did on a page is done: id is the elicitationId of the request that sent
// the user there. Revisions in which the client's answer tells it have no such notification; for them, and when the call or the
// connection is over, it does nothing. *UnsupportedError: the client did not declare that it opens pages.
func (c *Call) ElicitationComplete(ctx context.Context, id string) error {
	w := c.wire
	if c.peer == nil || ctx.Err() != nil || w.names[OpElicitationComplete] == "" || w.AppendElicitationComplete == nil {
		return nil
	}
	if refused := w.refuses(c.can, &task.Question{Method: elicitMethod, Payload: w.page}); refused != nil {
		return refused
	}
	about := c.subject()
	params := w.AppendElicitationComplete(nil, &ElicitationComplete{ElicitationID: id})
	if err := about.tell(rpc.AppendNotification(nil, w.names[OpElicitationComplete], params)); err != nil {
		c.Log().Debug("completion not told", "elicitation", id, "error", err)
	}
	return nil
}

// The operations of recorded questions, whatever a revision calls them.
const (
	askMethod     = "ask" // a prompt to the user
	elicitMethod  = "elicit"
	messageMethod = "createMessage"
	rootsMethod   = "listRoots"
)

func askOf(op Op) string {
	switch op {
	case OpCreateMessage:
		return messageMethod
	case OpListRoots:
		return rootsMethod
	case OpElicit:
		return elicitMethod
	}
	panic(fmt.Sprintf("server: operation %d is no request to the client", op))
}

func opOf(method string) Op {
	switch method {
	case messageMethod:
		return OpCreateMessage
	case rootsMethod:
		return OpListRoots
	}
	return OpElicit
}

// UnsupportedError says that the client did not declare the capability that a request to it takes. It matches ErrUnsupported.
// A handler that returns it makes revisions that have a code for it answer with that (EXT18).
// Over HTTP without a session that error has a status of its own, 400. A response that began with progress or a log message has its status, 200, so
// the calls of a tool with a question whose OnUnsupported is Fail say nothing before their end to a client that can not be asked: it
// gets the newest progress, the first 32 log messages and no keep-alive, right before the answer, or nothing but the error (LET20). Where
// such a client should follow the call, let the question be declined or take its default. For other requests to the client (Send)
// nobody knows beforehand: make them before the call says something.
type UnsupportedError struct {
	// Capability is the path of the capability in the client's declaration, as in Capabilities: the part that the params take,
	// such as elicitation/url, where there is one. "": the client's revision has no such request, or takes none from the method that
	// is served (LET16).
	Capability string
}

// Error implements error.
func (e *UnsupportedError) Error() string {
	if e.Capability == "" {
		return ErrUnsupported.Error() + ": its revision of the protocol has no such request, or none here"
	}
	return ErrUnsupported.Error() + ": it did not declare the capability " + e.Capability
}

// Is matches ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }
