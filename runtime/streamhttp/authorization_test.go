package streamhttp

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

type scopeKey struct{}

// TestLET07EachRequestHasItsOwnAuthorization opens a session with more rights than what follows has.
func TestLET07EachRequestHasItsOwnAuthorization(t *testing.T) {
	f := newFixture(t)
	srv := newServer(t, []server.Tool{tool("scope", func(ctx context.Context, call *server.Call, _ *input) (*output, error) {
		return &output{fmt.Sprint(call.Principal(), ":", ctx.Value(scopeKey{}))}, nil
	})})
	h := Handler(srv)
	t.Cleanup(func() {
		_ = h.Shutdown(context.Background())
		_ = srv.Shutdown(context.Background())
	})
	f.ts.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := server.WithPrincipal(r.Context(), "bob")
		if scope := r.Header.Get("X-Scope"); scope != "" {
			ctx = context.WithValue(ctx, scopeKey{}, scope)
		}
		h.ServeHTTP(w, r.WithContext(ctx))
	})
	session := f.initialize("X-Scope: admin")
	for i, row := range []struct{ header, want string }{
		{"X-Scope: readonly", "bob:readonly"}, {"X-Other: x", "bob:<nil>"}, {"X-Scope: admin", "bob:admin"}, {"X-Scope: write", "bob:write"},
	} {
		f.want(f.post(callBody(fmt.Sprint(i+1), "scope", "x"), session, row.header), 200, `"text":"`+row.want+`"`)
	}
}
