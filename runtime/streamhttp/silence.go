package streamhttp

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Cancelled implements server.Queued: the answer is in the stream already, but may wait for the reader, or for a client that resumes the
// stream. It is called while a message is received.
func (s *session) Cancelled(about rpc.ID) {
	for _, st := range s.receivedAbout(about) {
		s.silence(st, about)
	}
}

// receivedAbout returns the streams of requests with the id, and those of batches, whose messages the server has received.
func (s *session) receivedAbout(id rpc.ID) (found []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range slices.Concat(s.about.get(id), s.about.get(rpc.ID{})) {
		if st.received {
			found = append(found, st)
		}
	}
	return found
}

// silence drops the events of st about a request that is cancelled, written or not: the client does not want them, and does not get them again when
// it resumes the stream (CAN02). The withdrawal of a question is not about the request: it goes to a listener if no reader took it (CAN19).
func (s *session) silence(st *stream, about rpc.ID) {
	if st.batched && about != st.about {
		st.cancelOne(about)
		return
	}
	for _, e := range st.end() {
		_ = s.offer(e)
	}
}

// cancelOne drops the events about one request of a batch, and takes its answer out of the array, also if that comes later (CAN02). An array that is
// being written is written to its end, because what follows it is about other requests.
func (s *stream) cancelOne(id rpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.batch.cancel(id) {
		return
	}
	for i, e := range s.events {
		s.replace(i, s.batch.wanted(e))
	}
	s.changed()
}

// end ends the stream without an answer. Events about the stream's request are dropped; it returns other events that no reader
// took. The stream of a batch ends after cancelOne has dropped the events about its requests.
func (s *stream) end() (unread []storedEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.batched {
		s.changed()
		return nil
	}
	for i, e := range s.events {
		switch {
		case e.about == nil:
		case s.first+i >= s.unread:
			unread = append(unread, storedEvent{frame: e.frame, question: e.question, withdrawal: e.withdrawal})
		default:
			continue
		}
		s.replace(i, storedEvent{})
	}
	s.copying = 0 // the response ends in the middle of the answer
	s.changed()
	return unread
}

// dropQuestion drops the event of a question, if the stream has it still.
func (s *stream) dropQuestion(c *carrier) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, e := range s.events {
		if e.question == c {
			s.replace(i, storedEvent{})
			s.changed()
			return
		}
	}
}

// replace replaces an event by what is left of it; an empty one keeps its number. A frame that a reader took may still be written, so it stays due. From then
// on it counts as unread also if it was a question, because whoever asked has the params no longer. s.mu is held; the caller calls changed afterwards.
func (s *stream) replace(i int, left storedEvent) {
	e := &s.events[i]
	less := load{}.plus(e).minus(load{}.plus(&left))
	s.bytes -= less.all
	switch number := s.first + i; {
	case number >= s.unread:
		s.behind, s.due = s.behind.minus(less), s.due.minus(less)
	case number > s.written && e.question != nil:
		s.due.counted += less.all
	}
	if left.size() == 0 {
		left = storedEvent{awaited: e.awaited} // by AwaitRead, while it is written
	}
	*e = left
}

// changed counts what is left, and wakes the reader and those that wait for it. s.mu is held.
func (s *stream) changed() {
	s.trim()
	s.recount()
	s.room.Broadcast()
	s.signal()
}
