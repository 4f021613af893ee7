package server

import (
	"slices"
	"time"
)

// waiter waits for bytes of a budget, in the queue of a share.
type waiter struct {
	n          int64 // bytes
	reputation reputation
	err        error         // why it gets nothing; written before granted is closed
	notBegun   bool          // its work has not begun, so it waits behind waiters whose work has
	granted    chan struct{} // closed when it has the bytes, or err
}

// queue adds w to the queue of its share: if its work has begun, before those whose work has not. The caller holds mu.
func (b *budget) queue(p *share, w *waiter) {
	at := len(p.waiting)
	for !w.notBegun && at > 0 && p.waiting[at-1].notBegun {
		at--
	}
	p.waiting = slices.Insert(p.waiting, at, w)
	if len(p.waiting) > 1 {
		return
	}
	p.place = b.queues.PushBack(p)
	if b.queues.Len() == 1 {
		b.stuckSince = time.Now()
	}
	switch {
	case b.onShortage == nil || b.queues.Len() > 1:
	case b.clock == nil:
		b.clock = time.AfterFunc(0, b.reportShortage)
	default:
		b.clock.Reset(0)
	}
}

func (b *budget) reputationOf(p *share) reputation {
	if b.reputations == nil {
		return unknown
	}
	return b.reputations.of(p.caller().who)
}

// grant gives waiters their bytes as far as these fit: first the callers that read, last those that do not. Within one reputation, work that has begun
// comes first, because its output is in memory. If a waiter stays whose caller holds nothing, no large work of the same reputation begins (its output
// would be in memory, too), and no large request of a worse one is granted. The caller holds mu.
func (b *budget) grant() {
	owed := false // a waiter is left whose caller holds nothing
	for rep := range reputationCount {
		owedToBetter := owed
		owed = b.grantAll(func(w *waiter) bool {
			return w.reputation == rep && !w.notBegun && !(owedToBetter && w.n > largeOutput)
		}) || owed
		left := b.grantAll(func(w *waiter) bool { return w.reputation == rep && w.notBegun && !(owed && w.n > largeOutput) })
		owed = owed || left
	}
}

// grantAll grants the selected waiters their bytes, one of each queue by turns. It reports whether one is left whose caller holds nothing.
func (b *budget) grantAll(selected func(*waiter) bool) (left bool) {
	if b.queues.Len() == 0 {
		return false
	}
	for b.grantTurns(selected) {
	}
	for e := b.queues.Front(); e != nil; e = e.Next() {
		p := e.Value.(*share)
		left = left || selected(p.waiting[0]) && p.caller().held.Load() == 0
	}
	return left
}

// grantTurns grants the first waiter of each queue, if it is selected and fits, and reports whether there was one. The oldest queue and the newest
// one that has had nothing take turns: a caller behind many that do not read does not wait for all of them, nor do the first ones wait forever.
func (b *budget) grantTurns(selected func(*waiter) bool) (granted bool) {
	b.round++
	oldest, newest := b.queues.Front(), b.queues.Back()
	for {
		for oldest != nil && oldest.Value.(*share).round == b.round {
			oldest = oldest.Next()
		}
		for newest != nil && (newest.Value.(*share).served || newest.Value.(*share).round == b.round) {
			newest = newest.Prev()
		}
		next := oldest
		if b.newestNext && newest != nil {
			next = newest
		}
		if next == nil {
			return granted
		}
		p := next.Value.(*share)
		p.round = b.round
		if !selected(p.waiting[0]) || !b.fits(p, p.waiting[0].n) {
			continue
		}
		if next == oldest {
			oldest = oldest.Next() // grantFirst takes the queue from its place
		}
		if next == newest {
			newest = newest.Prev()
		}
		b.grantFirst(p)
		b.newestNext, granted = !b.newestNext, true
	}
}

// grantFirst grants the first waiter of a queue.
func (b *budget) grantFirst(p *share) {
	w := p.waiting[0]
	b.add(p, w.n)
	close(w.granted)
	p.served = true
	b.queues.MoveToBack(p.place)
	b.remove(p, 0)
}

// remove removes a waiter. The caller holds mu.
func (b *budget) remove(p *share, i int) {
	p.waiting = slices.Delete(p.waiting, i, i+1)
	if len(p.waiting) == 0 {
		b.queues.Remove(p.place)
		p.waiting, p.place, p.served = nil, nil, false
	}
}

// leave removes a waiter that gave up.
func (b *budget) leave(p *share, w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(p.waiting, w); i >= 0 {
		b.remove(p, i)
	} else if w.err == nil {
		b.add(p, -w.n)
		b.stuckSince = time.Now()
	}
	b.grant()
}

// refuse fails all waiters with err and returns their number. It does nothing if less than after has passed since bytes were last
// given back, or, if none were, since the first waiter came.
func (b *budget) refuse(after time.Duration, err error) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.stuckSince) < after {
		return 0
	}
	for e := b.queues.Front(); e != nil; e = b.queues.Front() {
		p := e.Value.(*share)
		w := p.waiting[0]
		w.err = err
		close(w.granted)
		b.remove(p, 0)
		n++
	}
	return n
}
