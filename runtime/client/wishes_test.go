package client_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// granting is a server of 2025-11-25 over HTTP that remembers what it is asked to send, until its session ends.
type granting struct {
	mu      sync.Mutex
	session int
	refuses bool     // everything it is asked to send
	granted []string // in the session
}

func (g *granting) serve(r *http.Request, m message) (*http.Response, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w, id := httptest.NewRecorder(), fmt.Sprint("s", g.session)
	switch {
	case r.Method != http.MethodPost:
		return status(http.StatusMethodNotAllowed), nil
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", id)
		answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+offers+`,"serverInfo":{"name":"granting","version":"1"}}`)
	case r.Header.Get("Mcp-Session-Id") != id:
		return status(http.StatusNotFound), nil
	case m.ID == nil:
		return status(http.StatusAccepted), nil
	case m.Method == "ping":
		answer(w, m, `{}`)
	case g.refuses:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"not this"}}`, m.ID)
	default:
		g.granted = append(g.granted, m.Method+" "+string(m.Params))
		answer(w, m, `{}`)
	}
	return w.Result(), nil
}

// asked is what it was asked to send in the session.
func (g *granting) asked() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.granted)
}

// end ends the session.
func (g *granting) end(refuses bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.session, g.refuses, g.granted = g.session+1, refuses, nil
}

// wants has a session asked for what outlives it, and for what does not.
func wants(t *testing.T, s *client.Session) {
	t.Helper()
	for _, err := range []error{
		s.SetLevel(t.Context(), "error"), s.SetLevel(t.Context(), "debug"), s.Subscribe(t.Context(), "file:///a"), s.Subscribe(t.Context(), "file:///b"),
		s.Subscribe(t.Context(), "file:///c"), s.Unsubscribe(t.Context(), "file:///b"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

// wanted is what is asked for again.
var wanted = []string{`logging/setLevel {"level":"debug"}`, `resources/subscribe {"uri":"file:///a"}`, `resources/subscribe {"uri":"file:///c"}`}

// What the host has asked the server to send is asked for again in the session that replaces one which the server has ended. If the server does not want
// that any more, the log says so.
func TestWhatTheHostHasAskedForOutlivesAnHTTPSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		g := &granting{}
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(g.serve)}
		s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25"), client.WithLogger(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn})))})
		wants(t, s)
		for range 2 {
			g.end(false)
			if err := s.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			if synctest.Wait(); !slices.Equal(g.asked(), wanted) {
				t.Errorf("asked for %q", g.asked())
			}
		}
		if logged.Len() > 0 {
			t.Errorf("logged %s", logged.String())
		}
		g.end(true)
		if err := s.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		has(t, logged.String(), "which=debug", "which=file:///a", "which=file:///c", "not this")
		if strings.Contains(logged.String(), "which=file:///b") {
			t.Error(logged.String())
		}
	})
}

// A server that knows no session is not asked to begin one again and again: only a call of the host begins one, once.
func TestLET13WhatIsAskedForAgainBeginsNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &granting{}
		var broken atomic.Bool
		var begun atomic.Int32
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
			switch {
			case m.Method == "initialize":
				if begun.Add(1) > 20 { // enough is known
					broken.Store(false)
				}
			case m.ID != nil && broken.Load():
				return status(http.StatusNotFound), nil
			}
			return g.serve(r, m)
		})}
		s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25")})
		wants(t, s)
		for range 2 {
			g.end(false)
			begun.Store(0)
			broken.Store(true)
			if err := s.Ping(t.Context()); err == nil {
				t.Error("no session answers")
			}
			if sleep(t.Context(), time.Minute); begun.Load() != 1 {
				t.Errorf("%d sessions are begun for one call", begun.Load())
			}
		}
		broken.Store(false)
		g.end(false)
		if err := s.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		if synctest.Wait(); !slices.Equal(g.asked(), wanted) {
			t.Errorf("asked for %q", g.asked())
		}
	})
}

// Neither what the host asks for at the same time nor what it takes back is lost to what is asked for again.
func TestWhatTheHostAsksForMeanwhileIsWhatCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &granting{}
		endpoint := client.HTTP("http://server.example/mcp")
		var slow atomic.Bool
		endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
			if slow.Load() && (strings.Contains(string(m.Params), "debug") || m.Method == "resources/subscribe") {
				sleep(r.Context(), time.Second)
			}
			return g.serve(r, m)
		})}
		s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25")})
		wants(t, s)
		g.end(false)
		slow.Store(true)
		if err := s.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the old level is on its way
		if err := s.SetLevel(t.Context(), "info"); err != nil {
			t.Error(err)
		}
		sleep(t.Context(), 1500*time.Millisecond) // and now the first resource
		if err := s.Unsubscribe(t.Context(), "file:///a"); err != nil {
			t.Error(err)
		}
		sleep(t.Context(), time.Minute)
		last := map[string]string{}
		for _, one := range g.asked() {
			method, params, _ := strings.Cut(one, " ")
			if method == "logging/setLevel" {
				last[method] = params
			} else {
				last[params] = method
			}
		}
		if last["logging/setLevel"] != `{"level":"info"}` || last[`{"uri":"file:///a"}`] != "resources/unsubscribe" || last[`{"uri":"file:///c"}`] != "resources/subscribe" {
			t.Errorf("asked for %q", g.asked())
		}
	})
}

// A call that fails takes back what it has asked for itself, not what another has asked for.
func TestAFailedCallTakesBackItsOwnWishOnly(t *testing.T) {
	for _, c := range []struct {
		method string
		ask    func(ctx context.Context, s *client.Session) error
	}{
		{`resources/subscribe {"uri":"file:///a"}`, func(ctx context.Context, s *client.Session) error { return s.Subscribe(ctx, "file:///a") }},
		{`logging/setLevel {"level":"debug"}`, func(ctx context.Context, s *client.Session) error { return s.SetLevel(ctx, "debug") }},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := &granting{}
			var asked atomic.Int32
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
				if strings.HasPrefix(c.method, m.Method+" ") && asked.Add(1) == 1 {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				return g.serve(r, m)
			})}
			s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25")})
			ctx, cancel := context.WithCancel(t.Context())
			first := make(chan error, 1)
			go func() { first <- c.ask(ctx, s) }()
			synctest.Wait()
			if err := c.ask(t.Context(), s); err != nil {
				t.Error(err)
			}
			if cancel(); <-first == nil {
				t.Error("the call that was given up has succeeded")
			}
			g.end(false)
			if err := s.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			if synctest.Wait(); !slices.Equal(g.asked(), []string{c.method}) {
				t.Errorf("asked for %q, not for %q", g.asked(), c.method)
			}
		})
	}
}

// A subscription that the host has asked for anew stays, though one that it did not want any more is ended late.
func TestASubscriptionThatIsEndedLateIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &granting{}
		var subscribed, unsubscribed atomic.Int32
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
			if m.Method == "resources/subscribe" && subscribed.Add(1) == 2 || m.Method == "resources/unsubscribe" && unsubscribed.Add(1) == 2 {
				sleep(r.Context(), time.Second) // what is sent again, and what ends it
			}
			return g.serve(r, m)
		})}
		s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25")})
		if err := s.Subscribe(t.Context(), "file:///a"); err != nil {
			t.Error(err)
		}
		g.end(false)
		if err := s.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := s.Unsubscribe(t.Context(), "file:///a"); err != nil {
			t.Error(err)
		}
		sleep(t.Context(), 1500*time.Millisecond)
		if err := s.Subscribe(t.Context(), "file:///a"); err != nil {
			t.Error(err)
		}
		sleep(t.Context(), time.Minute)
		if all := g.asked(); !strings.HasPrefix(all[len(all)-1], "resources/subscribe") || unsubscribed.Load() != 2 {
			t.Errorf("asked for %q", all)
		}
	})
}

// So it is when a hub restarts a process.
func TestWhatTheHostHasAskedForOutlivesAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var current *peer
		var granted []string
		h := client.Hub{Options: []client.Option{client.WithRevision("2025-11-25")}}
		add(t, &h, "one", client.Program(func() (rpc.Conn, error) {
			ours, theirs := rpc.Pipe()
			p := &peer{t, theirs, offers}
			mu.Lock()
			current, granted = p, nil
			mu.Unlock()
			go func() {
				p.begin("2025-11-25")
				p.each(func(m message) {
					mu.Lock()
					granted = append(granted, m.Method+" "+string(m.Params))
					mu.Unlock()
					p.answer(m, `{}`)
				})
			}()
			return ours, nil
		}))
		defer closeHub(t, &h)
		s, err := h.Session("one")
		if err != nil {
			t.Fatal(err)
		}
		wants(t, s)
		for range 2 {
			_ = current.conn.Close()
			sleep(context.Background(), time.Minute)
			mu.Lock()
			if !slices.Equal(granted, wanted) {
				t.Errorf("asked for %q", granted)
			}
			mu.Unlock()
		}
	})
}
