package server

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// keeping is a principal that sends a server what it may keep.
type keeping struct {
	*fixture
	ctx      context.Context // with its identity
	sessions []*Session
	outs     []*slowOutlet
	done     []chan struct{} // of exchanges
	mu       sync.Mutex
	calls    []*Call       // that have begun
	free     chan struct{} // closed when changes are read
	hold     *hold         // of handlers
	end      func()        // of ctx
}

// began notes a call.
func (k *keeping) began(c *Call) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = append(k.calls, c)
}

// slowOutlet reads no changes until it is free.
type slowOutlet struct {
	*inbox
	free chan struct{}
}

func (o *slowOutlet) Write(about rpc.ID, last bool, frame []byte) error {
	if bytes.Contains(frame, []byte("resources/updated")) || bytes.Contains(frame, []byte("notifications/tasks\"")) {
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

// tasks is how many tasks there are.
func (k *keeping) tasks() int {
	k.srv.mu.Lock()
	defer k.srv.mu.Unlock()
	return len(k.srv.taskLives)
}

// counts is what the accounts say is kept.
func (k *keeping) counts() (n int64) {
	k.srv.mu.Lock()
	defer k.srv.mu.Unlock()
	for _, a := range k.srv.accounts {
		n += a.bytes.Load() + a.unread.held.Load()
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
		"headers of calls": func(k *keeping, i int) {
			frame := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang","arguments":{}}}`, i)
			k.sessions[0].ReceiveWithHeader(k.ctx, Header{"Cookie": {megabyte(i)}}, frame)
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
		"ids and progress tokens": func(k *keeping, i int) {
			long := strings.Repeat("i", 4000)
			for n := range 16 {
				k.send(`{"jsonrpc":"2.0","id":"%d.%d%s","method":"tools/call","params":{"name":"hang","arguments":{},"_meta":{"progressToken":"%[1]d.%[2]d%[3]s"}}}`, i, n, long)
			}
		},
		"ids and tokens of tasks": func(k *keeping, i int) {
			long := strings.Repeat("i", 4000)
			for n := range 16 {
				k.send(`{"jsonrpc":"2.0","id":"%d.%d%s","method":"tools/call","params":{"name":"job","task":{},"arguments":{},"_meta":{"progressToken":"%[1]d.%[2]d%[3]s"}}}`, i, n, long)
				synctest.Wait()
			}
		},
		"capabilities and client of a session": func(k *keeping, i int) {
			k.sessions = append(k.sessions, k.srv.NewSession(k.ctx, newInbox(k.t)))
			k.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"x":{"%s":{}}},"clientInfo":{"name":"%[2]s","version":"%[2]s"}}}`, megabyte(i), megabyte(i)[:9000])
		},
		"capabilities of exchanges": func(k *keeping, i int) {
			for n := range 20 {
				k.exchange(frame(n, "tools/list", fmt.Sprintf(`{"x%d-%d":{"%s":{}}}`, i, n, strings.Repeat("c", 4000)), ""))
			}
		},
		"inputResponses": func(k *keeping, i int) {
			k.exchange(frame(i, "tools/call", forms, callParams("hang", `{}`)+`,"inputResponses":{"q":"`+megabyte(i)+`"}`))
		},
		"arguments": func(k *keeping, i int) {
			k.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang","arguments":{"x":"%s"}}}`, i, megabyte(i))
		},
		"_meta": func(k *keeping, i int) {
			k.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang","_meta":{"x":"%s"},"arguments":{}}}`, i, megabyte(i))
		},
		"names": func(k *keeping, i int) {
			k.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{}}}`, i, megabyte(i))
			k.send(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{}}`, i, megabyte(i))
			k.send(`{"jsonrpc":"2.0","method":"%s","params":{}}`, megabyte(i))
			k.send(`{"jsonrpc":"2.0","id":%d,"method":"tasks/get","params":{"taskId":"%s"}}`, i, megabyte(i))
			k.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"cursor":"%s"}}`, i, megabyte(i))
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
	const limit, rest = 16 << 20, 2 << 20 // and 12 KiB for each task
	k := newKeeping(t, WithMaxBytesInFlight(limit))
	for i := range 40 {
		again(k, i)
		synctest.Wait()
	}
	counted, kept := k.counts(), reachable(k.srv, k.sessions, k.calls)
	t.Logf("%d bytes are counted, %d are kept", counted, kept)
	if counted > limit || kept > counted+rest+int64(12<<10*k.tasks()) {
		t.Errorf("%d bytes are counted of at most %d, %d are kept", counted, limit, kept)
	}
	k.close()
}

// newKeeping opens a session of a principal.
func newKeeping(t *testing.T, opts ...Option) *keeping {
	k := &keeping{free: make(chan struct{}), hold: newHold()}
	k.ctx, k.end = context.WithCancel(as(t, "mallory"))
	k.fixture = dual(t, Definition{Tools: keepers(k.hold, k.began), Methods: keepingMethods()}, opts...)
	k.open()
	return k
}

// close ends everything, and sees that no account is left.
func (k *keeping) close() {
	k.t.Helper()
	k.hold.free()
	close(k.free)
	k.end()
	for _, done := range k.done {
		<-done
	}
	synctest.Wait()
	for _, s := range k.sessions {
		if err := s.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
			k.t.Error(err)
		}
	}
	if k.counted(); len(k.srv.accounts) > 0 {
		k.t.Errorf("%d accounts are left", len(k.srv.accounts))
	}
}

// keepers are tools whose handlers do not return until h is freed; began is told of calls that ask.
func keepers(h *hold, began func(*Call)) []Tool {
	protected := func(t *Tool) { t.Cancel.Uncancellable = true }
	hang := plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		if began != nil {
			began(call)
		}
		return &echoOutput{}, h.run(ctx, call)
	})
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
	return []Tool{tool("hang", hang, protected), tool("asks", plain(asks)), tool("job", h.handler(), withTask(TaskRequired))}
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
	fits, long := "u:"+strings.Repeat("u", maxURI-2), "u:"+strings.Repeat("u", maxURI-1)
	c.request("1", "resources/subscribe", `{"uri":"`+fits+`"}`).wantNoError(t)
	refusals := []message{
		c.request("2", "resources/subscribe", `{"uri":"`+long+`"}`),
		f.ask(t.Context(), frame(1, "subscriptions/listen", nothing, `"notifications":{"resourceSubscriptions":["a:b","`+long+`"]}`)),
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
	if m, _ := c.answer("1"); !strings.Contains(m.raw, `answer to \"roots\": it is not kept: limit reached`) {
		t.Errorf("%.300s", m.raw)
	}
	c.call("2", "asks", `{}`)
	c.reply(c.nextRequest(), `{"roots":[]}`)
	m, _ := c.answer("2")
	m.wantNoError(t)
	c.close()
	f.counted()
}

