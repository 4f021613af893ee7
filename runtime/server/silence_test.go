package server

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// chatter is a handler that never stops saying one kind of message, whatever becomes of its call.
type chatter struct {
	say    func(ctx context.Context, call *Call, i int)
	tries  atomic.Int64
	stop   atomic.Bool
	left   sync.WaitGroup
	finish chan struct{} // lets the handler return
}

func (ch *chatter) run(ctx context.Context, call *Call) (*echoOutput, error) {
	deaf := context.WithoutCancel(ctx)
	ch.left.Go(func() {
		for i := 1; !ch.stop.Load(); i++ {
			ch.say(deaf, call, i)
			ch.tries.Add(1)
			runtime.Gosched()
		}
	})
	select {
	case <-ch.finish:
	case <-ctx.Done():
	}
	return &echoOutput{Text: "done"}, nil
}

// goOn returns when the handler has tried to say n more messages.
func (ch *chatter) goOn(n int64) {
	for until := ch.tries.Load() + n; ch.tries.Load() < until; {
		runtime.Gosched()
	}
}

// speech is one kind of message about a request or a task.
type speech struct {
	say  func(ch *chatter) func(ctx context.Context, call *Call, i int)
	is   func(m *message) bool
	only string // "inline", "task", "" for both
}

func method(name string) func(m *message) bool {
	return func(m *message) bool { return m.Method == name }
}

func speeches() map[string]speech {
	return map[string]speech{
		"progress": {is: method("notifications/progress"), say: func(*chatter) func(context.Context, *Call, int) {
			return func(ctx context.Context, call *Call, i int) { call.Progress(ctx, float64(i), 0, "") }
		}},
		"log": {is: method("notifications/message"), say: func(*chatter) func(context.Context, *Call, int) {
			return func(ctx context.Context, call *Call, i int) { call.LogMessage(ctx, LevelError, "", i) }
		}},
		"question": {is: method(elicit), say: func(ch *chatter) func(context.Context, *Call, int) {
			return func(ctx context.Context, call *Call, i int) {
				if i > 100 {
					return
				}
				ch.left.Go(func() {
					q := confirmQuestion()
					q.Name = fmt.Sprint("q", i)
					_, _ = Ask(ctx, call, q, "")
				})
			}
		}},
		"status": {only: "task", is: func(m *message) bool {
			return m.Method == "notifications/tasks/status" && !task.Status(m.str("params", "status")).Terminal()
		}, say: func(*chatter) func(context.Context, *Call, int) {
			return func(ctx context.Context, call *Call, i int) { _ = call.SetStatus(ctx, fmt.Sprint(i)) }
		}},
		"answer": {only: "inline", is: func(m *message) bool { return string(m.ID) == "1" && m.Method == "" }, say: func(*chatter) func(context.Context, *Call, int) {
			return func(context.Context, *Call, int) {}
		}},
	}
}

// ending is one way in which a request or a task ends. It returns when the client has proof of the end.
type ending struct {
	end  func(c *client, ch *chatter, task string)
	tool func(t *Tool)
	call string // more members of the call's params
	kind string // "inline" or "task"
}

func endings() map[string]ending {
	poll := func(until func(m message) bool) func(c *client, ch *chatter, id string) {
		return func(c *client, _ *chatter, id string) {
			for !until(c.request("5", "tasks/get", taskID(id))) {
				runtime.Gosched()
			}
		}
	}
	return map[string]ending{
		"cancel":  {kind: "inline", end: func(c *client, _ *chatter, _ string) { c.cancel("1"); c.fence() }},
		"timeout": {kind: "inline", tool: func(t *Tool) { t.Cancel.Timeout = 20 * time.Millisecond }, end: func(c *client, _ *chatter, _ string) { c.answer("1") }},
		"completion": {kind: "inline", end: func(c *client, ch *chatter, _ string) {
			close(ch.finish)
			c.answer("1")
		}},
		"task cancelled": {kind: "task", end: func(c *client, _ *chatter, id string) { c.request("5", "tasks/cancel", taskID(id)) }},
		"task cancelled, told otherwise": {kind: "task", end: func(c *client, _ *chatter, id string) {
			c.sendf(`{"jsonrpc":"2.0","id":6,"method":"tasks/cancel","params":%s}`, taskID(id))
			for c.request("5", "tasks/get", taskID(id)).str("result", "status") != "cancelled" {
				runtime.Gosched()
			}
		}},
		"task expired": {kind: "task", call: `,"task":{"ttl":200}`, end: poll(func(m message) bool { return m.Error != nil })},
		"task timed out": {kind: "task", tool: func(t *Tool) { t.Task.Timeout = 20 * time.Millisecond },
			end: poll(func(m message) bool { return m.str("result", "status") == "failed" })},
		"task completed": {kind: "task", end: func(c *client, ch *chatter, id string) {
			close(ch.finish)
			c.request("5", "tasks/result", taskID(id))
		}},
		"task completed, told otherwise": {kind: "task", end: func(c *client, ch *chatter, id string) {
			close(ch.finish)
			poll(func(m message) bool { return m.str("result", "status") == "completed" })(c, ch, id)
		}},
	}
}

