package streamhttp

import (
	"slices"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// carrier tracks which stream has a question, also when nobody has read the question there and it moves to another stream.
type carrier struct {
	s      *session
	about  rpc.ID
	unkept func(error) // ends the wait for the answer
	lost   atomic.Bool // unkept was called
	stream *stream     // nil: the backlog has it, or lost it; guarded by s.mu

	forgotten int // number of its event in stream, which was written and is not kept any more; 0: there is none; guarded by stream.mu
}

// Ask implements server.Attended.
func (s *session) Ask(about rpc.ID, frame []byte, unkept func(error)) (server.Carrier, error) {
	c := &carrier{s: s, about: about, unkept: unkept}
	own := storedEvent{frame: slices.Clone(frame), question: c}
	s.mu.Lock()
	if s.questions == nil {
		s.questions = map[*carrier]struct{}{}
	}
	s.questions[c] = struct{}{}
	st := s.active.get(about)
	s.noteCarriers(st, own)
	s.mu.Unlock()
	if about.IsZero() {
		return c, s.offer(own)
	}
	if st == nil {
		return c, errGone // the request was cancelled after the question was permitted
	}
	err := st.addAbout(about, own, false)
	s.bound()
	return c, err
}

// noteCarriers notes that st has the events. s.mu is held.
func (s *session) noteCarriers(st *stream, events ...storedEvent) {
	for _, e := range events {
		if c := e.question; c != nil {
			c.stream = st
		}
	}
}

// lose ends the wait for the answer (CAN30).
func (c *carrier) lose() {
	if c.lost.CompareAndSwap(false, true) {
		c.unkept(errAway)
	}
}

// loseUnreadQuestions ends the wait for the answers to questions that were written to a connection that was lost, and are not kept, if the last event that
// the client has shows that it has not read them.
func (s *session) loseUnreadQuestions(last eventID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.questions {
		if c.stream != nil && c.stream.number == last.stream && c.stream.forgotAfter(c, last.number) {
			c.lose()
		}
	}
}

// forgotAfter reports whether the question was written after event number, and is not kept.
func (s *stream) forgotAfter(c *carrier, number int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.forgotten > number
}

// Attended implements server.Carrier.
func (c *carrier) Attended() (read bool, changed <-chan struct{}) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return !c.lost.Load() && c.stream.read(), c.s.watched()
}

// Close implements server.Carrier: a client that resumes the stream does not get the question any more.
func (c *carrier) Close() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if _, open := c.s.questions[c]; !open {
		return
	}
	if delete(c.s.questions, c); c.stream != nil {
		c.stream.dropQuestion(c)
	} else {
		c.s.dropQuestion(c)
	}
}

// Withdraw implements server.Carrier.
func (c *carrier) Withdraw(frame []byte) error {
	own := append([]byte(nil), frame...)
	c.s.mu.Lock()
	st := c.s.active.get(c.about)
	c.s.mu.Unlock()
	err := errGone
	if st != nil {
		err = st.addEvent(storedEvent{frame: own, about: new(rpc.ID), withdrawal: true}, false)
	}
	if err == errGone {
		return c.s.offer(storedEvent{frame: own, withdrawal: true})
	}
	c.s.bound()
	return err
}

// read reports whether somebody reads the stream. Without a stream nobody does.
func (s *stream) read() bool {
	if s == nil {
		return false
	}
	idle, _ := s.idle()
	return !idle
}