// What a subscription costs beside its URI is counted, too: many short ones, also when each has changed and nobody reads that.
func TestTSK28SubscriptionsCountWhatTheyCost(t *testing.T) {
	const n, tasks = 10_000, 900
	uri := func(i int) string { return fmt.Sprint("u:", i) }
	session := func(k *keeping) {
		for i := range n {
			k.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"%s","_meta":{"x":"%s"}}}`, uri(i), strings.Repeat("m", 1<<10))
			synctest.Wait()
		}
		k.outs[0].frames = nil
	}
	listen := func(k *keeping) {
		var uris []string
		for i := range n {
			uris = append(uris, uri(i))
		}
		k.exchange(frame(1, "subscriptions/listen", nothing, `"notifications":{"resourceSubscriptions":["`+strings.Join(uris, `","`)+`"]}`))
		synctest.Wait()
	}
	var ids []string
	listenToTasks := func(k *keeping) {
		k.exchange(frame(1, "subscriptions/listen", withTasks, `"notifications":{"taskIds":["`+strings.Join(ids, `","`)+`"]}`))
		synctest.Wait()
	}
	changeTasks := func(k *keeping) {
		for _, id := range ids {
			k.srv.notifyListens(&task.Task{ID: id})
		}
		synctest.Wait()
	}
	change := func(k *keeping) {
		for i := range n {
			k.srv.ResourceUpdated(uri(i))
		}
		synctest.Wait()
	}
	for name, steps := range map[string][]func(*keeping){
		"of a session": {session}, "of a session, changed": {session, change}, "of a listen": {listen}, "of a listen, changed": {listen, change},
		"of a listen to tasks": {listenToTasks}, "of a listen to tasks, changed": {listenToTasks, changeTasks},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKeeping(t)
				ids = nil
				for range tasks {
					ids = append(ids, k.create(k.ctx, "job", `{}`, withTasks))
				}
				synctest.Wait()
				before, counted := heapLive(), k.counts()
				for _, step := range steps {
					step(k)
				}
				counted = k.counts() - counted
				kept := heapLive() - before
				t.Logf("%d bytes are counted, %d are kept", counted, kept)
				if counted < tasks || kept > counted+counted/10 {
					t.Errorf("%d bytes are counted, %d are kept", counted, kept)
				}
				k.close()
			})
		})
	}
}

// heapLive is how many bytes of the heap are in use.
func heapLive() int64 {
	var m runtime.MemStats
	for range 2 { // pools give back what they hold in the second one
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
