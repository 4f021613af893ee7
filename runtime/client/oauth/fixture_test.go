package oauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/client/oauth"
)

// site is a server that wants a token. It takes the place of the network.
type site struct {
	good string // the token that it takes

	mu   sync.Mutex
	seen []string // of each request its method and its token
	log  bytes.Buffer
}

// RoundTrip implements http.RoundTripper.
func (s *site) RoundTrip(r *http.Request) (*http.Response, error) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if r.Body != nil {
		_ = json.NewDecoder(r.Body).Decode(&m)
	}
	token := r.Header.Get("Authorization")
	s.mu.Lock()
	s.seen = append(s.seen, strings.TrimSpace(m.Method+" "+token))
	good := s.good
	s.mu.Unlock()
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r}
	body := ""
	switch {
	case token != "Bearer "+good:
		resp.StatusCode = http.StatusUnauthorized
		resp.Header = http.Header{"Www-Authenticate": {`Bearer realm="here"`}}
	case m.Method == "initialize":
		body = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"site","version":"1"}}`
	case m.Method == "tools/call":
		body = `{"content":[]}`
	default:
		resp.StatusCode = http.StatusAccepted
	}
	if body != "" {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, body)
	}
	resp.Body = io.NopCloser(strings.NewReader(body))
	return resp, nil
}

func (s *site) change(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.good = token
}

// Write implements io.Writer, for what is logged.
func (s *site) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

// keeper is a handler of one token.
type keeper struct {
	authorize func(ctx context.Context) (token string, err error)

	mu    sync.Mutex
	token string
	asked int
}

var _ auth.OAuthHandler = (*keeper)(nil)

func (k *keeper) TokenSource(context.Context) (oauth2.TokenSource, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.token == "" {
		return nil, nil
	}
	return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: k.token}), nil
}

func (k *keeper) Authorize(ctx context.Context, _ *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	k.mu.Lock()
	k.asked++
	k.mu.Unlock()
	token, err := k.authorize(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.token = token
	}
	return err
}

func (k *keeper) times() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asked
}

// connect opens a session with the site, which knows the token "first" of the keeper.
func connect(t *testing.T, s *site, k *keeper, opts ...client.Option) *client.Session {
	t.Helper()
	s.good, k.token = "first", "first"
	server := client.HTTP("http://site.example/mcp")
	server.Client = &http.Client{Transport: s}
	if err := oauth.Use(server, k); err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug}))
	session, err := client.Connect(t.Context(), server, append(opts, client.WithRevision("2025-11-25"), client.WithLogger(logger))...)
	if err != nil {
		t.Fatal(err)
	}
	return session
}
