package streamhttp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// exchange is one message of a stateless revision and its response. Nobody else is stopped by its client, so whoever speaks
// also writes.
type exchange struct {
	h      *Endpoint
	wire   *server.Wire
	method string
	cancel context.CancelCauseFunc
	timer  *time.Timer // of the next comment; nil without keep-alive

	mu     sync.Mutex
	d      *downlink
	status int   // of an answer alone
	phase  phase // of the response
}

type phase uint8

const (
	nothing phase = iota // was written
	streaming
	over
)

// exchange serves a message of a stateless revision until its last frame is written.
func (h *Endpoint) exchange(w http.ResponseWriter, r *http.Request, j *server.Judged) *refusal {
	if err := h.checkHeaders(r, j); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	x := &exchange{h: h, wire: j.Wire, method: j.Method, cancel: cancel, d: newDownlink(w, h.opts.writeWait), status: http.StatusOK}
	if !h.begin(x) {
		return unavailable("the server is shutting down")
	}
	defer h.finish(x)
	if every := h.opts.keepAlive; every > 0 {
		x.mu.Lock()
		x.timer = time.AfterFunc(every, x.tick)
		x.mu.Unlock()
	}
	result := h.srv.Exchange(ctx, j, x)
	return x.close(r, j, result)
}

// begin and finish frame an exchange for Shutdown.
func (h *Endpoint) begin(x *exchange) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return false
	}
	h.calls[x] = struct{}{}
	return true
}

func (h *Endpoint) finish(x *exchange) {
	h.mu.Lock()
	delete(h.calls, x)
	h.mu.Unlock()
	x.cancel(errAnswered)
}

var errAnswered = errors.New("streamhttp: the request was answered")

// cancelCalls ends all exchanges.
func (h *Endpoint) cancelCalls(cause *inflight.Cause) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for x := range h.calls {
		x.cancel(cause)
	}
}

// lasts tells whether the exchange is a subscription, which has no end of its own.
func (x *exchange) lasts() bool {
	for i := range x.wire.Methods {
		if m := &x.wire.Methods[i]; m.Name == x.method {
			return m.Op == server.OpListen
		}
	}
	return false
}

// Refuse implements server.Refuser.
func (x *exchange) Refuse(_ rpc.ID, _ *rpc.Error, status int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if status != 0 {
		x.status = status
	}
}

// Write implements server.Outlet. An answer that nothing came before is plain JSON.
func (x *exchange) Write(_ rpc.ID, last bool, frame []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.phase == over:
		return errGone
	case last && len(frame) == 0:
		return x.done(nil)
	case last && x.phase == nothing:
		return x.done(x.d.json(x.status, frame))
	}
	x.d.buf = appendEvent(x.d.buf, eventID{}, frame)
	err := x.flush()
	if last && err == nil {
		x.d.relax()
		return x.done(nil)
	}
	return err
}

// flush sends what is in the buffer as part of a stream. With x.mu.
func (x *exchange) flush() error {
	if x.phase == nothing {
		x.d.stream()
		x.phase = streaming
	}
	if err := x.d.flush(); err != nil {
		return x.done(err)
	}
	if x.timer != nil {
		x.timer.Reset(x.h.opts.keepAlive)
	}
	return nil
}

// done marks the response as complete, or as lost by err. With x.mu.
func (x *exchange) done(err error) error {
	x.phase = over
	if err != nil {
		x.cancel(&inflight.Cause{Source: inflight.SourceDisconnect, Err: err})
	}
	return err
}

// tick tells a client that waits, and everything on the way to it, that the server is there.
func (x *exchange) tick() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.phase == over {
		return
	}
	x.d.buf = append(x.d.buf, comment...)
	_ = x.flush()
}

// close ends the response after the exchange: nothing may be written to it any more.
func (x *exchange) close(r *http.Request, j *server.Judged, result server.Result) *refusal {
	x.mu.Lock()
	defer x.mu.Unlock()
	written := x.d.written
	x.phase = over
	if x.timer != nil {
		x.timer.Stop()
	}
	switch {
	case written || r.Context().Err() != nil:
		return nil
	case j.Kind == rpc.KindRequest:
		refused := unavailable("the request was cancelled")
		refused.id = j.ID
		return refused
	}
	x.d.w.WriteHeader(http.StatusAccepted)
	return nil
}
