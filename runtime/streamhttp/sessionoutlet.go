package streamhttp

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Write implements server.Outlet. A message that belongs to no request goes to a listener.
func (s *session) Write(about rpc.ID, last bool, frame []byte) error {
	if about.IsZero() {
		return s.sendToListener(slices.Clone(frame))
	}
	return s.writeTo(about, last, func(st *stream, last bool) error {
		if len(frame) == 0 {
			s.silence(st, about)
			return nil
		}
		return st.addAbout(about, storedEvent{frame: s.h.pools.copied(frame, last && !st.batched)}, last)
	})
}

// Copy implements server.Copier.
func (s *session) Copy(about rpc.ID, last bool, answer *server.LongAnswer) error {
	return s.writeTo(about, last, func(st *stream, last bool) error { return st.addEvent(storedEvent{long: answer}, last) })
}

// writeTo writes to the stream of the request, which ends with the last frame.
func (s *session) writeTo(about rpc.ID, last bool, write func(st *stream, last bool) error) error {
	s.mu.Lock()
	st := s.active.get(about)
	switch {
	case !last || st == nil:
	case !st.batched:
		s.active.delete(about)
	case st.about != about: // the batch goes on without this request, which is cancelled
		last = false
	default:
		s.freeIDs(st)
	}
	unused := last && !s.inUse()
	s.mu.Unlock()
	if st == nil {
		return errGone // the request is cancelled, or answered
	}
	err := write(st, last)
	if last && st.unreadable() {
		s.remove(st)
	}
	s.bound()
	if unused {
		s.answered()
	}
	return err
}

// Refuse implements server.Refuser. The status of an error for a limit that is reached says that the client may try again.
func (s *session) Refuse(about rpc.ID, err *rpc.Error, _ int) {
	if err.Wait == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.active.get(about); st != nil {
		st.status, st.retry = tryLater(err)
	}
}

// RequestBytes implements server.Costly.
func (s *session) RequestBytes() int64 { return requestCost }

// SessionID implements server.SessionNamer.
func (s *session) SessionID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Attended implements server.Attended: listeners read the messages that belong to no open request.
func (s *session) Attended(about rpc.ID) (read bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	read = len(s.listeners) > 0
	if st := s.active.get(about); st != nil {
		read = st.read()
	}
	return read, s.watched()
}

// watched returns a channel that is closed when readers come or go. s.mu is held.
func (s *session) watched() <-chan struct{} {
	if s.readers == nil {
		s.readers = make(chan struct{})
	}
	return s.readers
}

// AnswersInline implements server.Inline.
func (s *session) AnswersInline(about rpc.ID) {
	s.mu.Lock()
	st := s.active.get(about)
	s.mu.Unlock()
	if st != nil {
		st.answersInline()
	}
}

// readersChanged closes the channel that watched returned. s.mu is held.
func (s *session) readersChanged() {
	if s.readers != nil {
		close(s.readers)
		s.readers = nil
	}
}

func (s *session) sendToListener(frame []byte) error { return s.offer(storedEvent{frame: frame}) }

// offer gives an event to one listener, or keeps it for the next one.
func (s *session) offer(e storedEvent) error {
	for {
		s.mu.Lock()
		if s.why != nil {
			s.mu.Unlock()
			return errGone
		}
		if len(s.listeners) == 0 {
			s.keep([]storedEvent{e})
			s.mu.Unlock()
			s.h.relieve()
			return nil
		}
		st := s.listeners[len(s.listeners)-1]
		s.noteCarriers(st, e)
		s.mu.Unlock()
		if err := st.addEvent(e, false); err != errNoReader {
			s.bound()
			return err
		}
		s.leave(st) // its reader is about to do so
	}
}
