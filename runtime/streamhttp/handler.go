package streamhttp

import (
	"cmp"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Endpoint is the http.Handler of one server. Its methods are safe for concurrent use.
type Endpoint struct {
	srv     *server.Server
	opts    options
	records *server.LogQueue // where opts.logger writes
	inner   http.Handler     // serves requests, with the middleware of the options
	assumed string           // revision of a message without a session that states none
	pools   pools
	bodies  *quota.Shared[server.Requestor] // bytes of bodies that are being read
	unread  quota.Limit                     // bytes in streams of sessions that attached clients have not read
	gets    *quota.Shared[server.Requestor] // GET requests that are being served

	repeated map[*wire.Revision]*repeatedHeaders // of stateless revisions

	arriving  deadlines[*frame] // bodies that are being read
	writing   writing
	unwatched deadlines[*exchange] // exchanges that do not watch for the client's disconnect yet
	undecided deadlines[*alarm]    // responses of sessions that may be JSON or a stream yet

	draining chan struct{} // closed when shutdown begins

	warnedLost atomic.Int64 // when a client that misses messages was last logged, in Unix seconds
	warned     atomic.Int64 // when a refused host or origin was last logged, in Unix seconds
	unflushed  atomic.Bool  // it was logged that responses can not be flushed

	running atomic.Int64 // how many requests and goroutines Shutdown waits for
	closing atomic.Bool  // the shutdown has begun; set with mu held

	mu          sync.Mutex
	kept        atomic.Int64 // bytes that all sessions keep: streams and backlogs, with their overhead
	roster      roster
	late        error         // of the last session whose handlers did not return in time
	watching    bool          // the goroutine of watch was started
	quiet       chan struct{} // closed when nothing runs any more
	isQuiet     bool          // quiet is closed
	unreadTimer *time.Timer   // calls endUnread after shutdown has begun
	exchanges   map[*exchange]struct{}
	sessionless map[*session]struct{} // sessions for one message each, see sessionless.go
	ended       endedIDs
}

// Handler returns the http.Handler that serves every revision of srv on one endpoint, each request by its own
// revision. It calls srv.ResumeTasks: add tools that run as tasks before. Call Shutdown or Close when it is no longer needed.
func Handler(srv *server.Server, opts ...Option) *Endpoint {
	h := &Endpoint{
		srv: srv, opts: defaults(), draining: make(chan struct{}), quiet: make(chan struct{}),
		roster: newRoster(), exchanges: map[*exchange]struct{}{}, sessionless: map[*session]struct{}{},
		repeated: map[*wire.Revision]*repeatedHeaders{},
	}
	for _, o := range opts {
		o(&h.opts)
	}
	h.arriving = deadlines[*frame]{after: h.opts.bodyTimeout, expire: (*frame).stopReading}
	h.unwatched = deadlines[*exchange]{after: watchAfter, expire: (*exchange).startTicking}
	h.undecided = deadlines[*alarm]{after: h.opts.prime, expire: (*alarm).signal}
	h.records = server.NewLogQueue(h.opts.logger.Handler())
	h.opts.logger = slog.New(h.records)
	h.unread.Max = int64(h.opts.replayTotal)
	h.bodies = quota.NewShared[server.Requestor](h.opts.bodyTotal)
	h.gets = quota.NewShared[server.Requestor](int64(cmp.Or(h.opts.maxStreams, min(defaultStreams, 2*h.opts.maxSessions))))
	h.opts.cors.compile(h)
	h.assumed = assumedVersion(srv)
	for _, w := range srv.Definition().Revisions {
		if !w.Handshake {
			h.repeated[w] = newRepeatedHeaders(&w.HTTP)
		}
	}
	h.inner = http.HandlerFunc(h.serve)
	for _, around := range slices.Backward(h.opts.middleware) {
		h.inner = around(h.inner)
	}
	srv.ResumeTasks()
	return h
}

// ServeHTTP implements http.Handler.
func (h *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if limit := writeTimeout(r); limit > 0 {
		setWriteDeadline(w, time.Time{})
		defer func() { setWriteDeadline(w, time.Now().Add(limit)) }() // for what net/http still has to write of the response
	}
	if a := arriving(w, r); a != nil {
		defer a.leave()
		r = &a.request
	}
	if err := h.opts.guard.check(r); err != nil {
		h.warnGuarded(err)
		h.refuse(w, r, err)
		return
	}
	if h.opts.cors.on && h.opts.cors.serve(w, r) {
		return
	}
	if len(h.opts.middleware) > 0 {
		h.limitArrival(r) // a response of middleware may wait for the body
	}
	h.inner.ServeHTTP(w, r)
}

// serve is the innermost handler, within the middleware.
func (h *Endpoint) serve(w http.ResponseWriter, r *http.Request) {
	if refused := h.answer(w, r); refused != nil {
		h.refuse(w, r, refused)
	}
}

func (h *Endpoint) refuse(w http.ResponseWriter, r *http.Request, why *refusal) {
	h.opts.logger.Debug("request refused", "method", r.Method, "error", why)
	why.unread = why.unread || awaited(r)
	why.write(w)
}

// warnGuarded logs, at most once a second, that a host or origin was refused, and which options allow more: the client is not told.
func (h *Endpoint) warnGuarded(refused *refusal) {
	if onceASecond(&h.warned) {
		h.opts.logger.Warn("request refused; WithHosts and WithOrigins allow more", "error", refused.err.Message)
	}
}

func (h *Endpoint) answer(w http.ResponseWriter, r *http.Request) *refusal {
	if !h.enter() {
		return unavailable("the server is shutting down")
	}
	defer h.leave()
	if h.opts.quotaKey != nil {
		r = r.WithContext(server.WithQuotaKey(r.Context(), h.opts.quotaKey(r)))
	}
	if r.Method == http.MethodPost {
		return h.post(w, r)
	}
	if r.ContentLength != 0 { // net/http would wait for this body before it sends a response
		f, refused := h.readBody(w, r)
		if refused != nil {
			return refused
		}
		h.drop(f)
	}
	switch r.Method {
	case http.MethodGet:
		return h.get(w, r)
	case http.MethodDelete:
		return h.delete(w, r)
	}
	if !h.hasSessions() {
		return notAllowed(r.Method, http.MethodPost)
	}
	return notAllowed(r.Method, "POST, GET, DELETE")
}

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
	if rpc.IsBatch(f.data) {
		return h.batch(w, r, f)
	}
	to, invalid := h.srv.Route(f.data, valueOf(r, headerVersion))
	switch {
	case invalid != nil:
		err = unserved(&to, invalid)
		h.endMalformedAnswer(r, &to, f)
	case to.Revision != nil:
		err = h.exchange(w, r, &to, f)
	case h.opts.sessionless:
		err = h.serveSessionless(w, r, &to, f)
	default:
		err = h.converse(w, r, &to, f)
	}
	if err != nil && (to.Kind == rpc.KindRequest || to.Kind == rpc.KindInvalid) {
		err.id = to.ID // the refusal of what is, or may be, a request carries its id
	}
	return err
}

