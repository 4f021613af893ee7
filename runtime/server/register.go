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
	r.counted = true
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
	if err := r.reservation.s.takeBytes(r.reservation.account, n); err != nil {
		return err
	}
	r.countedBytes += n
	return nil
}

// uncountBytes releases n of the counted bytes early.
func (r *request) uncountBytes(n int64) {
	r.countedBytes -= n
	r.reservation.s.bytes.Give(&r.reservation.account.bytes, n)
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
	entry, err := p.s.tracker.RegisterKind(r.parent(), p.key(r.id, inflight.Incoming), r.kind(), p.who.principal)
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

// kind is what the tracker has of the request and of all others of its kind, which share it.
func (r *request) kind() *inflight.Kind {
	switch {
	case r.tool != nil:
		return r.tool.kind(r.revision, r.method, r.task)
	case r.policy != nil && r.policy.Timeout > 0: // of a prompt or resource
		k := *r.revision.kinds[r.method]
		k.Timeout = r.policy.Timeout
		return &k
	}
	return r.revision.kinds[r.method]
}

// kindOf is the kind of requests for a method that names no tool.
func (rev *revision) kindOf(m *wire.Method) *inflight.Kind {
	return &inflight.Kind{Method: m.Name, Protected: m.Uncancellable, AnswersTimeout: true, Variant: rev.index}
}

// toolKind is the kind of a tool's calls in one revision that become tasks, or of those that do not.
type toolKind struct {
	inflight.Kind
	task bool
	next *toolKind
}

// kind returns the kind of the tool's calls. It is made by the first call of a kind.
func (t *Tool) kind(rev *revision, m *wire.Method, asTask bool) *inflight.Kind {
	first := t.calls.kinds.Load()
	for k := first; k != nil; k = k.next {
		if k.Variant == rev.index && k.task == asTask {
			return &k.Kind
		}
	}
	k := &toolKind{Kind: *rev.kindOf(m), task: asTask, next: first}
	if k.Tool = t.Name; !asTask {
		k.Timeout, k.Protected = t.Cancel.Timeout, t.Cancel.Uncancellable
	}
	t.calls.kinds.CompareAndSwap(first, k) // else another call has added one, and the next call adds this one again
	return &k.Kind
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
