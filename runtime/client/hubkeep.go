package client

import (
	"errors"
	"math/rand/v2"
	"time"
)

// How long to wait before a server that has ended is restarted: at first, at most, and how long it must have run for the wait to begin anew.
const (
	firstRestart = time.Second
	maxRestart   = time.Minute
	steady       = time.Minute
)

// keep maintains a session with the server until the member is removed.
func (m *member) keep(s *Session) {
	defer close(m.ended)
	defer m.old.Wait()
	for wait := firstRestart; s != nil; s = m.restart(s, &wait) {
		begun := time.Now()
		select {
		case <-m.ctx.Done():
			m.err = s.Close()
			return
		case <-s.Done():
		}
		if time.Since(begun) >= steady {
			wait = firstRestart
		}
		old := s
		m.old.Go(func() { _ = old.Close() }) // its handlers may need time to end
		if err := s.Err(); errors.Is(err, ErrClosed) || !m.transport.reopens() {
			m.lost(err, 0)
			<-m.ctx.Done()
			return
		}
		m.lost(s.Err(), wait)
	}
}

// restart connects until there is a session again, which takes over what the host has asked the old one for; nil: the member was removed.
func (m *member) restart(old *Session, wait *time.Duration) *Session {
	for sleep(m.ctx, *wait+rand.N(*wait/10)) { // servers that died together must not start together
		*wait = min(2**wait, maxRestart)
		s, err := Connect(m.ctx, m.transport, m.opts...)
		if err == nil {
			s.inherit(old)
			m.up(s)
			m.tell(nil)
			return s
		}
		if m.ctx.Err() == nil {
			m.lost(err, *wait)
		}
	}
	return nil
}

func (m *member) up(s *Session) {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	m.session, m.down = s, nil
}

// lost records why the server is down, and when it is restarted; 0: never.
func (m *member) lost(err error, wait time.Duration) {
	down := &DownError{Server: m.name, Err: err}
	if wait > 0 {
		down.Again = time.Now().Add(wait)
	}
	m.hub.mu.Lock()
	m.session, m.down = nil, down
	m.hub.mu.Unlock()
	m.tell(down)
}

func (m *member) tell(down *DownError) {
	switch f := m.hub.Changed; {
	case f == nil:
	case down == nil:
		f(m.name, nil)
	default:
		f(m.name, down)
	}
}
