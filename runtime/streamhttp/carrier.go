package streamhttp

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// carrier tracks which stream has a question, also if nobody read it there and it went on to another one.
type carrier struct {
	s      *session
	about  rpc.ID
	number uint64  // of the question
	stream *stream // nil: the backlog has it, or lost it; guarded by s.mu
}

// Ask implements server.Attended.
func (s *session) Ask(about rpc.ID, frame []byte) (server.Carrier, error) {
	s.mu.Lock()
	if s.carriers == nil {
		s.carriers = map[uint64]*carrier{}
	}
	s.asked++
	c := &carrier{s: s, about: about, number: s.asked}
	s.carriers[c.number] = c
	own := storedEvent{frame: slices.Clone(frame), question: c.number}
	st := s.active.Get(about)
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
	if len(s.carriers) == 0 {
		return
	}
	for _, e := range events {
		if c := s.carriers[e.question]; c != nil {
			c.stream = st
		}
	}
}

// Attended implements server.Carrier.
func (c *carrier) Attended() (read bool, changed <-chan struct{}) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.stream.read(), c.s.watched()
}

// Close implements server.Carrier: a client that resumes the stream does not get the question any more.
func (c *carrier) Close() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.carriers[c.number] == nil {
		return
	}
	delete(c.s.carriers, c.number)
	if c.stream != nil {
		c.stream.dropQuestion(c.number)
	} else {
		c.s.dropQuestion(c.number)
	}
}

// Withdraw implements server.Carrier.
func (c *carrier) Withdraw(frame []byte) error {
	own := append([]byte(nil), frame...)
	c.s.mu.Lock()
	st := c.s.active.Get(c.about)
	c.s.mu.Unlock()
	err := errGone
	if st != nil {
		err = st.addEvent(storedEvent{frame: own, about: new(rpc.ID)}, false)
	}
	if err == errGone {
		return c.s.sendToListener(own)
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
