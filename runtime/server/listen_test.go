package server

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// listening is an open subscription.
type listening struct {
	*inbox
	cancel context.CancelFunc
	done   chan Result
}

// listen opens a subscription on an exchange of its own and returns it with its acknowledgement.
func (f *fixture) listen(ctx context.Context, caps, filter string) (*listening, message) {
	f.t.Helper()
	j, refused := f.srv.Route([]byte(frame(77, "subscriptions/listen", caps, `"notifications":`+filter)), "")
	if refused != nil {
		f.t.Fatal(refused)
	}
	ctx, cancel := context.WithCancel(ctx)
	l := &listening{newInbox(f.t), cancel, make(chan Result, 1)}
	go func() { l.done <- f.srv.Exchange(ctx, &j, l) }()
	f.t.Cleanup(cancel)
	return l, l.take()
}

func (m message) subscription() string {
	return m.field("params", "_meta", "io.modelcontextprotocol/subscriptionId")
}

func TestEXT13TheAcknowledgementSaysWhatIsHonoured(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: jobs(h), Methods: []MethodHandler{resources()}})
	me := as(t, "me")
	mine, theirs := f.create(me, "hang", `{}`, withTasks), f.create(as(t, "you"), "hang", `{}`, withTasks)
	filter := fmt.Sprintf(`{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["x:a","x:b","x:a"],"taskIds":[%q,"unknown",%q,%q]}`, mine, theirs, mine)
	l, ack := f.listen(me, withTasks, filter)
	if ack.Method != "notifications/subscriptions/acknowledged" || ack.subscription() != "77" {
		t.Error(ack.raw)
	}
	want := fmt.Sprintf(`{"resourceSubscriptions":["x:a","x:b"],"taskIds":[%q],"toolsListChanged":true}`, mine)
	if got := ack.field("params", "notifications"); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	_, ack = f.listen(me, nothing, `{}`)
	if ack.field("params", "notifications") != `{}` {
		t.Error(ack.raw)
	}
	h.free()
	for status := ""; status != "completed"; {
		m := l.take()
		if m.Method != "notifications/tasks" || m.subscription() != "77" || m.str("params", "taskId") != mine {
			t.Error(m.raw)
		}
		if status = m.str("params", "status"); status == "completed" && m.str("params", "result", "structuredContent", "text") != "done" {
			t.Error(m.raw)
		}
	}
}

func TestEXT13QuestionsAndWhatIsOverAlreadyAreTold(t *testing.T) {
	f := dual(t, Definition{Tools: append(jobs(newHold()), pair())})
	over := f.create(t.Context(), "quick", `{"text":"x"}`, withTasks)
	f.await(t.Context(), over, task.Completed)
	open := f.create(t.Context(), "pair", `{}`, tasksAsks)
	f.awaitQuestions(t.Context(), open, 2)
	l, _ := f.listen(t.Context(), tasksAsks, fmt.Sprintf(`{"taskIds":[%q,%q]}`, over, open))
	if m := l.take(); m.str("params", "taskId") != over || m.str("params", "status") != "completed" {
		t.Error(m.raw)
	}
	if m := l.take(); m.str("params", "taskId") != open || len(keysOf(t, m.field("params", "inputRequests"))) != 2 {
		t.Error(m.raw)
	}
	f.ask(t.Context(), frame(1, "tasks/update", withTasks, byID(open)+`,"inputResponses":{"left":`+accepted+`,"right":`+accepted+`}`)).wantNoError(t)
	for {
		if m := l.take(); m.str("params", "status") == "completed" {
			return
		}
	}
}

// A subscription that opens while its task ends finds the end, and hears of it as well: it tells it once.
func TestEXT13TheEndOfATaskIsToldOnce(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	over := f.create(t.Context(), "quick", `{"text":"x"}`, withTasks)
	f.await(t.Context(), over, task.Completed)
	l, _ := f.listen(t.Context(), withTasks, fmt.Sprintf(`{"toolsListChanged":true,"taskIds":[%q]}`, over))
	if m := l.take(); m.str("params", "status") != "completed" {
		t.Error(m.raw)
	}
	f.srv.notifyListens(&task.Task{ID: over})
	f.srv.SetToolEnabled("never", false)
	if m := l.take(); m.Method != "notifications/tools/list_changed" {
		t.Error(m.raw)
	}
}

func TestEXT13AStrangerHearsNothing(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: jobs(h)})
	id := f.create(as(t, "me"), "hang", `{}`, withTasks)
	for _, who := range []string{"you", ""} {
		l, ack := f.listen(as(t, who), withTasks, fmt.Sprintf(`{"taskIds":[%q]}`, id))
		if strings.Contains(ack.raw, id) {
			t.Error(ack.raw)
		}
		defer func() {
			l.cancel()
			<-l.done
			if len(l.frames) != 0 {
				t.Errorf("%q heard %v", who, l.frames)
			}
		}()
	}
	h.free()
	f.await(as(t, "me"), id, task.Completed)
}

