package streamhttp

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// exchange is one message of a stateless revision and its response. Its client can hold up nobody else, so each
// goroutine writes its messages itself.
type exchange struct {
	h    *Endpoint
	body *frame
	// timer calls tick: first to watch for the client's disconnect, when late has expired, then to keep the stream alive.
	timer *time.Timer
	late  deadline[*exchange] // in Endpoint.unwatched

	due atomic.Int64 // bytes of frames that are being written, or wait for that

	mu      sync.Mutex // held while something is written
	d       downlink
	quiet   bool        // no keep-alive comment begins the response: its status is not known before the server writes (LET20)
	status  int         // of an answer that is plain JSON
	retry   int         // seconds after which the client may try again; 0: not sent
	phase   phase       // of the response
	whole   bool        // the answer was written to its end
	refused *refusal    // what is answered, because there was something to stream, which middleware prevents; nil: nothing
	unwatch func() bool // stops watching for the client's disconnect; nil: that has not begun

	request  sync.Mutex      // guards what follows; may be locked after mu. Not mu, so that ending the request does not wait for a client that does not read
	ctx      context.Context // of the HTTP request
	revision *wire.Revision
	method   string
	entry    *inflight.Entry
	cause    *inflight.Cause // why the request was cancelled, which takes effect once there is an entry; nil: it was not
}

type phase uint8

const (
	nothing   phase = iota // nothing was written
	streaming              // events are written
	answering              // only the answerStream (answer.go) writes
	over                   // nothing is written any more
)

// watchAfter is when an exchange begins to watch for the client's disconnect. Most calls are over by then, and watching one costs
// more than decoding it.
const watchAfter = 5 * time.Millisecond

// exchange serves a message of a stateless revision until its last frame is written.
func (h *Endpoint) exchange(w http.ResponseWriter, r *http.Request, to *server.Routed, f *frame) *refusal {
	if err := h.checkHeaders(r, to); err != nil {
		return err
	}
	x := h.pools.exchange()
	x.begin(h, w, r, to, f)
	if err := h.addExchange(x, to); err != nil {
		x.end()
		return err
	}
	to.Header = server.Header(r.Header)
	written, answered, err := h.serveExchange(r, to, x)
	switch {
	case answered:
		return nil
	case to.Kind == rpc.KindRequest && (written || r.Context().Err() != nil):
		abort()
	case err != nil:
		return err
	case to.Kind == rpc.KindRequest:
		if h.closing.Load() {
			return unavailable("the server is shutting down")
		}
		return unavailable("the request was cancelled")
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// serveExchange serves the message of x and ends x, also if the application ends the goroutine by runtime.Goexit. x cancels the request when the
// client is gone.
func (h *Endpoint) serveExchange(r *http.Request, to *server.Routed, x *exchange) (written, answered bool, refused *refusal) {
	defer func() {
		h.removeExchange(x)
		written, answered, refused = x.end()
	}()
	h.srv.Exchange(r.Context(), to, x)
	return false, false, nil // set above
}

// abort ends a response that lacks its answer, and with it the connection, or the stream of HTTP/2, so that nobody takes it for a complete
// one. A client that has only closed its writing side sees that, too. What net/http would write for a handler that returns is an empty 200.
func abort() { panic(http.ErrAbortHandler) }

func (x *exchange) begin(h *Endpoint, w http.ResponseWriter, r *http.Request, to *server.Routed, f *frame) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.setRequest(r.Context(), to.Revision, to.Method)
	x.h, x.body, x.retry, x.quiet = h, f, 0, to.Undecided()
	x.status, x.phase, x.whole, x.refused, x.unwatch = http.StatusOK, nothing, false, nil, nil
	x.d.init(h, w)
	h.unwatched.add(&x.late, time.Now())
}

func (x *exchange) setRequest(ctx context.Context, revision *wire.Revision, method string) {
	x.request.Lock()
	defer x.request.Unlock()
	x.ctx, x.revision, x.method, x.entry, x.cause = ctx, revision, method, nil, nil
}

// end ends the response: nothing is written to it any more. It returns whether anything was written, and whether the answer was, to its end,
// or what is to be answered in its place. x is reused, unless tick or hungUp may still run.
func (x *exchange) end() (written, answered bool, refused *refusal) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.phase = over
	written, answered, refused = x.d.written, x.whole, x.refused
	ticks, _ := x.h.unwatched.remove(&x.late)
	idle := !ticks || x.timer.Stop()
	if x.unwatch != nil {
		idle = x.unwatch() && idle
	}
	if idle {
		x.setRequest(context.Background(), nil, "")
		x.unwatch, x.body = nil, nil
		x.d.init(nil, nil)
		x.h.pools.exchanges.Put(x)
	}
	return written, answered, refused
}

// reserve is how many cancellations and pings are served beyond the limit of exchanges; see server.Routed.Reserved.
const reserve = 1_000

// addExchange and removeExchange keep the list of the exchanges that Shutdown has to end.
func (h *Endpoint) addExchange(x *exchange, to *server.Routed) *refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closing.Load():
		return unavailable("the server is shutting down")
	case !h.mayEnter(len(h.exchanges), to.Reserved()):
		return unavailable("limit of requests in flight reached")
	}
	h.exchanges[x] = struct{}{}
	return nil
}

