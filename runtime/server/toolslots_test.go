package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// bounded is a tool with so many places that takes ten seconds, and counts those that run.
func bounded(n int, running, most *atomic.Int32, change ...func(*Tool)) Tool {
	return tool("bounded", structured(func(ctx context.Context, _ *Call, in *echoInput) (*echoOutput, error) {
		now := running.Add(1)
		defer running.Add(-1)
		most.Store(max(most.Load(), now))
		select {
		case <-time.After(10 * time.Second):
			return &echoOutput{in.Text}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}), append(change, func(t *Tool) { t.MaxConcurrent = n })...)
}

func TestSRV07ABoundedToolRunsSoManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		f := dual(t, Definition{Tools: []Tool{bounded(2, &running, &most, withTask(TaskOptional)), tool("other", structured(echo))}})
		c := f.dialTasks("")
		began := time.Now()
		for i := range 3 {
			c.call(fmt.Sprint(i), "bounded", `{"text":"x"}`)
		}
		synctest.Wait()
		id := c.start("10", "bounded", "") // a task counts among them
		c.call("20", "other", `{"text":"others are free"}`)
		if m, _ := c.answer("20"); m.Error != nil {
			t.Error(m.raw)
		}
		for answered := 0; answered < 3; {
			m := c.next()
			if m.Method != "" {
				continue // of the task
			}
			if answered++; m.str("result", "structuredContent", "text") != "x" {
				t.Error(m.raw)
			}
		}
		if m := c.request("11", "tasks/result", taskID(id)); m.str("result", "structuredContent", "text") != "x" {
			t.Error(m.raw)
		}
		if took := time.Since(began); took != 20*time.Second || most.Load() != 2 {
			t.Errorf("%d at once, %v in all", most.Load(), took)
		}
	})
}

// Bad arguments are told at once, cancelled calls leave the line, and who waited too long is told that the tool is busy.
func TestSRV07WhoWaitsTooLongIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		f := dual(t, Definition{Tools: []Tool{bounded(1, &running, &most, withTask(TaskOptional), func(t *Tool) {
			t.Cancel.Timeout, t.Task.Timeout = 12*time.Second, 13*time.Second
		})}})
		c := f.dialTasks("")
		c.call("1", "bounded", `{"text":"first"}`)
		synctest.Wait()
		c.call("2", "bounded", `{"text":"second"}`)
		synctest.Wait()
		c.call("3", "bounded", `{"text":"third"}`)
		c.call("4", "bounded", `{"wrong":1}`)
		if m, _ := c.answer("4"); m.field("result", "isError") != "true" {
			t.Error(m.raw)
		}
		synctest.Wait()
		c.cancel("2")
		id := c.start("5", "bounded", "")
		time.Sleep(time.Second / 2) // so that its time is over while the task runs, and not when the third call ends
		stateless := make(chan Result)
		go func() {
			_, r := f.exchange(t.Context(), frame(6, "tools/call", nothing, callParams("bounded", `{"text":"x"}`)))
			stateless <- r
		}()
		if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "first" {
			t.Error(m.raw)
		}
		// Two seconds later the third has run for two, and timed out; the others had no place.
		if m, _ := c.answer("3"); !strings.Contains(m.raw, "timed out after 12s") {
			t.Errorf("a call that ran: %s", m.raw)
		}
		r := <-stateless
		if r.Err == nil || !r.Err.Busy || r.Err.Wait != time.Second || !strings.Contains(r.Err.Message, "bounded is busy: at most 1 of its calls") {
			t.Errorf("a call that waited: %+v", r)
		}
		if m := c.request("7", "tasks/result", taskID(id)); m.Error != nil && m.Error.Code != -32600 {
			t.Errorf("a task that waited: %s", m.raw)
		}
		synctest.Wait()
		if n := len(f.srv.waitingForSlot); n != 0 {
			t.Errorf("%d tasks are still noted", n)
		}
	})
}

func TestSRV07ATaskThatWaitedTooLongIsToldSo(t *testing.T) {
	for _, removed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { testATaskThatWaitsTooLong(t, removed) })
	}
}

func testATaskThatWaitsTooLong(t *testing.T, removed bool) {
	var running, most atomic.Int32
	f := dual(t, Definition{Tools: []Tool{bounded(1, &running, &most, withTask(TaskOptional), func(t *Tool) { t.Task.Timeout = 5 * time.Second })}})
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.call("1", "bounded", `{"text":"first"}`)
	synctest.Wait()
	id := f.create(t.Context(), "bounded", `{"text":"x"}`, withTasks)
	synctest.Wait()
	if removed {
		f.srv.RemoveTool("bounded")
	}
	m := f.await(t.Context(), id, task.Failed)
	if !strings.Contains(m.field("result", "error"), "bounded is busy") || !strings.Contains(m.field("result", "error", "data"), "retryAfterMs") {
		t.Error(m.raw)
	}
	c.answer("1")
	synctest.Wait()
	if n := len(f.srv.waitingForSlot); n != 0 {
		t.Errorf("%d tasks are still noted", n)
	}
}

