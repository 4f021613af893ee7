package streamhttp

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// refusal is an HTTP status with a JSON-RPC error.
type refusal struct {
	status int
	id     rpc.ID // zero: not known, and then left out, because no revision has a null id
	err    *rpc.Error
	allow  string // of 405
	retry  int    // seconds, of 429 and 503
	unread bool   // the body was not read to its end, so the connection is closed
}

// refuse returns a refusal with the code of an invalid request.
func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status: status, err: rpc.Errorf(rpc.CodeInvalidRequest, format, args...)}
}

func notAllowed(method, allow string) *refusal {
	r := refuse(http.StatusMethodNotAllowed, "%s is not served here", method)
	r.allow = allow
	return r
}

func unavailable(why string) *refusal {
	r := refuse(http.StatusServiceUnavailable, "%s", why)
	r.retry = 1
	return r
}

// take takes n of a limit for who, or returns the refusal: the caller's own part of the limit is used up (429), or all of it (503).
func take(limit *quota.Shared[server.Requestor], who server.Requestor, n int64, what string) *refusal {
	switch {
	case limit.Take(who, n):
		return nil
	case limit.OwnPartUsed(who, n):
		r := unavailable("limit reached: " + what + ", of which one caller has at most three quarters")
		r.status = http.StatusTooManyRequests
		return r
	}
	return unavailable("limit reached: " + what)
}

// tryLater returns the status for an error that says how long to wait, and the seconds: 429 if the caller's own part of a limit is used
// up, 503 if all of it is.
func tryLater(err *rpc.Error) (status, retry int) {
	status = http.StatusTooManyRequests
	if err.Busy {
		status = http.StatusServiceUnavailable
	}
	return status, int((err.Wait + time.Second - 1) / time.Second)
}

func (r *refusal) write(w http.ResponseWriter) {
	h := w.Header()
	if r.allow != "" {
		h.Set("Allow", r.allow)
	}
	if r.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(r.retry))
	}
	if r.unread {
		h.Set("Connection", "close")
	}
	b := rpc.AppendError(nil, r.id, r.err)
	h["Content-Type"] = jsonHeader
	h["Content-Length"] = []string{strconv.Itoa(len(b))}
	w.WriteHeader(r.status)
	_, _ = w.Write(b)
}

// Error implements error, for the log.
func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.status, r.err.Message) }