// mayEnter reports whether a request may be served beside those in flight without a session.
func (h *Endpoint) mayEnter(inFlight int, reserved bool) bool {
	return inFlight < h.opts.maxInFlight || reserved && inFlight < h.opts.maxInFlight+reserve
}

func (h *Endpoint) removeExchange(x *exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.exchanges, x)
}

func (h *Endpoint) cancelExchanges(cause *inflight.Cause) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for x := range h.exchanges {
		h.running.Add(1)
		go func() {
			defer h.leave()
			x.cancel(cause)
		}()
	}
}

// isSubscription reports whether the exchange is a subscription, which has no end of its own.
func (x *exchange) isSubscription() bool {
	x.request.Lock()
	defer x.request.Unlock()
	if x.revision == nil {
		return false // it has ended meanwhile
	}
	for i := range x.revision.Methods {
		if m := &x.revision.Methods[i]; m.Name == x.method {
			return m.Op == wire.OpListen
		}
	}
	return false
}

// InFlight implements server.Tracked.
func (x *exchange) InFlight(e *inflight.Entry) {
	x.h.uncountBody(x.body)
	x.request.Lock()
	x.entry = e
	cause := x.cause
	x.request.Unlock()
	if cause != nil {
		e.Cancel(cause)
	}
}

// cancel ends the request, now or as soon as it is in flight.
func (x *exchange) cancel(cause *inflight.Cause) {
	x.request.Lock()
	e := x.entry
	x.cause = cause
	x.request.Unlock()
	if e != nil {
		e.Cancel(cause)
	}
}

// hungUp is called when the client is gone (CAN18), or its response was given up: net/http may report that before the write returns.
func (x *exchange) hungUp() {
	x.cancel(&inflight.Cause{Source: inflight.SourceDisconnect, Err: x.d.pace.why(context.Cause(x.context()))})
}

func (x *exchange) context() context.Context {
	x.request.Lock()
	defer x.request.Unlock()
	return x.ctx
}

// Refuse implements server.Refuser.
func (x *exchange) Refuse(_ rpc.ID, err *rpc.Error, status int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case status != 0:
		x.status = status
	case err.Wait > 0:
		x.status, x.retry = tryLater(err)
	}
}

// RequestBytes implements server.Costly.
func (x *exchange) RequestBytes() int64 {
	if x.body == nil {
		return requestCost
	}
	return requestCost + int64(cap(x.body.data)-len(x.body.data))
}

// HoldUntilAnswer implements server.Holder.
func (x *exchange) HoldUntilAnswer() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.quiet = x.quiet || x.phase == nothing
	return x.phase == nothing
}

// Write implements server.Outlet. An answer is plain JSON if nothing was written before it.
func (x *exchange) Write(_ rpc.ID, last bool, frame []byte) error {
	x.due.Add(int64(len(frame)))
	err := x.write(last, frame)
	x.due.Add(-int64(len(frame)))
	if err != nil && err != errGone {
		x.cancel(failed(err))
	}
	return err
}

func (x *exchange) write(last bool, frame []byte) (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.phase >= answering {
		return errGone
	}
	alone := last && x.phase == nothing
	if last {
		defer func() { x.phase, x.whole = over, err == nil && len(frame) > 0 }()
	}
	switch {
	case last && len(frame) == 0:
		return nil
	case alone:
		return x.d.writeAnswer(x.status, x.retry, frame)
	}
	x.d.buf = appendEvent(x.d.buf, eventID{}, frame)
	err = x.flush()
	if last && err == nil {
		x.d.clearDeadline()
	}
	return err
}

// flush sends what is in the buffer as part of a stream. x.mu is held.
func (x *exchange) flush() error {
	if x.phase == nothing {
		if err := x.d.beginStream(); err != nil {
			x.phase, x.refused = over, unflushed()
			return err
		}
		x.phase = streaming
	}
	if err := x.d.flush(); err != nil {
		x.phase = over
		return err
	}
	if x.unwatch != nil {
		x.rearm()
	}
	return nil
}

func (x *exchange) rearm() {
	if every := x.h.opts.keepAlive; every > 0 {
		x.timer.Reset(every)
	}
}

// startTicking has tick called.
func (x *exchange) startTicking() { x.timer.Reset(0) }

// tick first begins to watch for the client's disconnect. Later it writes comments, which keep the connection of a waiting client
// alive.
func (x *exchange) tick() {
	if err := x.ticked(); err != nil {
		x.cancel(failed(err))
	}
}

func (x *exchange) ticked() error {
	if !x.mu.TryLock() {
		x.timer.Reset(time.Second) // somebody writes, and may have to wait for the client
		return nil
	}
	defer x.mu.Unlock()
	switch {
	case x.phase == over:
		return nil
	case x.phase == answering:
		if x.unwatch == nil {
			x.unwatch = context.AfterFunc(x.context(), x.hungUp)
		}
		return nil
	case x.unwatch == nil:
		x.unwatch = context.AfterFunc(x.context(), x.hungUp)
		if !x.quiet {
			x.rearm()
		}
		return nil
	}
	if x.phase == nothing && (x.quiet || !canFlush(x.d.w)) {
		return nil
	}
	x.d.buf = append(trimmed(x.d.buf), comment...)
	return x.flush()
}
