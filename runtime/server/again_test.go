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

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// persistent asks three times for one answer: nobody waits for the first, the time of the second passes.
func persistent(runs *atomic.Int32) Tool {
	return tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		runs.Add(1)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if _, err := Ask(short, call, confirmQuestion(), ""); !errors.Is(err, task.ErrWithdrawn) {
			return nil, fmt.Errorf("first: %w", err)
		}
		if _, err := Ask(ctx, call, confirmQuestion(), "Are you there?"); !errors.Is(err, ErrQuestionTimeout) {
			return nil, fmt.Errorf("second: %w", err)
		}
		a, err := Ask(ctx, call, confirmQuestion(), "Back again?")
		return &echoOutput{string(a.Action)}, err
	}), withTask(TaskOptional))
}

// Who was away is asked again, inline and as a task.
func TestTSK29WhatNobodyAnsweredIsAskedAgain(t *testing.T) {
	for _, asTask := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var runs atomic.Int32
			c := newFixture(t, []Tool{persistent(&runs)}).dialTasks("")
			if asTask {
				id := c.start("1", "ask", "")
				c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
			} else {
				c.call("2", "ask", `{}`)
			}
			var asked []string
			var m message
			for len(asked) < 3 {
				m = c.nextRequest()
				asked = append(asked, m.str("params", "message"))
			}
			c.reply(m, accepted)
			if got := strings.Join(asked, " "); got != "Overwrite? Are you there? Back again?" {
				t.Errorf("task %v: asked %s", asTask, got)
			}
			if m, _ := c.answer("2"); m.str("result", "structuredContent", "text") != "accept" {
				t.Errorf("task %v: %s", asTask, m.raw)
			}
			c.close()
			_ = c.srv.Shutdown(context.Background())
		})
	}
}

// durable makes a server park what runs at its end.
type durable struct{ task.Store }

func (durable) Durable() bool { return true }

// Each asking has a key of its own, and a handler that runs again meets its askings in their order.
func TestTSK29AskingsAreTheSameWhenTheHandlerRunsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		store := WithTaskStore(durable{task.NewMemory()})
		f := dual(t, Definition{Tools: []Tool{persistent(&runs)}}, store)
		id := f.create(t.Context(), "ask", `{}`, tasksAsks)
		keys := func() string {
			return f.ask(t.Context(), frame(1, "tasks/get", tasksAsks, byID(id))).field("result", "inputRequests")
		}
		for i, key := range []string{"confirm", "confirm#!2", "confirm#!3"} {
			synctest.Wait()
			if got := keysOf(t, keys()); len(got) != 1 || got[0] != key {
				t.Fatalf("asking %d: %v", i, got)
			}
			if i < 2 {
				time.Sleep(time.Minute)
			}
		}
		_ = f.srv.Shutdown(t.Context())
		f = dual(t, Definition{Tools: []Tool{persistent(&runs)}}, store)
		f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"confirm#!3":`+accepted+`}`)).wantNoError(t)
		synctest.Wait()
		m := f.await(t.Context(), id, task.Completed)
		if m.str("result", "result", "structuredContent", "text") != "accept" || runs.Load() != 3 { // the second one met the deadline of the question that the first was parked with
			t.Errorf("%d runs: %s", runs.Load(), m.raw)
		}
		_ = f.srv.Shutdown(t.Context())
	})
}

// What inline tries have done and were answered is not done or asked again when the call becomes a task.
func TestTSK29ATaskKnowsWhatItsTriesHaveDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, steps atomic.Int64
		store := WithTaskStore(durable{task.NewMemory()})
		wizard := wizard(&runs, &steps)
		wizard.Task.Support = TaskOptional
		f := dual(t, Definition{Tools: []Tool{wizard}}, store, WithGather(0))
		_, _, state := f.try(t.Context(), forms, "wizard", `{}`, "")
		_, _, state = f.try(t.Context(), forms, "wizard", `{}`, answering(state, `{"first":`+accepted+`}`))
		m, _, _ := f.try(t.Context(), tasksAsks, "wizard", `{}`, answering(state, `{"second":{"action":"decline"},"third":`+accepted+`}`))
		id := m.str("result", "taskId")
		synctest.Wait()
		if m = f.ask(t.Context(), frame(1, "tasks/get", tasksAsks, byID(id))); strings.Join(keysOf(t, m.field("result", "inputRequests")), " ") != "third" {
			t.Errorf("an answer that nothing asked for counts, or an old one does not: %s", m.raw)
		}
		_ = f.srv.Shutdown(t.Context()) // the next run has it from the store
		f = dual(t, Definition{Tools: []Tool{wizard}}, store, WithGather(0))
		f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"third":`+accepted+`}`)).wantNoError(t)
		synctest.Wait()
		m = f.await(t.Context(), id, task.Completed)
		if got := m.str("result", "result", "structuredContent", "text"); got != "first true 1, second false 2, third true 3" || steps.Load() != 3 {
			t.Errorf("%d steps: %s", steps.Load(), m.raw)
		}
		_ = f.srv.Shutdown(t.Context())
	})
}

// REV01: with a ctx that has ended nobody is asked, in no revision, inline or as a task.
func TestREV01NobodyIsAskedWithACtxThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			ended, end := context.WithCancelCause(ctx)
			end(errors.New("enough"))
			_, err := Ask(ended, call, confirmQuestion(), "")
			return &echoOutput{fmt.Sprint(err)}, nil
		}), withTask(TaskOptional))}})
		check := func(where string, m message) {
			t.Helper()
			if !strings.Contains(m.raw, "enough") {
				t.Errorf("%s: %s", where, m.raw)
			}
		}
		m, _, _ := f.try(t.Context(), forms, "ask", `{}`, "")
		check("2026-07-28", m)
		check("a task of 2026-07-28", f.await(t.Context(), f.create(t.Context(), "ask", `{}`, tasksAsks), task.Completed))
		c := f.dialTasks("")
		check("2025-11-25", c.request("1", "tools/call", `{"name":"ask","arguments":{}}`))
		id := c.start("2", "ask", "")
		check("a task of 2025-11-25", c.request("3", "tasks/result", taskID(id)))
		c.close()
		_ = f.srv.Shutdown(t.Context())
	})
}
