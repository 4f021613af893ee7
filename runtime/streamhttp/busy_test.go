package streamhttp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// What does not fit among the requests in flight may be sent again: 429 if the caller's own part is used up, 503 if all is.
func TestTSK28RefusalsSayWhetherTheServerIsBusy(t *testing.T) {
	for name, c := range map[string]struct {
		limit server.Option
		pad   int
	}{
		"requests": {server.WithMaxInFlight(4), 0},
		"bytes":    {server.WithMaxBytesInFlight(1 << 20), 150 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			h := Handler(newServer(t, f.tools(), c.limit))
			defer h.Close()
			call := func(who string) *httptest.ResponseRecorder {
				r := f.request(http.MethodPost, callBody2026("7", "gate", strings.Repeat("x", c.pad)), headers2026("tools/call", "gate")...)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r.WithContext(server.WithPrincipal(t.Context(), who)))
				return w
			}
			var calls sync.WaitGroup
			began := 0
			fill := func(who string) (refused *httptest.ResponseRecorder) {
				for refused == nil {
					done := make(chan *httptest.ResponseRecorder, 1)
					calls.Go(func() { done <- call(who) })
					select {
					case <-f.began:
						began++
					case refused = <-done:
					}
				}
				return refused
			}
			want := func(w *httptest.ResponseRecorder, status int) {
				t.Helper()
				if w.Code != status || w.Header().Get("Retry-After") != "1" || field(w.Body.String(), "error", "data", "retryAfterMs") != "1000" {
					t.Errorf("%d, %v: %s", w.Code, w.Header(), w.Body)
				}
			}
			want(fill("mallory"), http.StatusTooManyRequests)
			for _, who := range []string{"ada", "eve", "fay"} {
				fill(who)
			}
			want(call("bob"), http.StatusServiceUnavailable)
			for range began {
				f.release <- struct{}{}
			}
			calls.Wait()
		})
	}
}
