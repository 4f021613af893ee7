package server

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// keeping is a principal that sends a server what it may keep.
type keeping struct {
	*fixture
	ctx      context.Context // with its identity
	sessions []*Session
	outs     []*slowOutlet
	done     []chan struct{} // of exchanges
	calls    []*Call         // that ask
	free     chan struct{}   // closed when changes are read
}

// began notes a call; the test waits for each.
func (k *keeping) began(c *Call) { k.calls = append(k.calls, c) }

// slowOutlet reads no changes until it is free.
type slowOutlet struct {
	*inbox
	free chan struct{}
}

func (o *slowOutlet) Write(about rpc.ID, last bool, frame []byte) error {
	if bytes.Contains(frame, []byte("resources/updated")) {
		<-o.free
	}
	return o.inbox.Write(about, last, frame)
}

// open opens one more session.
func (k *keeping) open() {
	out := &slowOutlet{newInbox(k.t), k.free}
	k.sessions, k.outs = append(k.sessions, k.srv.NewSession(k.ctx, out)), append(k.outs, out)
	k.send("%s", strings.Replace(initializeFrame, `"capabilities":{}`, `"capabilities":`+everyAsk, 1))
	k.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// send sends to the newest session.
func (k *keeping) send(format string, args ...any) Receipt {
	return k.sessions[len(k.sessions)-1].Receive(k.ctx, fmt.Appendf(nil, format, args...))
}

// exchange serves a frame until the test ends.
func (k *keeping) exchange(frame string) {
	k.done = append(k.done, k.begin(k.ctx, frame, &slowOutlet{newInbox(k.t), k.free}))
}

// shorten hands over URIs as long as they may be, 1 MiB together.
func (k *keeping) shorten(i int, to func(uri string)) {
	all := strings.Repeat("x", 1<<20)
	for n := range len(all) / maxURI {
		to(fmt.Sprint("test:", i, "/", n, "/", all[:maxURI-32]))
		synctest.Wait()
	}
}

// megabyte is 1 MiB that no other i has.
func megabyte(i int) string { return fmt.Sprintf("test://%d/", i) + strings.Repeat("x", 1<<20) }

// counts is what the accounts say is kept.
func (k *keeping) counts() (n int64) {
	k.srv.mu.Lock()
	defer k.srv.mu.Unlock()
	for _, a := range k.srv.accounts {
		n += a.bytes.Load() + a.unread.used.Load()
	}
	return n
}

// What the server keeps of a peer's messages beyond them is bounded, or counted in the account of its principal: whatever is sent over
// and over, what can be reached in memory is what the accounts say, but for a small rest, and the accounts are bounded.
func TestTSK28WhatIsKeptOfAPeerIsCountedOrBounded(t *testing.T) {
	for name, again := range map[string]func(k *keeping, i int){
		"reasons of cancellations": func(k *keeping, i int) {
			k.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang","arguments":{}}}`, i)
			k.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"%s"}}`, i, megabyte(i))
		},
		"subscriptions": func(k *keeping, i int) {
			k.shorten(i, func(uri string) {
				k.send(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"%s"}}`, i, uri)
			})
		},
		"subscriptions that have changed": func(k *keeping, i int) {
			k.shorten(i, func(uri string) {
				k.send(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"%s"}}`, i, uri)
				synctest.Wait()
				k.srv.ResourceUpdated(uri)
			})
		},
		"listens": func(k *keeping, i int) {
			var uris []string
			k.shorten(i, func(uri string) { uris = append(uris, uri) })
			k.exchange(frame(i, "subscriptions/listen", withTasks, `"notifications":{"resourceSubscriptions":["`+strings.Join(uris, `","`)+`"]}`))
		},
		"tasks of listens": func(k *keeping, i int) {
			k.exchange(frame(i, "subscriptions/listen", withTasks, `"notifications":{"taskIds":["`+megabyte(i)+`"]}`))
		},
		"answers to inline calls": func(k *keeping, i int) {
			k.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"asks","arguments":{}}}`, i)
			synctest.Wait()
			out := k.outs[0]
			k.send(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"%s"}]}}`, out.frames[len(out.frames)-1].ID, megabyte(i))
		},
		"answers to pings": func(k *keeping, i int) {
			k.send(`{"jsonrpc":"2.0","id":%d,"result":{"_meta":{"x":"%s"}}}`, i, megabyte(i))
		},
		"notifications, the last one of a session": func(k *keeping, i int) {
			k.open()
			k.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"%s"}}`, megabyte(i))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { keepAgain(t, again) })
		})
	}
}

