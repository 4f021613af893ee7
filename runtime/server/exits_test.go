package server

import (
	"runtime"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// exitsAt is an observer that ends the goroutine that calls it, as t.FailNow does, and notes the other events.
func exitsAt(kind EventKind, l *trail) Option {
	return WithObserver(func(e Event) {
		if e.Kind == kind {
			runtime.Goexit()
		}
		l.add("%s", e.Kind)
	})
}

// TSK25: whoever serves a connection whose opening makes an observer exit is told so, and nothing of it is left.
func TestTSK25AnObserverThatExitsAtTheOpeningEndsTheConnection(t *testing.T) {
	var l trail
	for name, serve := range map[string]func(*Server, rpc.Conn) error{
		"Serve": func(s *Server, conn rpc.Conn) error { return s.Serve(t.Context(), conn) },
		"Run":   func(s *Server, conn rpc.Conn) error { return s.Run(t.Context(), conn) },
	} {
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, exitsAt(ConnectionOpened, &l))
		near, far := rpc.Pipe()
		served := make(chan error, 1)
		go func() {
			defer close(served)
			served <- serve(f.srv, far)
		}()
		if err := <-served; err == nil || err.Error() != errReaderExited.Error() {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := near.ReadFrame(nil); err == nil {
			t.Errorf("%s: the connection is open", name)
		}
		near.Close()
		l.want(t, "connection closed")
		if err := f.srv.Shutdown(t.Context()); err != nil || len(f.srv.peers) != 0 {
			t.Errorf("%s: %v, %d peers", name, err, len(f.srv.peers))
		}
	}
}

// The same for a session, which its transport never gets.
func TestTSK25AnObserverThatExitsAtTheOpeningEndsTheSession(t *testing.T) {
	var l trail
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, exitsAt(ConnectionOpened, &l))
	exited := make(chan bool)
	go func() {
		got := false
		defer func() { exited <- !got }()
		f.srv.NewSession(t.Context(), writerFunc(func(rpc.ID, bool, []byte) {}))
		got = true
	}()
	if !<-exited {
		t.Error("the goroutine goes on")
	}
	l.want(t, "connection closed")
	if err := f.srv.Shutdown(t.Context()); err != nil || len(f.srv.peers) != 0 {
		t.Errorf("%v, %d peers", err, len(f.srv.peers))
	}
}

// A request whose beginning or end makes an observer exit is answered, and what it takes is given back.
func TestTSK25AnObserverOfARequestThatExitsEndsThatAlone(t *testing.T) {
	for kind, fails := range map[EventKind]bool{RequestBegan: true, RequestEnded: false} {
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, WithObserver(func(e Event) {
			if e.Kind == kind && e.Tool == "echo" {
				runtime.Goexit()
			}
		}), WithGrace(time.Minute))
		c := f.dial(t.Context())
		c.initialize(`{}`)
		c.call("1", "echo", `{"text":"x","count":1}`)
		if m, _ := c.answer("1"); (m.Error != nil) != fails {
			t.Errorf("%s: %s", kind, m.raw)
		}
		c.close()
		if err := f.srv.Shutdown(t.Context()); err != nil || f.srv.calls.Used() != 0 {
			t.Errorf("%s: %v, %d calls", kind, err, f.srv.calls.Used())
		}
	}
}
