package streamhttp

import (
	"errors"
	"net/http"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// errUnflushed is why nothing can be streamed.
var errUnflushed = errors.New("middleware hides the http.ResponseWriter, so a stream can not be flushed: give what wraps it an Unwrap method (http.ResponseController), " +
	"and use no http.TimeoutHandler")

// canFlush reports whether what was written to w can be sent before the handler returns.
func canFlush(w http.ResponseWriter) bool {
	return supports[http.Flusher](w) || supports[interface{ FlushError() error }](w)
}

// supports reports whether w, or what it wraps, is a T, as http.ResponseController looks for it.
func supports[T any](w http.ResponseWriter) bool {
	for {
		if _, ok := w.(T); ok {
			return true
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = u.Unwrap()
	}
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
