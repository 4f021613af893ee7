package streamhttp

import (
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// attach makes the caller the reader, instead of another one, whose connection the client must have given up. The caller goes on
// after event number after; -1: with the first event that no reader took.
func (s *stream) attach(after int) (reader uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if after >= 0 {
		s.leaveOutRead(after)
		s.unread = min(max(after+1, s.first), s.first+len(s.events))
	}
	s.behind = load{}
	for i := s.unread - s.first; i < len(s.events); i++ {
		s.events[i].awaited = false // AwaitRead waits for no second reader
		s.behind = s.behind.plus(&s.events[i])
	}
	s.polling, s.passed, s.holes = false, 0, 0
	s.readers++
	s.reader = s.readers
	s.noteWritten()
	s.signal()
	return s.reader
}

// noteWritten is wrote, for the attached reader. s.mu is held.
func (s *stream) noteWritten() {
	s.written, s.due, s.copying = s.unread-1, s.behind, 0
	s.recount()
	s.room.Broadcast()
}

// wrote records that reader has written what it took.
func (s *stream) wrote(reader uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == reader {
		s.noteWritten()
	}
}

// detach ends the caller's reading. It returns the events of a listener that no reader took, so that another listener gets them; a
// stream whose client has no id to resume it with is dropped.
func (s *stream) detach(reader uint64) (unread []storedEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != reader {
		return nil
	}
	s.reader, s.copying = 0, 0
	s.room.Broadcast()
	if s.listener {
		taken := s.unread - s.first
		unread = slices.DeleteFunc(slices.Clone(s.events[taken:]), func(e storedEvent) bool { return e.frame == nil })
		clear(s.events[taken:]) // or the array keeps them
		s.events = s.events[:taken]
		s.passed = min(s.passed, taken)
		s.bytes -= s.behind.all
		s.behind = load{}
	} else if !s.started {
		s.loseAll()
	}
	if len(s.events) > 0 {
		s.since = time.Now()
	}
	s.trim()
	s.recount()
	return unread
}

// chunk is what a reader writes next.
type chunk struct {
	events    [][]byte           // frames; nil for one that was dropped
	long      *server.LongAnswer // in place of events
	first     int                // number of the first event
	more      bool               // there are more events
	ended     bool               // nothing comes after events
	leave     bool               // after events, end the response: the client resumes the stream
	takenOver bool               // another reader took over
}

// take returns unread events, about as many as are sent at once: the others are dropped if the request is cancelled before they are taken (CAN02).
func (s *stream) take(reader uint64) chunk {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != reader {
		return chunk{takenOver: true}
	}
	n, taken := 0, load{}
	unread := s.events[s.unread-s.first:]
	for n < len(unread) && taken.all < flushAt && unread[n].long == nil {
		taken = taken.plus(&unread[n])
		n++
	}
	// Copied, because trim forgets them while they are written.
	b := chunk{events: framesOf(unread[:n]), first: s.unread}
	if n == 0 && len(unread) > 0 && unread[0].long != nil {
		b.long, n, taken = unread[0].long, 1, taken.plus(&unread[0])
		s.copying = s.unread
	}
	b.more = n < len(unread)
	b.ended, b.leave = s.ended && !b.more, s.polling && !b.more
	s.unread += n
	s.behind = s.behind.minus(taken)
	s.room.Broadcast() // writers that wait for the reader
	return b
}

// framesOf returns the frames of events up to the last one that was not dropped.
func framesOf(events []storedEvent) (frames [][]byte) {
	for len(events) > 0 && events[len(events)-1].frame == nil {
		events = events[:len(events)-1]
	}
	if len(events) == 0 {
		return nil
	}
	frames = make([][]byte, len(events))
	for i, e := range events {
		frames[i] = e.frame
	}
	return frames
}

// alone takes the answer if it is the only event and nothing was sent before: then it needs no event stream.
func (s *stream) alone() (answer storedEvent, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.polling || !s.ended || s.first != 1 || len(s.events) != 1 || s.bytes == 0 {
		return answer, false
	}
	s.unread, s.behind = s.first+1, load{}
	if answer = s.events[0]; answer.long != nil {
		s.copying = s.first
	}
	return answer, true
}

// poll asks the reader to end its response, so that the client resumes the stream later. It returns false if there is no reader, or nothing
// to come.
func (s *stream) poll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == 0 || s.ended {
		return false
	}
	s.polling = true
	s.signal()
	return true
}

// over reports whether there is nothing left for a client that has read up to event number after.
func (s *stream) over(after int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended && after >= s.first+len(s.events)-1
}

// lacks reports whether an event after event number after gave way.
func (s *stream) lacks(after int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return after < s.gaveWay
}

// lastEvent returns the number of the last event; of a request that is not over it is still to come, and counts as the highest number.
func (s *stream) lastEvent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.events) - 1; i >= 0; i-- {
		if s.events[i].size() > 0 {
			return s.first + i
		}
	}
	return s.gaveWay
}
