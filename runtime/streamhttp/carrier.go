package streamhttp

import (
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// carrier knows which stream has a question, also when that was not read there and went on to another one.
type carrier struct {
	s      *session
	about  rpc.ID
	stream *stream // nil: the backlog has it, or lost it; guarded by s.mu
	frame  *byte   // identifies the frame
}

// Ask implements server.Attended.
func (s *session) Ask(about rpc.ID, frame []byte) (server.Carrier, error) {
	own := append([]byte(nil), frame...)
	c := &carrier{s: s, about: about, frame: &own[0]}
	s.mu.Lock()
	if s.carriers == nil {
		s.carriers = map[*byte]*carrier{}
	}
	s.carriers[c.frame] = c
	st := s.active.Get(about)
	s.noteCarriers(st, own)
	s.mu.Unlock()
	if about.IsZero() {
		return c, s.sendToListener(own)
	}
	if st == nil {
		return c, errGone // the request was cancelled after the question was permitted
	}
	err := st.addAbout(about, own, false)
	s.bound()
	return c, err
}

// noteCarriers notes that st has the frames. With s.mu.
func (s *session) noteCarriers(st *stream, frames ...[]byte) {
	if len(s.carriers) == 0 {
		return
	}
	for _, f := range frames {
		if c := s.carriers[&f[0]]; c != nil {
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

// Close implements server.Carrier: no client that comes back is asked again.
func (c *carrier) Close() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.carriers[c.frame] == nil {
		return
	}
	delete(c.s.carriers, c.frame)
	if c.stream != nil {
		c.stream.dropFrame(c.frame)
	} else {
		c.s.dropFrame(c.frame)
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
