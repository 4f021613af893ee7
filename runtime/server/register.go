package server

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// register puts the request in flight.
func (r *request) register() *refusal {
	refused := r.count()
	if refused == nil {
		refused = r.enter()
	}
	if refused != nil {
		r.uncount()
	}
	return refused
}

// count counts the request, the bytes of its message and what a subscription keeps, until it is released.
func (r *request) count() *refusal {
	if !r.countCall() {
		calls := &r.p.s.calls
		return &refusal{err: full(calls, &r.p.account.calls, 1, "limit reached: at most %d requests in flight, of one caller three quarters of that", calls.Max)}
	}
	r.counted, r.account = true, r.p.account
	// A task in a subscription takes three entries in maps: sizeOf has counted one.
	n := int64(r.size) + r.header.size() + sizeOf(r.params.ResourceURIs...) + sizeOf(r.params.TaskIDs...) + 2*entrySize*int64(len(r.params.TaskIDs))
	if r.p.receiving == nil && !reserved(r.method) { // what the transport holds (Costly): it counts once for a batch, and not for what passes at the limit
		n += r.p.cost
	}
	if n+2*int64(r.size) <= smallMessage { // with the id and the progress token, which are copies of parts of the message
		return nil
	}
	if n += int64(len(r.id.Text()) + len(r.params.ProgressToken.Text())); n <= smallMessage {
		return nil
	}
	if err := r.countBytes(n); err != nil {
		return &refusal{err: err}
	}
	return nil
}

// countBytes counts n more bytes until the request is released.
func (r *request) countBytes(n int64) *rpc.Error {
	if err := r.reservation.s.takeBytes(r.account, n); err != nil {
		return err
	}
	r.countedBytes += n
	return nil
}

// uncountBytes releases n of the counted bytes early.
func (r *request) uncountBytes(n int64) {
	r.countedBytes -= n
	r.reservation.s.bytes.Give(&r.account.bytes, n)
}

func (r *request) countCall() bool {
	s, a := r.p.s, r.p.account
	if reserved(r.method) {
		return s.calls.TakeReserved(&a.calls, 1, reserve)
	}
	return s.calls.Take(&a.calls, 1)
}

// smallMessage is the size, in bytes, up to which messages are not counted: the number of requests bounds those.
const smallMessage = 4 << 10

// reserve is how many pings and requests to cancel tasks may be in flight beyond the limit: those pass while all others are refused.
const reserve = 1_000

func reserved(m *wire.Method) bool { return m.Op == wire.OpPing || m.Op == wire.OpCancelTask }

// enter puts the request into the tracker, whose entry is its context.
func (r *request) enter() *refusal {
	p := r.p
	entry, err := p.s.tracker.Register(r.parent(), p.key(r.id, inflight.Incoming), r.info())
	if err != nil {
		return refuse(rpc.CodeInvalidRequest, "%v", err)
	}
	r.entry, r.ctx = entry, entry
	if !p.live.add() {
		entry.Retire()
		return refuse(rpc.CodeInvalidRequest, "the server is shutting down")
	}
	if r.method.Op == wire.OpListen {
		r.openSubscription()
	}
	return nil
}

// parent is the connection's context, with the values that came with the request, if there are any.
func (r *request) parent() context.Context {
	if r.values == nil {
		return r.p.ctx
	}
	return &valued{r.p.ctx, r.values}
}

func (r *request) info() inflight.Info {
	info := inflight.Info{
		Method: r.method.Name, Principal: r.p.principal, Protected: r.method.Uncancellable, AnswersTimeout: true,
		Variant: r.revision.index,
	}
	if r.policy != nil { // of a prompt or resource
		info.Timeout = r.policy.Timeout
	}
	if r.tool != nil {
		info.Tool = r.tool.Name
		if !r.task {
			info.Timeout = r.tool.Cancel.Timeout
			info.Protected = r.tool.Cancel.Uncancellable
		}
	}
	return info
}

func (p *peer) key(id rpc.ID, d inflight.Direction) inflight.Key {
	return inflight.Key{Peer: p.id, ID: id, Direction: d}
}

// sizeOf is how many bytes are kept of subscriptions to these resources or tasks (TSK28).
func sizeOf(uris ...string) (n int64) {
	for _, uri := range uris {
		n += entrySize + int64(len(uri))
	}
	return n
}

// size is roughly how many bytes the header has.
func (h Header) size() (n int64) {
	for name, values := range h {
		for _, v := range values {
			n += int64(len(name) + len(v))
		}
	}
	return n
}