// Once the client has proof that a request or task is over, nothing about it follows, whatever the handler does.
func TestCAN29SilenceOfEveryMessageAfterEveryEnd(t *testing.T) {
	for name, sp := range speeches() {
		for how, e := range endings() {
			switch {
			case sp.only != "" && sp.only != e.kind:
				continue
			case name == "question" && (how == "timeout" || how == "task timed out"):
				continue // the clock of a call or a task stands while a question is open (CAN28)
			case name == "answer" && how == "timeout":
				continue // the answer is what the client waits for
			}
			t.Run(strings.ReplaceAll(name+" after "+how, " ", "_"), func(t *testing.T) {
				for range 3 {
					silent(t, sp, e)
				}
			})
		}
	}
}

func silent(t *testing.T, sp speech, e ending) {
	ch := &chatter{finish: make(chan struct{})}
	ch.say = sp.say(ch)
	f := dual(t, Definition{Tools: []Tool{tool("talks", plain(ch.run), withTask(TaskOptional), func(t *Tool) {
		if e.tool != nil {
			e.tool(t)
		}
	})}}, WithProgressRate(1_000_000), WithTaskLimits(task.Limits{PollsPerSecond: -1}))
	c := f.dial(t.Context())
	c.initialize(`{"elicitation":{}}`)
	if e.kind == "task" && e.call == "" {
		e.call = `,"task":{}`
	}
	c.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"talks","arguments":{},"_meta":{"progressToken":"p"}%s}}`, e.call)
	id := ""
	if e.kind == "task" {
		m, _ := c.answer("1")
		id = m.str("result", "task", "taskId")
	}
	ch.goOn(3)
	e.end(c, ch, id)
	ch.goOn(5)
	for _, m := range c.fence() {
		if sp.is(&m) {
			t.Errorf("after the end: %s", m.raw)
		}
	}
	ch.stop.Store(true)
	c.close()
	ch.left.Wait()
	_ = f.srv.Shutdown(context.Background())
}

// When the session is closed, nothing is written any more: neither for its requests nor for its tasks, which go on.
func TestCAN29SilenceAfterDisconnect(t *testing.T) {
	for name, sp := range speeches() {
		for _, extra := range []string{``, `,"task":{}`} {
			t.Run(name+extra, func(t *testing.T) {
				ch := &chatter{finish: make(chan struct{})}
				ch.say = sp.say(ch)
				f := dual(t, Definition{Tools: []Tool{tool("talks", plain(ch.run), withTask(TaskOptional))}}, WithProgressRate(1_000_000))
				out := newInbox(t)
				ss := f.srv.NewSession(t.Context(), out)
				ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`))
				ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
				ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"talks","arguments":{},"_meta":{"progressToken":"p"}`+extra+`}}`))
				ch.goOn(5)
				if err := ss.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
					t.Error(err)
				}
				before := out.count()
				ch.goOn(5)
				if after := out.count(); after != before {
					t.Errorf("%d frames after the end", after-before)
				}
				ch.stop.Store(true)
				_ = f.srv.Shutdown(context.Background())
				ch.left.Wait()
			})
		}
	}
}

func (in *inbox) count() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.frames)
}

// A subscription on a stream that it shares is cancelled by a notification, and says nothing then.
func TestCAN29SilenceOfASubscription(t *testing.T) {
	for range 20 {
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
		c := f.dial(t.Context())
		c.send(frame(1, "subscriptions/listen", nothing, `"notifications":{"toolsListChanged":true}`))
		c.until("notifications/subscriptions/acknowledged")
		var stop atomic.Bool
		var left sync.WaitGroup
		left.Go(func() {
			for on := false; !stop.Load(); on = !on {
				f.srv.SetToolEnabled("echo", on)
			}
		})
		c.until("notifications/tools/list_changed")
		c.cancel("1")
		c.send(frame(2, "tools/list", nothing, ""))
		c.answer("2")
		c.send(frame(3, "tools/list", nothing, ""))
		if _, after := c.answer("3"); len(after) != 0 {
			t.Errorf("after the end: %s", after[0].raw)
		}
		stop.Store(true)
		left.Wait()
		c.close()
	}
}

// A call that timed out and was not answered yet is cancelled like any other.
func TestCAN02ACancellationIsEarlierThanTheAnswerOfATimeout(t *testing.T) {
	out := newInbox(t)
	f := newFixture(t, []Tool{
		tool("slow", plain(func(ctx context.Context, _ *Call) (*echoOutput, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}), func(t *Tool) { t.Cancel.Timeout = 5 * time.Millisecond }),
	})
	ss := f.srv.NewSession(t.Context(), out)
	ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	p := f.srv.onlyPeer()
	p.gate.Lock() // whoever answers is held up
	ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{}}}`))
	entry := f.srv.tracker.Find(p.key(rpc.IntID(1), inflight.Incoming))
	<-entry.Done()
	ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	p.gate.Unlock()
	if err := ss.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
		t.Error(err)
	}
	if n := out.count(); n != 1 {
		t.Errorf("%d answers: %s", n, out.frames[n-1].raw)
	}
	if out.last != 2 {
		t.Errorf("%d of 2 requests are over for the transport", out.last)
	}
	if n := f.srv.tracker.Len(); n != 0 {
		t.Errorf("%d in flight", n)
	}
}

