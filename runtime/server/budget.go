package server

import (
	"container/list"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// budget bounds bytes. Who wants more than are left waits, in the order of asking.
type budget struct {
	limit int64
	used  atomic.Int64
	waits atomic.Int64 // how many wait

	mu      sync.Mutex
	waiting list.List // of *waiter
}

type waiter struct {
	n       int64
	granted chan struct{} // closed
}

// fits tells whether n bytes are left.
func (b *budget) fits(n int64) bool { return b.waits.Load() == 0 && b.used.Load()+n <= b.limit }

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

// take takes n bytes as soon as they are left. late, if not nil, is called each time that it has waited for maxWait.
func (b *budget) take(ctx context.Context, n int64, late func()) error {
	if b.waits.Load() == 0 && b.try(n) {
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

// leave ends the waiting of one who gave up.
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

// change counts n more bytes, which are there already, or fewer.
func (b *budget) change(n int64) {
	b.used.Add(n)
	if n < 0 && b.waits.Load() > 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.grant()
	}
}

// room is what one answer has of the budgets. How large it gets is known when it is encoded, so a share of the budget is taken
// before, and what it does not need is given back: as many are encoded at once as keep the processors busy, and none while
// there is no room for them (TSK28).
type room struct {
	s     *Server
	p     *peer // nil: of a task's result, which waits for no peer
	taken int64
	own   int64 // of the peer's part
}

// part is the peer's part of the budget, nil when there is none: an exchange has one answer.
func (r *room) part() *budget {
	if r.p == nil || r.p.exchange {
		return nil
	}
	return &r.p.unread
}

// parts is how many connections and sessions together can use up the budget.
const parts = 4

// shares is how many answers are encoded at once.
func shares() int64 { return int64(max(4, 2*runtime.GOMAXPROCS(0))) }

// smallAnswer is up to how many bytes an answer that waits is not counted: the number of requests bounds those.
const smallAnswer = 4 << 10

func (r *room) budget() *budget {
	if r.p == nil {
		return &r.s.packing
	}
	return &r.s.unread
}

// wait returns when an answer could be encoded. Handlers start after it: what they return would wait in memory.
func (r *room) wait(ctx context.Context) error {
	if part := r.part(); r.budget().fits(r.s.share) && (part == nil || part.fits(r.s.share/parts)) {
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
	if r.taken > 0 {
		return nil
	}
	if part := r.part(); part != nil {
		if err := part.take(ctx, r.s.share/parts, nil); err != nil {
			return err
		}
		r.own = r.s.share / parts
	}
	var late func()
	if r.p != nil {
		late = func() { r.s.endStalled(r.p) }
	}
	if err := r.budget().take(ctx, r.s.share, late); err != nil {
		r.free()
		return err
	}
	r.taken = r.s.share
	return nil
}

// weigh gives back what an answer of n bytes does not need, and lets it count for its peer.
func (r *room) weigh(n int) {
	if r.taken == 0 {
		return
	}
	size := int64(n)
	if size <= smallAnswer {
		r.free()
		return
	}
	r.budget().change(size - r.taken)
	if part := r.part(); part != nil {
		part.change(size - r.own)
		r.own = size
	}
	r.taken = size
}

// free gives back the rest.
func (r *room) free() {
	if r.taken > 0 {
		r.budget().change(-r.taken)
	}
	if r.own > 0 {
		r.p.unread.change(-r.own)
	}
	r.taken, r.own = 0, 0
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