// A handler that panics gives its place back.
func TestSRV07APanicLeavesThePlace(t *testing.T) {
	f := newFixture(t, []Tool{tool("panics", plain(func(context.Context, *Call) (*echoOutput, error) { panic("oh") }), func(t *Tool) { t.MaxConcurrent = 1 })})
	c := f.dial(t.Context())
	c.initialize(nothing)
	for range 3 {
		c.call("1", "panics", `{}`)
		m, _ := c.answer("1")
		m.wantError(t, -32603)
	}
}

// asksBounded is a tool of one place that asks, unless it is told not to, and works for ten seconds before and after.
func asksBounded(running, most *atomic.Int32, order *trail, change ...func(*Tool)) Tool {
	work := func(ctx context.Context) error {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		select {
		case <-time.After(10 * time.Second):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return tool("asks", structured(func(ctx context.Context, call *Call, in *echoInput) (*echoOutput, error) {
		if !strings.HasPrefix(in.Text, "ask") {
			defer order.add("%s", in.Text)
			return &echoOutput{in.Text}, work(ctx)
		}
		answer, err := Ask(ctx, call, confirmQuestion(), "")
		if err != nil {
			return nil, err
		}
		defer order.add("%s", in.Text)
		return &echoOutput{fmt.Sprint(in.Text, " ", answer.Action)}, work(ctx)
	}), append(change, func(t *Tool) { t.MaxConcurrent = 1 }, withTask(TaskOptional))...)
}

// Who waits for a person has no place. When the answer is there, the run comes before those that have not begun.
func TestSRV07AnOpenQuestionHoldsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		var order trail
		f := dual(t, Definition{Tools: []Tool{asksBounded(&running, &most, &order)}})
		a, b := f.dialTasks("a"), f.dialTasks("b")
		a.call("1", "asks", `{"text":"ask"}`)
		q := a.nextRequest()
		b.call("1", "asks", `{"text":"b"}`)
		if m, _ := b.answer("1"); m.str("result", "structuredContent", "text") != "b" {
			t.Errorf("while a question was open: %s", m.raw)
		}
		id := a.start("2", "asks", "") // begins at once: its text is x
		synctest.Wait()
		for i := range 2 {
			b.call(fmt.Sprint(2+i), "asks", `{"text":"later"}`)
			synctest.Wait()
		}
		a.reply(q, accepted)
		if m, _ := a.answer("1"); m.str("result", "structuredContent", "text") != "ask accept" {
			t.Error(m.raw)
		}
		b.answer("2")
		b.answer("3")
		a.request("4", "tasks/result", taskID(id))
		order.want(t, "b", "x", "ask", "later", "later")
		if n := most.Load(); n != 1 {
			t.Errorf("%d at once", n)
		}
	})
}

