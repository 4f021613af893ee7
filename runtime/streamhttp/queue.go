package streamhttp

import (
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Queue implements server.Queued.
func (s *session) Queue(about rpc.ID) server.Queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.active.get(about); st != nil {
		return st
	}
	if n := len(s.listeners); n > 0 {
		return s.listeners[n-1]
	}
	return nil
}

// AwaitRoom implements server.Queue. It waits while an attached reader is far behind, which the write deadline of the reader bounds.
// The bytes that wait here count as unread, too.
func (s *stream) AwaitRoom(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.full() {
		return
	}
	if s.allUnread != nil {
		if !s.allUnread.Take(s.own, int64(bytes)) {
			return // addEvent drops the event, unless it is a question or a withdrawal
		}
		defer s.allUnread.Give(s.own, int64(bytes))
	}
	for s.full() {
		s.room.Wait()
	}
}

// full reports whether an attached reader is far behind. s.mu is held.
func (s *stream) full() bool { return s.reader != 0 && !s.ended && s.behind.all > s.limits.pending }

// AwaitRead implements server.Queue. It waits until the reader has written a large frame, because the server counts the frame until this returns (TSK28).
// It does not wait for a small one. An answer that was dropped while the reader writes it is waited for, too: its bytes are in memory still, or in
// files that are removed when this returns. For an answer in files it also waits until a client resumes the stream.
func (s *stream) AwaitRead(bytes int) (taken bool) {
	if bytes <= keptBuffer {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	reader, event := s.reader, s.longEvent()
	long, answer := event != 0, false
	if n := len(s.events); !long {
		event, answer = s.first+n-1, n > 0 && s.events[n-1].awaited
	}
	waits := func() bool {
		if long {
			return s.copying == event || s.keepsLong(event)
		}
		taken := answer && event < s.unread
		return (s.keeps(event) || taken) && reader != 0 && s.reader == reader && !s.inline
	}
	for s.written < event && waits() {
		s.room.Wait()
	}
	if long {
		s.refuseLong(event)
	}
	return s.written >= event
}

// longEvent returns the number of the event with an answer in files, of which there is at most one at a time; 0: there is none. s.mu is held.
func (s *stream) longEvent() int {
	if s.copying != 0 {
		return s.copying
	}
	for i := range s.events {
		if s.events[i].long != nil {
			return s.first + i
		}
	}
	return 0
}

// refuseLong keeps errors in place of an answer in files, which are about to be removed: a client that lost the answer may come back. s.mu is held.
func (s *stream) refuseLong(number int) {
	if !s.keepsLong(number) {
		return
	}
	e := &s.events[number-s.first]
	s.gaveWay = number
	s.replace(number-s.first, storedEvent{frame: e.long.Refused(errRemoved), about: e.about, answer: true, gaveUp: true})
	s.changed()
}

// keepsLong reports whether the event is kept and its answer is in files. s.mu is held.
func (s *stream) keepsLong(number int) bool {
	return s.keeps(number) && s.events[number-s.first].long != nil
}

// keeps reports whether the event is kept. s.mu is held.
func (s *stream) keeps(number int) bool {
	i := number - s.first
	return i >= 0 && i < len(s.events) && s.events[i].size() > 0
}
