package client_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
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

// Whichever way the revision has for it, the handler's context ends, with the cause that is meant.
func TestCAN17GivingUpOverHTTP(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		ended := make(chan error, 2)
		s := dialHTTP(t, serve(t, newServer(t, []server.Tool{tool("hang", watch(ended))})), client.WithRevision(revision))
		done := start(t.Context(), s, "hang")
		<-ended
		if err := s.CancelRequest(s.Requests()[0].ID, "enough"); err != nil {
			t.Fatal(err)
		}
		var cause *client.Cause
		if r := <-done; !errors.As(r.err, &cause) || cause.Source != inflight.SourceCaller {
			t.Error(r.err)
		}
		want := inflight.SourcePeer
		if revision == "2026-07-28" {
			want = inflight.SourceDisconnect
		}
		if err := <-ended; !errors.As(err, &cause) || cause.Source != want {
			t.Errorf("the handler's context ended with %v", err)
		}
	})
}

// told records the HTTP requests that a server gets.
type told struct {
	mu  sync.Mutex
	all []string
}

func (l *told) add(r *http.Request, body []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var m message
	_ = json.Unmarshal(body, &m)
	l.all = append(l.all, strings.TrimSpace(r.Method+" "+m.Method))
}

func (l *told) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, ", ")
}

func TestCAN17TheNotificationIsSentWhereAStreamsEndSaysNothing(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		ended := make(chan error, 2)
		endpoint := streamhttp.Handler(newServer(t, []server.Tool{tool("hang", watch(ended))}))
		var heard told
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			heard.add(r, body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			endpoint.ServeHTTP(w, r)
		}))
		defer ts.Close()
		defer func() { _ = endpoint.Shutdown(context.Background()) }()
		s := dialHTTP(t, ts.URL, client.WithRevision(revision))
		ctx, cancel := context.WithCancel(t.Context())
		done := start(ctx, s, "hang")
		<-ended
		cancel()
		<-done
		<-ended
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if sent := strings.Contains(heard.String(), "notifications/cancelled"); sent != (revision != "2026-07-28") {
			t.Errorf("requests: %s", &heard)
		}
		if ends := strings.HasSuffix(heard.String(), "DELETE"); ends != (revision != "2026-07-28") {
			t.Errorf("requests: %s", &heard)
		}
	})
}

// TestCAN17CloseWaitsForWhatGivesUpARequest: a program that gives up and ends has told the server.
func TestCAN17CloseWaitsForWhatGivesUpARequest(t *testing.T) {
	var heard told
	began := make(chan struct{})
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		heard.add(r, []byte(m.raw))
		if !session(w, r, m, "a") {
			close(began)
			<-r.Context().Done()
		}
	})
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
	ctx, cancel := context.WithCancel(t.Context())
	done := start(ctx, s, "hang")
	<-began
	cancel()
	<-done
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !strings.HasSuffix(heard.String(), "POST notifications/cancelled, DELETE") {
		t.Errorf("requests: %s", &heard)
	}
}

// script is an HTTP server of which a test says what it answers.
func script(t testing.TB, handle func(w http.ResponseWriter, r *http.Request, m message)) string {
	t.Helper()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m message
		_ = json.Unmarshal(body, &m)
		m.raw = string(body)
		handle(w, r, m)
	}))
	t.Cleanup(ts.Close)
	return ts.URL
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

func TestASessionThatTheServerHasForgottenIsRenewed(t *testing.T) {
	var mu sync.Mutex
	sessions, calls := 0, 0
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		mu.Lock()
		defer mu.Unlock()
		if m.Method == "initialize" {
			sessions++
			if r.Header.Get("Mcp-Session-Id") != "" {
				t.Error("the handshake carries the id of a session")
			}
		}
		if session(w, r, m, fmt.Sprint("s", sessions)) {
			return
		}
		calls++
		if id := r.Header.Get("Mcp-Session-Id"); id == "s1" && calls > 1 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if r.Header.Get("Mcp-Protocol-Version") != "2025-11-25" {
			t.Errorf("%v", r.Header)
		}
		answer(w, m, `{"content":[]}`)
	})
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
	for range 3 {
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
	}
	if sessions != 2 || calls != 4 {
		t.Errorf("%d sessions, %d calls", sessions, calls)
	}
}

