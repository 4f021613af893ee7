package server

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
)

// budget bounds the bytes that all callers hold together, of which each has a fair share. Those whose share is used up wait, and do not keep others
// from theirs: each connection, session, or caller without either has a queue, and what is given back goes to the queues in turn (TSK28). grant.go
// says who is next, shortage.go who is ended so that others get something.
type budget struct {
	limit       int64
	fair        func(own, used, n, limit int64) bool
	reputations *reputations     // how callers read; nil: all alike
	onShortage  func([]shortage) // called at once, and each second, while some wait; nil: not called

	mu         sync.Mutex
	used       int64
	growing    growing     // all together
	begun      uint64      // how many growths began
	queues     list.List   // of *share, those with waiters
	newestNext bool        // the newest of queues is next, else the oldest
	freed      time.Time   // when something was given back last while some waited, or the first of them came
	clock      *time.Timer // calls check while some wait
	hurried    bool        // it calls check soon
}

// share is what one caller holds of a budget, or one of its connections or sessions. Its methods and those of budget call it p.
type share struct {
	of      *share        // the caller's; nil: this is one
	who     Requestor     // of a caller
	session uint64        // the id of the connection or session; 0: of a caller
	growing growing       // under budget.mu
	held    atomic.Int64  // changed under budget.mu
	waiting []*waiter     // under budget.mu, as what follows
	place   *list.Element // its own in budget.queues; nil: nobody waits
	served  bool          // one of those that waited has gone on
}

func (p *share) caller() *share {
	if p.of != nil {
		return p.of
	}
	return p
}

// fits reports whether p may hold what w wants; more than half of the limit counts as half. A caller that holds nothing may if the budget has that
// left. Of its caller's share, a connection or session holds no more than it leaves to the caller's others: these could have as much besides. The
// caller of fits holds mu.
func (b *budget) fits(p *share, w *waiter) bool {
	n, held, own, used, fair := w.n, p.held.Load(), p.caller().held.Load(), b.used, b.fair
	if g := w.growth; g != nil { // as if it gave back what it holds, and took all at once
		ofAll, ofCaller, ofShare := b.ceded(g)
		n, held, own, used = n+g.held, held-ofShare, own-ofCaller, used-ofAll
	}
	n = min(n, b.limit/2)
	if own == 0 {
		return used+n <= b.limit
	}
	if w.grows && held == 0 {
		fair = quota.Fair // it is little, and what it waited for may wait for it
	}
	if !fair(own, used, n, b.limit) {
		return false
	}
	return p.of == nil || held == 0 || fair(own, used, n+held+n, b.limit)
}

// add adds n, which may be negative, to what p holds. The caller holds mu.
func (b *budget) add(p *share, n int64) {
	b.used += n
	p.held.Add(n)
	if p.of != nil {
		p.of.held.Add(n)
	}
}

// take takes n bytes for p as soon as it may hold them.
func (b *budget) take(ctx context.Context, p *share, n int64) error {
	return b.get(ctx, p, 0, waiter{n: n})
}

// takeToBegin is take for work that has not begun: it waits behind work that has.
func (b *budget) takeToBegin(ctx context.Context, p *share, n int64) error {
	return b.get(ctx, p, 0, waiter{n: n, notBegun: true})
}

// swap is take that gives held bytes back first: a waiter holds nothing that others wait for. It is queued before those get the bytes.
func (b *budget) swap(ctx context.Context, p *share, held, n int64) error {
	return b.get(ctx, p, held, waiter{n: n})
}

func (b *budget) get(ctx context.Context, p *share, held int64, want waiter) error {
	b.mu.Lock()
	b.add(p, -held)
	if b.queues.Len() == 0 && b.fits(p, &want) {
		b.give(p, &want, want.n)
		b.mu.Unlock()
		return nil
	}
	w := new(waiter) // only who waits needs one on the heap
	*w = want
	w.reputation, w.granted = b.reputationOf(p), make(chan struct{})
	b.queue(p, w)
	b.grant()
	b.mu.Unlock()
	request := inflight.FromContext(ctx)
	if request != nil {
		request.SetLacksRoom(true) // stays if it ends meanwhile: so its answer can say so
	}
	select {
	case <-w.granted:
		if request != nil {
			request.SetLacksRoom(false)
		}
		return w.err
	case <-ctx.Done():
		b.leave(p, w)
		return context.Cause(ctx)
	}
}

// await returns when p may hold n more bytes, and does not take them.
func (b *budget) await(ctx context.Context, p *share, n int64) error {
	if b.fitsNow(p, n) {
		return nil
	}
	if err := b.takeToBegin(ctx, p, n); err != nil {
		return err
	}
	b.change(p, -n)
	return nil
}

func (b *budget) fitsNow(p *share, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fits(p, &waiter{n: n})
}

// change counts n more bytes of p, or fewer if n is negative, whether or not it may hold them.
func (b *budget) change(p *share, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(p, n)
	if n < 0 && b.queues.Len() > 0 {
		b.freed = time.Now()
		b.grant()
	}
}

// total returns the bytes that all hold together.
func (b *budget) total() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// openBudgets makes the budgets of answers. An answer that is not read can not be taken back, so a caller holds at most a third of what all leave:
// many such callers leave something. An output in the making finishes by itself, so there it may be three times what is left. Of descriptors, files
// with answers have one each, and so do the files that openers read.
func (s *Server) openBudgets() {
	const files = maxOpened
	s.unread = budget{limit: s.cfg.maxUnread, fair: quota.Third, onShortage: s.endStalled, reputations: &s.reputations}
	s.coming = budget{limit: max(1, s.cfg.maxUnread/2), fair: quota.Fair}
	s.opened = budget{limit: files, fair: quota.Third, onShortage: s.refuseOpeners}
	s.spooled = budget{limit: 4 * s.cfg.maxUnread, fair: quota.Third, onShortage: s.freeFiles, reputations: &s.reputations}
	s.fileBytes = max(1, s.spooled.limit/files)
	s.probes.free = maxProbes
	s.encoding.open(maxEncoders())
	s.decoding = make(chan struct{}, 1)
}