func TestLET21EXT13TheServerEndsItCleanly(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	l, _ := f.listen(t.Context(), nothing, `{"toolsListChanged":true}`)
	c := f.dial(t.Context())
	c.send(frame(5, "subscriptions/listen", nothing, `"notifications":{"toolsListChanged":true}`))
	c.next()
	if err := f.srv.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	// The result ends the response to an exchange. On a connection the cancellation follows.
	if m := l.take(); m.field("result", "_meta", "io.modelcontextprotocol/subscriptionId") != "77" || m.str("result", "resultType") != "complete" {
		t.Error(m.raw)
	}
	if result := <-l.done; result.Silent || result.Err != nil || len(l.frames) != 0 || l.last != 1 {
		t.Errorf("%+v, then %v, %d last", result, l.frames, l.last)
	}
	m, before := c.answer("5")
	if m.str("result", "resultType") != "complete" || len(before) != 0 {
		t.Error(m.raw, before)
	}
	if m := c.next(); m.Method != "notifications/cancelled" || m.field("params", "requestId") != "5" {
		t.Error(m.raw)
	}
}

// held is an outlet on which a result waits for a client that does not read.
type held struct{ read chan struct{} }

func (h held) Write(_ rpc.ID, _ bool, frame []byte) error {
	if strings.Contains(string(frame), `"result"`) {
		<-h.read
	}
	return nil
}

// Whoever ends a subscription that somebody else is ending waits for its result as well: afterwards what is left is cancelled.
func TestLET21ASubscriptionIsOpenUntilItsResultIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: jobs(newHold())})
		to, err := f.srv.Route([]byte(frame(5, "subscriptions/listen", nothing, `"notifications":{"toolsListChanged":true}`)), "")
		if err != nil {
			t.Fatal(err)
		}
		out := held{read: make(chan struct{})}
		go f.srv.Exchange(t.Context(), &to, out)
		synctest.Wait()
		for range 2 {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				f.srv.endListens(nil)
			}()
			synctest.Wait()
			select {
			case <-ended:
				t.Error("its result is not written yet")
			default:
			}
		}
		close(out.read)
		synctest.Wait()
	})
}

func TestEXT13TheClientEndsIt(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	l, _ := f.listen(t.Context(), nothing, `{"toolsListChanged":true}`)
	l.cancel()
	if result := <-l.done; !result.Silent || len(l.frames) != 0 {
		t.Errorf("%+v %v", result, l.frames)
	}
	c := f.dial(t.Context())
	c.send(frame(5, "subscriptions/listen", nothing, `"notifications":{"toolsListChanged":true}`))
	c.next()
	c.cancel("5")
	c.send(frame(6, "tools/list", nothing, ""))
	c.answer("6")
	f.srv.SetToolEnabled("quick", false)
	c.send(frame(7, "tools/list", nothing, ""))
	if _, before := c.answer("7"); len(before) != 0 {
		t.Errorf("told after the end: %v", before)
	}
	for f.srv.subscriptions() != 0 {
		runtime.Gosched()
	}
}

// The official Go SDK's client goes on without waiting for the acknowledgement.
func TestEXT13WhatTheNextMessageChangesIsTold(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("change", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		call.s.ToolsChanged()
		return &echoOutput{}, nil
	}))}})
	c := f.dial(t.Context())
	for i := 1; i <= 200; i += 2 {
		c.send(frame(i, "subscriptions/listen", nothing, `"notifications":{"toolsListChanged":true}`),
			frame(i+1, "tools/call", nothing, `"name":"change","arguments":{}`))
		c.until("notifications/subscriptions/acknowledged")
		c.until("notifications/tools/list_changed")
		c.cancel(strconv.Itoa(i))
	}
}

// until takes messages up to one of the method.
func (c *client) until(method string) {
	c.t.Helper()
	for c.next().Method != method {
	}
}

func (s *Server) subscriptions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listens)
}

