package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// silent is a session whose client sends and never reads; served is how Serve returned.
func (f *fixture) silent(ctx context.Context) (c *client, served chan error) {
	near, far := rpc.Pipe()
	served = make(chan error, 1)
	go func() { served <- f.srv.Serve(ctx, far) }()
	c = &client{t: f.t, conn: near, srv: f.srv}
	c.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	return c, served
}

// waiting is how many calls wait for others to read.
func (f *fixture) waiting() int {
	return f.srv.unread.waits() + f.srv.coming.waits()
}

// pages is a method whose result has n bytes.
func pages(n int, ran *atomic.Int64) MethodHandler {
	result := &rawResult{`{"contents":[{"uri":"test://x","text":"` + strings.Repeat("x", n) + `"}]}`}
	return BindMethod("resources/read", func(context.Context, *Call, *noInput) (*rawResult, error) {
		ran.Add(1)
		return result, nil
	}, MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult})
}

// What methods answer is counted as what tools answer is.
func TestTSK28UnreadAnswersOfMethodsStopThePeersRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		var ran atomic.Int64
		f := dual(t, Definition{Methods: []MethodHandler{pages(size, &ran)}}, WithMaxBytesUnread(4<<20))
		silent, served := f.silent(t.Context())
		for i := range 200 {
			silent.sendf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"test://x"}}`, i)
		}
		synctest.Wait()
		if got := f.srv.unread.total(); got == 0 || got > 4<<20+size {
			t.Errorf("%d bytes are counted", got)
		}
		if n := ran.Load(); n == 0 || n > 8 {
			t.Errorf("%d handlers ran though nobody reads", n)
		}
		silent.conn.Close()
		<-served
		synctest.Wait()
		f.counted()
	})
}

// So is what asks the client, when questions end a try of a stateless revision.
func TestTSK28QuestionsOfATryAreCounted(t *testing.T) {
	for name, run := range map[string]struct {
		frame string
		tool  Tool
	}{
		"of a handler":  {frame(1, "tools/call", forms, callParams("ask", `{}`)), asker(largeQuestion())},
		"before a task": {frame(1, "tools/call", tasksAsks, callParams("ask", `{"text":"x"}`)), askerBefore()},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := dual(t, Definition{Tools: []Tool{run.tool}}, WithGather(0))
			out := newStuck(t, "input_required")
			done := f.begin(t.Context(), run.frame, out)
			<-out.held
			if got := f.srv.unread.total(); got < smallAnswer {
				t.Errorf("%s: %d bytes are counted", name, got)
			}
			close(out.free)
			<-done
			f.counted()
		})
	}
}

func largeQuestion() *Question[confirmation] {
	q := confirmQuestion()
	q.Message = strings.Repeat("really? ", 1<<10)
	return q
}

// askerBefore asks before it becomes a task.
func askerBefore() Tool {
	q := largeQuestion()
	return tool("ask", structured(echo), withTask(TaskRequired), func(t *Tool) { t.Before = []BeforeQuestion{q.Before()} })
}

// A task is cancelled at once, however many do not read their answers (TSK18).
func TestTSK18ACancelDoesNotWaitForOthersAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		f := newFixture(t, append(jobs(h), tool("large", large(1<<20, new(atomic.Int64)))), WithMaxBytesUnread(4<<20))
		c := f.dialTasks("ada")
		id := c.start("1", "hang", "")
		var ends []func()
		for range 8 {
			silent, served := f.silent(t.Context())
			for i := range 20 {
				silent.call(fmt.Sprint(i), "large", `{}`)
			}
			ends = append(ends, func() { silent.conn.Close(); <-served })
		}
		synctest.Wait()
		if f.waiting() == 0 {
			t.Fatal("there is room")
		}
		c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/cancel","params":%s}`, taskID(id))
		c.sendf(`{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":%s}`, taskID(id))
		synctest.Wait()
		if n := len(f.srv.RunningTasks()); n != 0 {
			t.Errorf("%d runs after tasks/cancel", n)
		}
		if len(c.frames) == 0 {
			t.Error("neither request was answered")
		}
		for _, end := range ends {
			end()
		}
	})
}

// A client that reads keeps its connection, however many of its calls wait: what counts is what is written and not read.
func TestTSK28AConnectionThatReadsIsNotEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int64
		f := newFixture(t, []Tool{tool("large", large(4<<20, &ran))}, WithMaxBytesUnread(64<<20), WithGrace(time.Second))
		ended := make(chan error, 5)
		var silent []*client
		for range cap(ended) {
			c, served := f.silent(t.Context())
			for i := range 3 {
				c.call(fmt.Sprint(i), "large", `{}`)
			}
			synctest.Wait()
			silent = append(silent, c)
			go func() { ended <- <-served }()
		}
		readers := []*client{f.dial(t.Context()), f.dial(t.Context())}
		for _, c := range readers {
			c.initialize(`{}`)
			for i := range 8 {
				c.call(fmt.Sprint(i), "large", `{}`)
			}
		}
		synctest.Wait()
		if f.waiting() == 0 {
			t.Fatal("there is room")
		}
		time.Sleep(maxStall + time.Second)
		if n := len(ended); n == 0 || n == cap(ended) {
			t.Errorf("%d connections were ended: one is enough", n)
		}
		for _, c := range readers {
			for range 8 {
				if m := c.next(); m.Error != nil {
					t.Error(m.raw)
				}
			}
			c.fence()
			c.close()
		}
		for _, c := range silent {
			c.conn.Close()
		}
		stalled := 0
		for range silent {
			if errors.Is(<-ended, ErrStalled) {
				stalled++
			}
		}
		if stalled == 0 {
			t.Error("none was told why")
		}
		synctest.Wait()
		f.counted()
	})
}

// A subscriber is told the state that its task has when it reads, once, and nothing of a task that is gone.
func TestTSK28CAN29SubscriptionsHoldNoTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskRequired), func(t *Tool) { t.Task.TTL = time.Minute })}})
		id := f.create(t.Context(), "echo", `{"text":"x"}`, tasksAsks)
		l := &listen{peer: f.srv.newExchange(t.Context(), f.srv.stateless[0], newInbox(t)), revision: f.srv.stateless[0], sent: map[string]uint64{}, wake: make(chan struct{}, 1)}
		f.srv.addPeer(l.peer)
		defer f.srv.dropPeer(l.peer)
		l.queue(topic{wire.OpTaskStatus, id}) // it works
		synctest.Wait()                       // it is over
		r := f.srv.newRequest(l.peer)
		entry, err := f.srv.tracker.Register(t.Context(), l.peer.key(rpc.IntID(1), inflight.Incoming), inflight.Info{})
		if err != nil {
			t.Fatal(err)
		}
		r.entry, r.ctx = entry, entry
		next := func() ([]byte, error) {
			about, _, _ := l.changes.take()
			n, err := l.notification(r, about)
			return n.params, err
		}
		got, err := next()
		if m := string(got); err != nil || !strings.Contains(m, `"completed"`) {
			t.Errorf("told %s, %v", m, err)
		}
		l.queue(topic{wire.OpTaskStatus, id})
		if again, err := next(); again != nil || err != nil {
			t.Errorf("told again: %s, %v", again, err)
		}
		clear(l.sent)
		l.queue(topic{wire.OpTaskStatus, id})
		time.Sleep(2 * time.Minute)
		if gone, err := next(); gone != nil || err != nil {
			t.Errorf("told of a task that is gone: %s, %v", gone, err)
		}
		entry.Retire()
		r.release()
	})
}
