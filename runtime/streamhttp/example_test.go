package streamhttp_test

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"
)

// verify stands for whatever checks tokens: an OAuth resource server's middleware, a gateway's header.
func verify(token string) (user string, ok bool) {
	user, ok = strings.CutPrefix(token, "token-of-")
	return user, ok
}

// bearer lets through who has a token and hands the identity on: sessions and tasks belong to it.
func bearer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		user, ok := verify(token)
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource"`)
			http.Error(w, "a token is required", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(server.WithPrincipal(r.Context(), user)))
	})
}

// A server behind a token check, with an end in order. srv comes from the New of a generated package.
func ExampleHandler() {
	var srv *server.Server
	main := func() error {
		endpoint := streamhttp.Handler(srv, streamhttp.WithHosts("mcp.example.com"))
		mux := http.NewServeMux()
		mux.Handle("/mcp", bearer(endpoint))
		listener, err := streamhttp.Listen(":8080") // loopback; "0.0.0.0:8080" for others
		if err != nil {
			return err
		}
		s := streamhttp.Server("", mux)

		stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
		defer cancel()
		failed := make(chan error, 1)
		go func() { failed <- s.Serve(listener) }()
		select {
		case err := <-failed:
			return err
		case <-stop.Done():
		}
		end, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		// Streams first, which the http.Server would wait for; then connections, then tasks.
		for _, shutdown := range []func(context.Context) error{endpoint.Shutdown, s.Shutdown, srv.Shutdown} {
			if err := shutdown(end); err != nil {
				log.Print(err)
			}
		}
		return nil
	}
	_ = main
}
