package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// message returns a message to or from the peer as middleware gets it, without its params.
func (p *peer) message(rev *revision, method string, kind rpc.Kind, from inflight.Direction) *Message {
	m := new(Message)
	p.describe(m, rev, method, kind, from)
	return m
}

// describe fills in what all messages have.
func (p *peer) describe(m *Message, rev *revision, method string, kind rpc.Kind, from inflight.Direction) {
	m.Method, m.Kind, m.Direction, m.Revision, m.Principal, m.peer, m.revision = method, kind, from, rev.Version, p.who.principal, p, rev
	if rev.Handshake {
		m.can = p.can
	}
}

// messageOfCall is the message of a tools/call with its Call: one allocation for both. Neither is pooled.
type messageOfCall struct {
	message Message
	call    Call
}

// newMessage returns the message of the request, without what describe fills in.
func (r *request) newMessage() *Message {
	if r.tool == nil || r.task {
		return new(Message)
	}
	both := new(messageOfCall)
	r.call = &both.call
	return &both.message
}

// performWithMiddleware is dispatch for the result as middleware leaves it.
func (r *request) performWithMiddleware() ([]byte, error) {
	p := r.p
	m := r.newMessage()
	p.describe(m, r.revision, r.method.Name, rpc.KindRequest, inflight.Incoming)
	m.ID, m.Params, m.Tool, m.header, m.can, m.info = r.requestID(), r.raw, r.toolName(), r.header, r.can, r.params.ClientInfo
	m.request = r
	ctx := r.ctx
	if r.method.Op == wire.OpInitialize { // its entry is protected (CAN07), so ctx would outlast the connection, which middleware must not
		var done func()
		ctx, done = p.bound(ctx)
		defer done()
	}
	result, err := p.s.pass(ctx, m)
	switch {
	case err != nil:
		return nil, err
	case result == &m.result: // that of next; m.served is an error if its data could not be read
		return r.answer, m.served
	case r.answer == nil: // next was not called, or it failed
		r.answer = r.beginAnswer()
	}
	return r.replace(r.answer, r.head, result.bytes(r))
}

// dispatchInside dispatches the request within middleware. The context that middleware gave to next no longer applies when next has
// returned.
func (r *request) dispatchInside(ctx context.Context) error {
	was := r.ctx
	r.ctx = ctx
	b, err := r.dispatch()
	if r.ctx = was; err == nil {
		r.answer = b
	}
	return err
}

