package streamhttp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// TestTSK25AnObserverThatExitsAtTheOpeningEndsTheSession: an observer that ends its goroutine, as t.FailNow does, leaves a client with a
// connection that was closed, and nothing else of the session, whose handshake is a part of its opening.
func TestTSK25AnObserverThatExitsAtTheOpeningEndsTheSession(t *testing.T) {
	for name, at := range map[string]struct {
		kind server.EventKind
		opts []Option
	}{
		"a session": {server.ConnectionOpened, nil}, "a message alone": {server.ConnectionOpened, []Option{WithoutSessions()}},
		"the handshake begins": {server.RequestBegan, nil}, "the handshake ends": {server.RequestEnded, nil},
	} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan struct{}, 1)
			f := newExiting(t, at.kind, closed, at.opts...)
			if resp, err := f.ts.Client().Do(f.request("POST", initialize2025)); err == nil {
				resp.Body.Close()
				t.Errorf("it is answered: %d", resp.StatusCode)
			}
			<-closed
			f.h.mu.Lock()
			if left := len(f.h.roster.sessions) + len(f.h.sessionless); left != 0 {
				t.Errorf("%d sessions", left)
			}
			f.h.mu.Unlock()
		}) // the fixture's end finds what runs
	}
}

// TestTSK25AnObserverOfARequestThatExitsEndsItsExchange: the client is answered or its connection ends, and nothing is left.
func TestTSK25AnObserverOfARequestThatExitsEndsItsExchange(t *testing.T) {
	f := newExiting(t, server.RequestBegan, make(chan struct{}, 1))
	resp, err := f.ts.Client().Do(f.request("POST", callBody2026("1", "echo", "x"), headers2026("tools/call", "echo")...))
	if err == nil {
		b, broken := io.ReadAll(resp.Body)
		resp.Body.Close()
		if broken == nil && field(string(b), "error", "code") != "-32603" {
			t.Errorf("%d %s", resp.StatusCode, b)
		}
	}
	for left := 1; left > 0; runtime.Gosched() {
		f.h.mu.Lock()
		left = len(f.h.exchanges)
		f.h.mu.Unlock()
	}
}

// TestTSK25AFilterThatExitsEndsItsMessageAlone: the id of a request whose reading was left is free again, and so is the session.
func TestTSK25AFilterThatExitsEndsItsMessageAlone(t *testing.T) {
	var exits atomic.Bool
	f := &fixture{t: t, began: make(chan struct{}, 1), release: make(chan struct{})}
	f.srv = newServer(t, f.tools(), server.WithToolFilter(func(context.Context, string) bool {
		if exits.Load() {
			runtime.Goexit()
		}
		return true
	}))
	f.h = Handler(f.srv)
	f.ts = httptest.NewServer(f.h)
	t.Cleanup(f.shutDown)
	for name, message := range map[string]struct{ session, body string }{
		"a request": {f.initialize(), callBody("7", "echo", "x")}, "a batch": {f.march(), "[" + callBody("7", "echo", "x") + `,{"jsonrpc":"2.0","id":8,"method":"ping"}]`},
	} {
		exits.Store(true)
		if resp, err := f.ts.Client().Do(f.request("POST", message.body, message.session)); err == nil {
			resp.Body.Close()
			t.Errorf("%s is answered: %d", name, resp.StatusCode)
		}
		exits.Store(false)
		f.want(f.post(message.body, message.session), 200, `"id":7,"result"`)
		f.want(f.post(`{"jsonrpc":"2.0","id":9,"method":"ping"}`, message.session), 200, `"id":9,"result":{}`)
	}
}

// The buffer of a message belongs to the server from when it has received the message, also when an observer ends the goroutine: two requests would share
// a buffer that went back to both.
func TestTSK25AnObserverThatExitsLeavesTheBufferToTheServer(t *testing.T) {
	closed := make(chan struct{}, 1)
	f := newExiting(t, server.RequestEnded, closed)
	body := newFrame([]byte(initialize2025))
	to, invalid := f.srv.Route(body.data, "")
	if invalid != nil {
		t.Fatal(invalid)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		f.h.open(httptest.NewRecorder(), f.request("POST", initialize2025), &to, body)
		t.Error("the goroutine goes on")
	}()
	<-exited
	<-closed
	if body.data != nil {
		t.Error("the buffer is the caller's, too")
	}
}

// newExiting is a fixture with an observer that ends the goroutine at events of a kind. closed is told of each connection that closes.
func newExiting(t *testing.T, kind server.EventKind, closed chan<- struct{}, opts ...Option) *fixture {
	f := &fixture{t: t, began: make(chan struct{}, 1), release: make(chan struct{})}
	f.srv = newServer(t, f.tools(), server.WithGrace(time.Minute), server.WithObserver(func(e server.Event) {
		switch e.Kind {
		case kind:
			runtime.Goexit()
		case server.ConnectionClosed:
			closed <- struct{}{}
		}
	}))
	f.h = Handler(f.srv, opts...)
	f.ts = httptest.NewServer(http.Handler(f.h))
	t.Cleanup(f.shutDown)
	return f
}
