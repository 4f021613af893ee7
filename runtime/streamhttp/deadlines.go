package streamhttp

import (
	"sync"
	"sync/atomic"
	"time"
)

// deadlines are those of many that have the same time each, for example of bodies that are being read. The first to come is the first to be due, so one
// timer does for all. Most are over long before: measured, a place in this list takes a fifth of what it takes to set and remove a deadline of a connection.
type deadlines[E any] struct {
	after time.Duration // of add; 0: never
	pass  func(E)       // called for each that is due, with mu held

	mu          sync.Mutex
	first, last *deadline[E]
	timer       *time.Timer // calls passDue; nil: it was never needed
	running     bool        // timer is set
	over        bool        // passAll was called
}

// deadline is one of them. Its owner can use it again.
type deadline[E any] struct {
	of            E // set by the owner
	due           time.Time
	passed        atomic.Bool
	listed        bool
	before, later *deadline[E]
}

// add begins the time of d, now.
func (l *deadlines[E]) add(d *deadline[E], now time.Time) {
	d.due = now.Add(l.after)
	d.passed.Store(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		l.end(d)
		return
	}
	d.listed, d.before, d.later = true, l.last, nil
	if l.last == nil {
		l.first = d
	} else {
		l.last.later = d
	}
	l.last = d
	if !l.running && l.after > 0 {
		l.start(l.after)
	}
}

// start sets the timer. l.mu is held.
func (l *deadlines[E]) start(wait time.Duration) {
	if l.running = true; l.timer == nil {
		l.timer = time.AfterFunc(wait, l.passDue)
		return
	}
	l.timer.Reset(wait)
}

// remove ends the time of d, and reports whether it has passed, and whether passAll was called.
func (l *deadlines[E]) remove(d *deadline[E]) (passed, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unlist(d)
	return d.passed.Load(), l.over
}

// unlist takes d off the list, if it is there. l.mu is held.
func (l *deadlines[E]) unlist(d *deadline[E]) {
	if !d.listed {
		return
	}
	if d.before == nil {
		l.first = d.later
	} else {
		d.before.later = d.later
	}
	if d.later == nil {
		l.last = d.before
	} else {
		d.later.before = d.before
	}
	d.listed, d.before, d.later = false, nil, nil
}

// end makes d passed. l.mu is held.
func (l *deadlines[E]) end(d *deadline[E]) {
	d.passed.Store(true)
	l.pass(d.of)
}

func (l *deadlines[E]) passDue() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for l.first != nil && !l.first.due.After(now) {
		d := l.first
		l.unlist(d)
		l.end(d)
	}
	if l.running = l.first != nil; l.running {
		l.start(l.first.due.Sub(now))
	}
}

// passAll makes all passed, and those that are added later at once.
func (l *deadlines[E]) passAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.over = true; l.first != nil; {
		d := l.first
		l.unlist(d)
		l.end(d)
	}
	if l.timer != nil {
		l.timer.Stop()
	}
}

// each visits all that have time left, with mu held.
func (l *deadlines[E]) each(visit func(E)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for d := l.first; d != nil; d = d.later {
		visit(d.of)
	}
}