// A task that asks has no place either, and one whose question is never answered holds up nobody.
func TestSRV07ATaskThatAsksHoldsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		var order trail
		f := dual(t, Definition{Tools: []Tool{asksBounded(&running, &most, &order)}})
		id := f.create(t.Context(), "asks", `{"text":"ask"}`, tasksAsks)
		f.awaitQuestions(t.Context(), id, 1)
		if m := f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("asks", `{"text":"b"}`))); m.str("result", "structuredContent", "text") != "b" {
			t.Error(m.raw)
		}
		f.ask(t.Context(), frame(2, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"confirm":`+accepted+`}`))
		f.await(t.Context(), id, task.Completed)
		order.want(t, "b", "ask")
	})
}

// The wait for the place after an answer counts for the timeout, and is none of being busy: the call has begun.
func TestSRV07WhoComesBackWaitsWithinItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		var order trail
		f := dual(t, Definition{Tools: []Tool{asksBounded(&running, &most, &order, func(t *Tool) { t.Cancel.Timeout = 12 * time.Second })}})
		a, b := f.dialTasks("a"), f.dialTasks("b")
		a.call("1", "asks", `{"text":"ask"}`)
		q := a.nextRequest()
		time.Sleep(30 * time.Second) // a person's time is not the call's
		b.call("1", "asks", `{"text":"b"}`)
		synctest.Wait()
		a.reply(q, accepted)
		if m, _ := a.answer("1"); !strings.Contains(m.raw, "timed out after 12s") {
			t.Errorf("it waited ten seconds, and worked for two: %s", m.raw)
		}
		a.call("2", "asks", `{"text":"ask"}`)
		q = a.nextRequest()
		b.call("2", "asks", `{"text":"b"}`)
		synctest.Wait()
		a.reply(q, accepted)
		synctest.Wait()
		a.cancel("2") // while it waits for its place
		b.answer("2")
		if m := b.request("3", "ping", `{}`); m.Error != nil {
			t.Error(m.raw)
		}
		b.call("4", "asks", `{"text":"last"}`)
		if m, _ := b.answer("4"); m.str("result", "structuredContent", "text") != "last" {
			t.Errorf("the place was lost: %s", m.raw)
		}
	})
}

// A call of a stateless revision that asks has ended; its retry takes a place as any other call does.
func TestSRV07ARetryTakesAPlaceAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		var order trail
		f := dual(t, Definition{Tools: []Tool{asksBounded(&running, &most, &order, func(t *Tool) { t.Cancel.Timeout = 15 * time.Second })}})
		_, _, state := f.try(t.Context(), forms, "asks", `{"text":"ask"}`, "")
		answered := make(chan message, 2)
		go func() {
			answered <- f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("asks", `{"text":"b"}`)))
		}()
		synctest.Wait()
		retried := make(chan message, 1)
		go func() {
			m, _, _ := f.try(t.Context(), forms, "asks", `{"text":"ask"}`, answering(state, `{"confirm":`+accepted+`}`))
			retried <- m
		}()
		if m := <-answered; m.str("result", "structuredContent", "text") != "b" {
			t.Error(m.raw)
		}
		if m := <-retried; !strings.Contains(m.raw, "timed out") {
			t.Errorf("it began after ten seconds, and took longer than five: %s", m.raw)
		}
		m, _, _ := f.try(t.Context(), forms, "asks", `{"text":"ask"}`, answering(state, `{"confirm":`+accepted+`}`))
		if m.str("result", "structuredContent", "text") != "ask accept" || most.Load() != 1 {
			t.Errorf("%d at once: %s", most.Load(), m.raw)
		}
	})
}

// Two goroutines of a run ask at once: the first answer takes the place for both, and it is given back once.
func TestSRV07ARunThatAsksTwiceAtOnceHasOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := pair()
		both.MaxConcurrent = 1
		f := dual(t, Definition{Tools: []Tool{both}})
		c := f.dialTasks("")
		for i := range 3 {
			c.call(fmt.Sprint(i), "pair", `{}`)
			one, other := c.nextRequest(), c.nextRequest()
			c.reply(one, accepted)
			c.reply(other, accepted)
			if m, _ := c.answer(fmt.Sprint(i)); m.str("result", "structuredContent", "text") != "true true" {
				t.Error(m.raw)
			}
		}
		p := f.srv.tools.get("pair").slots
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.free != 1 || len(p.resuming)+len(p.starting) != 0 {
			t.Errorf("%d free, %d wait", p.free, len(p.resuming)+len(p.starting))
		}
	})
}

// However many runs of one caller wait, those of another one have every second place from the first on.
func TestTSK28PlacesGoAroundCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		f := dual(t, Definition{Tools: []Tool{bounded(1, &running, &most)}})
		call := frame(1, "tools/call", nothing, callParams("bounded", `{"text":"x"}`))
		var all []<-chan struct{}
		for range 100 {
			all = append(all, f.begin(as(t, "mallory"), call, newInbox(t)))
		}
		synctest.Wait()
		start := time.Now()
		for i := range 3 {
			<-f.begin(as(t, "bob"), call, newInbox(t))
			if took := time.Since(start); took > time.Duration(i+1)*20*time.Second+10*time.Second {
				t.Errorf("call %d took %v", i, took)
			}
		}
		for _, done := range all {
			<-done
		}
		f.counted()
	})
}

// Callers who come back for one run after the other do not hold up the many of another.
func TestTSK28NobodyOvertakesForEver(t *testing.T) {
	var line slotQueue
	a := []chan struct{}{line.add(Requestor{principal: "a"}), line.add(Requestor{principal: "a"}), line.add(Requestor{principal: "a"})}
	for range 9 {
		line.add(Requestor{principal: "b"})
		line.add(Requestor{principal: "c"})
		for range 2 {
			next := line.next()
			if i := slices.Index(a, next); i >= 0 {
				a = slices.Delete(a, i, i+1)
			}
		}
		if len(a) == 0 {
			return
		}
	}
	t.Errorf("%d of three runs wait still", len(a))
}
