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

// budget bounds the bytes (of Server.opened: the openers) that all callers hold together, of which each has a fair share. Callers whose share is used
// up wait without holding up the others: each connection, session, or caller without either has a queue, and what is given back goes to the
// queues in turn (TSK28). grant.go says which waiter is next, shortage.go whose answers are given up so that others get something.
type budget struct {
	limit       int64
	fair        func(own, used, n, limit int64) bool // quota.Fair or quota.Third
	reputations *reputations                         // how callers read; nil: all are treated alike
	onShortage  func([]shortage)                     // called at once, and each second, while some wait; nil: not called

	mu         sync.Mutex
	used       int64
	queues     list.List   // of *share, those with waiters
	newestNext bool        // the newest of queues that has had nothing is next, else the oldest
	round      uint64      // counts the rounds of grantTurns, in each of which every queue has one turn
	stuckSince time.Time   // while some wait: when something was last given back, or else when the first of them came
	clock      *time.Timer // calls reportShortage while some wait
}

// share is what a caller, or one of its connections or sessions, holds of a budget. Its methods and those of budget call it p.
type share struct {
	of      *share        // the caller's share, of which this is a part; nil: this is the caller's
	who     Requestor     // the caller; only set in a caller's share of Server.unread
	held    atomic.Int64  // changed under budget.mu
	waiting []*waiter     // under budget.mu, as what follows
	place   *list.Element // of this share in budget.queues; nil: nobody waits
	served  bool          // a waiter has got its bytes since the queue was last empty
	round   uint64        // the last of budget.round in which the queue had its turn
}

func (p *share) caller() *share {
	if p.of != nil {
		return p.of
	}
	return p
}

// fits reports whether p may hold n more; more than half of the limit counts as half, so that even what is larger than the limit gets through alone.
// A caller that holds nothing may hold n if the budget has that left. A connection or session may hold half of what the caller's other ones leave of
// the caller's share. The caller of fits holds mu.
func (b *budget) fits(p *share, n int64) bool {
	n = min(n, b.limit/2)
	own := p.caller().held.Load()
	if own == 0 {
		return b.used+n <= b.limit
	}
	if !b.fair(own, b.used, n, b.limit) {
		return false
	}
	held := p.held.Load()
	return p.of == nil || held == 0 || held+n <= quota.Part(own, b.used, b.limit)-own-n // only budgets with quota.Third have shares of sessions
}

// add adds n, which may be negative, to what p holds. The caller holds mu.
func (b *budget) add(p *share, n int64) {
	b.used += n
	p.held.Add(n)
	if p.of != nil {
		p.of.held.Add(n)
	}
}

// take takes n bytes for p as soon as p may hold them.
func (b *budget) take(ctx context.Context, p *share, n int64) error {
	return b.get(ctx, p, 0, n, false)
}

// takeToBegin is take for work that has not begun: it waits behind work that has.
func (b *budget) takeToBegin(ctx context.Context, p *share, n int64) error {
	return b.get(ctx, p, 0, n, true)
}

// swap gives the held bytes back, so that p holds nothing that others wait for, and then takes n. p is queued before others get what it gave back.
func (b *budget) swap(ctx context.Context, p *share, held, n int64) error {
	return b.get(ctx, p, held, n, false)
}

func (b *budget) get(ctx context.Context, p *share, held, n int64, notBegun bool) error {
	b.mu.Lock()
	b.add(p, -held)
	if b.queues.Len() == 0 && b.fits(p, n) {
		b.add(p, n)
		b.mu.Unlock()
		return nil
	}
	w := &waiter{n: n, reputation: b.reputationOf(p), notBegun: notBegun, granted: make(chan struct{})}
	b.queue(p, w)
	b.grant()
	b.mu.Unlock()
	request := inflight.FromContext(ctx)
	if request != nil {
		request.SetLacksRoom(true) // stays if the request ends meanwhile, so that its answer can say so
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
	return b.fits(p, n)
}

// change counts n more bytes of p, or fewer if n is negative, whether or not it may hold them.
func (b *budget) change(p *share, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(p, n)
	if n < 0 && b.queues.Len() > 0 {
		b.stuckSince = time.Now()
		b.grant()
	}
}

// changeOwn is change for bytes that count in the shares of p and its caller alone, so that others do not wait for them.
func (b *budget) changeOwn(p *share, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(p, n)
	b.used -= n
	b.grant()
}

// lacking reports whether somebody waits.
func (b *budget) lacking() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queues.Len() > 0
}

// total returns what all hold together.
func (b *budget) total() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// maxOpened bounds the openers that are read at the same time, and the files of each size class. Each opener may have an open file, and two pieces in memory.
const maxOpened = 1 << 10

// maxFiles is how many openers, and how many files of each size class, there may be in a process that may have that many descriptors (0: unknown).
// Together they use at most half of the descriptors.
func maxFiles(descriptors uint64) int64 {
	if descriptors == 0 {
		return maxOpened
	}
	return int64(min(maxOpened, max(1, descriptors/8)))
}

// openBudgets makes the budgets of answers. An answer that is not read can not be taken back, so a caller holds at most a third of what all leave:
// many such callers leave something. An output that is being encoded finishes by itself, so of coming a caller may hold three times what is left.
func (s *Server) openBudgets() {
	s.unread = budget{limit: s.cfg.maxUnread, fair: quota.Third, onShortage: s.endStalled, reputations: &s.reputations}
	s.coming = budget{limit: max(1, s.cfg.maxUnread/2), fair: quota.Fair}
	files := maxFiles(descriptors())
	s.opened = budget{limit: files, fair: quota.Third, onShortage: s.refuseOpeners}
	s.openFileRoom(files)
	s.probes.free = maxProbes
	s.encoding.open(maxEncoders())
	s.decoding = make(chan struct{}, 1)
}
