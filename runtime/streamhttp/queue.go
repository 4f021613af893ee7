package streamhttp

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Queue implements server.Queued.
func (s *session) Queue(about rpc.ID) server.Queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.active.Get(about); st != nil {
		return st
	}
	if n := len(s.listeners); n > 0 {
		return s.listeners[n-1]
	}
	return nil
}

// Cancelled implements server.Queued: the answer is there already, but may wait for its reader. It is called while a message is received.
func (s *session) Cancelled(about rpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.streams {
		switch {
		case !st.received:
		case st.batched:
			st.withdraw(about)
		case st.about.Same(about):
			st.end()
		}
	}
}

// withdraw takes the answer to one request of a batch out of what the reader did not take yet, and out of what is still to come (CAN02).
func (s *stream) withdraw(id rpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.batch.withdraw(id) {
		return
	}
	taken := s.unread - s.first
	kept := slices.Clone(s.events[:taken]) // the reader may be writing them
	for _, frame := range s.events[taken:] {
		left := s.batch.wanted(frame)
		if len(left) > 0 {
			kept = append(kept, left)
		}
		less := len(frame) - len(left)
		s.bytes, s.behind, s.due = s.bytes-less, s.behind-less, s.due-less
	}
	s.events, s.answer = kept, min(s.answer, s.due)
	s.recount()
	s.room.Broadcast()
}

// AwaitRoom implements server.Queue. It waits for an attached reader that is far behind: the write deadline of the reader bounds that.
// What waits here counts as unread, too.
func (s *stream) AwaitRoom(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.full() {
		return
	}
	if s.crowd != nil {
		if !s.crowd.Take(s.own, int64(bytes)) {
			return // add drops it
		}
		defer s.crowd.Give(s.own, int64(bytes))
	}
	for s.full() {
		s.room.Wait()
	}
}

// full reports whether an attached reader is far behind. With s.mu.
func (s *stream) full() bool { return s.reader != 0 && !s.ended && s.behind > s.limits.pending }

// AwaitRead implements server.Queue. A large frame counts until the reader has written it, so that what waits to be read is what the server
// counts as such (TSK28). Of a small one nobody waits to know whether it was.
func (s *stream) AwaitRead(bytes int) (taken bool) {
	if bytes <= keptBuffer {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	reader, event := s.reader, s.first+len(s.events)-1
	for reader != 0 && s.reader == reader && !s.inline && s.written < event && event < s.first+len(s.events) {
		s.room.Wait()
	}
	return s.written >= event
}

// answers says that one of the requests is answered before the others.
func (s *stream) answers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partly = true
}

// end says that nothing comes any more, not even an answer. What the reader did not take yet is dropped: the client does not want it
// (CAN02).
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.behind > 0 && !s.partly {
		taken := s.unread - s.first
		clear(s.events[taken:])
		s.events = s.events[:taken]
		s.bytes -= s.behind
		s.due -= s.behind
		s.behind, s.answer = 0, 0
		s.recount()
	}
	s.room.Broadcast()
	s.signal()
}
