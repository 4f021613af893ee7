package client_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// renewing is a server of 2025-11-25 that knows which sessions were begun and not deleted. It takes a second for the request hold, after its first session.
type renewing struct {
	hold string

	mu   sync.Mutex
	last int
	open map[string]bool
}

func (v *renewing) serve(r *http.Request, m message) (*http.Response, error) {
	v.mu.Lock()
	id, known := r.Header.Get("Mcp-Session-Id"), v.open[r.Header.Get("Mcp-Session-Id")]
	switch {
	case m.Method == "initialize":
		v.last++
		id = fmt.Sprint("s", v.last)
		v.open[id] = true
	case r.Method == http.MethodDelete:
		delete(v.open, id)
	}
	held := v.hold == m.Method && v.last == 2
	v.mu.Unlock()
	if held {
		if sleep(r.Context(), time.Second); r.Context().Err() != nil {
			return nil, r.Context().Err()
		}
	}
	w := httptest.NewRecorder()
	switch {
	case r.Method == http.MethodPost && m.Method != "initialize" && !known:
		return status(http.StatusNotFound), nil
	case !session(w, r, m, id):
		answer(w, m, `{"content":[]}`)
	}
	return w.Result(), nil
}

// A session that is being renewed when nobody waits for it any more is not left to the server: it is deleted, also if it is answered only then (LET13, CAN15).
func TestLET13ASessionThatNobodyWaitsForIsDeleted(t *testing.T) {
	for _, hold := range []string{"initialize", "notifications/initialized"} {
		for _, next := range []string{"a call at once", "a call later", "Close", "nothing"} {
			t.Run(hold+", then "+next, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := &renewing{hold: hold, open: map[string]bool{}}
					endpoint := client.HTTP("http://server.example/mcp")
					endpoint.Client = &http.Client{Transport: roundTrip(v.serve)}
					s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25")})
					v.mu.Lock()
					delete(v.open, "s1")
					v.mu.Unlock()
					ctx, cancel := context.WithCancel(t.Context())
					done := start(ctx, s, "x")
					synctest.Wait()
					began := time.Now()
					if next == "nothing" { // Close is what ends the call
						_ = s.Close()
					}
					cancel()
					if r := <-done; r.err == nil || time.Since(began) > time.Second {
						t.Errorf("%v after %v", r.err, time.Since(began))
					}
					var want []string
					switch next {
					case "a call later":
						sleep(t.Context(), 2*time.Second)
						fallthrough
					case "a call at once":
						if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
							t.Error(err)
						}
						sleep(t.Context(), 2*time.Second)
						want = []string{"s3"}
					case "Close":
						_ = s.Close()
					}
					v.mu.Lock()
					got := slices.Sorted(maps.Keys(v.open))
					v.mu.Unlock()
					if !slices.Equal(got, want) {
						t.Errorf("the server keeps %s, want %s", strings.Join(got, ", "), strings.Join(want, ", "))
					}
					if _ = s.Close(); time.Since(began) > 5*time.Second || len(v.open) > 0 {
						t.Errorf("the server keeps %v, after %v", v.open, time.Since(began))
					}
				})
			})
		}
	}
}