// What a call was permitted to say before its timeout comes before the answer that says so.
func TestCAN29TheTimeoutIsAnsweredAfterWhatWasSaidBefore(t *testing.T) {
	ended, left := make(chan struct{}), make(chan struct{})
	f := newFixture(t, []Tool{tool("slow", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		go func() {
			defer close(left)
			call.Progress(context.WithoutCancel(ctx), 1, 0, "")
		}()
		<-ctx.Done()
		close(ended)
		return &echoOutput{}, nil
	}), func(t *Tool) { t.Cancel.Timeout = 20 * time.Millisecond })})
	near, far := rpc.Pipe()
	slow := &slowConn{Conn: far, text: []byte("notifications/progress"), held: make(chan struct{}, 1), free: make(chan struct{})}
	c := f.connect(t.Context(), near, slow)
	c.initialize(`{}`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":"p"}}}`)
	<-slow.held
	<-ended
	for gate := &f.srv.onlyPeer().gate; len(c.frames) == 0 && gate.TryRLock(); runtime.Gosched() {
		gate.RUnlock() // until the answer waits, or was written
	}
	close(slow.free)
	if first, second := c.next(), c.next(); first.Method != "notifications/progress" || string(second.ID) != "1" {
		t.Errorf("%s\n%s", first.raw, second.raw)
	}
	<-left
	c.close()
}

// A log message that is being written when the handler returns comes before the answer: the end of the call waits for it.
func TestCAN29TheAnswerWaitsForALogMessage(t *testing.T) {
	out := newStuck(t, "notifications/message")
	var left sync.WaitGroup
	f := dual(t, Definition{Tools: []Tool{tool("leaves", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		left.Go(func() { call.LogMessage(context.WithoutCancel(ctx), LevelError, "", "x") })
		<-out.held
		if call.mu.TryLock() {
			call.mu.Unlock()
			t.Error("nothing keeps the call from ending")
		}
		close(out.free)
		return &echoOutput{}, nil
	}))}})
	<-f.begin(t.Context(), talking("leaves", nothing), out)
	left.Wait()
	if n := len(out.frames); n != 2 || out.frames[0].Method != "notifications/message" {
		t.Errorf("%v", out.frames)
	}
}

// What a goroutine says that its handler left behind is on the wire before the call's answer, or not at all.
func TestCAN29WhatIsBeingSaidComesBeforeTheAnswer(t *testing.T) {
	for text, say := range map[string]func(ctx context.Context, call *Call){
		elicit:                   func(ctx context.Context, call *Call) { _, _ = Ask(ctx, call, confirmQuestion(), "") },
		"notifications/message":  func(ctx context.Context, call *Call) { call.LogMessage(ctx, LevelError, "", "x") },
		"notifications/progress": func(ctx context.Context, call *Call) { call.Progress(ctx, 1, 0, "") },
	} {
		t.Run(text, func(t *testing.T) {
			slow := &slowConn{text: []byte(text), held: make(chan struct{}, 1), free: make(chan struct{})}
			var left sync.WaitGroup
			f := dual(t, Definition{Tools: []Tool{tool("leaves", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				left.Go(func() { say(ctx, call) })
				<-slow.held
				return &echoOutput{}, nil
			}))}})
			near, far := rpc.Pipe()
			slow.Conn = far
			c := f.connect(t.Context(), near, slow)
			c.initialize(everyAsk)
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"leaves","_meta":{"progressToken":"p"}}}`)
			for !blocked("(*Call).close") && !blocked("(*progress).close") && len(c.frames) == 0 {
				runtime.Gosched() // the handler has to wait
			}
			close(slow.free)
			if m := c.next(); !strings.Contains(m.raw, text) {
				t.Errorf("first came %s", m.raw)
			}
			m := c.next()
			if text == elicit && m.Method == "notifications/cancelled" {
				m = c.next() // the withdrawal of the question comes before or after the answer
			}
			if string(m.ID) != "1" {
				t.Errorf("then came %s", m.raw)
			}
			c.close()
			left.Wait()
		})
	}
}
