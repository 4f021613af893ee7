package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ClientRequest is a request to the client that handlers may make: sampling, roots, elicitation with a schema that the handler writes, or a custom request,
// which the protocol does not define. Generated code has one for each, and a function or method that calls Send with it.
type ClientRequest[In, Out any] struct {
	Op     wire.Op // OpCreateMessage, OpListRoots, OpElicit, OpCustomRequest
	Method string  // of an OpCustomRequest: its name in every revision
	Codecs []ClientCodec[In, Out]
}

// ClientCodec writes the params and reads the answer as one revision has them.
type ClientCodec[In, Out any] struct {
	Revision string                        // "" stands for all that have no codec of their own
	Append   func(b []byte, in *In) []byte // nil: the request has no params of its own
	Check    func(d *check.Decoder)        // validates what Append wrote (LET01); nil: any JSON will do
	Decode   func(d *check.Decoder, out *Out)
	// DecodeParams validates what Append wrote for a custom request, in place of Check.
	DecodeParams func(d *check.Decoder, in *In)
}

// Send makes the request and blocks until it is answered, ctx ends or the server's question timeout passes. It is delivered as the questions of Ask
// are, in every revision, inline and as a task: name, of at most 128 bytes without #, is its key, unique and stable within the call. Errors are those
// of Ask; *UnsupportedError when the client did not declare the capability that it requires. A handler with clientCapabilities in the manifest gets
// an error for a request that requires another capability, whatever the client declared. To a *ClientSession the request goes on the session's stream,
// and the name is for errors and tests alone.
func Send[In, Out any](ctx context.Context, c Asker, r *ClientRequest[In, Out], name string, in *In, opts ...AskOption) (*Out, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	name = named(name, opts)
	s, rev, account := c.env()
	codec := r.codec(rev.Version)
	if codec == nil {
		return nil, &UnsupportedError{}
	}
	q := task.Question{
		Name: name, Method: r.method(), Payload: codec.params(in), Deadline: time.Now().Add(s.cfg.askTimeout),
	}
	if err := c.permits(&q); err != nil {
		return nil, err
	}
	whole := q.Payload // a form loses what the client's revision does not have, such as x-sensitive
	q, refused := c.adapt(q)
	if refused != nil {
		return nil, refused
	}
	q.Payload, _ = rev.withoutOwnMembers(q.Payload, nil)
	err := s.validate(q.Payload, codec.check())
	if err == nil {
		err = contradiction(r.Op, whole)
	}
	if err != nil {
		return nil, fmt.Errorf("server: the params of %s are invalid: %w", name, err)
	}
	asked := q // with the name that errors have
	asked.Name = cmp.Or(name, rev.nameOf(q.Method))
	if call, ok := c.(*Call); ok && call.taskRun != nil {
		q.Payload = r.forReaders(call, in, q.Payload)
	}
	out := new(Out)
	data, err := c.ask(ctx, q, func(data []byte, account check.Account) error {
		return codec.decode(data, &asked, s.cfg.limits, account, new(Out))
	})
	if err != nil {
		return nil, err
	}
	if err := codec.decode(data, &asked, s.cfg.limits, account, out); err != nil {
		return nil, err
	}
	return out, nil
}

// permits refuses a request that requires a capability which the manifest does not list for its handler: messages were not withheld in case that is
// refused (LET20). It does so whatever the client declared, so that the author sees the error before any user.
func (c *Call) permits(q *task.Question) error {
	list := c.clientCapabilities()
	if list == nil {
		return nil
	}
	more := c.revision.unsupported(c.revision.listed(list), q)
	if more == nil || more.Capability == "" { // the request requires no other capability, or the revision has no such request
		return nil
	}
	takes := more.Capability
	if opOf(q.Method) == wire.OpCustomRequest {
		takes = extensionAt(takes)
	}
	err := &misuseError{text: fmt.Sprintf("request %q takes %s of the client: add it to the handler's clientCapabilities in the manifest", q.Name, takes)}
	c.Log().Error("request not made", "error", err)
	return err
}

