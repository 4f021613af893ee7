package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpkiln/mcpkiln/runtime/server"

	"github.com/mcpkiln/mcpkiln/runtime/streamhttp/examples/auth/internal/notes"
)

const page = "https://app.example.com"

// start serves the example to the test's clients.
func start(t *testing.T) *httptest.Server {
	t.Helper()
	srv, err := notes.New(&handlers{}, server.WithMiddleware(perCaller(3, time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(nil)
	endpoint, mux := site{public: "http://" + web.Listener.Addr().String(), issuer: "https://login.example.com", page: page, verify: verify}.handler(srv)
	web.Config.Handler = mux
	web.Start()
	t.Cleanup(func() {
		endpoint.Shutdown(context.Background())
		web.Close()
		srv.Shutdown(context.Background())
	})
	return web
}

func send(t *testing.T, method, url, body string, header map[string]string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// bearer adds a token to the requests of a client.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// connect is a client of the official SDK with a token.
func connect(t *testing.T, web *httptest.Server, token string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// save calls the tool and returns what it answered.
func save(t *testing.T, s *mcp.ClientSession) string {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "save_note", Arguments: map[string]any{"text": "milk"}})
	if err != nil {
		return err.Error()
	}
	b, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWithoutATokenAClientLearnsWhereToGetOne: the refusal leads to the metadata, and that to the authorization server.
func TestWithoutATokenAClientLearnsWhereToGetOne(t *testing.T) {
	web := start(t)
	resp := send(t, http.MethodPost, web.URL+"/mcp", `{}`, nil)
	link := `resource_metadata="` + web.URL + metadataPath + `"`
	if got := resp.Header.Get("WWW-Authenticate"); resp.StatusCode != http.StatusUnauthorized || !strings.Contains(strings.ReplaceAll(got, `"`, ""), strings.ReplaceAll(link, `"`, "")) {
		t.Fatalf("%s, WWW-Authenticate %q", resp.Status, got)
	}
	var about struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	body, err := io.ReadAll(send(t, http.MethodGet, web.URL+metadataPath, "", nil).Body)
	if err != nil || json.Unmarshal(body, &about) != nil || about.Resource != web.URL+"/mcp" || len(about.Servers) != 1 {
		t.Errorf("metadata: %s %v", body, err)
	}
	if resp := send(t, http.MethodPost, web.URL+"/mcp", `{}`, map[string]string{"Authorization": "Bearer guessed"}); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a guessed token: %s", resp.Status)
	}
}

// TestNotesBelongToWhomTheTokenBelongsTo, with the official SDK's client.
func TestNotesBelongToWhomTheTokenBelongsTo(t *testing.T) {
	web := start(t)
	ada, eve := connect(t, web, "token-of-ada"), connect(t, web, "token-of-eve")
	for _, step := range []struct {
		who  *mcp.ClientSession
		want string
	}{{ada, `{"notes":1,"owner":"ada"}`}, {ada, `{"notes":2,"owner":"ada"}`}, {eve, `{"notes":1,"owner":"eve"}`}} {
		if got := save(t, step.who); got != step.want {
			t.Errorf("got %s, want %s", got, step.want)
		}
	}
}

// TestEachCallerHasALimitOfItsOwn: who has used it up is told so, and others are not held up.
func TestEachCallerHasALimitOfItsOwn(t *testing.T) {
	web := start(t)
	ada, eve := connect(t, web, "token-of-ada"), connect(t, web, "token-of-eve")
	for range 3 {
		save(t, ada)
	}
	if got := save(t, ada); !strings.Contains(got, "Too Many Requests") {
		t.Errorf("the fourth call: %s", got)
	}
	if got := save(t, eve); got != `{"notes":1,"owner":"eve"}` {
		t.Errorf("somebody else: %s", got)
	}
}

// TestASessionIsItsOwnersAlone: for another caller it does not exist.
func TestASessionIsItsOwnersAlone(t *testing.T) {
	web := start(t)
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	resp := send(t, http.MethodPost, web.URL+"/mcp", initialize, map[string]string{"Authorization": "Bearer token-of-ada"})
	id := resp.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatal(resp.Status)
	}
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for token, want := range map[string]int{"token-of-ada": http.StatusOK, "token-of-eve": http.StatusNotFound} {
		if resp := send(t, http.MethodPost, web.URL+"/mcp", ping, map[string]string{"Authorization": "Bearer " + token, "Mcp-Session-Id": id}); resp.StatusCode != want {
			t.Errorf("%s: %s", token, resp.Status)
		}
	}
}

// TestAPageReachesTheServer: its preflight passes without a token, and it can read why it was refused.
func TestAPageReachesTheServer(t *testing.T) {
	web := start(t)
	preflight := send(t, http.MethodOptions, web.URL+"/mcp", "", map[string]string{
		"Origin": page, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"})
	if preflight.StatusCode != http.StatusNoContent || !strings.Contains(preflight.Header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("preflight: %s %v", preflight.Status, preflight.Header)
	}
	refused := send(t, http.MethodPost, web.URL+"/mcp", `{}`, map[string]string{"Origin": page})
	if refused.StatusCode != http.StatusUnauthorized || refused.Header.Get("Access-Control-Allow-Origin") != page ||
		!strings.Contains(strings.ToLower(refused.Header.Get("Access-Control-Expose-Headers")), "www-authenticate") {
		t.Errorf("refused: %s %v", refused.Status, refused.Header)
	}
}
