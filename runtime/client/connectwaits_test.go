package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// Connect ends with its context whatever it waits for, and says what that is; a server that takes no notification is waited for 10 s (LET13, REV02).
func TestREV02ConnectSaysWhatItWaitsFor(t *testing.T) {
	const never = time.Hour
	for _, c := range []struct {
		revision, hold string
		patience, took time.Duration
		says           []string
	}{
		{"2026-07-28", "server/discover", time.Second, time.Second, []string{"the server has not answered server/discover", "deadline exceeded"}},
		{"2025-11-25", "initialize", time.Second, time.Second, []string{"the server has not answered initialize", "deadline exceeded"}},
		{"2025-11-25", "notifications/initialized", time.Second, time.Second, []string{"the server has not taken notifications/initialized", "deadline exceeded"}},
		{"2025-11-25", "notifications/initialized", never, 10 * time.Second, []string{"notifications/initialized was not taken", "has not responded within 10s", "status 202"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
				w := httptest.NewRecorder()
				if m.Method == c.hold {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				session(w, r, m, "s1")
				return w.Result(), nil
			})}
			ctx, cancel := context.WithTimeout(t.Context(), c.patience)
			defer cancel()
			began := time.Now()
			_, err := client.Connect(ctx, endpoint, client.WithRevision(c.revision))
			if err == nil || time.Since(began) != c.took || errors.Is(err, context.DeadlineExceeded) != (c.patience < never) {
				t.Fatalf("%s: %v after %v", c.hold, err, time.Since(began))
			}
			has(t, err.Error(), c.says...)
		})
	}
}
