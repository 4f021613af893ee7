// Command auth serves a generated server to callers with a token: as a protected resource of OAuth 2.1, with the official SDK's auth package,
// CORS for browser clients, and a limit for each caller.
//
//	go run . -http :8080 -public https://mcp.example.com
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"

	"github.com/mcpkiln/mcpkiln/runtime/streamhttp/examples/auth/internal/notes"
)

func main() {
	addr := flag.String("http", ":8080", "where to listen; without a host it is loopback")
	public := flag.String("public", "http://localhost:8080", "how clients reach the server")
	issuer := flag.String("issuer", "https://login.example.com", "the authorization server")
	page := flag.String("page", "https://app.example.com", "the origin of pages that may call the server")
	flag.Parse()
	if err := run(*addr, site{public: *public, issuer: *issuer, page: *page, verify: verify}); err != nil {
		slog.Error("auth", "err", err)
		os.Exit(1)
	}
}

func run(addr string, at site) error {
	srv, err := notes.New(&handlers{}, server.WithLogger(slog.Default()), server.WithMiddleware(perCaller(10, time.Minute)))
	if err != nil {
		return err
	}
	endpoint, mux := at.handler(srv)
	web := streamhttp.Server(addr, mux)
	listener, err := streamhttp.Listen(addr)
	if err != nil {
		return err
	}
	stop, cancel := signal.NotifyContext(context.Background(), server.EndSignals()...)
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-stop.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(endpoint.Shutdown(end), web.Shutdown(end), srv.Shutdown(end))
}

// handlers keep notes by caller.
type handlers struct {
	mu    sync.Mutex
	notes map[string][]string
}

// SaveNote implements notes.Handlers. The owner of the note comes from the token, never from the arguments.
func (h *handlers) SaveNote(ctx context.Context, _ *server.Call, in *notes.SaveNoteInput) (*notes.SaveNoteOutput, error) {
	owner := server.PrincipalFrom(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.notes == nil {
		h.notes = map[string][]string{}
	}
	h.notes[owner] = append(h.notes[owner], in.Text)
	return &notes.SaveNoteOutput{Owner: owner, Notes: int64(len(h.notes[owner]))}, nil
}
