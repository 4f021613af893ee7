package server

import (
	"container/list"
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// budget bounds bytes. Those who want more than are left wait, in the order of asking.
type budget struct {
	limit int64
	share int64 // what an answer takes until its size is known
	used  atomic.Int64
	waits atomic.Int64 // how many wait

	mu      sync.Mutex
	waiting list.List // of *waiter
}

type waiter struct {
	n       int64
	granted chan struct{} // closed
}

func (b *budget) init(limit int64) {
	b.limit = max(1, limit)
	b.share = max(1, b.limit/shares())
}

// fits tells whether a share is left.
func (b *budget) fits() bool { return b.waits.Load() == 0 && b.used.Load()+b.share <= b.limit }

// try takes n bytes if they are left, or nothing is taken.
func (b *budget) try(n int64) bool {
	for {
		used := b.used.Load()
		if used > 0 && used+n > b.limit {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// takeNow takes n bytes if they are left, and nobody waits for them.
func (b *budget) takeNow(n int64) bool { return b.waits.Load() == 0 && b.try(n) }

// take takes n bytes as soon as they are left. late, if not nil, is called each time that it has waited for maxWait.
func (b *budget) take(ctx context.Context, n int64, late func()) error {
	if b.takeNow(n) {
		return nil
	}
	w := &waiter{n, make(chan struct{})}
	b.mu.Lock()
	place := b.waiting.PushBack(w)
	b.waits.Add(1)
	b.grant()
	b.mu.Unlock()
	tick := time.NewTicker(maxWait)
	defer tick.Stop()
	for {
		select {
		case <-w.granted:
			return nil
		case <-tick.C:
			if late != nil {
				late()
			}
		case <-ctx.Done():
			b.leave(place)
			return context.Cause(ctx)
		}
	}
}

// maxWait is how long an answer waits for peers that do not read theirs before connections of such peers are ended.
const maxWait = 30 * time.Second

// grant lets those go on that have waited longest, as far as there is room. With mu.
func (b *budget) grant() {
	for e := b.waiting.Front(); e != nil && b.try(e.Value.(*waiter).n); e = b.waiting.Front() {
		b.waiting.Remove(e)
		b.waits.Add(-1)
		close(e.Value.(*waiter).granted)
	}
}

// leave removes a waiter that gave up.
func (b *budget) leave(place *list.Element) {
	w := place.Value.(*waiter)
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.granted:
		b.used.Add(-w.n)
	default:
		b.waiting.Remove(place)
		b.waits.Add(-1)
	}
	b.grant()
}

// change counts n more bytes, or fewer, whether or not they are left.
func (b *budget) change(n int64) {
	b.used.Add(n)
	if n < 0 && b.waits.Load() > 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.grant()
	}
}

// room is what one answer has of the budgets. How large it gets is known when it is encoded, so a share of each budget is taken
// before, and what it does not need is given back: as many are encoded at once as keep the processors busy, and none while
// there is no room for them (TSK28).
type room struct {
	s     *Server
	p     *peer    // nil: of a task's result, which waits for no peer
	taken [3]int64 // of budgets
}

// budgets are those in which the answer counts, the narrowest first; nil for none.
func (r *room) budgets() [3]*budget {
	switch {
	case r.p == nil:
		return [3]*budget{2: &r.s.packing}
	case r.p.exchange:
		return [3]*budget{1: &r.p.account.unread, 2: &r.s.unread}
	}
	return [3]*budget{&r.p.unread, &r.p.account.unread, &r.s.unread}
}

// One connection or session has a fourth of what there is for unread answers, one requestor half of it.
const (
	parts        = 4
	accountParts = 2
)

// shares is how many answers are encoded at once.
func shares() int64 { return int64(max(4, 2*runtime.GOMAXPROCS(0))) }

// smallAnswer is up to how many bytes an answer that waits is not counted: the number of requests bounds those.
const smallAnswer = 4 << 10

// wait returns when an answer could be encoded. Handlers start after it: what they return would wait in memory.
func (r *room) wait(ctx context.Context) error {
	fits := true
	for _, b := range r.budgets() {
		fits = fits && (b == nil || b.fits())
	}
	if fits {
		return nil
	}
	if err := r.reserve(ctx); err != nil {
		return err
	}
	r.free()
	return nil
}

// reserve takes room for an answer before it is encoded.
func (r *room) reserve(ctx context.Context) error {
	if r.reserved() {
		return nil
	}
	for i, b := range r.budgets() {
		if b == nil {
			continue
		}
		if !b.takeNow(b.share) {
			if err := b.take(ctx, b.share, r.late(b)); err != nil {
				r.free()
				return err
			}
		}
		r.taken[i] = b.share
	}
	return nil
}

// reserved tells whether room is taken: of what is for all last.
func (r *room) reserved() bool { return r.taken[2] > 0 }

// late ends the waiting for peers that do not read.
func (r *room) late(b *budget) func() {
	if r.p == nil || b == &r.p.unread {
		return nil
	}
	return func() { r.s.endStalled(r.p, b) }
}

// weigh gives back what an answer of n bytes does not need, and lets it count.
func (r *room) weigh(n int) {
	size := int64(n)
	switch {
	case !r.reserved():
	case size <= smallAnswer:
		r.free()
	default:
		for i, b := range r.budgets() {
			if b != nil {
				b.change(size - r.taken[i])
				r.taken[i] = size
			}
		}
	}
}

// free gives back the rest.
func (r *room) free() {
	if r.taken == [3]int64{} {
		return
	}
	for i, b := range r.budgets() {
		if b != nil && r.taken[i] > 0 {
			b.change(-r.taken[i])
		}
	}
	r.taken = [3]int64{}
}

// expected is how many bytes the outputs of a handler have lately: the last one, or somewhat less than a larger one before; 0 when
// they are not large. What handlers return before its size is known can not be refused, so those of large outputs start one
// after the other (TSK28).
type expected struct{ last atomic.Int64 }

// largeOutput is from how many bytes on an output is large.
const largeOutput = 256 << 10

// lendAfter is how long a handler of large outputs keeps the room for its next one while it runs: many such handlers may wait for
// something else.
const lendAfter = 2 * time.Second

// expect takes room for an output of n bytes that a handler is about to return, and returns what gives it back.
func (r *room) expect(ctx context.Context, n int64) (free func(), err error) {
	own := &budget{limit: math.MaxInt64} // of a task
	if r.p != nil {
		own = &r.p.account.coming
	}
	if err := own.take(ctx, n, nil); err != nil {
		return nil, err
	}
	all := &r.s.coming // r is used again while a timer may still call free
	if err := all.take(ctx, n, nil); err != nil {
		own.change(-n)
		return nil, err
	}
	return func() {
		all.change(-n)
		own.change(-n)
	}, nil
}

// learn takes note of an output of n bytes.
func (x *expected) learn(n int) {
	last := x.last.Load()
	size := max(int64(n), last-last/8)
	if size < largeOutput {
		size = 0
	}
	if size != last {
		x.last.Store(size)
	}
}

// handle runs a handler as soon as its answer could be encoded, and takes room for what it returned (TSK28). Its outputs are as
// large as x says.
func (c *Call) handle(ctx context.Context, x *expected, run func() error) error {
	if c.room == nil {
		return run()
	}
	if err := c.room.wait(ctx); err != nil {
		return err
	}
	if n := x.last.Load(); n > 0 {
		return c.handleLarge(ctx, n, run)
	}
	if err := run(); err != nil {
		return err
	}
	return c.room.reserve(ctx)
}

// handleLarge runs a handler that is expected to return n bytes, as soon as there is room for them among what others are expected
// to return. One that takes long lends its room to others.
func (c *Call) handleLarge(ctx context.Context, n int64, run func() error) error {
	kept := false
	free, err := c.room.expect(ctx, n)
	if err != nil {
		return err
	}
	lend := time.AfterFunc(lendAfter, free)
	defer func() {
		if lend.Stop() || kept {
			free()
		}
	}()
	if err := run(); err != nil {
		return err
	}
	kept = lend.Stop() // what it returned is there until it is encoded
	return c.room.reserve(ctx)
}
