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
