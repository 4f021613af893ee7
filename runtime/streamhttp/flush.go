package streamhttp

import (
	"errors"
	"net/http"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// errUnflushed is why nothing can be streamed.
var errUnflushed = errors.New("middleware hides the http.ResponseWriter, so a stream can not be flushed: give what wraps it an Unwrap method (http.ResponseController), " +
	"and use no http.TimeoutHandler")

// canFlush reports whether what was written to w can be sent before the handler returns.
func canFlush(w http.ResponseWriter) bool {
	return anyWrapped(w, func(w http.ResponseWriter) bool {
		switch w.(type) {
		case http.Flusher, interface{ FlushError() error }:
			return true
		}
		return false
	})
}

// canEndWrites reports whether writes to w have deadlines.
func canEndWrites(w http.ResponseWriter) bool {
	return anyWrapped(w, func(w http.ResponseWriter) bool {
		_, ok := w.(interface{ SetWriteDeadline(time.Time) error })
		return ok
	})
}

// anyWrapped reports whether has is true of w or of what it wraps, where http.ResponseController would look for it.
func anyWrapped(w http.ResponseWriter, has func(http.ResponseWriter) bool) bool {
	for !has(w) {
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = u.Unwrap()
	}
	return true
}

// warnUnflushed logs once that responses can not be flushed.
func (h *Endpoint) warnUnflushed() {
	if h.unflushed.CompareAndSwap(false, true) {
		h.opts.logger.Warn("responses can not be streamed: only answers that come alone are served", "error", errUnflushed)
	}
}

// unflushed is the refusal of a request whose response would be a stream.
func unflushed() *refusal {
	return &refusal{status: http.StatusInternalServerError, err: rpc.Errorf(rpc.CodeInternalError, "%s", errUnflushed)}
}

// failed is why a request is cancelled whose response could not be written: the client is gone, or this server can not stream (CAN13).
func failed(err error) *inflight.Cause {
	if errors.Is(err, errUnflushed) {
		return &inflight.Cause{Source: inflight.SourceParent, Err: err}
	}
	return &inflight.Cause{Source: inflight.SourceDisconnect, Err: err}
}
