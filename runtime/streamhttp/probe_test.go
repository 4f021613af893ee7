package streamhttp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

func status(h http.Handler) int {
	w := httptest.NewRecorder()
	// Probes come to an address, without anything else.
	h.ServeHTTP(w, &http.Request{Method: http.MethodGet, Host: "10.0.0.7:8080", Header: http.Header{}})
	return w.Code
}

// TestReadinessTurnsOffInShutdown, of the endpoint or of its server; the process itself is healthy.
func TestReadinessTurnsOffInShutdown(t *testing.T) {
	for name, shutdown := range map[string]func(*server.Server, *Endpoint) error{
		"endpoint": func(_ *server.Server, h *Endpoint) error { return h.Shutdown(context.Background()) },
		"server":   func(srv *server.Server, _ *Endpoint) error { return srv.Shutdown(context.Background()) },
	} {
		srv := newServer(t, nil)
		h := Handler(srv)
		t.Cleanup(func() {
			h.Shutdown(context.Background())
			srv.Shutdown(context.Background())
		})
		if got := status(h.Ready()); got != http.StatusOK {
			t.Errorf("%s: ready: %d before", name, got)
		}
		if err := shutdown(srv, h); err != nil {
			t.Fatal(err)
		}
		if got := status(h.Ready()); got != http.StatusServiceUnavailable {
			t.Errorf("%s: ready: %d in shutdown", name, got)
		}
		if got := status(h.Health()); got != http.StatusOK {
			t.Errorf("%s: health: %d", name, got)
		}
	}
}
