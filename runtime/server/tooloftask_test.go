package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// addAsker adds a tool that runs as a task, asks, and returns answer.
func (f *fixture) addAsker(v Validator, answer string) {
	f.t.Helper()
	q := confirmQuestion()
	q.Timeout = time.Hour
	err := f.srv.AddTool([]byte(`{"name":"added","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`), v,
		func(ctx context.Context, call *Call, _ json.RawMessage) (json.RawMessage, error) {
			if _, err := Ask(ctx, call, q, ""); err != nil {
				return nil, err
			}
			return json.RawMessage(answer), nil
		})
	if err != nil {
		f.t.Fatal(err)
	}
}

// SRV06, TSK04: so does one without a session whose run was parked. If the tool is not known any more, the task fails, and no other tool of its name
// runs. In another process a tool of that name is all there can be.
func TestSRV06AParkedTaskKeepsTheToolThatAcceptedIt(t *testing.T) {
	const own, newer = `{"of":"its own"}`, `{"of":"the newer one"}`
	for _, c := range []struct {
		replaced  int // how often
		elsewhere bool
		want      string
	}{
		{0, false, "its own"},
		{1, false, "its own"},
		{maxRemovedTools, false, "its own"},
		{maxRemovedTools + 1, false, `the tool \"added\" of this task was removed`},
		{0, true, "the newer one"},
	} {
		synctest.Test(t, func(t *testing.T) {
			store, d := WithTaskStore(durable{task.NewMemory()}), Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional))}}
			f := dual(t, d, store)
			f.addAsker(anything{}, own)
			id := f.create(t.Context(), "added", `{"text":"x"}`, tasksAsks)
			time.Sleep(time.Minute)
			if n := len(f.srv.RunningTasks()); n != 0 {
				t.Fatalf("%d runs, none is parked", n)
			}
			for range c.replaced {
				f.srv.RemoveTool("added")
				f.addAsker(refusing{}, newer)
			}
			if c.elsewhere {
				_ = f.srv.Shutdown(t.Context())
				f = dual(t, d, store)
				f.addAsker(anything{}, newer)
			}
			f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"confirm":`+accepted+`}`)).wantNoError(t)
			synctest.Wait()
			if m := f.ask(t.Context(), frame(2, "tasks/get", withTasks, byID(id))); !strings.Contains(m.raw, c.want) {
				t.Errorf("%+v: %s", c, m.raw)
			}
			_ = f.srv.Shutdown(t.Context())
		})
	}
}

// DUR01: a restarted server goes on with the task of an added tool, however long that takes to be added before the first client is served. A tool that stays
// away is taken for removed when other processes have had the time to run the task.
func TestDUR01ATaskGoesOnWithATool(t *testing.T) {
	for _, c := range []struct {
		added, served time.Duration // since New; added 0: never
		want          string
	}{
		{2 * time.Minute, 3 * time.Minute, "second run"},
		{time.Second, 0, "second run"},
		{0, time.Second, `the tool \"added\" of this task was removed`},
	} {
		synctest.Test(t, func(t *testing.T) {
			store, d := WithTaskStore(durable{task.NewMemory()}), Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional))}}
			f := dual(t, d, store)
			add := func(handler RawHandler) {
				if err := f.srv.AddTool([]byte(`{"name":"added","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`), anything{}, handler); err != nil {
					t.Fatal(err)
				}
			}
			add(func(ctx context.Context, _ *Call, _ json.RawMessage) (json.RawMessage, error) {
				<-ctx.Done() // the end of its process parks it
				return nil, ctx.Err()
			})
			id := f.create(t.Context(), "added", `{}`, withTasks)
			synctest.Wait()
			_ = f.srv.Shutdown(t.Context())
			f = dual(t, d, store)
			began := time.Now()
			at := func(moment time.Duration) { time.Sleep(time.Until(began.Add(moment))) }
			serve := func() {
				at(c.served)
				f.ask(t.Context(), frame(1, "tasks/get", withTasks, byID(id))).wantNoError(t)
			}
			if c.served < c.added {
				serve()
			}
			if c.added > 0 {
				at(c.added)
				add(func(context.Context, *Call, json.RawMessage) (json.RawMessage, error) {
					return json.RawMessage(`"second run"`), nil
				})
			}
			if c.served > c.added {
				serve()
			}
			time.Sleep(time.Minute)
			if m := f.ask(t.Context(), frame(2, "tasks/get", withTasks, byID(id))); !strings.Contains(m.raw, c.want) {
				t.Errorf("%+v: %s", c, m.raw)
			}
			_ = f.srv.Shutdown(t.Context())
		})
	}
}

// A tool that is added while the server serves takes up at once what was interrupted.
func TestDUR01AnAddedToolTakesUpItsTaskAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := WithTaskStore(durable{task.NewMemory()}), Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional))}}
		f := dual(t, d, store)
		f.addAsker(anything{}, `"first"`)
		id := f.create(t.Context(), "added", `{"text":"x"}`, tasksAsks)
		synctest.Wait()
		f.ask(t.Context(), frame(1, "tasks/get", tasksAsks, byID(id))).wantNoError(t)
		_ = f.srv.Shutdown(t.Context())
		f = dual(t, d, store)
		f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"confirm":`+accepted+`}`)).wantNoError(t)
		time.Sleep(time.Second)
		if m := f.get(t.Context(), id); m.str("result", "status") != "working" {
			t.Error(m.raw)
		}
		f.addAsker(anything{}, `"second"`)
		synctest.Wait()
		if m := f.get(t.Context(), id); !strings.Contains(m.raw, "second") {
			t.Error(m.raw)
		}
		_ = f.srv.Shutdown(t.Context())
	})
}

// What middleware puts in the place of a task's result is held against the outputSchema of that tool, too.
func TestVAL01TheResultOfATaskKeepsToTheToolThatAcceptedIt(t *testing.T) {
	method, old, with := "tasks/get", `"structuredContent":{"text":"x"}`, `"structuredContent":{"text":7}`
	f := dual(t, Definition{Tools: []Tool{tool("added", structured(echo), withTask(TaskOptional))}}, replacing(&method, &old, &with))
	id := f.create(t.Context(), "added", `{"text":"x"}`, withTasks)
	f.srv.RemoveTool("added")
	f.addAsker(anything{}, `{}`)
	method = ""
	f.await(t.Context(), id, task.Completed)
	method = "tasks/get"
	f.get(t.Context(), id).wantError(t, -32603)
}
