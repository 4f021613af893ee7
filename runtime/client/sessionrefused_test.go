package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// unready is a server of 2025-11-25 that has forgotten its first session, s1, and whose next handshake comes to nothing.
type unready struct {
	mu       sync.Mutex
	how      string   // what becomes of that handshake
	sessions int      // how many were begun
	ready    []string // those whose handshake was finished
	served   []string // those in which calls were served
	deleted  []string
}

func (u *unready) serve(r *http.Request, m message) (*http.Response, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	w, in := httptest.NewRecorder(), r.Header.Get("Mcp-Session-Id")
	second := u.sessions == 2
	switch {
	case r.Method == http.MethodDelete:
		u.deleted = append(u.deleted, in)
	case m.Method == "initialize":
		u.sessions++
		u.begin(w, m)
	case m.Method == "notifications/initialized" && second && u.how == "not taken":
		return status(http.StatusInternalServerError), nil
	case m.Method == "notifications/initialized":
		u.ready = append(u.ready, in)
		return status(http.StatusAccepted), nil
	case m.Method == "tools/call" && in == "s1":
		return status(http.StatusNotFound), nil
	case m.Method == "tools/call":
		u.served = append(u.served, in)
		answer(w, m, `{"content":[]}`)
	default:
		return status(http.StatusMethodNotAllowed), nil
	}
	return w.Result(), nil
}

// begin answers the request that begins a session.
func (u *unready) begin(w http.ResponseWriter, m message) {
	result := `{"protocolVersion":"2025-11-25","capabilities":` + offers + `,"serverInfo":{"name":"unready","version":"1"}}`
	if u.how != "no id" || u.sessions != 2 {
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", u.sessions))
	}
	switch {
	case u.sessions != 2:
	case u.how == "an error":
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"not now"}}`, m.ID)
		return
	case u.how == "another version":
		result = `{"protocolVersion":"2025-06-18","capabilities":{}}`
	case u.how == "a version that there is not":
		result = `{"protocolVersion":"2099-01-01","capabilities":{}}`
	case u.how == "no version", u.how == "no id":
		result = `{}`
	}
	answer(w, m, result)
}

// A session whose handshake came to nothing is not used: it is deleted, and the next call begins another (LET13).
func TestLET13ASessionWhoseHandshakeFailsIsNotUsed(t *testing.T) {
	for _, how := range []string{"an error", "another version", "a version that there is not", "no version", "no id", "not taken"} {
		synctest.Test(t, func(t *testing.T) {
			u := &unready{how: how}
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(u.serve)}
			s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25")})
			if _, err := s.CallTool(t.Context(), "x", nil); err == nil {
				t.Errorf("%s: a call was served although there is no session", how)
			}
			for range 2 {
				if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
					t.Errorf("%s: %v", how, err)
				}
			}
			time.Sleep(time.Second) // of the bubble's clock
			u.mu.Lock()
			defer u.mu.Unlock()
			deleted := []string{"s2"}
			if how == "no id" {
				deleted = nil
			}
			if !slices.Equal(u.ready, []string{"s1", "s3"}) || !slices.Equal(u.served, []string{"s3", "s3"}) || !slices.Equal(u.deleted, deleted) {
				t.Errorf("%s: ready %q, calls served in %q, deleted %q", how, u.ready, u.served, u.deleted)
			}
		})
	}
}
