package streamhttp

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// admit adds a session for the requestor of ctx, if there is room or another session gives way.
func (h *Endpoint) admit(ctx context.Context) (*session, *refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := newSession(ctx, h, rand.Text())
	return s, h.addSession(s)
}

// addSession is admit for a session that was made already. h.mu is held.
func (h *Endpoint) addSession(s *session) *refusal {
	if h.closing.Load() {
		return unavailable("the server is shutting down")
	}
	unused, ok := h.roster.makeRoom(s.who, h.opts.maxSessions)
	if !ok {
		return unavailable("limit of sessions reached: those that could give way are in use")
	}
	if unused != nil {
		h.running.Add(1)
		go unused.giveWay()
	}
	h.roster.add(s)
	h.watchOnce()
	return nil
}

// watchOnce starts watch once. h.mu is held.
func (h *Endpoint) watchOnce() {
	if !h.watching {
		h.watching = true
		h.running.Add(1)
		go h.watch()
	}
}

// agreed sets the session of package server, and the outcome of the handshake once it has succeeded.
func (s *session) agreed(peer *server.Session) {
	s.mu.Lock()
	s.peer = peer
	s.mu.Unlock()
	if s.revision = peer.Version(); s.revision != "" {
		s.batches = peer.Revision().Batches
		s.primed = peer.Revision().HTTP.Primed && !s.sessionless
	}
}

// giveWay ends a session to make room for a new one, in a goroutine of its own: the new one need not wait.
func (s *session) giveWay() {
	defer s.h.leave()
	s.h.opts.logger.Info("session ended to make room", "principal", s.principal)
	s.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "the session gave way to a newer one"})
}

// use returns the session for one more HTTP request. It returns nil for an unknown session, an ended one, and one of another principal: the client can
// not tell these apart.
func (h *Endpoint) use(id, principal string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.roster.sessions[id]
	if s == nil || s.principal != principal {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != nil || s.peer == nil {
		return nil
	}
	s.open++
	h.roster.markBusy(s)
	return s
}

// unuse ends the use of the session by an HTTP request.
func (s *session) unuse() {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.updateIdle()
	if s.idle == nil && s.why == nil && s.h.opts.idle > 0 {
		s.idle = time.AfterFunc(s.h.opts.idle, s.expire)
	}
}

// updateIdle is called when a request, a call or a task has ended. A session is in use as long as it has an HTTP request, a call whose
// client lost its connection and may resume it (CAN18), or an unfinished task that would end with it (TSK14). h.mu and s.mu are held.
func (s *session) updateIdle() {
	s.used = time.Now()
	if !s.inUse() {
		s.h.roster.markIdle(s)
	}
}

// inUse reports whether the session must not give way. s.mu is held.
func (s *session) inUse() bool {
	return s.open > 0 || s.active.size() > 0 || s.peer != nil && s.peer.EndsTasks()
}

// TasksOver implements server.Idler.
func (s *session) TasksOver() { s.answered() }

// answered is called when the last call or task of a session without HTTP requests has ended.
func (s *session) answered() {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updateIdle()
}

// expire ends a session that was not used for too long. It is called by a timer, which is set again if the session is or was
// in use: that is cheaper than setting it for every request.
func (s *session) expire() {
	if !s.h.enter() {
		return
	}
	defer s.h.leave()
	s.mu.Lock()
	left := s.h.opts.idle - time.Since(s.used)
	if s.inUse() {
		left = s.h.opts.idle
	}
	if left > 0 && s.why == nil {
		s.idle.Reset(left)
	}
	s.mu.Unlock()
	if left <= 0 {
		s.h.opts.logger.Info("session expired", "principal", s.principal)
		s.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "the session was not used for too long"})
	}
}

// over reports whether the end of the session has begun.
func (s *session) over() bool {
	return s.ending.Closed()
}

// End implements server.Ender.
func (s *session) End(cause *inflight.Cause) {
	if s.h.enter() {
		go func() {
			defer s.h.leave()
			s.end(cause)
		}()
	}
}

// end ends the session once; every caller returns when all of it has ended, or the server's grace period is over.
func (s *session) end(cause *inflight.Cause) {
	s.h.mu.Lock()
	s.h.roster.remove(s)
	s.h.mu.Unlock()
	s.mu.Lock()
	first := s.why == nil
	peer := s.peer
	if first {
		s.why = cause
		if s.idle != nil {
			s.idle.Stop()
		}
		s.ending.Close()
	}
	s.mu.Unlock()
	if !first {
		<-s.ended.Done()
		return
	}
	s.dropUnread()
	defer s.tellEnded()
	if peer == nil {
		return
	}
	peer.Interrupt(cause) // what is being received may wait in middleware
	s.lastReceipt()
	if err := peer.Close(cause); err != nil {
		s.h.opts.logger.Warn("session ended late", "error", err)
		if cause.Source == inflight.SourceShutdown { // else its handlers may have ended when Shutdown returns
			s.h.mu.Lock()
			s.h.late = err
			s.h.mu.Unlock()
		}
	}
}

// tellEnded closes ended, and wakes those who wait for an answer.
func (s *session) tellEnded() {
	s.ended.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.streams.values() {
		st.signal()
	}
}

// dropUnread drops messages that nobody reads when the session is over: no client can resume it. Later ones are not kept.
func (s *session) dropUnread() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeBacklog()
	for st := range s.streams.values() {
		if idle, _ := st.idle(); idle {
			st.drop()
		}
	}
}

// lastReceipt waits until no message is being received. After ending was closed, receiving begins no more.
func (s *session) lastReceipt() {
	s.order.Lock()
	defer s.order.Unlock()
}

// gone returns the refusal of a request whose session has ended meanwhile.
func (s *session) gone() *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != nil && s.why.Source == inflight.SourceShutdown {
		return unavailable("the server is shutting down")
	}
	return gone()
}
