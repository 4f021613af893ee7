package server

import (
	"context"
	"fmt"
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
		if n := len(f.srv.queued); n != 0 {
			t.Errorf("%d tasks are still noted", n)
		}
	})
}

func TestSRV07ATaskThatWaitedTooLongIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		f := dual(t, Definition{Tools: []Tool{bounded(1, &running, &most, withTask(TaskOptional), func(t *Tool) { t.Task.Timeout = 5 * time.Second })}})
		c := f.dial(t.Context())
		c.initialize(nothing)
		c.call("1", "bounded", `{"text":"first"}`)
		synctest.Wait()
		id := f.create(t.Context(), "bounded", `{"text":"x"}`, withTasks)
		m := f.await(t.Context(), id, task.Failed)
		if !strings.Contains(m.field("result", "error"), "bounded is busy") || !strings.Contains(m.field("result", "error", "data"), "retryAfterMs") {
			t.Error(m.raw)
		}
		c.answer("1")
		synctest.Wait()
		if n := len(f.srv.queued); n != 0 {
			t.Errorf("%d tasks are still noted", n)
		}
	})
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