// bound returns ctx, which then also ends with the peer's connection or session.
func (p *peer) bound(ctx context.Context) (bounded context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.ctx, func() { cancel(context.Cause(p.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// inOrder runs f before the next message is read. With middleware, f has a goroutine of its own: if middleware ends that (runtime.Goexit),
// the read loop goes on. passing tells peer.finish not to wait for middleware that does not return.
func (p *peer) inOrder(f func()) {
	if p.s.middleware == nil {
		f()
		return
	}
	p.passing.Store(true)
	defer p.passing.Store(false)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// passNotification takes a notification of the client through the middleware, whose innermost next calls handle.
func (p *peer) passNotification(r *request, method string, params []byte, handle func(ctx context.Context)) {
	if !p.live.add() {
		return
	}
	p.inOrder(func() {
		defer p.live.done()
		ctx, done := p.bound(context.WithoutCancel(r.ownValues()))
		defer done()
		m := p.message(p.revision, method, rpc.KindNotification, inflight.Incoming)
		m.Params, m.header = params, r.header
		m.serve = func(ctx context.Context) (json.RawMessage, error) {
			handle(ctx)
			return nil, nil
		}
		_, _ = p.s.passSafely(ctx, m) // a notification has no answer, and the error is logged
	})
}

// exchangeNotification takes a notification of the client, in a stateless revision, through the middleware; a custom one goes to its handler.
func (s *Server) exchangeNotification(ctx context.Context, to *Routed, out Outlet) {
	custom := to.method != nil && to.method.Op == wire.OpNotice
	if s.middleware == nil && !custom || to.Kind != rpc.KindNotification || to.revision == nil {
		return
	}
	p := s.newExchange(ctx, to.revision, out)
	if custom {
		p.exchangeNotice(ctx, to)
		return
	}
	m := p.message(to.revision, string(to.msg.Method), rpc.KindNotification, inflight.Incoming)
	m.Params, m.header, m.info = to.msg.Params, to.Header, to.params.ClientInfo
	m.serve = func(context.Context) (json.RawMessage, error) { return nil, nil }
	_, _ = s.passSafely(ctx, m)
}

// notification is one that the server sends. With middleware its way is: send or Call.notify, passOn, subject.pass, passSafely, the middleware,
// and last the write.
type notification struct {
	revision *revision
	op       wire.Op
	custom   string // the method of one that the protocol does not define
	params   []byte
	buf      *[]byte // for its frame; nil: a new one
}

func (n *notification) method() string { return cmp.Or(n.custom, n.revision.names[n.op]) }

func (n *notification) frame() []byte {
	if n.buf == nil {
		return rpc.AppendNotification(nil, n.method(), n.params)
	}
	*n.buf = rpc.AppendNotification((*n.buf)[:0], n.method(), n.params)
	return *n.buf
}

// send writes a notification, if middleware passes it on.
func (s *subject) send(n notification) error {
	if s.peer.s.middleware == nil {
		return s.write(outgoing{frame: n.frame()})
	}
	return s.passOn(n)
}

// passOn takes a notification through the middleware. It works on copies, so that without middleware nothing escapes to the heap.
func (s *subject) passOn(n notification) error {
	about := *s
	return about.pass(n, func() error { return about.write(outgoing{frame: n.frame()}) })
}

// notify writes a notification of the handler, if middleware passes it on.
func (c *Call) notify(n notification) error { return c.notifyAbout(c.subject(), n) }

func (c *Call) notifyAbout(about subject, n notification) error {
	if c.s.middleware == nil {
		return c.write(&about, outgoing{frame: n.frame()})
	}
	return c.passOn(about, n)
}

func (c *Call) passOn(about subject, n notification) error {
	return about.pass(n, func() error { return c.write(&about, outgoing{frame: n.frame()}) })
}

// pass sends a notification through the middleware; write writes it.
func (s *subject) pass(n notification, write func() error) error {
	p := s.peer
	ctx, ok := s.ctx.(context.Context)
	if !ok {
		ctx = p.ctx
	}
	m := p.message(n.revision, n.method(), rpc.KindNotification, inflight.Outgoing)
	m.Params = n.params
	m.serve = func(context.Context) (json.RawMessage, error) { return nil, write() }
	_, err := p.s.passSafely(ctx, m)
	return err
}

// pass sends a question through the middleware, and returns the answer that comes back through it as a reply.
func (a *asking) pass(method string, params []byte, q *task.Question) ([]byte, error) {
	p := a.about.peer
	m := p.message(p.revision, method, rpc.KindRequest, inflight.Outgoing)
	m.ID, m.Params = a.id, params
	var received inflight.Response
	var unanswered error
	m.serve = func(ctx context.Context) (json.RawMessage, error) {
		a.waiter = ctx // that of the middleware
		if received, unanswered = a.request(method, params, q.Deadline); unanswered != nil {
			return nil, unanswered
		}
		if received.Err != nil {
			return nil, received.Err
		}
		return received.Result, nil
	}
	result, err := p.s.passSafely(a.waiter, m)
	defer p.dropAnswer(&received)
	if unanswered != nil && errors.Is(err, unanswered) {
		return nil, err
	}
	if err == nil {
		return p.readReply(q.Method, inflight.Response{Result: result.bytes(nil)})
	}
	// Any error but the client's, returned as it is, is one of middleware's own (reply.Own).
	if own := asRPC(err); own != received.Err {
		return json.Marshal(reply{Error: own, Own: true})
	}
	return p.readReply(q.Method, received)
}