func TestToolsAreSwitchedWhileServing(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo)), tool("extra", structured(echo))}})
	l, _ := f.listen(t.Context(), nothing, `{"toolsListChanged":true}`)
	quiet, _ := f.listen(t.Context(), nothing, `{"promptsListChanged":true}`)
	c := f.dial(t.Context())
	c.initialize(`{}`)
	for _, on := range []bool{false, true} {
		for range 2 { // the second time nothing changes, and nobody is told
			if !f.srv.SetToolEnabled("extra", on) || f.srv.ToolEnabled("extra") != on {
				t.Error("not switched")
			}
		}
		if m := l.take(); m.Method != "notifications/tools/list_changed" || m.subscription() != "77" {
			t.Error(m.raw)
		}
		if m := c.next(); m.raw != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
			t.Error(m.raw)
		}
		list := c.request("1", "tools/list", `{}`)
		if strings.Contains(list.raw, "extra") != on {
			t.Error(list.raw)
		}
		m := f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("extra", `{"text":"x"}`)))
		if on {
			m.wantNoError(t)
		} else {
			m.wantError(t, -32602, "unknown tool")
		}
	}
	if f.srv.SetToolEnabled("no such", true) {
		t.Error("there is no such tool")
	}
	quiet.cancel()
	<-quiet.done
	if len(quiet.frames) != 0 {
		t.Errorf("told without asking: %v", quiet.frames)
	}
}

func TestUpdatedResourcesAreToldToWhoSubscribed(t *testing.T) {
	codec := MethodCodec[noInput, struct{}]{Decode: decodeNoInput}
	var calls []string
	note := func(what string) func(context.Context, *Call, *noInput) error {
		return func(context.Context, *Call, *noInput) error { calls = append(calls, what); return nil }
	}
	f := dual(t, Definition{Methods: []MethodHandler{
		BindAck("resources/subscribe", note("on"), codec), BindAck("resources/unsubscribe", note("off"), codec), resources(),
	}})
	l, _ := f.listen(t.Context(), nothing, `{"resourceSubscriptions":["test://a"]}`)
	c, deaf := f.dial(t.Context()), f.dial(t.Context())
	c.initialize(`{}`)
	deaf.initialize(`{}`)
	c.request("1", "resources/subscribe", `{"uri":"test://a"}`).wantResult(t, `{}`)
	f.srv.ResourceUpdated("test://b")
	f.srv.ResourceUpdated("test://a")
	if m := l.take(); m.str("params", "uri") != "test://a" || m.subscription() != "77" {
		t.Error(m.raw)
	}
	if m := c.next(); m.raw != `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://a"}}` {
		t.Error(m.raw)
	}
	c.request("2", "resources/unsubscribe", `{"uri":"test://a"}`).wantResult(t, `{}`)
	f.srv.ResourceUpdated("test://a")
	if before := append(c.fence(), deaf.fence()...); len(before) != 0 || !slices.Equal(calls, []string{"on", "on", "off"}) {
		t.Errorf("%v %v", before, calls)
	}
}

func TestLogMessagesFollowTheLevelOfTheSession(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("log", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		call.LogMessage(ctx, LevelDebug, "l", "d")
		call.LogMessage(ctx, LevelInfo, "l", map[string]int{"i": 1})
		call.LogMessage(ctx, LevelError, "", "e")
		call.LogMessage(ctx, "loud", "", "no level")
		call.LogMessage(ctx, LevelError, "", func() {})
		return &echoOutput{}, nil
	}))}})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	for level, want := range map[string]int{"debug": 3, "info": 2, "warning": 1, "emergency": 0} {
		c.request("1", "logging/setLevel", `{"level":"`+level+`"}`).wantResult(t, `{}`)
		c.call("2", "log", `{}`)
		_, before := c.answer("2")
		if len(before) != want {
			t.Errorf("%s: %v", level, before)
		}
		if want == 2 && before[0].raw != `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":{"i":1},"level":"info","logger":"l"}}` {
			t.Error(before[0].raw)
		}
	}
	c.request("3", "logging/setLevel", `{"level":"loud"}`).wantError(t, -32602)
}

// Subscriptions, changes, ends and shutdown at the same time leave nothing behind.
func TestEXT13StressOfEnds(t *testing.T) {
	f := dual(t, Definition{Tools: append(jobs(newHold()), tool("extra", structured(echo)))})
	id := f.create(t.Context(), "quick", `{"text":"x"}`, withTasks)
	var all sync.WaitGroup
	for i := range 200 {
		l, _ := f.listen(t.Context(), withTasks, fmt.Sprintf(`{"toolsListChanged":true,"taskIds":[%q]}`, id))
		all.Go(func() {
			if i%2 == 0 {
				l.cancel()
			}
			<-l.done
		})
		if i%10 == 0 {
			all.Go(func() { f.srv.SetToolEnabled("extra", i%20 == 0) })
		}
	}
	if err := f.srv.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	all.Wait()
	if n, left := len(f.srv.InFlight()), f.srv.subscriptions(); n+left != 0 {
		t.Errorf("%d in flight, %d subscriptions", n, left)
	}
}
