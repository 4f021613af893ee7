package streamhttp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// What does not fit among the requests in flight may be sent again: 429 if the caller's own part is used up, 503 if all is.
func TestTSK28RefusalsSayWhetherTheServerIsBusy(t *testing.T) {
	for name, c := range map[string]struct {
		limit server.Option
		pad   int
		open  bool // a session
	}{
		"requests":               {server.WithMaxInFlight(4), 0, false},
		"bytes":                  {server.WithMaxBytesInFlight(1 << 20), 150 << 10, false},
		"bytes of small ones":    {server.WithMaxBytesInFlight(8 * requestCost), 0, false},
		"requests of a session":  {server.WithMaxInFlight(4), 0, true},
		"bytes of a session":     {server.WithMaxBytesInFlight(1 << 20), 150 << 10, true},
		"small ones of sessions": {server.WithMaxBytesInFlight(8 * requestCost), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			h := Handler(newServer(t, f.tools(), c.limit))
			defer h.Close()
			send := func(who, text string, headers ...string) *httptest.ResponseRecorder {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, f.request(http.MethodPost, text, headers...).WithContext(server.WithPrincipal(t.Context(), who)))
				return w
			}
			sessions := map[string]string{}
			for _, who := range []string{"mallory", "ada", "eve", "fay", "bob"} {
				sessions[who] = "Mcp-Session-Id: " + send(who, initializeBody).Header().Get("Mcp-Session-Id")
			}
			var ids atomic.Int64
			call := func(who string) *httptest.ResponseRecorder {
				if text := strings.Repeat("x", c.pad); c.open {
					return send(who, callBody(fmt.Sprint(ids.Add(1)), "gate", text), sessions[who])
				} else {
					return send(who, callBody2026("7", "gate", text), headers2026("tools/call", "gate")...)
				}
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
			if w := send("bob", `{"jsonrpc":"2.0","id":"p","method":"ping"}`, sessions["bob"]); w.Code != http.StatusOK {
				t.Errorf("a ping: %d %s", w.Code, w.Body) // LET11
			}
			if c.open && c.pad == 0 {
				want(send("bob", initializeBody), http.StatusServiceUnavailable)
			}
			for range began {
				f.release <- struct{}{}
			}
			calls.Wait()
		})
	}
}

// A small body does not hold the buffer of a large one, which others can use.
func TestTSK28ABodyHoldsABufferOfItsSize(t *testing.T) {
	var p pools
	f := &frame{data: append(make([]byte, 0, keptBuffer), "small"...)}
	if p.fit(f); string(f.data) != "small" || cap(f.data) > spareBuffer {
		t.Errorf("%q in %d bytes", f.data, cap(f.data))
	}
	f = &frame{data: make([]byte, keptBuffer/2, keptBuffer)}
	if p.fit(f); cap(f.data) != keptBuffer {
		t.Error("a body that fills half of its buffer is copied")
	}
	if p.spare(f); cap(f.data) > 0 {
		t.Errorf("%d bytes are held of a body that is not needed", cap(f.data))
	}
	d := downlink{buf: make([]byte, 0, keptBuffer)}
	if d.init(nil, nil); cap(d.buf) > spareBuffer {
		t.Errorf("a response begins with %d bytes", cap(d.buf))
	}
}
