package streamhttp

import (
	"context"
	"crypto/sha256"
	"math/rand/v2"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// sealID gives a session its sealed id, after the handshake, since the id contains the handshake's outcome.
func (h *Endpoint) sealID(s *session) {
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

// adopt resumes a session that another process opened, or that this one forgot: the id contains the outcome of its handshake. It returns a refusal
// when there is no such session of this caller.
func (h *Endpoint) adopt(ctx context.Context, id string) (*session, *refusal) {
	s := newSession(ctx, h, id)
	peer, ok := h.srv.ResumeSession(ctx, s, id)
	if !ok {
		return nil, gone()
	}
	s.sealed = true
	s.first = rand.Uint64() >> 1 // so that no event id of another process is taken for one of this process
	s.last = s.first
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

// enroll adds a session that was adopted, unless the session is there already or its client has ended it.
func (h *Endpoint) enroll(s *session) *refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.roster.sessions[s.id] != nil || h.ended.has(s.id) {
		return gone()
	}
	return h.addSession(s)
}

// endedIDs are the newest ids of sealed sessions that clients ended: until the ids expire, the sessions could be adopted.
type endedIDs struct {
	known map[[sha256.Size]byte]struct{}
	ring  [][sha256.Size]byte // a ring buffer, in the order in which they came
	next  int                 // index of the oldest, once ring is full
}

// maxEnded is how many ids are remembered. A session with an older one can be adopted again until the id expires, but only by its own principal.
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

// dismiss ends a session at its client's request, so that it is not adopted again.
func (s *session) dismiss() {
	if s.sealed {
		s.h.mu.Lock()
		s.h.ended.add(s.id)
		s.h.mu.Unlock()
		s.peer.Discard()
	}
	s.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "the client ended the session"})
}
