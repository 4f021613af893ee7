package server

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// This file decides which stream asks a question of a task: that of the delivery which has claimed the question. Server.mu guards Server.claims,
// Server.streams, Server.offers and claim.on.

// claim is the right of one delivery to ask a question. No other delivery asks it until the claim is released.
type claim struct {
	by    *delivery
	yield context.CancelFunc // makes the delivery release the claim
	done  chan struct{}      // closed when the claim is released
	on    Carrier            // the stream that has the question; nil: none yet, or the transport has only one stream
}

// hasReader reports whether somebody reads the stream that has the question. The channel is closed when that may have changed.
func (c *claim) hasReader() (read bool, changed <-chan struct{}) {
	s := c.by.peer.s
	s.mu.Lock()
	on := c.on
	s.mu.Unlock()
	if on != nil {
		return on.Attended()
	}
	return c.by.hasReader()
}

// carriedBy notes the stream that has the question, and gives the claim up if nobody reads that.
func (c *claim) carriedBy(on Carrier) {
	s := c.by.peer.s
	s.mu.Lock()
	c.on = on
	s.mu.Unlock()
	c.yieldIfUnread()
}

// yieldIfUnread gives the claim up, so that the question is asked again, if nobody reads the stream that has the question, but somebody reads the stream
// on which the delivery asks now.
func (c *claim) yieldIfUnread() {
	if read, _ := c.hasReader(); read {
		return
	}
	if read, _ := c.by.hasReader(); read {
		c.yield()
	}
}

// claimOf returns the claim on the question if it is d's, else nil.
func (s *Server) claimOf(name questionID, d *delivery) *claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.claims[name]; c != nil && c.by == d {
		return c
	}
	return nil
}

// claimQuestion makes a claim for d, or returns that of the delivery which has the question.
func (s *Server) claimQuestion(name questionID, d *delivery, yield context.CancelFunc) (c *claim, ours bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c = s.claims[name]; c != nil {
		return c, false
	}
	c = &claim{by: d, yield: yield, done: make(chan struct{})}
	s.claims[name] = c
	return c, true
}

func (s *Server) releaseQuestion(name questionID, c *claim) {
	s.mu.Lock()
	delete(s.claims, name)
	s.mu.Unlock()
	close(c.done)
}

// awaitFree returns when the claim is released, when the readers of its stream change, when those of the waiting delivery's stream change
// (readersChanged), or when ctx ends. A claim whose stream nobody reads has to be given up: its client may never have got the question.
func (c *claim) awaitFree(ctx context.Context, readersChanged <-chan struct{}) {
	read, changed := c.hasReader()
	if !read {
		c.yield()
		changed = nil
	}
	select {
	case <-c.done:
	case <-changed:
	case <-readersChanged:
	case <-ctx.Done():
	}
}

// noteStream notes an open request for a task's result that somebody reads.
func (s *Server) noteStream(d *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[d.task] == nil {
		s.streams[d.task] = map[*delivery]struct{}{}
	}
	s.streams[d.task][d] = struct{}{}
}

// forgetStream removes a stream. The task's open questions that go on no other one are offered to its session.
func (s *Server) forgetStream(d *delivery) {
	s.mu.Lock()
	streams := s.streams[d.task]
	_, open := streams[d]
	delete(streams, d)
	if len(streams) == 0 {
		delete(s.streams, d.task)
	}
	life := s.taskLives[d.task]
	s.mu.Unlock()
	if open && life != nil {
		life.peer.offer(d.owner, d.task)
	}
}

// streamed reports whether a request for the task's result is open and read, and its client can be asked q. The caller holds mu.
func (s *Server) streamed(id string, q *task.Question) bool {
	for d := range s.streams[id] {
		if d.peer.delivers(q) {
			return true
		}
	}
	return false
}

// beginOffer notes that d offers the question to the session, and reports whether nobody else does and no stream takes it.
func (s *Server) beginOffer(d *delivery, q *task.Question) bool {
	name := questionID{d.task, q.Name}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offers[name] != nil || s.streamed(d.task, q) {
		return false
	}
	s.offers[name] = d
	return true
}

func (s *Server) endOffer(name questionID, d *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offers[name] == d {
		delete(s.offers, name)
	}
}

// withdrawOfferIfStreamed ends the offer of q to the session if q goes on a stream, and reports whether it does. When that stream is gone, the
// question is offered again (forgetStream).
func (s *Server) withdrawOfferIfStreamed(id string, q *task.Question) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.streamed(id, q) {
		return false
	}
	delete(s.offers, questionID{id, q.Name})
	return true
}