// batch serves an array of messages (CAN24) if the session's revision, or without sessions the one of versionOf, has batches. Otherwise route
// refuses the array, because it is no message.
func (h *Endpoint) batch(w http.ResponseWriter, r *http.Request, f *frame) *refusal {
	batches := h.hasBatches(h.versionOf(r))
	switch {
	case h.opts.sessionless && batches:
		return h.serveSessionlessBatch(w, r, f)
	case !h.opts.sessionless && (batches || valueOf(r, headerSession) != ""):
		s, err := h.sessionOf(r)
		if err != nil {
			return err
		}
		defer s.unuse()
		if s.batches {
			return s.converseBatch(w, r, f)
		}
	}
	to, invalid := h.srv.Route(f.data, valueOf(r, headerVersion))
	if invalid != nil {
		return unserved(&to, invalid)
	}
	return nil
}

func (h *Endpoint) hasBatches(version string) bool {
	w := h.srv.Revision(version)
	return w != nil && w.Batches
}

func (h *Endpoint) get(w http.ResponseWriter, r *http.Request) *refusal {
	s, err := h.sessionFor(r)
	if err != nil {
		return err
	}
	defer s.unuse()
	if err := checkAccept(r, typeEvents); err != nil {
		return err
	}
	if refused := take(h.gets, s.who, 1, "streams of GET requests"); refused != nil {
		return refused
	}
	defer h.gets.Give(s.who, 1)
	got := s.resume(valueOf(r, headerLastEvent))
	if got.refused != nil {
		return h.answerNotHere(w, got.request, got.refused)
	}
	st, reader := got.stream, got.reader
	defer s.release(st, reader)
	s.addReader(st)
	d := h.pools.downlink(h, w)
	defer h.pools.putDownlink(d)
	st.pace.Store(&d.pace)
	defer st.pace.CompareAndSwap(&d.pace, nil)
	if err := d.beginStream(); err != nil {
		return unflushed()
	}
	if got.missed {
		d.buf = append(d.buf, missedComment...)
	}
	if s.primed && got.after < 0 {
		d.buf = appendPriming(d.buf, st.id(0), s.h.opts.retry)
	}
	s.pump(r, d, st, reader)
	return nil
}

