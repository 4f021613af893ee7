package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"
)

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
	var m message
	_ = json.Unmarshal(body, &m)
	l.hear(r, m)
}

func (l *told) hear(r *http.Request, m message) {
	l.mu.Lock()
	defer l.mu.Unlock()
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

// blockedLog takes nothing about the end of a request before it is released.
type blockedLog struct {
	slog.Handler
	release chan struct{}
}

// Handle implements slog.Handler.
func (l *blockedLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "request ended" {
		<-l.release
	}
	return nil
}

// Enabled implements slog.Handler.
func (l *blockedLog) Enabled(context.Context, slog.Level) bool { return true }

// A call that timed out returns when what tells the server is under way: its caller may close the session next.
func TestCAN17ACallThatTimedOutHasToldTheServer(t *testing.T) {
	var heard told
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		heard.add(r, []byte(m.raw))
		if !session(w, r, m, "a") {
			<-r.Context().Done()
		}
	})
	slow := &blockedLog{slog.DiscardHandler, make(chan struct{})}
	defer close(slow.release) // the goroutine of the timer logs before it gives up the request
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"), client.WithLogger(slog.New(slow)), client.WithTimeout(50*time.Millisecond, time.Minute))
	var cause *client.Cause
	if _, err := s.CallTool(t.Context(), "hang", nil); !errors.As(err, &cause) || cause.Source != inflight.SourceTimeout {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !strings.HasSuffix(heard.String(), "POST tools/call, POST notifications/cancelled, DELETE") {
		t.Errorf("requests: %s", &heard)
	}
}

// body is a response whose body comes in parts. Each waits for its time.
type body struct {
	ctx   context.Context
	parts []part
}

type part struct {
	after time.Duration
	text  string
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if len(b.parts) == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(b.parts[0].after):
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
	n := copy(p, b.parts[0].text)
	b.parts = b.parts[1:]
	return n, nil
}

// Close implements io.Closer.
func (b *body) Close() error { return nil }

// made is a server that answers a call with a task, in its own time.
type made struct {
	header    time.Duration   // when its answer begins,
	body      []time.Duration // and how long its halves take
	began     chan struct{}
	cancelled chan json.RawMessage
	closed    chan time.Time // when the client closed the stream
}

// RoundTrip implements http.RoundTripper.
func (s *made) RoundTrip(r *http.Request) (*http.Response, error) {
	var m message
	_ = json.NewDecoder(r.Body).Decode(&m)
	answer := func(parts ...part) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: &body{r.Context(), parts}}, nil
	}
	text := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"resultType":"`
	switch m.Method {
	case "server/discover":
		return answer(part{0, text + `complete","supportedVersions":["2026-07-28"],"capabilities":` + taskOffers + `,"ttlMs":0,"cacheScope":"private"}}`})
	case "tasks/cancel":
		s.cancelled <- m.Params
		return answer(part{0, text + `complete"}}`})
	}
	close(s.began)
	context.AfterFunc(r.Context(), func() { s.closed <- time.Now() })
	select {
	case <-time.After(s.header):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	text += `task","taskId":"t1","status":"working",` + moments + `,"ttlMs":null}}`
	half := len(text) / 2
	return answer(part{s.body[0], text[:half]}, part{s.body[1], text[half:]})
}

// A server that has made a task before it learns that nobody waits has answered so: the answer is read, and the task cancelled. It waits
// neither for one that is not to come, nor longer than a moment for one that has begun.
func TestCAN11AnAnswerOnItsWayNamesTheTaskToCancel(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		server made
		named  bool
		closed time.Duration // after the caller gave up
	}{
		"at once":           {made{header: 0, body: []time.Duration{100 * ms, 0}}, true, 100 * ms},
		"a moment later":    {made{header: 200 * ms, body: []time.Duration{0, 0}}, true, 200 * ms},
		"a slow body":       {made{header: 200 * ms, body: []time.Duration{300 * ms, 300 * ms}}, true, 800 * ms},
		"a body for ever":   {made{header: 0, body: []time.Duration{0, time.Hour}}, false, 1250 * ms},
		"nothing for hours": {made{header: time.Hour}, false, 250 * ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := c.server
			srv.began, srv.cancelled, srv.closed = make(chan struct{}), make(chan json.RawMessage, 1), make(chan time.Time, 1)
			endpoint := client.HTTP("http://server.test/mcp")
			endpoint.Client = &http.Client{Transport: &srv}
			s, err := client.Connect(t.Context(), endpoint)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := start(ctx, s, "x")
			<-srv.began
			at := time.Now()
			cancel()
			if r := <-done; r.err == nil || !at.Equal(time.Now()) {
				t.Errorf("%s: the caller waited %v, and got %v", name, time.Since(at), r.err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if took := (<-srv.closed).Sub(at); took != c.closed {
				t.Errorf("%s: the stream ended after %v, want %v", name, took, c.closed)
			}
			if len(srv.cancelled) == 1 != c.named {
				t.Errorf("%s: %d tasks were cancelled", name, len(srv.cancelled))
			}
		})
	}
}
