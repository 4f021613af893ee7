// Command server is what the official conformance suite is run against: one process, both revisions, one HTTP endpoint.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"

	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

func main() {
	addr := flag.String("http", "", "serve Streamable HTTP on this address, at /mcp; without it, stdio")
	page := flag.Int("page", 100, "how many tools and tasks one page holds")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	if err := run(*addr, *page, log); err != nil {
		log.Error("server", "err", err)
		os.Exit(1)
	}
}

func run(addr string, page int, log *slog.Logger) error {
	h := &handlers{}
	// The suite reports progress every 50 ms and wants to see each.
	srv, err := kiln.New(h, server.WithLogger(log), server.WithProgressRate(100), server.WithPageSize(page))
	if err != nil {
		return err
	}
	h.srv = srv
	if addr == "" {
		return srv.Run(server.WithPrincipal(context.Background(), "stdio"), rpc.Stdio())
	}
	return serveHTTP(addr, srv)
}

// serveHTTP serves until the first signal, then ends in order.
func serveHTTP(addr string, srv *server.Server) error {
	mcp := streamhttp.Handler(srv)
	mux := http.NewServeMux()
	mux.Handle("/mcp", identified(mcp))
	web := streamhttp.Server(addr, mux)
	listener, err := streamhttp.Listen(addr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ended, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err = errors.Join(mcp.Shutdown(ended), web.Shutdown(ended), srv.Shutdown(ended))
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return err
}

// identified takes a bearer token as the identity of who sends it, whatever it says. Without one there is none.
func identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			r = r.WithContext(server.WithPrincipal(r.Context(), who))
		}
		next.ServeHTTP(w, r)
	})
}