// resumption is what a GET gets: a stream, or an error in its place.
type resumption struct {
	stream  *stream
	reader  uint64
	after   int        // the event that the client read last; -1: the stream is new
	missed  bool       // messages that the client had not read gave way to others
	request rpc.ID     // of refused
	refused *rpc.Error // the stream of the request is not here
}

// resume attaches the caller to the stream that its client read last. If nothing of that stream is left, or there was none with this id, the client gets a
// new listener: a GET is answered with a stream (LET13). In place of an answer that can not come the client gets an error.
func (s *session) resume(last string) resumption {
	id, ok := parseEventID(last)
	var got resumption
	if ok {
		s.loseUnreadQuestions(id)
		if got = s.reattach(id); got.missed {
			s.h.warnLost(id)
		}
	}
	if got.stream == nil && got.refused == nil {
		got.stream = s.listen()
		got.reader, got.after = got.stream.attach(-1), -1
	}
	got.request = id.request
	return got
}

// answerNotHere answers the request of a client that resumes its stream, which is not here, with an error: a silent listener in place of the stream would
// have it wait for ever.
func (h *Endpoint) answerNotHere(w http.ResponseWriter, request rpc.ID, why *rpc.Error) *refusal {
	d := h.pools.downlink(h, w)
	defer h.pools.putDownlink(d)
	if err := d.beginStream(); err != nil {
		return unflushed()
	}
	d.buf = appendEvent(d.buf, eventID{}, rpc.AppendError(nil, request, why))
	if err := d.flush(); err != nil {
		h.opts.logger.Debug("the client is gone", "error", err)
	}
	d.clearDeadline()
	return nil
}

func (h *Endpoint) delete(w http.ResponseWriter, r *http.Request) *refusal {
	s, err := h.sessionFor(r)
	if err != nil {
		return err
	}
	defer s.unuse()
	s.dismiss()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// sessionFor is sessionOf for GET and DELETE, which revisions without sessions do not have.
func (h *Endpoint) sessionFor(r *http.Request) (*session, *refusal) {
	switch {
	case h.opts.sessionless && h.srv.Handshakes():
		err := notAllowed(r.Method, http.MethodPost)
		err.err.Message += ": it needs a session, and this server is served without them" + withoutSSE(r)
		return nil, err
	case !h.srv.Handshakes(), valueOf(r, headerSession) == "" && h.isStateless(valueOf(r, headerVersion)):
		return nil, notAllowed(r.Method, http.MethodPost)
	}
	return h.sessionOf(r)
}

func (h *Endpoint) hasSessions() bool { return h.srv.Handshakes() && !h.opts.sessionless }

// isStateless reports whether version is served and has no sessions.
func (h *Endpoint) isStateless(version string) bool {
	w := h.srv.Revision(version)
	return w != nil && !w.Handshake
}

// sessionOf returns the session that the header of a request names, for use until unuse. One that only another process has is adopted.
func (h *Endpoint) sessionOf(r *http.Request) (*session, *refusal) {
	id := valueOf(r, headerSession)
	switch {
	case id == "":
		return nil, refuse(http.StatusBadRequest, "the header %s is missing%s", headerSession, withoutSSE(r))
	case len(r.Header[headerSession]) > 1:
		return nil, refuse(http.StatusBadRequest, "the header %s is repeated", headerSession)
	}
	s := h.use(id, server.PrincipalFrom(r.Context()))
	if s == nil {
		var refused *refusal
		if s, refused = h.adopt(r.Context(), id); refused != nil {
			return nil, refused
		}
	}
	if err := s.checkVersion(r); err != nil {
		s.unuse()
		return nil, err
	}
	return s, nil
}

// withoutSSE is the advice for a client of the HTTP+SSE transport of 2024-11-05, "" for others. Such a client begins with a GET, or
// sends its messages to an address of their own.
func withoutSSE(r *http.Request) string {
	path := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if r.Method != http.MethodGet && path != "messages" && path != "message" && !r.URL.Query().Has("sessionId") && !r.URL.Query().Has("session_id") {
		return ""
	}
	return ". The HTTP+SSE transport of 2024-11-05 is not served: begin with initialize, sent by POST to the address of this server (Streamable HTTP)"
}

// gone returns the refusal that asks the client to begin a new session. It is the same if there is no such session and if the session belongs to
// another identity (SRV03).
func gone() *refusal {
	return refuse(http.StatusNotFound, "this caller has no such session: begin a new one")
}
