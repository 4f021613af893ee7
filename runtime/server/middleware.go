package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Handle serves a message, or passes it on. The result is that of a request, nil for a notification.
type Handle func(ctx context.Context, m *Message) (*MessageResult, error)

// ToolHandle runs a tool, or passes its call on. in and out are pointers to the types of the tool's handler; out may be nil.
type ToolHandle func(ctx context.Context, call *Call, in any) (out any, err error)

// WithMiddleware puts middleware around every request and notification, in both directions, within the middleware of earlier options: the first
// one is the outermost. A middleware calls next once, or answers itself. It may pass on a context of its own, which handlers get, and change the
// result or the error. Errors are answered as those of handlers are. A result other than the one that next returned is validated as a handler's
// is: by its definition in the request's revision, and the structured content of a tool by the outputSchema. If it does not fit, the client gets
// an internal error, and the log says what is wrong (LET01, VAL01). Middleware can not set a result's server and task: they are those of the
// result that next returned. Nor can it choose a type. In place of a task, or of the questions that a tool asks before there is one, as 2026-07-28 returns them, a result without a
// resultType, or with that of a complete result, is complete, so the output of its tool is validated; with any other, it keeps the type of what next
// returned. Every other result is complete. The data of an Opener is opened when the outermost middleware has returned, or when middleware reads
// the result (MessageResult.JSON).
//
// A request of the client passes through middleware once it is admitted: malformed and unknown ones, and those beyond a limit, are refused
// before. The context is the request's. When it has ended, context.Cause says why, and whatever middleware returns is not sent (CAN02). A
// request that becomes a task is answered with the task, also if it is cancelled after the task was created (CAN11); an answer that middleware puts in
// its place is not sent then. WithToolMiddleware is around the task's run.
//
// The handshake takes effect once the outermost middleware has returned its result: after an error there is no session, and the client may try again.
// The handshake and the client's notifications pass in the read loop, one after the other, so the client's next message waits for their
// middleware. A cancellation has taken effect before it passes: middleware can not delay it.
//
// A message of the server passes before it is decided whether it may still be written, so next may return an error that says that it is
// too late. Notifications of one call, and of one task, pass in order, and the next one waits for their middleware. Returning without
// calling next drops a notification, and answers a request in the client's place: Ask or Send then returns an *rpc.Error of middleware as it is, and
// an internal error in place of any other. Pings do not pass. Nor do the questions of a call in a stateless revision: the call is answered with them while
// its handler may still run, next returns ErrAsked, and whatever middleware returns then is not sent. Only the result of a tool that asks before there
// is a task passes, and can be replaced.
func WithMiddleware(wraps ...func(next Handle) Handle) Option {
	return func(c *config) { c.middleware = append(c.middleware, wraps...) }
}

// WithToolMiddleware puts middleware around the handlers of tools, within that of earlier options: the first one is the outermost. It
// runs inline and in tasks, after the arguments were validated, and again whenever the handler runs again, with an answer or after a
// crash. A middleware calls next once, or returns an output of the handler's type, or an error, which is treated as the handler's.
// Return ErrAsked as it is.
func WithToolMiddleware(wraps ...func(next ToolHandle) ToolHandle) Option {
	return func(c *config) { c.toolMiddleware = append(c.toolMiddleware, wraps...) }
}

// ErrNext is returned by next if it was called before with the same message, or its middleware has returned.
var ErrNext = errors.New("server: a middleware may call next once, before it returns")

// Message is a request or notification on its way through middleware. It is valid until the outermost middleware returns, and must not be
// changed.
type Message struct {
	Method    string
	Kind      rpc.Kind           // KindRequest or KindNotification
	Direction inflight.Direction // Incoming: the client sent it
	ID        rpc.ID             // of a request
	Params    json.RawMessage    // as they are on the wire, nil for none
	Tool      string             // of tools/call
	Revision  string             // of the message
	Principal string             // of the client, "" without an identity

	peer     *peer
	revision *revision
	can      ability
	info     []byte // the clientInfo of this message
	header   Header
	request  *request                                           // the client's, which the innermost next dispatches; nil for other messages
	serve    func(ctx context.Context) (json.RawMessage, error) // what the innermost next calls for other messages
	result   MessageResult                                      // the result of serving it
	served   error                                              // the error of serving it
	passes   passes
}

// Client is the client as it describes itself. For a message of the server, it is known only within a session.
func (m *Message) Client() Client {
	base := m.peer.client
	if base == nil {
		base = readClient(m.info)
	}
	return describe(base, m.revision, m.can)
}

// Meta is the _meta of the message, nil without one.
func (m *Message) Meta() Meta {
	return readMeta(m.revision.metaOf(m.Params, m.peer.s.cfg.limits))
}

// Header is the header of the HTTP request that brought the message, nil for others.
func (m *Message) Header() Header { return m.header }

// Session names the session, as Call.Session does.
func (m *Message) Session() string { return m.peer.session(m.revision) }

// String names the message in errors and logs.
func (m *Message) String() string {
	if m.ID.IsZero() {
		return m.Method
	}
	return m.Method + " " + m.ID.String()
}

// passes counts the calls of next for one message, or one run of a tool. It ensures that each middleware calls next at most once, and before it returns:
// after that the request's memory is reused.
type passes struct {
	state atomic.Uint64
	idle  chan struct{} // closed by the last leave after the end; nil: end does not wait
}

// The parts of passes.state: whether the outermost middleware has returned, how many middlewares have called next, and how many calls of
// next run. They share one word, so that enter and leave take only a few nanoseconds.
const (
	passesOver    = 1 << 63
	passesThrough = 1 << 32 // counts one middleware that has called next
	passesRunning = passesThrough - 1
)

