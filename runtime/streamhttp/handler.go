package streamhttp

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Endpoint is the http.Handler of one server. Its methods are safe for concurrent use.
type Endpoint struct {
	srv     *server.Server
	opts    options
	records *server.LogQueue // where opts.logger writes
	params  paramTable
	pools   pools
	bodies  *quota.Shared[server.Requestor] // bytes that are being read
	unread  quota.Limit                     // bytes in streams of sessions that attached clients have not read

	draining chan struct{} // closed when shutdown begins

	warned atomic.Int64 // when the log last told of a refused host or origin, in Unix seconds

	mu       sync.Mutex
	kept     atomic.Int64 // bytes in the streams of all sessions
	roster   roster
	running  int // what Shutdown waits for
	closing  bool
	late     error // of the last session whose handlers did not return in time
	watching bool
	quiet    chan struct{} // closed when nothing runs any more
	calls    map[*exchange]struct{}
	arriving map[*frame]http.ResponseWriter // bodies that are being read
}

// Handler returns the http.Handler that serves every revision of srv on one endpoint, each request by its own. Call
// Shutdown, or Close, when it is not wanted any more.
func Handler(srv *server.Server, opts ...Option) *Endpoint {
	h := &Endpoint{
		srv: srv, opts: defaults(), draining: make(chan struct{}), quiet: make(chan struct{}),
		roster: newRoster(), calls: map[*exchange]struct{}{}, arriving: map[*frame]http.ResponseWriter{},
	}
	for _, o := range opts {
		o(&h.opts)
	}
	h.records = server.NewLogQueue(h.opts.logger.Handler())
	h.opts.logger = slog.New(h.records)
	h.unread.Max = int64(h.opts.replayTotal)
	h.bodies = quota.NewShared[server.Requestor](h.opts.bodyTotal)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refused := h.guarded(w, r)
	if refused != nil {
		h.opts.logger.Debug("request refused", "method", r.Method, "error", refused)
		refused.write(w)
	}
}

// warnGuarded tells the operator, at most once a second, what the client is not told: how to allow what was refused.
func (h *Endpoint) warnGuarded(refused *refusal) {
	now, last := time.Now().Unix(), h.warned.Load()
	if now != last && h.warned.CompareAndSwap(last, now) {
		h.opts.logger.Warn("request refused; WithHosts and WithOrigins allow more", "error", refused.err.Message)
	}
}

func (h *Endpoint) guarded(w http.ResponseWriter, r *http.Request) *refusal {
	if err := h.opts.guard.check(r); err != nil {
		h.warnGuarded(err)
		return err
	}
	if !h.enter() {
		return unavailable("the server is shutting down")
	}
	defer h.leave()
	if h.opts.quotaKey != nil {
		r = r.WithContext(server.WithQuotaKey(r.Context(), h.opts.quotaKey(r)))
	}
	switch r.Method {
	case http.MethodPost:
		return h.post(w, r)
	case http.MethodGet:
		return h.get(w, r)
	case http.MethodDelete:
		return h.delete(r, w)
	}
	if !h.srv.Handshakes() {
		return notAllowed(r.Method, http.MethodPost)
	}
	return notAllowed(r.Method, "POST, GET, DELETE")
}

// post reads one message and lets its revision serve it.
func (h *Endpoint) post(w http.ResponseWriter, r *http.Request) *refusal {
	if err := checkContent(r); err != nil {
		return err
	}
	if err := checkAccept(r, typeJSON, typeEvents); err != nil {
		return err
	}
	f, err := h.readBody(w, r)
	if err != nil {
		return err
	}
	defer h.drop(f)
	to, err := h.route(r, f.data)
	switch {
	case err != nil:
		h.answeredMalformed(r, &to, f)
		return err
	case to.Wire != nil:
		return h.exchange(w, r, &to, f)
	}
	return h.converse(w, r, &to, f)
}

// get opens a stream of a session, or goes on with one.
func (h *Endpoint) get(w http.ResponseWriter, r *http.Request) *refusal {
	s, err := h.sessionFor(r)
	if err != nil {
		return err
	}
	defer s.unuse()
	if err := checkAccept(r, typeEvents); err != nil {
		return err
	}
	st, after := s.resume(r.Header.Get(headerLastEvent))
	reader := st.attach(after)
	defer s.release(st, reader)
	s.join(st)
	d := h.pools.downlink(w, h.opts.writeWait)
	defer h.pools.putDownlink(d)
	d.stream()
	s.pump(r, d, st, reader)
	return nil
}

// resume finds the stream that the client had last. Where there is nothing left to go on with, or never was, the client gets a
// new listener: GET is answered with a stream (LET13).
func (s *session) resume(last string) (st *stream, after int) {
	if id, ok := parseEventID(last); ok {
		if st = s.find(id.stream); st != nil && st.listener == id.listener && !st.over(id.number) {
			return st, id.number
		}
	}
	return s.listen(), -1
}

// delete ends a session.
func (h *Endpoint) delete(r *http.Request, w http.ResponseWriter) *refusal {
	s, err := h.sessionFor(r)
	if err != nil {
		return err
	}
	defer s.unuse()
	s.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "the client ended the session"})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// sessionFor is sessionOf for GET and DELETE, which revisions without sessions do not have.
func (h *Endpoint) sessionFor(r *http.Request) (*session, *refusal) {
	if !h.srv.Handshakes() || r.Header.Get(headerSession) == "" && h.isStateless(r.Header.Get(headerVersion)) {
		return nil, notAllowed(r.Method, http.MethodPost)
	}
	return h.sessionOf(r)
}

// isStateless tells whether version is served and has no sessions.
func (h *Endpoint) isStateless(version string) bool {
	w := h.srv.Wire(version)
	return w != nil && !w.Handshake
}

// sessionOf returns the session that r names.
func (h *Endpoint) sessionOf(r *http.Request) (*session, *refusal) {
	id := r.Header.Get(headerSession)
	switch {
	case id == "":
		return nil, refuse(http.StatusBadRequest, "the header %s is missing", headerSession)
	case len(r.Header[headerSession]) > 1:
		return nil, refuse(http.StatusBadRequest, "the header %s is repeated", headerSession)
	}
	s := h.use(id, server.PrincipalFrom(r.Context()))
	if s == nil {
		return nil, gone()
	}
	if err := s.checkVersion(r); err != nil {
		s.unuse()
		return nil, err
	}
	return s, nil
}

// gone tells the client to begin a new session.
func gone() *refusal { return refuse(http.StatusNotFound, "there is no such session") }
