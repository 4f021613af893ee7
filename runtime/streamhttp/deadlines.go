package streamhttp

import (
	"sync"
	"sync/atomic"
	"time"
)

// deadlines are deadlines with one common timeout, for example of bodies that are being read. They expire in the order in which they were added, so one timer
// does for all. Most are removed long before: measured, that takes a fifth of what it takes to set and remove a deadline of a connection.
type deadlines[E any] struct {
	after  time.Duration // the timeout; 0: they do not expire
	expire func(E)       // called for each that expires, with mu held: it must not wait, nor call the application

	mu      sync.Mutex
	all     list[*deadline[E]]
	timer   *time.Timer // calls expireDue; nil: it was never needed
	running bool        // timer is set
	over    bool        // expireAll was called
}

// deadline is one of them. Its owner can use it again.
type deadline[E any] struct {
	of      E // set by the owner
	due     time.Time
	expired atomic.Bool
	at      place[*deadline[E]]
}

func (d *deadline[E]) place() *place[*deadline[E]] { return &d.at }

// add starts the timeout of d, now.
func (l *deadlines[E]) add(d *deadline[E], now time.Time) {
	d.due = now.Add(l.after)
	d.expired.Store(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		l.expireOne(d)
		return
	}
	l.all.push(d)
	if !l.running && l.after > 0 {
		l.start(l.after)
	}
}

// start sets the timer. l.mu is held.
func (l *deadlines[E]) start(wait time.Duration) {
	if l.running = true; l.timer == nil {
		l.timer = time.AfterFunc(wait, l.expireDue)
		return
	}
	l.timer.Reset(wait)
}

// remove ends the timeout of d, and reports whether it has expired, and whether expireAll was called.
func (l *deadlines[E]) remove(d *deadline[E]) (expired, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.remove(d)
	return d.expired.Load(), l.over
}

// expireOne makes d expire, which is not listed. l.mu is held.
func (l *deadlines[E]) expireOne(d *deadline[E]) {
	d.expired.Store(true)
	l.expire(d.of)
}

func (l *deadlines[E]) expireDue() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for l.all.first != nil && !l.all.first.due.After(now) {
		d := l.all.first
		l.all.remove(d)
		l.expireOne(d)
	}
	if l.running = l.all.first != nil; l.running {
		l.start(l.all.first.due.Sub(now))
	}
}

// expireAll makes all expire, and those that are added later at once.
func (l *deadlines[E]) expireAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.over = true; l.all.first != nil; {
		d := l.all.first
		l.all.remove(d)
		l.expireOne(d)
	}
	if l.timer != nil {
		l.timer.Stop()
	}
}