// enter is called by the next of middleware number i. It reports whether that call of next may go on; if so, leave has to follow.
func (p *passes) enter(i int) bool {
	for {
		was := p.state.Load()
		if was&passesOver != 0 || was/passesThrough > uint64(i) {
			return false
		}
		if p.state.CompareAndSwap(was, uint64(i+1)*passesThrough+was&passesRunning+1) {
			return true
		}
	}
}

// hold keeps end from returning until leave. It reports false after the end.
func (p *passes) hold() bool {
	for {
		was := p.state.Load()
		if was&passesOver != 0 {
			return false
		}
		if p.state.CompareAndSwap(was, was+1) {
			return true
		}
	}
}

func (p *passes) leave() {
	if now := p.state.Add(^uint64(0)); now&passesOver != 0 && now&passesRunning == 0 {
		close(p.idle)
	}
}

// end returns when no call of next runs any more, and none can begin.
func (p *passes) end() {
	for {
		was := p.state.Load()
		if was&passesOver == 0 && was&passesRunning > 0 && p.idle == nil {
			p.idle = make(chan struct{})
		}
		if was&passesOver != 0 || p.state.CompareAndSwap(was, was|passesOver) {
			break
		}
	}
	if p.idle != nil && p.state.Load()&passesRunning > 0 {
		<-p.idle
	}
}

// wrap composes the middleware around serveMessage and runHandler.
func (s *Server) wrap() {
	if len(s.cfg.middleware) > 0 {
		s.middleware = serveMessage
	}
	for i, wrap := range slices.Backward(s.cfg.middleware) {
		inner := s.middleware
		s.middleware = wrap(func(ctx context.Context, m *Message) (*MessageResult, error) {
			if !m.passes.enter(i) {
				return nil, s.nextRefused(m.String())
			}
			defer m.passes.leave()
			return inner(ctx, m)
		})
	}
	if len(s.cfg.toolMiddleware) > 0 {
		s.toolMiddleware = runHandler
	}
	for i, wrap := range slices.Backward(s.cfg.toolMiddleware) {
		inner := s.toolMiddleware
		s.toolMiddleware = wrap(func(ctx context.Context, call *Call, in any) (any, error) {
			p := call.passes()
			if p == nil || !p.enter(i) {
				return nil, s.nextRefused("tool " + call.Tool())
			}
			defer p.leave()
			return inner(ctx, call, in)
		})
	}
}

// nextRefused returns the error of a call of next that may not go on.
func (s *Server) nextRefused(what string) error {
	return s.misuse(ErrNext, "next was called again, or late, for %s", what)
}

// misuseError is a defect of middleware. It is logged; the client gets an internal error.
type misuseError struct {
	text string
	err  error // wrapped, for errors.Is; may be nil
}

func (e *misuseError) Error() string { return "server: " + e.text }
func (e *misuseError) Unwrap() error { return e.err }

func (s *Server) misuse(is error, format string, args ...any) error {
	err := &misuseError{fmt.Sprintf(format, args...), is}
	s.log.Error("middleware is wrong", "error", err)
	return err
}

// runAround runs the tool's handler within the middleware of tools.
func (s *Server) runAround(ctx context.Context, call *Call, in any) (any, error) {
	h := &call.tool.Handler
	p := new(passes)
	call.r.passes = p
	defer p.end()
	out, err := s.toolMiddleware(ctx, call, in)
	switch v := reflect.ValueOf(out); {
	case out == nil:
		return nil, err
	case v.Type() != reflect.TypeOf(h.out):
		return nil, s.misuse(nil, "a middleware returned a %T for the tool %s, whose handler returns a %T", out, call.Tool(), h.out)
	case v.IsNil():
		return nil, err
	}
	return out, err
}

// passes returns the counts of the run's middleware, nil when the handler has returned.
func (c *Call) passes() *passes {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r == nil {
		return nil
	}
	return c.r.passes
}

// runHandler is the innermost next of tool middleware: it runs the handler.
func runHandler(ctx context.Context, call *Call, in any) (any, error) {
	h := &call.tool.Handler
	if v := reflect.ValueOf(in); !v.IsValid() || v.Type() != reflect.TypeOf(h.in) || v.IsNil() {
		return nil, call.s.misuse(nil, "a middleware passed a %T to the tool %s, whose handler takes a %T", in, call.Tool(), h.in)
	}
	out, err := h.call(ctx, call, in)
	return out, call.returned(err)
}

// serveMessage is the innermost next of message middleware: it serves the message.
func serveMessage(ctx context.Context, m *Message) (*MessageResult, error) {
	if m.request != nil {
		m.result.m = m
		m.served = m.request.dispatchInside(ctx)
	} else {
		m.result.own, m.served = m.serve(ctx)
	}
	if m.served != nil || m.Kind != rpc.KindRequest {
		return nil, m.served
	}
	return &m.result, nil
}

// pass sends a message through the middleware. It returns when no call of next runs any more.
func (s *Server) pass(ctx context.Context, m *Message) (result *MessageResult, err error) {
	defer m.passes.end()
	result, err = s.middleware(ctx, m)
	m.passes.end()
	if m.served == ErrAsked { // the call was answered with its questions, so what middleware makes of that is not sent
		return nil, ErrAsked
	}
	if err == nil || m.served != nil && errors.Is(err, m.served) {
		return result, err
	}
	return nil, s.ownError(m, err)
}

// passSafely is pass where nothing else takes care of a panic.
func (s *Server) passSafely(ctx context.Context, m *Message) (result *MessageResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("panic", "message", m.String(), "panic", v, "stack", string(debug.Stack()))
			err = errInternal
		}
	}()
	return s.pass(ctx, m)
}