// clientCapabilities is the list of that name that the tool or registry entry has in the manifest; nil: it has none.
func (c *Call) clientCapabilities() []string {
	if c.tool != nil {
		return c.tool.ClientCapabilities
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r == nil || c.r.policy == nil {
		return nil
	}
	return c.r.policy.ClientCapabilities
}

// method is the name under which the request is recorded.
func (r *ClientRequest[In, Out]) method() string {
	if r.Op == wire.OpCustomRequest {
		return r.Method
	}
	return recordedMethod(r.Op)
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

func (c *ClientCodec[In, Out]) check() func(d *check.Decoder) {
	if c.DecodeParams != nil {
		return func(d *check.Decoder) { c.DecodeParams(d, new(In)) }
	}
	return c.Check
}

func (c *ClientCodec[In, Out]) params(in *In) []byte {
	switch {
	case c.Append == nil:
		return []byte("{}")
	case in == nil:
		return []byte("null") // which Check refuses
	}
	return c.Append(nil, in)
}

// decode reads the answer to q. The answer to a form has to fit the form, and that to a sampling request without tools may use none (LET12). What is
// decoded counts in account, if that is not nil.
func (c *ClientCodec[In, Out]) decode(data []byte, q *task.Question, limits check.Limits, account check.Account, out *Out) error {
	var r reply
	if err := json.Unmarshal(data, &r); err != nil {
		return &AnswerError{q.Name, err}
	}
	if err := r.err(q.Name); err != nil {
		return err
	}
	var broken error
	switch q.Method {
	case elicitMethod:
		broken = checkForm(q.Payload, r.Content, limits)
	case messageMethod:
		broken = checkSampled(q.Payload, r.Content)
	}
	if broken != nil {
		return &AnswerError{q.Name, broken}
	}
	if err := decode(check.Get(r.Content, limits), account, c.Decode, out); err != nil {
		return &AnswerError{q.Name, err}
	}
	return nil
}

// The methods under which requests to the client are recorded, the same in all revisions. A custom request is recorded under its own method, which has a
// slash.
const (
	askMethod     = "ask" // Ask
	elicitMethod  = "elicit"
	messageMethod = "createMessage"
	rootsMethod   = "listRoots"
)

// recordedMethod is the method under which a request that is not custom is recorded.
func recordedMethod(op wire.Op) string {
	switch op {
	case wire.OpCreateMessage:
		return messageMethod
	case wire.OpListRoots:
		return rootsMethod
	case wire.OpElicit:
		return elicitMethod
	}
	panic(fmt.Sprintf("server: operation %d is no request to the client", op))
}

// nameOf is what the revision calls the request of a recorded question.
func (rev *revision) nameOf(method string) string {
	op := opOf(method)
	if op == wire.OpCustomRequest {
		return method
	}
	return rev.names[op]
}

// UnsupportedError says that the client did not declare the capability that a request to it requires. It matches ErrUnsupported. When a handler
// returns it, the call is answered with the revision's error code for it, if there is one (EXT18). Over HTTP without a session that error has its own
// status, 400. A response that has begun, with progress or a log message, has status 200 already. So for a client that can not be asked, the calls of
// a tool with a question whose OnUnsupported is Fail withhold messages until their end: the client gets the newest progress, the first 32 log
// messages and no keep-alive, right before the answer, or the error alone (LET20). If such a client should see messages while the call runs, let OnUnsupported
// decline the question or take its default. For other requests to the client (Send) the clientCapabilities of the tool, prompt or resource in the manifest
// have the same effect. Without that list messages are not withheld: once one was sent, a tool's call ends with isError instead, and any other
// request with -32603.
type UnsupportedError struct {
	// Capability is the path of the capability in the client's declaration, as in Capabilities: the part that the params require, such as
	// elicitation/url, where there is one. "": the client's revision has no such request, or allows none in the method that is served (LET16), or the
	// client has no session, or no stream on which it could be told.
	Capability string

	why string // why no capability would help; "": Capability is what the client lacks
}

// Error implements error.
func (e *UnsupportedError) Error() string {
	switch {
	case e.why != "":
		return e.why
	case e.Capability == "":
		return ErrUnsupported.Error() + ": its revision of the protocol has no such request, or allows none while this method is served"
	}
	asks := ErrUnsupported.Error()
	if name, _, _ := strings.Cut(e.Capability, "/"); name != "elicitation" { // no user is asked for roots, say
		asks = "the client can not be asked for that"
	}
	return asks + ": it did not declare the capability " + wire.UnescapeStep(e.Capability)
}

// Is matches ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }
