package streamhttp

import "sync/atomic"

// signal is a channel that is closed once, when something is over. It is made when somebody first waits for it: for most sessions nobody does.
type signal struct{ made atomic.Pointer[chan struct{}] }

var closed = func() *chan struct{} {
	c := make(chan struct{})
	close(c)
	return &c
}()

// done returns the channel.
func (s *signal) done() <-chan struct{} {
	if c := s.made.Load(); c != nil {
		return *c
	}
	c := make(chan struct{})
	if s.made.CompareAndSwap(nil, &c) {
		return c
	}
	return *s.made.Load()
}

// close closes the channel. It is called once.
func (s *signal) close() {
	if waited := s.made.Swap(closed); waited != nil {
		close(*waited)
	}
}

func (s *signal) isClosed() bool { return s.made.Load() == closed }