func TestAStreamIsResumed(t *testing.T) {
	var last []string
	var at []time.Time
	var call message
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		if session(w, r, m, "s") {
			return
		}
		at = append(at, time.Now())
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodPost {
			call = m
			fmt.Fprintf(w, "id: a1\r\nretry: 30\r\ndata:\r\n\r\n: comment\n\n")
			return
		}
		last = append(last, r.Header.Get("Last-Event-ID"))
		if len(last) == 1 {
			fmt.Fprintf(w, "id: a2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\ndata: \"params\":{\"progressToken\":%s,\"progress\":1}}\n\n", call.ID)
			return
		}
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", call.ID)
	})
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
	progress := 0
	if _, err := s.CallTool(t.Context(), "x", nil, client.OnProgress(func(client.Progress) { progress++ })); err != nil {
		t.Fatal(err)
	}
	if strings.Join(last, " ") != "a1 a2" || progress != 1 {
		t.Errorf("asked with %q, progress %d", last, progress)
	}
	for i := range at[1:] {
		if waited := at[i+1].Sub(at[i]); waited < 30*time.Millisecond {
			t.Errorf("asked again after %v", waited)
		}
	}
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
		"another's": {func(w http.ResponseWriter, m message) { m.ID = []byte("999"); answer(w, m, `{}`) }, []string{"without an answer"}},
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

// What a request says stands in headers, too (2026-07-28).
func TestEXT14HeadersSayWhatTheRequestSays(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]http.Header{}
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		mu.Lock()
		seen[m.Method] = r.Header
		mu.Unlock()
		switch m.Method {
		case "server/discover":
			answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+offers+`,"ttlMs":0,"cacheScope":"private"}`)
		case "tools/list":
			answer(w, m, `{"tools":[
				{"name":"go","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"inner":{"type":"object","properties":{"level":{"type":"integer","x-mcp-header":"Level"}}},
					"note":{"type":"string","x-mcp-header":"Note"},"gone":{"type":"string","x-mcp-header":"Gone"},"like":{"type":"string","x-mcp-header":"Like"}}}},
				{"name":"two","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"X"},"b":{"type":"string","x-mcp-header":"x"}}}},
				{"name":"list","inputSchema":{"properties":{"a":{"type":"array","x-mcp-header":"X"}}}},
				{"name":"name","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}}],"ttlMs":0,"cacheScope":"private"}`)
		default:
			answer(w, m, `{"content":[],"contents":[],"messages":[]}`)
		}
	})
	s := dialHTTP(t, url)
	n := 0
	for _, err := range s.ListTools(t.Context()) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("%d tools can be called", n)
	}
	args := json.RawMessage(`{"region":"eu","inner":{"level":42},"note":" größer","gone":null,"like":"=?base64?eA==?="}`)
	if _, err := s.CallTool(t.Context(), "go", args); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadResource(t.Context(), "file:///a"); err != nil {
		t.Fatal(err)
	}
	encoded := func(text string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?=" }
	for _, c := range []struct{ method, header, want string }{
		{"server/discover", "Mcp-Method", "server/discover"}, {"server/discover", "Mcp-Protocol-Version", "2026-07-28"},
		{"tools/call", "Mcp-Method", "tools/call"}, {"tools/call", "Mcp-Name", "go"},
		{"tools/call", "Mcp-Param-Region", "eu"}, {"tools/call", "Mcp-Param-Level", "42"}, {"tools/call", "Mcp-Param-Note", encoded(" größer")},
		{"tools/call", "Mcp-Param-Gone", ""}, {"tools/call", "Mcp-Param-Like", encoded("=?base64?eA==?=")}, {"resources/read", "Mcp-Name", "file:///a"},
	} {
		if got := seen[c.method].Get(c.header); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.header, c.method, got, c.want)
		}
	}
}

func TestEXT14HeadersThatAServerMissesAreLearnt(t *testing.T) {
	definition := `{"name":"go","inputSchema":{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"}}}}`
	needs := tool("go", echo)
	needs.Definition = definition
	s := dialHTTP(t, serve(t, newServer(t, []server.Tool{needs})), client.WithRevision("2026-07-28"))
	if _, err := s.CallTool(t.Context(), "go", map[string]string{"text": "x"}); err != nil {
		t.Error(err)
	}
}
