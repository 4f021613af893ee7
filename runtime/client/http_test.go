package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"
)

// serve serves over HTTP and returns the address.
func serve(t testing.TB, srv *server.Server, opts ...streamhttp.Option) string {
	t.Helper()
	endpoint := streamhttp.Handler(srv, opts...)
	ts := httptest.NewServer(endpoint)
	t.Cleanup(func() {
		_ = endpoint.Shutdown(context.Background())
		ts.Close()
		_ = srv.Shutdown(context.Background())
	})
	return ts.URL
}

func dialHTTP(t testing.TB, url string, opts ...client.Option) *client.Session {
	t.Helper()
	s, err := client.Connect(t.Context(), client.HTTP(url), opts...)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func TestREV02EveryRevisionIsSpokenOverHTTP(t *testing.T) {
	url := serve(t, newServer(t, tools()))
	each(t, func(t *testing.T, revision string) {
		s := dialHTTP(t, url, client.WithRevision(revision))
		r, err := s.CallTool(t.Context(), "echo", map[string]string{"text": "hello"})
		if err != nil || s.Revision() != revision {
			t.Fatal(s.Revision(), err)
		}
		has(t, string(r.Raw), "hello")
		n := 0
		for _, err := range s.ListTools(t.Context()) {
			if n++; err != nil {
				t.Error(err)
			}
		}
		if n != 3 {
			t.Errorf("%d tools", n)
		}
	})
	if s := dialHTTP(t, url); s.Revision() != revisions[0] {
		t.Errorf("revision %s is picked", s.Revision())
	}
}

// script is an HTTP server of which a test says what it answers.
func script(t testing.TB, handle func(w http.ResponseWriter, r *http.Request, m message)) string {
	t.Helper()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle(w, r, readMessage(r))
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}

// readMessage is the message of a request.
func readMessage(r *http.Request) (m message) {
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	m.raw = string(body)
	return m
}

// answer writes a result as JSON.
func answer(w http.ResponseWriter, m message, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// session answers what the beginning and the end of a session of 2025-11-25 need, and is false for all else.
func session(w http.ResponseWriter, r *http.Request, m message, id string) bool {
	switch {
	case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "":
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", id)
		answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+offers+`,"serverInfo":{"name":"script","version":"1"}}`)
	case r.Method == http.MethodDelete:
	case strings.HasPrefix(m.Method, "notifications/"):
		w.WriteHeader(http.StatusAccepted)
	default:
		return false
	}
	return true
}

// What is no answer is an error that says what came instead.
func TestHTTPAnswersThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, m message)
		want   []string
	}{
		"html": {func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<html>Sign in</html>")
		}, []string{"text/html", "Sign in"}},
		"no type": {func(w http.ResponseWriter, _ message) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, "hello")
		}, []string{"answers without a Content-Type: hello"}},
		"redirect": {func(w http.ResponseWriter, _ message) {
			w.Header().Set("Location", "https://elsewhere.example/mcp")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, []string{"307", "elsewhere.example"}},
		"401": {func(w http.ResponseWriter, _ message) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		}, []string{"401", "Bearer resource_metadata"}},
		"401 in JSON": {func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invalid_token"}`)
		}, []string{"401", "Bearer error"}},
		"502 in JSON": {func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, `{"error":{"code":502}}`)
		}, []string{"502", `{"error"`}},
		"500": {func(w http.ResponseWriter, _ message) {
			http.Error(w, "database is down", http.StatusInternalServerError)
		}, []string{"500", "database is down"}},
		"202": {func(w http.ResponseWriter, _ message) { w.WriteHeader(http.StatusAccepted) }, []string{"202"}},
		"2 GiB": {func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "2147483648")
		}, []string{"larger than"}},
		"endless":   {func(w http.ResponseWriter, _ message) { endless(w, "application/json") }, []string{"larger than"}},
		"one event": {func(w http.ResponseWriter, _ message) { endless(w, "text/event-stream") }, []string{"larger than"}},
		"another's": {func(w http.ResponseWriter, m message) { m.ID = []byte("999"); answer(w, m, `{}`) }, []string{"answers request 999, not "}},
		"cut off": {func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": hi\n\n")
		},
			[]string{"without an answer"}},
		"an error": {func(w http.ResponseWriter, m message) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`, m.ID)
		}, []string{"no such tool"}},
		"an error without id": {func(w http.ResponseWriter, m message) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"bad header"}}`)
		}, []string{"bad header"}},
	} {
		t.Run(name, func(t *testing.T) {
			url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
				if !session(w, r, m, "s") {
					c.answer(w, m)
				}
			})
			s := dialHTTP(t, url, client.WithRevision("2025-11-25"), client.WithMaxFrame(1<<20))
			_, err := s.CallTool(t.Context(), "x", nil)
			if err == nil {
				t.Fatal("it was taken for an answer")
			}
			has(t, err.Error(), c.want...)
			if err := s.Err(); err != nil {
				t.Errorf("the session has ended: %v", err)
			}
		})
	}
}

// endless writes one value for ever.
func endless(w http.ResponseWriter, kind string) {
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, `data: "`)
	for {
		if _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err != nil {
			return
		}
	}
}

func TestREV02ABadRequestIsReadFirst(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   string // revision, or the beginning of an error
	}{
		"another revision":    {400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"?","data":{"supported":["2025-11-25"]}}}`, "2025-11-25"},
		"no session":          {400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session id"}}`, "2025-11-25"},
		"unknown method":      {200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"?"}}`, "2025-11-25"},
		"no message":          {404, `not here`, "2025-11-25"},
		"a capability":        {400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"needs roots"}}`, "needs roots"},
		"not allowed":         {401, `who are you?`, "client: HTTP status 401"},
		"a defect":            {500, `oops`, "client: HTTP status 500"},
		"a revision of later": {400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"?","data":{"supported":["2030-01-01"]}}}`, "client: no common"},
	} {
		url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
			if session(w, r, m, "s") {
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		s, err := client.Connect(t.Context(), client.HTTP(url))
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), c.want):
			t.Errorf("%s: %v", name, err)
		case err == nil && s.Revision() != c.want:
			t.Errorf("%s: %s", name, s.Revision())
		}
		if err == nil {
			_ = s.Close()
		}
	}
}

func TestNobodyIsThere(t *testing.T) {
	ts := httptest.NewServer(http.NotFoundHandler())
	ts.Close()
	_, err := client.Connect(t.Context(), client.HTTP(ts.URL))
	var lost *client.TransportError
	if !errors.As(err, &lost) {
		t.Errorf("%v", err)
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of us
	secure.StartTLS()
	defer secure.Close()
	if _, err := client.Connect(t.Context(), client.HTTP(secure.URL)); !errors.As(err, &lost) {
		t.Errorf("%v", err)
	} else {
		has(t, err.Error(), "certificate")
	}
}
