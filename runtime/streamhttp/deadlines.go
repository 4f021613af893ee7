package streamhttp

import (
	"sync"
	"sync/atomic"
	"time"
)

// deadlines are those of many that have the same time each, for example of bodies that are being read. The first to come is the first to be due, so one
// timer does for all: most are over long before, and setting and stopping a timer for each takes longer than a place in a list.
type deadlines struct {
	after time.Duration // of add; 0: never

	mu          sync.Mutex
	first, last *deadline
	timer       *time.Timer // calls passDue; nil: it was never needed
	running     bool        // timer is set
	over        bool        // passAll was called
}

// deadline is one of them. Its owner can use it again.
type deadline struct {
	pass          func() // called once it is due, with deadlines.mu held
	due           time.Time
	passed        atomic.Bool
	listed        bool
	before, later *deadline
}

// add begins the time of d.
func (l *deadlines) add(d *deadline) {
	d.due = time.Now().Add(l.after)
	d.passed.Store(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		d.end()
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
func (l *deadlines) start(wait time.Duration) {
	if l.running = true; l.timer == nil {
		l.timer = time.AfterFunc(wait, l.passDue)
		return
	}
	l.timer.Reset(wait)
}

// remove ends the time of d, and reports whether it has passed, and whether passAll was called.
func (l *deadlines) remove(d *deadline) (passed, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unlist(d)
	return d.passed.Load(), l.over
}

// unlist takes d off the list, if it is there. l.mu is held.
func (l *deadlines) unlist(d *deadline) {
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

// end makes d passed. deadlines.mu is held.
func (d *deadline) end() {
	d.passed.Store(true)
	d.pass()
}

func (l *deadlines) passDue() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for l.first != nil && !l.first.due.After(now) {
		d := l.first
		l.unlist(d)
		d.end()
	}
	if l.running = l.first != nil; l.running {
		l.start(l.first.due.Sub(now))
	}
}

// passAll makes all passed, and those that are added later at once.
func (l *deadlines) passAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.over = true; l.first != nil; {
		d := l.first
		l.unlist(d)
		d.end()
	}
	if l.timer != nil {
		l.timer.Stop()
	}
}
