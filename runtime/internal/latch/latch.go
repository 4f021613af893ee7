// Package latch is a channel that takes no memory until somebody waits for it. It is for the packages of the runtime that keep many of what ends once.
package latch

import "sync/atomic"

// Latch is a channel that is closed once. Its channel is made when somebody first waits. The zero Latch is open. It is safe for concurrent use.
type Latch struct{ made atomic.Pointer[chan struct{}] }

// closed is what every closed Latch has.
var closed = func() *chan struct{} {
	c := make(chan struct{})
	close(c)
	return &c
}()

// Done returns the channel.
func (l *Latch) Done() <-chan struct{} {
	if c := l.made.Load(); c != nil {
		return *c
	}
	c := make(chan struct{})
	if l.made.CompareAndSwap(nil, &c) {
		return c
	}
	return *l.made.Load()
}

// Close closes the channel. Closing it again does nothing.
func (l *Latch) Close() {
	if waited := l.made.Swap(closed); waited != nil && waited != closed {
		close(*waited)
	}
}

// Closed reports whether Close was called.
func (l *Latch) Closed() bool { return l.made.Load() == closed }
