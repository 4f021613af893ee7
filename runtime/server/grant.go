package server

import (
	"slices"
	"time"
)

// waiter is one that waits for bytes of its share.
type waiter struct {
	n          int64 // bytes
	reputation reputation
	err        error         // why it gets nothing; written before granted is closed
	notBegun   bool          // what it is for has not begun: it goes behind what is there
	granted    chan struct{} // closed
}

// queue puts w behind those of its kind that wait for the same share. With mu.
func (b *budget) queue(p *share, w *waiter) {
	at := len(p.waiting)
	for !w.notBegun && at > 0 && p.waiting[at-1].notBegun {
		at--
	}
	p.waiting = slices.Insert(p.waiting, at, w)
	if len(p.waiting) > 1 {
		return
	}
	p.line = b.lines.PushBack(p)
	if b.lines.Len() == 1 {
		b.freed = time.Now()
	}
	switch {
	case b.onShortage == nil || b.lines.Len() > 1:
	case b.clock == nil:
		b.clock = time.AfterFunc(0, b.check)
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

// grant lets those go on that may: first those who read, last those who do not. Of one reputation those are first that have begun: what they wait
// with is in memory. While one of them waits for others alone, nothing large of its reputation begins, or it would wait beside it, and
// nothing large of a worse one goes on. With mu.
func (b *budget) grant() {
	owed := false
	for is := range reputationCount {
		better := owed
		owed = b.grantAll(func(w *waiter) bool { return w.reputation == is && !w.notBegun && !(better && w.n > largeOutput) }) || owed
		left := b.grantAll(func(w *waiter) bool { return w.reputation == is && w.notBegun && !(owed && w.n > largeOutput) })
		owed = owed || left
	}
}

// grantAll lets those of one kind go on, each line one after the other. It reports whether one that holds nothing is left.
func (b *budget) grantAll(may func(*waiter) bool) (left bool) {
	if b.lines.Len() == 0 {
		return false
	}
	for b.grantTurns(may) {
	}
	for e := b.lines.Front(); e != nil; e = e.Next() {
		p := e.Value.(*share)
		left = left || may(p.waiting[0]) && p.caller().held.Load() == 0
	}
	return left
}

// grantTurns lets one of each line go on that may, and reports whether there was one. The oldest line and the newest one that had no turn are next by
// turns: whoever comes behind many that do not read does not wait for all of them, nor do those who came first wait forever.
func (b *budget) grantTurns(may func(*waiter) bool) (granted bool) {
	first, last := b.lines.Front(), b.lines.Back()
	for first != nil && last != nil {
		e := first
		if b.newestNext && !last.Value.(*share).served {
			e = last
		}
		met := first == last
		if e == first {
			first = e.Next()
		} else {
			last = e.Prev()
		}
		if p := e.Value.(*share); may(p.waiting[0]) && b.fits(p, p.waiting[0].n) {
			b.goOn(p)
			b.newestNext, granted = !b.newestNext, true
		}
		if met {
			break
		}
	}
	return granted
}

// goOn lets the first waiter of a line go on.
func (b *budget) goOn(p *share) {
	w := p.waiting[0]
	b.add(p, w.n)
	close(w.granted)
	p.served = true
	b.lines.MoveToBack(p.line)
	b.remove(p, 0)
}

// remove removes a waiter. With mu.
func (b *budget) remove(p *share, i int) {
	p.waiting = slices.Delete(p.waiting, i, i+1)
	if len(p.waiting) == 0 {
		b.lines.Remove(p.line)
		p.waiting, p.line, p.served = nil, nil, false
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
	}
	b.grant()
}

// refuse ends the waiting of all if nothing was given back for so long, and returns how many there were.
func (b *budget) refuse(after time.Duration, err error) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.freed) < after {
		return 0
	}
	for e := b.lines.Front(); e != nil; e = b.lines.Front() {
		p := e.Value.(*share)
		w := p.waiting[0]
		w.err = err
		close(w.granted)
		b.remove(p, 0)
		n++
	}
	return n
}