// keepAgain sends 40 times, while 12 MiB are a principal's, and looks at what is kept.
func keepAgain(t *testing.T, again func(k *keeping, i int)) {
	const limit, rest = 16 << 20, 2 << 20
	h := newHold()
	ctx, end := context.WithCancel(as(t, "mallory"))
	k := &keeping{ctx: ctx, free: make(chan struct{})}
	k.fixture = dual(t, Definition{Tools: keepers(h, k.began), Methods: keepingMethods()}, WithMaxBytesInFlight(limit))
	k.open()
	for i := range 40 {
		again(k, i)
		synctest.Wait()
	}
	counted, kept := k.counts(), reachable(k.srv, k.sessions, k.calls)
	t.Logf("%d bytes are counted, %d are kept", counted, kept)
	if counted > limit || kept > counted+rest {
		t.Errorf("%d bytes are counted of at most %d, %d are kept", counted, limit, kept)
	}
	h.free()
	close(k.free)
	end()
	for _, done := range k.done {
		<-done
	}
	synctest.Wait()
	for _, s := range k.sessions {
		if err := s.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
			t.Error(err)
		}
	}
	if k.counted(); len(k.srv.accounts) > 0 {
		t.Errorf("%d accounts are left", len(k.srv.accounts))
	}
}

// keepers are tools whose handlers do not return until h is freed; began is told of calls that ask.
func keepers(h *hold, began func(*Call)) []Tool {
	protected := func(t *Tool) { t.Cancel.Uncancellable = true }
	asks := func(ctx context.Context, call *Call) (*echoOutput, error) {
		if began != nil {
			began(call)
		}
		if _, err := Send(ctx, call, &roots, "roots", &noInput{}); err != nil {
			return nil, err
		}
		<-h.freed
		return &echoOutput{}, nil
	}
	return []Tool{tool("hang", h.handler(), protected), tool("asks", plain(asks))}
}

func keepingMethods() []MethodHandler {
	codec := MethodCodec[resourceParams, struct{}]{Decode: decodeResource}
	agree := func(context.Context, *Call, *resourceParams) error { return nil }
	return []MethodHandler{BindAck("resources/subscribe", agree, codec), BindAck("resources/unsubscribe", agree, codec), resources()}
}

// A URI that is kept has a limit of its own, and the refusal says so.
func TestTSK28ALongURIIsNotSubscribedTo(t *testing.T) {
	f := dual(t, Definition{Methods: keepingMethods()})
	c := f.dial(t.Context())
	c.initialize(nothing)
	fits, long := strings.Repeat("u", maxURI), strings.Repeat("u", maxURI+1)
	c.request("1", "resources/subscribe", `{"uri":"`+fits+`"}`).wantNoError(t)
	refusals := []message{
		c.request("2", "resources/subscribe", `{"uri":"`+long+`"}`),
		f.ask(t.Context(), frame(1, "subscriptions/listen", nothing, `"notifications":{"resourceSubscriptions":["a","`+long+`"]}`)),
	}
	for _, m := range refusals {
		m.wantError(t, rpc.CodeInvalidParams)
		if !strings.Contains(m.raw, "at most 65536") || len(m.raw) > 1<<10 {
			t.Error(m.raw)
		}
	}
}

// An answer that does not fit is an error of the handler that asked, which says so; the server goes on.
func TestTSK28AnAnswerThatDoesNotFitIsAnErrorOfTheHandler(t *testing.T) {
	h := newHold()
	h.free()
	f := dual(t, Definition{Tools: keepers(h, nil)}, WithMaxBytesInFlight(1<<20))
	c := f.dial(t.Context())
	c.initialize(everyAsk)
	c.call("1", "asks", `{}`)
	c.reply(c.nextRequest(), `{"roots":[{"uri":"`+megabyte(1)+`"}]}`)
	if m, _ := c.answer("1"); !strings.Contains(m.raw, "is not kept: limit reached") {
		t.Errorf("%.300s", m.raw)
	}
	c.call("2", "asks", `{}`)
	c.reply(c.nextRequest(), `{"roots":[]}`)
	m, _ := c.answer("2")
	m.wantNoError(t)
	c.close()
	f.counted()
}
