package streamhttp

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// hidden hides what a http.ResponseWriter can do.
type hidden struct{ inner http.ResponseWriter }

func (h hidden) Header() http.Header         { return h.inner.Header() }
func (h hidden) Write(b []byte) (int, error) { return h.inner.Write(b) }
func (h hidden) WriteHeader(status int)      { h.inner.WriteHeader(status) }

// lying has a Flush that does not work.
type lying struct{ hidden }

func (lying) FlushError() error { return http.ErrNotSupported }

// deaf flushes, but has no deadlines.
type deaf struct{ hidden }

func (d deaf) Flush() { d.inner.(http.Flusher).Flush() }

// LET13: behind middleware that hides the http.ResponseWriter, answers that come alone are served. Whatever needs a stream is refused with the cause and the
// remedy, and logged once; no call is said to be cancelled because its client is gone (CAN13).
func TestLET13CAN13MiddlewareThatHidesTheResponseWriterIsNamed(t *testing.T) {
	wrap := func(around func(w http.ResponseWriter) http.ResponseWriter) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(around(w), r) })
		}
	}
	for name, middleware := range map[string]func(http.Handler) http.Handler{
		"hidden":  wrap(func(w http.ResponseWriter) http.ResponseWriter { return hidden{w} }),
		"lying":   wrap(func(w http.ResponseWriter) http.ResponseWriter { return lying{hidden{w}} }),
		"timeout": func(next http.Handler) http.Handler { return http.TimeoutHandler(next, time.Hour, "late") },
		"deaf":    wrap(func(w http.ResponseWriter) http.ResponseWriter { return deaf{hidden{w}} }),
	} {
		synctest.Test(t, func(t *testing.T) {
			var logged bytes.Buffer
			f := newBubble(t, WithMiddleware(middleware), WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
			session := f.initialize()
			f.want(f.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, session), http.StatusOK)
			f.want(f.post(callBody("2", "echo", "x"), session), http.StatusOK)
			f.want(f.call2026("3", "echo", "x"), http.StatusOK)
			if name != "deaf" && name != "lying" {
				f.wantLate(f.request(http.MethodPost, callBody("4", "gate", "x"), session))
				f.wantLate(f.request(http.MethodPost, callBody2026("5", "gate", "x"), headers2026("tools/call", "gate")...))
				f.wantUnflushed(f.request(http.MethodGet, "", session), "")
				f.wantUnflushed(f.request(http.MethodPost, callBody("6", "steps", "x"), session), "6")
				f.release <- struct{}{} // it has a session, so it runs on
				f.wantUnflushed(f.request(http.MethodPost, callBody2026("7", "steps", "x"), headers2026("tools/call", "steps")...), "7")
				if cause := <-f.causes; sourceOf(cause) != inflight.SourceParent || !errors.Is(cause, errUnflushed) {
					t.Error(cause)
				}
			}
			f.h.records.Flush(t.Context())
			if n := strings.Count(logged.String(), "level=WARN"); (n == 1) == (name == "deaf") || !strings.Contains(logged.String(), "TimeoutHandler") && name != "deaf" {
				t.Errorf("%s: %d warnings: %s", name, n, &logged)
			}
		})
	}
}

// wantLate waits for the answer to a call that takes longer than a stream or a keep-alive needs to begin.
func (f *fixture) wantLate(r *http.Request) {
	f.t.Helper()
	go func() {
		<-f.began
		time.Sleep(time.Minute)
		f.release <- struct{}{}
	}()
	f.want(f.do(r), http.StatusOK)
}

func (f *fixture) wantUnflushed(r *http.Request, id string) {
	f.t.Helper()
	resp := f.do(r)
	b := body(resp)
	if resp.StatusCode != http.StatusInternalServerError || field(b, "id") != id || !strings.Contains(b, "TimeoutHandler") {
		f.t.Errorf("%d %s", resp.StatusCode, b)
	}
}
