package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

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
