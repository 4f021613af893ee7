package server

import "context"

// This file decides which stream asks a question of a task: that of the delivery which claimed it. Server.mu guards all of it.

// claim is the right of one delivery to ask a question. No other one asks it until the claim is released.
type claim struct {
	by    *delivery
	yield context.CancelFunc // makes the delivery stop
	done  chan struct{}      // closed when it has stopped
	on    Carrier            // the stream that has the question; nil: none yet, or the transport has only one stream
}

// hasReader reports whether somebody reads the stream that has the question. The channel is closed when that may have changed.
func (h *claim) hasReader() (read bool, changed <-chan struct{}) {
	s := h.by.peer.s
	s.mu.Lock()
	on := h.on
	s.mu.Unlock()
	if on != nil {
		return on.Attended()
	}
	return h.by.hasReader()
}

// carriedBy notes the stream that has the question.
func (h *claim) carriedBy(on Carrier) {
	s := h.by.peer.s
	s.mu.Lock()
	h.on = on
	s.mu.Unlock()
	h.yieldIfUnread()
}

// yieldIfUnread gives the claim up, so that the question is asked again, if its stream was lost, and the stream of its
// delivery is read.
func (h *claim) yieldIfUnread() {
	if read, _ := h.hasReader(); read {
		return
	}
	if read, _ := h.by.hasReader(); read {
		h.yield()
	}
}

// claimOf returns the claim on the question if it is d's, else nil.
func (s *Server) claimOf(name questionID, d *delivery) *claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.claims[name]; h != nil && h.by == d {
		return h
	}
	return nil
}

// claimQuestion gives the question to d, or returns the claim of the delivery that has it.
func (s *Server) claimQuestion(name questionID, d *delivery, yield context.CancelFunc) (h *claim, ours bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h = s.claims[name]; h != nil {
		return h, false
	}
	h = &claim{by: d, yield: yield, done: make(chan struct{})}
	s.claims[name] = h
	return h, true
}

func (s *Server) releaseQuestion(name questionID, h *claim) {
	s.mu.Lock()
	delete(s.claims, name)
	s.mu.Unlock()
	close(h.done)
}

// awaitFree returns when the claim is released, when the readers of its stream or of the waiting one (readersChanged) have changed, or when ctx
// ends. A claim whose stream nobody reads has to be given up: its client may never have got the question.
func (h *claim) awaitFree(ctx context.Context, readersChanged <-chan struct{}) {
	read, changed := h.hasReader()
	if !read {
		h.yield()
		changed = nil
	}
	select {
	case <-h.done:
	case <-changed:
	case <-readersChanged:
	case <-ctx.Done():
	}
}

// noteStream notes a request for a task's result that somebody reads.
func (s *Server) noteStream(d *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[d.task] == nil {
		s.streams[d.task] = map[*delivery]struct{}{}
	}
	s.streams[d.task][d] = struct{}{}
}

// forgetStream hands questions that are still open to the session when the last stream is gone.
func (s *Server) forgetStream(d *delivery) {
	s.mu.Lock()
	streams := s.streams[d.task]
	_, open := streams[d]
	delete(streams, d)
	last := open && len(streams) == 0
	if last {
		delete(s.streams, d.task)
	}
	life := s.taskLives[d.task]
	s.mu.Unlock()
	if last && life != nil {
		life.peer.offer(d.owner, d.task)
	}
}

// streamed reports whether a request for the task's result is open and read.
func (s *Server) streamed(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams[id]) > 0
}

// beginOffer notes that d offers the question to the session, and reports whether nobody else does.
func (s *Server) beginOffer(name questionID, d *delivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offers[name] != nil {
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

// withdrawOfferIfStreamed ends the offer to the session if there is a stream; it is made again when that closes.
func (s *Server) withdrawOfferIfStreamed(name questionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.streams[name.task]) == 0 {
		return false
	}
	delete(s.offers, name)
	return true
}
