package server

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// sample is sampling/createMessage with raw params and answer.
var sample = ClientRequest[rawResult, rawResult]{Op: wire.OpCreateMessage, Codecs: []ClientCodec[rawResult, rawResult]{{
	Append: appendRawResult, Decode: func(d *check.Decoder, v *rawResult) { v.json = string(d.Alias(nil)) },
}}}

func sessionsOf(s *Server) []*ClientSession { return slices.Collect(s.Sessions()) }

func TestSRV07SessionsAreThoseThatHaveBegun(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	if n := len(sessionsOf(f.srv)); n != 0 {
		t.Errorf("%d before anybody came", n)
	}
	c := f.dial(WithPrincipal(t.Context(), "ann"))
	c.request("1", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"2"}}`)
	if n := len(sessionsOf(f.srv)); n != 0 {
		t.Errorf("%d before the client was initialized (LET09)", n)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.fence()
	other := f.dial(t.Context())
	other.initialize(nothing)
	other.fence()
	all := sessionsOf(f.srv)
	if len(all) != 2 {
		t.Fatalf("%d sessions", len(all))
	}
	first := all[0]
	if got := first.Client(); first.Principal() != "ann" || first.Revision() != "2025-11-25" || first.Session() == "" || got.Name != "c" || got.Version != "2" || !got.Can("sampling") {
		t.Errorf("%+v, %q, %q", got, first.Principal(), first.Session())
	}
	for range f.srv.Sessions() {
		break // an iteration may end early
	}
	c.close()
	if all = sessionsOf(f.srv); len(all) != 1 || all[0].Principal() != "" {
		t.Errorf("%d sessions after the end of one", len(all))
	}
	cause := (*inflight.Cause)(nil)
	if _, err := Send(t.Context(), first, &sample, "s", &rawResult{`{}`}); !errors.As(err, &cause) {
		t.Errorf("asked after its end: %v", err)
	}
	if err := first.Log(t.Context(), LevelError, "", "x"); !errors.As(err, &cause) {
		t.Errorf("logged after its end: %v", err)
	}
}

func TestSRV07ASessionIsAskedOutsideOfCalls(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	c := f.dial(t.Context())
	c.initialize(`{"sampling":{}}`)
	c.fence()
	session := sessionsOf(f.srv)[0]
	got := make(chan string)
	go func() {
		out, err := Send(t.Context(), session, &sample, "s", &rawResult{`{"maxTokens":1}`})
		if err != nil {
			out = &rawResult{err.Error()}
		}
		got <- out.json
	}()
	m := c.next()
	if m.Method != "sampling/createMessage" || string(m.Params) != `{"maxTokens":1}` {
		t.Fatal(m.raw)
	}
	c.sendf(`{"jsonrpc":"2.0","id":%s,"result":{"role":"assistant"}}`, m.ID)
	if answer := <-got; answer != `{"role":"assistant"}` {
		t.Error(answer)
	}
	// What the client did not declare is not asked (SRV08).
	unsupported := (*UnsupportedError)(nil)
	if _, err := Send(t.Context(), session, &sample, "s", &rawResult{`{"tools":[]}`}); !errors.As(err, &unsupported) || unsupported.Capability != "sampling/tools" {
		t.Errorf("got %v", err)
	}
	elicit := ClientRequest[rawResult, rawResult]{Op: wire.OpElicit, Codecs: sample.Codecs}
	if _, err := Send(t.Context(), session, &elicit, "e", &rawResult{`{"message":"?","requestedSchema":{"type":"object","properties":{}}}`}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestSRV07AnUnansweredRequestIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, WithQuestionTimeout(time.Minute))
		c := f.dial(t.Context())
		c.initialize(`{"sampling":{}}`)
		c.fence()
		session := sessionsOf(f.srv)[0]
		stopped := errors.New("enough")
		for want, end := range map[error]func() (context.Context, func()){
			ErrQuestionTimeout: func() (context.Context, func()) { return t.Context(), func() {} },
			stopped: func() (context.Context, func()) {
				ctx, cancel := context.WithCancelCause(t.Context())
				return ctx, func() { cancel(stopped) }
			},
		} {
			ctx, stop := end()
			failed := make(chan error)
			go func() {
				_, err := Send(ctx, session, &sample, "s", &rawResult{`{}`})
				failed <- err
			}()
			asked := c.next()
			stop()
			if err := <-failed; !errors.Is(err, want) {
				t.Errorf("want %v, got %v", want, err)
			}
			if m := c.next(); m.Method != "notifications/cancelled" || m.field("params", "requestId") != string(asked.ID) {
				t.Errorf("not withdrawn (CAN19): %s", m.raw)
			}
		}
	})
}

func TestSRV07ASessionIsToldALogRecord(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.fence()
	session := sessionsOf(f.srv)[0]
	for level, data := range map[Level]any{LevelDebug: "not wanted", LevelError: map[string]int{"n": 1}} {
		if err := session.Log(t.Context(), level, "jobs", data); err != nil {
			t.Error(err)
		}
	}
	if m := c.next(); m.Method != "notifications/message" || string(m.Params) != `{"data":{"n":1},"level":"error","logger":"jobs"}` {
		t.Error(m.raw)
	}
	for _, err := range []error{session.Log(t.Context(), "loud", "", 1), session.Log(t.Context(), LevelError, "", make(chan int))} {
		if err == nil {
			t.Error("sent")
		}
	}
	if left := c.fence(); len(left) != 0 {
		t.Errorf("more was sent: %v", left)
	}
}

// A stateless client listens, and is told what it subscribed to and nothing else.
func TestSRV07AListenerIsNoSession(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	l, _ := f.listen(as(t, "ann"), `{"sampling":{}}`, `{"toolsListChanged":true}`)
	all := sessionsOf(f.srv)
	if len(all) != 1 {
		t.Fatalf("%d listeners", len(all))
	}
	one := all[0]
	if client := one.Client(); one.Revision() != "2026-07-28" || one.Principal() != "ann" || one.Session() != "" || !client.Can("sampling") {
		t.Errorf("%q, %q, %+v", one.Revision(), one.Principal(), one.Client())
	}
	if _, err := Send(t.Context(), one, &sample, "s", &rawResult{`{}`}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("asked: %v", err)
	}
	if err := one.Log(t.Context(), LevelError, "", "x"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("logged: %v", err)
	}
	l.cancel()
	<-l.done
	if n := len(sessionsOf(f.srv)); n != 0 {
		t.Errorf("%d after its end", n)
	}
}
