package streamhttp

import (
	"crypto/rand"
	"net/http"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// converse serves a message of a revision with a handshake, but no batch.
func (h *Endpoint) converse(w http.ResponseWriter, r *http.Request, to *server.Routed, f *frame) *refusal {
	if to.Handshake && valueOf(r, headerSession) == "" {
		return h.open(w, r, to, f)
	}
	s, err := h.sessionOf(r)
	if err != nil {
		return err
	}
	defer s.unuse()
	if to.Kind != rpc.KindRequest {
		got, ok := s.receive(r, to, f, nil)
		switch {
		case !ok:
			return s.gone()
		case got.Refused != nil && to.Answers(): // basic/transports#sending-messages-to-the-server: an input that can not be accepted is an error
			return &refusal{status: http.StatusBadRequest, err: got.Refused}
		}
		return s.acknowledge(w, r, &got)
	}
	return s.answerTo(w, r, to, f)
}

// acknowledge answers a frame to which there is no JSON-RPC answer, once what it answers is recorded (DUR01).
func (s *session) acknowledge(w http.ResponseWriter, r *http.Request, got *server.Receipt) *refusal {
	if !got.AwaitRecorded(r.Context(), &s.ended) { // by then the session's handlers have ended, or the grace period is over
		return unavailable("the answer may not be recorded, because the store of tasks has not taken it yet or the server shuts down: send the answer again")
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// answerTo serves a request and writes its response.
func (s *session) answerTo(w http.ResponseWriter, r *http.Request, to *server.Routed, f *frame) *refusal {
	st := s.stream(to.ID)
	if st == nil {
		return refuse(http.StatusBadRequest, "a request with this id is in flight") // CAN08
	}
	reader := st.attach(-1)
	received := false
	defer s.abandonUnless(&received, st, reader)
	got, ok := s.receive(r, to, f, st)
	if received = true; ok && !got.Answered {
		s.freeUnanswered(st)
		st.end()
	}
	return s.respond(w, r, st, reader)
}

// converseBatch serves an array of messages: one array answers them.
func (s *session) converseBatch(w http.ResponseWriter, r *http.Request, f *frame) *refusal {
	ids, invalid := s.h.srv.Batch(f.data)
	if invalid != nil {
		return &refusal{status: http.StatusBadRequest, err: invalid}
	}
	about := rpc.StringID("batch " + rand.Text()) // the id of the batch, which no request of the client has
	st := s.batchStream(about, ids)
	reader := st.attach(-1)
	answered := false
	defer s.abandonUnless(&answered, st, reader)
	got, ok := s.receiveBatch(r, f, st)
	if answered = !ok || got.Answered; answered {
		return s.respond(w, r, st, reader)
	}
	if got.Refused != nil { // as for a message that comes alone
		return &refusal{status: http.StatusBadRequest, err: got.Refused}
	}
	return s.acknowledge(w, r, &got)
}

// abandonUnless frees the stream unless an answer comes on it. There is none for a batch without requests, or one that cancels all its requests, nor for
// a message that was not received because the application ended the goroutine by runtime.Goexit.
func (s *session) abandonUnless(answered *bool, st *stream, reader uint64) {
	if *answered {
		return
	}
	s.freeUnanswered(st)
	st.end()
	s.release(st, reader)
	s.remove(st)
}

// freeUnanswered frees the ids of the requests of st, which get no answer.
func (s *session) freeUnanswered(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freeIDs(st)
}

// endMalformedAnswer hands a malformed answer, which is refused, to the session that asked: the answer ends its question all the same (CAN30).
func (h *Endpoint) endMalformedAnswer(r *http.Request, to *server.Routed, f *frame) {
	if !to.Answers() || to.ID.IsZero() {
		return
	}
	if s, refused := h.sessionOf(r); refused == nil {
		defer s.unuse()
		s.receive(r, nil, f, nil)
	}
}

// open begins a session with its handshake, or returns the refusal.
func (h *Endpoint) open(w http.ResponseWriter, r *http.Request, to *server.Routed, f *frame) *refusal {
	if err := h.checkVersion(r); err != nil {
		return err
	}
	s, err := h.admit(r.Context())
	if err != nil {
		return err
	}
	defer s.unuse()
	opened := false
	defer func() { s.endUnopened(opened) }()
	s.agreed(h.srv.NewSession(r.Context(), s))
	st := s.stream(to.ID)
	st.attach(-1)           // the client is connected, so the answer is not one that waits for a client
	s.receive(r, to, f, st) // writes the answer to st before it returns
	opened = true
	answer, ok := st.alone()
	s.remove(st)
	status, retry := http.StatusOK, 0
	if s.agreed(s.peer); s.revision != "" && ok {
		h.sealID(s)
		w.Header()[headerSession] = []string{s.id}
	} else {
		if status, retry = http.StatusBadRequest, st.retry; retry > 0 {
			status = st.status
		}
		s.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "there was no handshake"})
	}
	if !ok {
		return s.gone()
	}
	d := h.pools.downlink(h, w)
	defer h.pools.putDownlink(d)
	s.log(d.writeAnswer(status, retry, answer.frame))
	return nil
}

// endUnopened ends a session whose handshake was not finished, because an observer ended the goroutine by runtime.Goexit: no client has its
// id.
func (s *session) endUnopened(opened bool) {
	if !opened {
		s.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "an observer ended the goroutine that opens the session"})
	}
}

// checkVersion refuses a handshake whose header names a revision that is not served (LET13).
func (h *Endpoint) checkVersion(r *http.Request) *refusal {
	for _, v := range r.Header[headerVersion] {
		if h.srv.Revision(v) == nil {
			return refuse(http.StatusBadRequest, "protocol version %s is not served", rpc.Quoted(v))
		}
	}
	return nil
}

// checkVersion refuses a header that names another revision than the session's.
func (s *session) checkVersion(r *http.Request) *refusal {
	for _, v := range r.Header[headerVersion] {
		if v != s.revision {
			return refuse(http.StatusBadRequest, "the session uses %s, not %s", s.revision, rpc.Quoted(v))
		}
	}
	return nil
}
