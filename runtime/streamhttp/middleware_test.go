package streamhttp

import (
	"context"
	"net/http"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// TestSRV01MiddlewareDoesNotHoldUpTheEndOfASession: one that waits where messages are received is interrupted.
func TestSRV01MiddlewareDoesNotHoldUpTheEndOfASession(t *testing.T) {
	waits := make(chan struct{}, 1)
	srv := newServer(t, nil, server.WithMiddleware(func(next server.Handle) server.Handle {
		return func(ctx context.Context, m *server.Message) (*server.MessageResult, error) {
			if m.Method != "notifications/own" {
				return next(ctx, m)
			}
			waits <- struct{}{}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
	}))
	f := newFixture(t)
	h := Handler(srv)
	f.ts.Config.Handler = h
	session := f.initialize()
	posted := make(chan struct{})
	go func() {
		defer close(posted)
		resp, err := f.ts.Client().Do(f.request(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/own"}`, session))
		if err != nil {
			t.Error(err)
			return
		}
		_ = resp.Body.Close()
	}()
	<-waits
	if err := h.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	<-posted
	_ = srv.Shutdown(t.Context())
}

// TestSRV01NotificationsWithoutASessionPass, which nothing else is done with.
func TestSRV01NotificationsWithoutASessionPass(t *testing.T) {
	seen := make(chan string, 1)
	srv := newServer(t, nil, server.WithMiddleware(func(next server.Handle) server.Handle {
		return func(ctx context.Context, m *server.Message) (*server.MessageResult, error) {
			seen <- m.Method + " " + m.Header().Get("X-Trace")
			return next(ctx, m)
		}
	}))
	f := newFixture(t)
	h := Handler(srv)
	f.ts.Config.Handler = h
	t.Cleanup(func() {
		_ = h.Shutdown(context.Background())
		_ = srv.Shutdown(context.Background())
	})
	f.want(f.post(`{"jsonrpc":"2.0","method":"notifications/own","params":{`+meta2026+`}}`, append(headers2026("notifications/own", ""), "X-Trace: t")...), http.StatusAccepted)
	if got := <-seen; got != "notifications/own t" {
		t.Error(got)
	}
}
