package streamhttp

import (
	"cmp"
	"net/http"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// WithoutSessions serves the revisions with a handshake without sessions, so that any process answers any request: calls, lists, and tasks, which
// belong to the caller's identity, or to whoever has their ids. What needs a session is not declared, and is refused: GET and DELETE (405),
// subscriptions and the log level (method not found), questions (server.ErrUnsupported, or what OnUnsupported says). The client is not known
// (Call.Client). A call ends when its client goes away, because nothing else could end it, and its stream can not be resumed.
func WithoutSessions() Option { return func(o *options) { o.sessionless = true } }

func (h *Endpoint) serveSessionless(w http.ResponseWriter, r *http.Request, to *server.Routed, f *frame) *refusal {
	switch to.Kind {
	case rpc.KindNotification:
		w.WriteHeader(http.StatusAccepted) // and dropped: all notifications of clients are about a session
		return nil
	case rpc.KindResult, rpc.KindError:
		return refuse(http.StatusBadRequest, "nothing was asked: questions need a session, and this server is served without them")
	}
	version := h.versionOf(r)
	if to.Handshake {
		version = "" // the handshake agrees on it
	}
	s, err := h.openSessionless(r, version, to.Reserved())
	if err != nil {
		return err
	}
	defer s.endSessionless()
	return s.answerTo(w, r, to, f)
}

// serveSessionlessBatch is serveSessionless for an array of messages.
func (h *Endpoint) serveSessionlessBatch(w http.ResponseWriter, r *http.Request, f *frame) *refusal {
	s, err := h.openSessionless(r, h.versionOf(r), false)
	if err != nil {
		return err
	}
	defer s.endSessionless()
	return s.converseBatch(w, r, f)
}

// versionOf is the revision that a message without a session is written in.
func (h *Endpoint) versionOf(r *http.Request) string {
	return cmp.Or(valueOf(r, headerVersion), h.assumed)
}

// assumedVersion is the revision of a message that comes without a header for it: the newest revision that has no such header, else the oldest with
// a handshake.
func assumedVersion(srv *server.Server) (version string) {
	var headerless, oldest string
	for _, w := range srv.Definition().Revisions {
		switch {
		case !w.Handshake:
			continue
		case w.HTTP.VersionHeader == "":
			headerless = max(headerless, w.Version) // they are dates
		}
		if oldest == "" || w.Version < oldest {
			oldest = w.Version
		}
	}
	return cmp.Or(headerless, oldest)
}

// openSessionless makes the session that serves one message; reserved: also beyond the limit, see server.Routed.Reserved.
func (h *Endpoint) openSessionless(r *http.Request, version string, reserved bool) (*session, *refusal) {
	s := newSession(r.Context(), h, "")
	s.sessionless = true
	s.agreed(h.srv.NewSessionless(r.Context(), s, version))
	h.mu.Lock()
	defer h.mu.Unlock()
	var refused *refusal
	switch {
	case h.closing.Load():
		refused = unavailable("the server is shutting down")
	case !h.mayEnter(len(h.sessionless), reserved):
		refused = unavailable("limit of requests in flight reached")
	}
	h.sessionless[s] = struct{}{}
	h.roster.addSessionless(s)
	h.watchOnce()
	if refused != nil {
		s.endLater()
	}
	return s, refused
}

// endSessionless ends such a session when its response is over. Nobody waits for handlers that are late.
func (s *session) endSessionless() {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.endLater()
}

// endLater is endSessionless, called with Endpoint.mu held.
func (s *session) endLater() {
	s.h.running.Add(1)
	go func() {
		defer s.h.leave()
		s.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "the client is gone, and has no session to come back to"})
		s.h.mu.Lock()
		defer s.h.mu.Unlock()
		delete(s.h.sessionless, s)
		s.h.roster.removeSessionless(s)
	}()
}
