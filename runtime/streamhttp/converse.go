package streamhttp

import (
	"net/http"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// methodInitialize opens a session. It is the one method that the transport itself must know.
const methodInitialize = "initialize"

// converse serves a message of a session.
func (h *Endpoint) converse(w http.ResponseWriter, r *http.Request, to *server.Routed, f *frame) *refusal {
	if to.Kind == rpc.KindRequest && to.Method == methodInitialize && r.Header.Get(headerSession) == "" {
		return h.open(w, r, to, f)
	}
	s, err := h.sessionOf(r)
	if err != nil {
		err.id = idOf(to)
		return err
	}
	defer s.unuse()
	if to.Kind != rpc.KindRequest {
		if _, ok := s.receive(r, f); !ok {
			return s.gone()
		}
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	st := s.stream(to.ID)
	if st == nil {
		err := refuse(http.StatusBadRequest, "a request with this id is in flight") // CAN08
		err.id = to.ID
		return err
	}
	reader := st.attach(-1)
	if got, ok := s.receive(r, f); ok && !got.Answered {
		s.settle(to.ID)
		st.end()
	}
	return s.respond(w, r, st, reader)
}

// settle removes a request that gets no answer.
func (s *session) settle(id rpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.active, id)
}

// answeredMalformed hands a malformed answer to the session that asked: it is refused, and still ends the question (CAN30).
func (h *Endpoint) answeredMalformed(r *http.Request, to *server.Routed, f *frame) {
	if !to.Answers() || to.ID.IsZero() {
		return
	}
	if s, refused := h.sessionOf(r); refused == nil {
		defer s.unuse()
		s.receive(r, f)
	}
}

func idOf(to *server.Routed) rpc.ID {
	if to.Kind != rpc.KindRequest {
		return rpc.ID{}
	}
	return to.ID
}

// open begins a session with its handshake, or answers why not.
func (h *Endpoint) open(w http.ResponseWriter, r *http.Request, to *server.Routed, f *frame) *refusal {
	if err := h.checkVersion(r); err != nil {
		err.id = to.ID
		return err
	}
	s, err := h.admit(r.Context())
	if err != nil {
		return err
	}
	defer s.unuse()
	s.mu.Lock()
	s.peer = h.srv.NewSession(r.Context(), s)
	s.mu.Unlock()
	st := s.stream(to.ID)
	st.attach(-1)   // the client is here: its answer need not wait for a resumption
	s.receive(r, f) // answers inline
	answer, ok := st.alone()
	s.remove(st)
	status := http.StatusOK
	if s.revision = s.peer.Revision(); s.revision != "" && ok {
		w.Header()[headerSession] = []string{s.id}
	} else {
		status = http.StatusBadRequest
		s.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "there was no handshake"})
	}
	if !ok {
		return s.gone()
	}
	d := h.pools.downlink(w, h.opts.writeWait)
	defer h.pools.putDownlink(d)
	s.log(d.json(status, answer))
	return nil
}

// checkVersion refuses a handshake whose header names a revision that is not served (LET13).
func (h *Endpoint) checkVersion(r *http.Request) *refusal {
	for _, v := range r.Header[headerVersion] {
		if h.srv.Wire(v) == nil {
			return refuse(http.StatusBadRequest, "protocol version %s is not served", rpc.Quoted(v))
		}
	}
	return nil
}

// checkVersion refuses a header that names another revision than the session's.
func (s *session) checkVersion(r *http.Request) *refusal {
	for _, v := range r.Header[headerVersion] {
		if v != s.revision {
			return refuse(http.StatusBadRequest, "the session speaks %s, not %s", s.revision, rpc.Quoted(v))
		}
	}
	return nil
}
