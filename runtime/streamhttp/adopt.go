package streamhttp

import (
	"context"
	"crypto/sha256"
	"math/rand/v2"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// name gives a session the id that its client gets to know: after the handshake, since it holds what was agreed on, sealed.
func (h *Endpoint) name(s *session) {
	if !h.srv.SealsSessions() {
		return
	}
	id := s.peer.Seal(time.Now().Add(h.opts.lifetime))
	h.mu.Lock()
	defer h.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = true
	h.roster.rename(s, id)
}

// adopt goes on with a session that another process opened, or this one let go: the id says all that was agreed on. It returns nil when
// there is no such session of this caller.
func (h *Endpoint) adopt(ctx context.Context, id string) (*session, *refusal) {
	s := newSession(ctx, h, id)
	peer, ok := h.srv.ResumeSession(ctx, s, id)
	if !ok {
		return nil, gone()
	}
	s.sealed = true
	s.last = rand.Uint64() >> 1 // ids of events that the other process sent are none here
	s.agreed(peer)
	if refused := h.enroll(s); refused != nil {
		s.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "the session is not served here"})
		// Another request of the session may have been faster.
		if held := h.use(id, s.principal); held != nil {
			return held, nil
		}
		return nil, refused
	}
	return s, nil
}

// enroll adds a session that was adopted, if it is not there yet.
func (h *Endpoint) enroll(s *session) *refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.roster.sessions[s.id] != nil || h.ended.has(s.id) {
		return gone()
	}
	return h.addSession(s)
}

// endedIDs are the newest ids that clients ended and that are still valid by themselves.
type endedIDs struct {
	known map[[sha256.Size]byte]struct{}
	ring  [][sha256.Size]byte // in the order in which they came
	next  int
}

// maxEnded is how many are known. An older one is good again until it expires, for its own client alone.
const maxEnded = 10_000

func (e *endedIDs) add(id string) {
	key := sha256.Sum256([]byte(id))
	if _, known := e.known[key]; known {
		return
	}
	if e.known == nil {
		e.known = map[[sha256.Size]byte]struct{}{}
	}
	if len(e.ring) < maxEnded {
		e.ring = append(e.ring, key)
	} else {
		delete(e.known, e.ring[e.next])
		e.ring[e.next] = key
		e.next = (e.next + 1) % maxEnded
	}
	e.known[key] = struct{}{}
}

func (e *endedIDs) has(id string) bool {
	_, known := e.known[sha256.Sum256([]byte(id))]
	return known
}

// dismiss ends a session that its client does not want any more: nobody goes on with it.
func (s *session) dismiss() {
	if s.sealed {
		s.h.mu.Lock()
		s.h.ended.add(s.id)
		s.h.mu.Unlock()
		s.peer.Discard()
	}
	s.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "the client ended the session"})
}
