package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// enders are tools that end in each way that revisions tell differently.
func enders() []Tool {
	gives := func(name string, err error) Tool {
		return tool(name, plain(func(context.Context, *Call) (*echoOutput, error) { return nil, err }), withTask(TaskOptional))
	}
	pages := &URLElicitationError{[]URLElicitation{{ID: "1", URL: "https://example.com/x", Message: "sign in"}}}
	slow := tool("slow", newHold().handler(), func(t *Tool) {
		t.Cancel.Timeout = time.Minute
		t.Task = TaskPolicy{Support: TaskOptional, Timeout: time.Minute}
	})
	return []Tool{
		slow, gives("fails", errors.New("no disk")),
		gives("resource", fmt.Errorf("reading: %w", &ResourceError{"file:///a"})), gives("pages", fmt.Errorf("access: %w", pages)),
		gives("ability", &UnsupportedError{Capability: "sampling"}), gives("broken", &URLElicitationError{}),
		gives("coded", &rpc.Error{Code: 4042, Message: "go there", Data: []byte(`{"url":"x"}`)}), gives("reserved", rpc.Errorf(-32002, "mine")),
	}
}

// Whichever revision created a task, it ends for its reader as the reader's call would have.
func TestLET17ATaskEndsAsItsRequestWould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: enders()}, WithTaskList())
		me := as(t, "me")
		c := f.dial(me)
		c.initialize(nothing)
		for _, tl := range enders() {
			old := c.request("1", "tools/call", `{"name":"`+tl.Name+`"}`)
			current := f.ask(me, frame(1, "tools/call", nothing, callParams(tl.Name, `{}`)))
			for creator, id := range map[string]string{"2025": c.start("2", tl.Name, ""), "2026": f.create(me, tl.Name, `{}`, withTasks)} {
				what := fmt.Sprintf("%s created in %s", tl.Name, creator)
				c.endsAs(t, what, id, old)
				f.endsAs(me, what, id, current)
			}
		}
		c.close()
		_ = f.srv.Shutdown(context.Background())
	})
}

// endsAs holds a task against the answer of the same call inline, in 2025-11-25.
func (c *client) endsAs(t *testing.T, what, id string, inline message) {
	t.Helper()
	m := c.request("3", "tasks/result", taskID(id))
	if m.field("error") != inline.field("error") || m.field("result", "content") != inline.field("result", "content") ||
		m.field("result", "isError") != inline.field("result", "isError") {
		t.Errorf("%s: %s, inline %s", what, m.raw, inline.raw)
	}
	shown := c.request("4", "tasks/get", taskID(id))
	listed := c.request("5", "tasks/list", `{}`)
	if shown.str("result", "status") != "failed" || strings.Contains(listed.raw, `"status":"completed"`) {
		t.Errorf("%s: %s, in the list %s", what, shown.raw, listed.raw)
	}
}

// endsAs is the same for 2026-07-28, where only JSON-RPC errors make a task failed.
func (f *fixture) endsAs(ctx context.Context, what, id string, inline message) {
	f.t.Helper()
	status := task.Completed
	if inline.Error != nil {
		status = task.Failed
	}
	m := f.get(ctx, id)
	if m.str("result", "status") != string(status) || m.field("result", "error") != inline.field("error") ||
		m.field("result", "result", "content") != inline.field("result", "content") {
		f.t.Errorf("%s: %s, inline %s", what, m.raw, inline.raw)
	}
}
