package server

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Notice is a client's notification that the protocol does not define, and says who sent it. It is valid until the handler returns.
type Notice struct {
	p        *peer
	revision *revision
	method   *wire.Method
	values   context.Context // the values of the handler's context
	client   []byte          // the clientInfo of this message
	params   []byte
	header   Header
	counted  int64  // bytes that count in the account until it is handled: its own, and those that it decodes to
	over     func() // called when its handler has returned, or will not be called
}

// Principal is who sent it, "" without an identity.
func (n *Notice) Principal() string { return n.p.who.principal }

// Revision is the protocol revision that it was sent in, such as "2025-11-25".
func (n *Notice) Revision() string { return n.revision.Version }

// Session names the session as Call.Session does; "" in a stateless revision.
func (n *Notice) Session() string { return n.p.session(n.revision) }

// Client is the client as it describes itself. In a stateless revision it is known only if the notification's _meta contains it.
func (n *Notice) Client() Client {
	if n.revision.Handshake {
		return describe(n.p.client, n.revision, n.p.can)
	}
	return describe(readClient(n.client), n.revision, 0)
}

// Meta is the _meta of the notification, nil without one.
func (n *Notice) Meta() Meta { return readMeta(n.revision.metaOf(n.params, n.p.s.cfg.limits)) }

// Header is the header of the HTTP request that brought it, nil on other transports.
func (n *Notice) Header() Header { return n.header }

// TakeDecoded implements check.Account.
func (n *Notice) TakeDecoded(bytes int) error {
	if err := n.p.charge(int64(bytes)); err != nil {
		return err
	}
	n.counted += int64(bytes)
	return nil
}

// NoticeHandler handles the notifications of one method that the protocol does not define. BindNotice makes one.
type NoticeHandler struct {
	name string
	take func(ctx context.Context, n *Notice) error
}

// BindNotice joins a handler with the decoder of its params, which does not see their _meta. Params that the decoder refuses never
// reach fn. The client learns neither of that nor of an error of fn: both are logged.
//
// Notifications of one connection or session are handled one at a time, in the order in which they came. Those beyond the limits of
// requests are dropped. ctx ends with the connection or session; in a stateless revision over HTTP, with the HTTP request.
func BindNotice[In any](name string, fn func(ctx context.Context, from *Notice, in *In) error, read func(d *check.Decoder, in *In)) NoticeHandler {
	return NoticeHandler{name, func(ctx context.Context, n *Notice) error {
		in, params := new(In), n.revision.withoutMeta(orEmpty(n.params))
		if err := decode(check.GetScanned(params, n.p.s.cfg.limits), n, read, in); err != nil {
			return err
		}
		return fn(ctx, n, in)
	}}
}

// newNotice counts a notification as a request until it is handled. It returns nil if that exceeds a limit, or the client has not
// finished its handshake. It copies the params.
func (p *peer) newNotice(rev *revision, m *wire.Method, params []byte, header Header, values context.Context) *Notice {
	s := p.s
	if err := s.rates.take(p, ratedMethods, 1); err != nil || rev.Handshake && !p.ready || p.closing.Load() || !s.calls.Take(&p.account.calls, 1) {
		return nil
	}
	n := &Notice{p: p, revision: rev, method: m, header: header, values: context.WithoutCancel(values)}
	if err := n.TakeDecoded(len(params) + int(header.size())); err != nil || !p.live.add() {
		n.uncount()
		return nil
	}
	n.params = append([]byte(nil), params...)
	if rev.ReadRequest != nil {
		var common wire.Params
		_ = check.DecodeScanned(orEmpty(n.params), s.cfg.limits, rev.ReadRequest, &common) // all of them are optional
		n.client = common.ClientInfo
	}
	return n
}

func (n *Notice) uncount() {
	p := n.p
	p.s.calls.Give(&p.account.calls, 1)
	p.refund(n.counted)
}

// run calls the handler. If that ends its goroutine (runtime.Goexit), the next notification is handled nevertheless.
func (n *Notice) run() {
	defer n.over()
	defer n.p.live.done()
	defer n.uncount()
	p := n.p
	if p.ctx.Err() != nil {
		return
	}
	ctx, done := p.bound(n.values)
	defer done()
	began := time.Now()
	err := n.pass(ctx)
	n.observeNotice(began, err)
	if err != nil && ctx.Err() == nil {
		p.s.log.Warn("notification not taken", "method", n.method.Name, "peer", p.id, "principal", p.who.principal, "error", err)
	}
}

func (n *Notice) pass(ctx context.Context) error {
	s := n.p.s
	if s.middleware == nil {
		return n.take(ctx)
	}
	m := n.p.message(n.revision, n.method.Name, rpc.KindNotification, inflight.Incoming)
	m.Params, m.header, m.info = n.params, n.header, n.client
	m.serve = func(ctx context.Context) (json.RawMessage, error) { return nil, n.take(ctx) }
	_, err := s.passSafely(ctx, m)
	return err
}

func (n *Notice) take(ctx context.Context) (err error) {
	s := n.p.s
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("panic", "method", n.method.Name, "panic", v, "stack", string(debug.Stack()))
			err = errInternal
		}
	}()
	return n.revision.noticeHandlers[n.method.Name].take(ctx, n)
}

// noticeQueue handles the notifications of one peer one after the other. Its zero value is empty.
type noticeQueue struct {
	mu      sync.Mutex
	waiting []*Notice
	busy    bool // one is being handled
}

// add handles the notification now, or after those before it.
func (q *noticeQueue) add(n *Notice) {
	n.over = q.next
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy {
		q.waiting = append(q.waiting, n)
		return
	}
	q.busy = true
	go n.run()
}

func (q *noticeQueue) next() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy = len(q.waiting) > 0; !q.busy {
		q.waiting = nil
		return
	}
	n := q.waiting[0]
	q.waiting[0], q.waiting = nil, q.waiting[1:]
	go n.run()
}

// queueNotice queues a notification for its handler; custom is false if msg is not one that has a handler. On a connection, a notification that names
// no revision belongs to the session, if there is one.
func (p *peer) queueNotice(r *request, msg *rpc.Message) (custom bool) {
	rev := p.revision
	if to, refused := p.reading.route(msg); refused == nil {
		rev = to.revision
	}
	if rev.Handshake && !p.ready && len(p.s.stateless) > 0 {
		rev = p.s.stateless[0]
	}
	m := rev.methods[string(msg.Method)]
	if m == nil || m.Op != wire.OpNotice {
		return false
	}
	if n := p.newNotice(rev, m, msg.Params, r.header, r.ownValues()); n != nil {
		p.notices.add(n)
	} else {
		p.s.log.Debug("notification dropped", "method", m.Name, "peer", p.id)
	}
	return true
}

// exchangeNotice handles the notification of an exchange, and returns when its handler has returned.
func (p *peer) exchangeNotice(ctx context.Context, to *Routed) {
	s := p.s
	ctx, p.cancel = context.WithCancelCause(ctx)
	defer p.cancel(nil)
	p.ctx = ctx
	s.addPeer(p)
	defer s.dropPeer(p)
	defer p.live.done()
	n := p.newNotice(to.revision, to.method, to.msg.Params, to.Header, ctx)
	if n == nil {
		s.log.Debug("notification dropped", "method", to.method.Name, "principal", p.who.principal)
		return
	}
	taken := make(chan struct{})
	n.over = func() { close(taken) }
	go n.run()
	select {
	case <-taken:
	case <-s.down:
		p.cancel(&inflight.Cause{Source: inflight.SourceShutdown, Reason: s.stopReason(ctx)})
		<-taken
	}
}
