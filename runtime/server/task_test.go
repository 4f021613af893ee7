package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// dialTasks is dial with the engine's end at the test's end, and a handshake. An empty principal is no identity.
func (f *fixture) dialTasks(principal string) *client {
	f.t.Helper()
	c := f.dial(WithPrincipal(f.t.Context(), principal))
	f.t.Cleanup(func() { _ = f.srv.Shutdown(context.Background()) })
	c.initialize(`{"elicitation":{}}`)
	return c
}

// start creates a task and returns its id. Nothing of the task may come before the answer; others may still tell of
// theirs.
func (c *client) start(id, tool, extra string) string {
	c.t.Helper()
	c.sendf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"text":"x"},"task":{}%s}}`, id, tool, extra)
	m, before := c.answer(id)
	if got := m.str("result", "task", "status"); got != "working" {
		c.t.Fatalf("no new task: %s", m.raw)
	}
	created := m.str("result", "task", "taskId")
	for _, other := range before {
		if strings.Contains(other.raw, created) {
			c.t.Errorf("before the task was told: %s", other.raw)
		}
	}
	return created
}

func taskID(id string) string { return `{"taskId":"` + id + `"}` }

// jobs are one of each kind of task.
func jobs(h *hold) []Tool {
	return []Tool{
		tool("quick", structured(echo), withTask(TaskOptional)),
		tool("must", structured(echo), withTask(TaskRequired)),
		tool("never", structured(echo)),
		tool("hang", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			return &echoOutput{"done"}, h.run(ctx, call)
		}),
			withTask(TaskOptional), func(t *Tool) { t.Task.PollInterval = 2 * time.Second }),
		tool("fails", plain(func(context.Context, *Call) (*echoOutput, error) { return nil, errors.New("no disk") }), withTask(TaskOptional)),
		tool("coded", plain(func(context.Context, *Call) (*echoOutput, error) {
			return nil, &rpc.Error{Code: 4042, Message: "go there", Data: []byte(`{"url":"x"}`)}
		}), withTask(TaskOptional)),
		tool("whole", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*rawResult, error) {
			return &rawResult{`{"content":[{"type":"text","text":"bad luck"}],"isError":true,"_meta":{"k":1}}`}, nil
		}, Unstructured(appendRawResult)), withTask(TaskOptional)),
		tool("panics", plain(func(context.Context, *Call) (*echoOutput, error) { panic("secret") }), withTask(TaskOptional)),
	}
}

func TestTSK02UndeclaredTaskIsIgnored(t *testing.T) {
	c := newFixture(t, []Tool{tool("echo", structured(echo))}).dial(t.Context())
	c.initialize(`{}`)
	m := c.request("1", "tools/call", `{"name":"echo","arguments":{"text":"x"},"task":{"ttl":1000}}`)
	if m.str("result", "structuredContent", "text") != "x" {
		t.Error(m.raw)
	}
}

func TestTSK03SupportIsEnforcedPerTool(t *testing.T) {
	c := newFixture(t, jobs(newHold())).dialTasks("")
	c.request("1", "tools/call", `{"name":"never","arguments":{"text":"x"},"task":{}}`).wantError(t, -32601, "never")
	c.request("2", "tools/call", `{"name":"must","arguments":{"text":"x"}}`).wantError(t, -32601, "must")
	if m := c.request("3", "tools/call", `{"name":"quick","arguments":{"text":"x"}}`); m.str("result", "structuredContent", "text") != "x" {
		t.Error(m.raw)
	}
	c.start("4", "quick", "")
	if m := c.request("5", "tools/call", `{"name":"must","arguments":{"text":"x"},"task":{}}`); m.str("result", "task", "taskId") == "" {
		t.Error(m.raw)
	}
}

func TestTSK04TaskIsFindableWhenItsIDIsTold(t *testing.T) {
	h := newHold()
	c := newFixture(t, jobs(h)).dialTasks("")
	id := c.start("1", "hang", "")
	m := c.request("2", "tasks/get", taskID(id))
	if m.str("result", "status") != "working" {
		t.Error(m.raw)
	}
	h.free()
}

func TestTSK05IDsAreUnguessable(t *testing.T) {
	c := newFixture(t, jobs(newHold())).dialTasks("")
	seen := map[string]bool{}
	for i := range 100 {
		c.send(`{"jsonrpc":"2.0","id":` + fmt.Sprint(i) + `,"method":"tools/call","params":{"name":"quick","arguments":{"text":"x"},"task":{}}}`)
		m, _ := c.answer(fmt.Sprint(i))
		id := m.str("result", "task", "taskId")
		if seen[id] || len(id) < 26 { // 26 letters of base 32 are 130 bits
			t.Errorf("id %q", id)
		}
		seen[id] = true
	}
}

func TestTSK06TasksOutliveRequestAndConnection(t *testing.T) {
	h := newHold()
	f := newFixture(t, jobs(h))
	c := f.dialTasks("me")
	id := c.start("1", "hang", "")
	<-h.began
	c.close()
	if len(h.ended) != 0 {
		t.Error("ended with the connection")
	}
	h.free()
	again := f.dialTasks("me")
	if m := again.request("1", "tasks/result", taskID(id)); m.str("result", "structuredContent", "text") != "done" {
		t.Error(m.raw)
	}
}

func TestTSK07TerminalStatesAbsorb(t *testing.T) {
	c := newFixture(t, jobs(newHold())).dialTasks("")
	for tool, status := range map[string]string{"quick": "completed", "fails": "failed"} {
		id := c.start("1", tool, "")
		c.request("2", "tasks/result", taskID(id))
		for range 3 {
			c.request("3", "tasks/cancel", taskID(id)).wantError(t, -32602, status)
			if m := c.request("4", "tasks/get", taskID(id)); m.str("result", "status") != status {
				t.Error(m.raw)
			}
		}
	}
}

func TestTSK08GetTellsTimes(t *testing.T) {
	h := newHold()
	c := newFixture(t, jobs(h), WithTaskLimits(task.Limits{MaxTTL: task.Unlimited, DefaultTTL: task.Unlimited})).dialTasks("")
	id := c.start("1", "hang", "")
	m := c.request("2", "tasks/get", taskID(id))
	for _, at := range []string{"createdAt", "lastUpdatedAt"} {
		if _, err := time.Parse(time.RFC3339, m.str("result", at)); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	if m.field("result", "ttl") != "null" || m.field("result", "pollInterval") != "2000" {
		t.Error(m.raw)
	}
	h.free()
}

func TestTSK09ResultBlocksAndWakesEveryWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		c := newFixture(t, jobs(h)).dialTasks("")
		id := c.start("1", "hang", "")
		for i := range 20 {
			c.sendf(`{"jsonrpc":"2.0","id":%d,"method":"tasks/result","params":%s}`, 100+i, taskID(id))
		}
		synctest.Wait()
		if len(c.frames) != 0 {
			t.Error("answered before the end: " + c.next().raw)
		}
		c.cancel("100") // a waiter goes; it is not the task's end
		synctest.Wait()
		h.free()
		synctest.Wait()
		answers := 0
		for len(c.frames) > 0 {
			if m := c.next(); m.Method == "" {
				answers++
			}
		}
		if answers != 19 {
			t.Errorf("%d answers", answers)
		}
		if m := c.request("2", "tasks/result", taskID(id)); m.str("result", "structuredContent", "text") != "done" {
			t.Error(m.raw)
		}
		c.close()
		_ = c.srv.Shutdown(context.Background())
	})
}

func TestTSK09CancelledWaitersLeaveNothing(t *testing.T) {
	const waiters = 2000
	h := newHold()
	c := newFixture(t, jobs(h)).dialTasks("")
	id := c.start("1", "hang", "")
	<-h.began
	p := c.srv.onlyPeer()
	round := func() {
		for i := range waiters {
			c.sendf(`{"jsonrpc":"2.0","id":%d,"method":"tasks/result","params":%s}`, 100+i, taskID(id))
		}
		for i := range waiters {
			c.cancel(fmt.Sprint(100 + i))
		}
		c.fence() // all of it is read
		for p.live.n.Load() > 1 {
			c.fence()
		}
	}
	leavesNothing(t, round)
	if c.srv.tracker.Len() != 0 || len(c.srv.streams) != 0 {
		t.Error("waiters are left")
	}
	h.free()
	if m := c.request("2", "tasks/result", taskID(id)); m.Error != nil {
		t.Error(m.raw)
	}
}

func TestTSK10ResultIsWhatTheCallWouldHaveAnswered(t *testing.T) {
	c := newFixture(t, jobs(newHold())).dialTasks("")
	for _, name := range []string{"quick", "fails", "coded", "whole", "panics"} {
		inline := c.request("1", "tools/call", `{"name":"`+name+`","arguments":{"text":"x"}}`)
		id := c.start("2", name, "")
		later := c.request("3", "tasks/result", taskID(id))
		if inline.Error != nil {
			if a, b := inline.field("error"), later.field("error"); a != b {
				t.Errorf("%s: %s, inline %s", name, b, a)
			}
			continue
		}
		for _, member := range []string{"content", "structuredContent", "isError"} {
			if a, b := inline.field("result", member), later.field("result", member); a != b {
				t.Errorf("%s: %s is %s, inline %s", name, member, b, a)
			}
		}
		if inline.field("result", "_meta", "k") != later.field("result", "_meta", "k") {
			t.Errorf("%s: the tool's _meta is lost: %s", name, later.raw)
		}
	}
}

func TestTSK11ResultOfACancelledTaskIsAnError(t *testing.T) {
	h := newHold()
	c := newFixture(t, jobs(h)).dialTasks("")
	id := c.start("1", "hang", "")
	c.request("2", "tasks/cancel", taskID(id))
	c.request("3", "tasks/result", taskID(id)).wantError(t, task.CodeCancelled, "cancelled")
}

func TestTSK12IsErrorFailsTheTask(t *testing.T) {
	c := newFixture(t, jobs(newHold())).dialTasks("")
	for name, why := range map[string]string{"fails": "no disk", "whole": "bad luck", "coded": "go there"} {
		id := c.start("1", name, "")
		c.request("2", "tasks/result", taskID(id))
		m := c.request("3", "tasks/get", taskID(id))
		if m.str("result", "status") != "failed" || m.str("result", "statusMessage") != why {
			t.Error(m.raw)
		}
	}
}

func TestTSK13RelatedTaskIsWhereItBelongs(t *testing.T) {
	const key = "io.modelcontextprotocol/related-task"
	c := newFixture(t, append(jobs(newHold()), tool("report", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		call.Progress(ctx, 1, 0, "")
		return &echoOutput{}, nil
	}), withTask(TaskOptional)))).dialTasks("me")
	id := c.start("1", "report", `,"_meta":{"progressToken":1}`)
	c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
	result, before := c.answer("2")
	if got := result.str("result", "_meta", key, "taskId"); got != id {
		t.Error(result.raw)
	}
	var progressed bool
	for _, m := range before {
		switch related := m.str("params", "_meta", key, "taskId"); m.Method {
		case "notifications/progress":
			progressed = true
			if related != id {
				t.Error(m.raw)
			}
		case "notifications/tasks/status":
			if related != "" {
				t.Error(m.raw)
			}
		}
	}
	if !progressed {
		t.Error("no progress")
	}
	for _, m := range []message{
		c.request("3", "tasks/get", `{"taskId":"`+id+`","_meta":{"`+key+`":{"taskId":"other"}}}`), // the parameter counts
		c.request("4", "tasks/list", `{}`),
	} {
		if m.Error != nil || strings.Contains(m.raw, key) {
			t.Error(m.raw)
		}
	}
}

func TestTSK14TTLIsBoundedAndReported(t *testing.T) {
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler(), func(t *Tool) {
		t.Task = TaskPolicy{Support: TaskOptional, TTL: time.Hour, MaxTTL: 2 * time.Hour}
	})}).dialTasks("")
	for asked, want := range map[string]string{"": "3600000", `"ttl":60000`: "60000", `"ttl":999999999`: "7200000"} {
		m := c.request("1", "tools/call", `{"name":"hang","task":{`+asked+`}}`)
		if got := m.field("result", "task", "ttl"); got != want {
			t.Errorf("asked %q: %s", asked, m.raw)
		}
	}
	for _, absurd := range []string{"-1", "0", "9223372036854775807", "1e300", `"60000"`, "1.5"} {
		c.request("2", "tools/call", `{"name":"hang","task":{"ttl":`+absurd+`}}`).wantError(t, -32602, "ttl")
	}
	h.free()
}

// A server forgets whose session an expired task was of, also while its work goes on or had not begun.
func TestTSK15NothingIsKeptOfExpiredTasks(t *testing.T) {
	for name, change := range map[string]func(*Tool){
		"cancellable": func(*Tool) {}, "uncancellable": func(t *Tool) { t.Cancel.Uncancellable = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, []Tool{tool("slow", plain(func(ctx context.Context, _ *Call) (*echoOutput, error) {
					time.Sleep(time.Hour)
					return &echoOutput{}, nil
				}), withTask(TaskOptional), change)})
				c := f.dial(t.Context())
				c.initialize(nothing)
				for i := range 5 {
					c.sendf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow","arguments":{},"task":{"ttl":30}}}`, i)
					c.answer(fmt.Sprint(i))
				}
				time.Sleep(time.Minute)
				f.srv.mu.Lock()
				if n := len(f.srv.taskLives); n != 0 {
					t.Errorf("%d sessions of tasks that are gone", n)
				}
				f.srv.mu.Unlock()
				time.Sleep(2 * time.Hour)
				c.close()
			})
		})
	}
}

func TestTSK15ExpiredTasksAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		c := newFixture(t, []Tool{tool("hang", h.handler(), withTask(TaskOptional))}).dialTasks("")
		m := c.request("1", "tools/call", `{"name":"hang","task":{"ttl":60000}}`)
		id := m.str("result", "task", "taskId")
		c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
		start := time.Now()
		if cause := <-h.ended; !errors.Is(cause, task.ErrExpired) {
			t.Error(cause)
		}
		pending, _ := c.answer("2")
		pending.wantError(t, -32602, "expired")
		if took := time.Since(start); took > 61*time.Second {
			t.Errorf("after %v", took)
		}
		c.request("3", "tasks/get", taskID(id)).wantError(t, -32602)
		synctest.Wait()
		if len(c.srv.taskLives) != 0 {
			t.Error("the session of the task is still known")
		}
		c.close()
		_ = c.srv.Shutdown(context.Background())
	})
}

func TestTSK16ListHasStablePages(t *testing.T) {
	c := newFixture(t, jobs(newHold()), WithPageSize(10)).dialTasks("me")
	want := map[string]bool{}
	for i := range 35 {
		c.sendf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"quick","arguments":{"text":"x"},"task":{}}}`, i)
		m, _ := c.answer(fmt.Sprint(i))
		want[m.str("result", "task", "taskId")] = true
	}
	seen := map[string]bool{}
	params, pages := `{}`, 0
	for {
		m := c.request(`"p"`, "tasks/list", params)
		var page struct {
			Tasks      []struct{ TaskID string }
			NextCursor string
		}
		if err := json.Unmarshal(m.Result, &page); err != nil {
			t.Fatal(m.raw)
		}
		for _, one := range page.Tasks {
			if seen[one.TaskID] {
				t.Errorf("%s twice", one.TaskID)
			}
			seen[one.TaskID] = true
			delete(want, one.TaskID)
		}
		if pages++; page.NextCursor == "" {
			break
		}
		c.start(`"new"`, "quick", "") // an insert between two pages
		params = `{"cursor":"` + page.NextCursor + `"}`
	}
	if len(want) != 0 || pages < 4 {
		t.Errorf("%d tasks missing after %d pages", len(want), pages)
	}
}

func TestTSK17UnknownTasksAndCursors(t *testing.T) {
	c := newFixture(t, jobs(newHold())).dialTasks("me")
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		c.request("1", method, `{"taskId":"nobody"}`).wantError(t, -32602, "unknown task")
		c.request("2", method, `{}`).wantError(t, -32602, "taskId")
		c.request("3", method, `{"taskId":5}`).wantError(t, -32602, "taskId")
	}
	for _, cursor := range []string{"elsewhere", ""} {
		c.request("4", "tasks/list", `{"cursor":"`+cursor+`"}`).wantError(t, -32602, "cursor")
	}
}

func TestTSK18CancelIsDoneWhenItIsAnswered(t *testing.T) {
	begun, late, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
	c := newFixture(t, []Tool{tool("deaf", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		defer close(returned)
		close(begun)
		<-ctx.Done()
		late <- struct{}{}
		call.Progress(context.Background(), 1, 0, "late")
		return &echoOutput{"late"}, nil
	}), withTask(TaskOptional))}).dialTasks("")
	id := c.start("1", "deaf", `,"_meta":{"progressToken":1}`)
	<-begun // a task that is cancelled before its work begins has no work to stop
	m := c.request("2", "tasks/cancel", taskID(id))
	if m.str("result", "status") != "cancelled" {
		t.Error(m.raw)
	}
	<-late
	<-returned
	if m := c.request("3", "tasks/get", taskID(id)); m.str("result", "status") != "cancelled" {
		t.Error(m.raw)
	}
	c.request("4", "tasks/cancel", taskID(id)).wantError(t, -32602, "cancelled")
	for _, m := range c.fence() {
		if m.Method == "notifications/progress" {
			t.Error(m.raw) // PRO01
		}
	}
}

func TestTSK20StatusGoesToTheOwnersSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		f := newFixture(t, jobs(h))
		mine, other := f.dialTasks("me"), f.dialTasks("you")
		id := mine.start("1", "hang", "")
		h.free()
		synctest.Wait()
		m := mine.next()
		if m.Method != "notifications/tasks/status" || m.str("params", "taskId") != id || m.str("params", "status") != "completed" ||
			m.field("params", "ttl") == "" || m.field("params", "createdAt") == "" || m.field("params", "_meta") != "" {
			t.Error(m.raw)
		}
		if len(mine.frames)+len(other.frames) != 0 {
			t.Error("more than one notification")
		}
		mine.close()
		other.close()
		_ = f.srv.Shutdown(context.Background())
	})
}

func TestTSK21TasksBelongToTheirOwner(t *testing.T) {
	for name, who := range map[string][2]string{"identities": {"me", "you"}, "no identities": {"", ""}, "one identity": {"me", ""}} {
		t.Run(name, func(t *testing.T) {
			h := newHold()
			f := newFixture(t, jobs(h), WithTaskList())
			mine, other := f.dialTasks(who[0]), f.dialTasks(who[1])
			id := mine.start("1", "hang", "")
			for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
				foreign := other.request("1", method, taskID(id))
				foreign.wantError(t, -32602)
				unknown := other.request("1", method, taskID("nobody"))
				if foreign.field("error") != unknown.field("error") {
					t.Errorf("tells a foreign task from an unknown one: %s", foreign.raw)
				}
			}
			other.request("2", "tasks/list", `{}`).wantResult(t, `{"tasks":[]}`)
			if m := mine.request("2", "tasks/list", `{}`); !strings.Contains(m.raw, id) {
				t.Error(m.raw)
			}
			if m := mine.request("3", "tasks/get", taskID(id)); m.str("result", "status") != "working" {
				t.Error(m.raw)
			}
			h.free()
		})
	}
	t.Run("a principal can not be named like a connection", func(t *testing.T) {
		f := newFixture(t, jobs(newHold()), WithTaskList())
		mine := f.dialTasks("")
		id := mine.start("1", "quick", "")
		thief := f.dialTasks(mine.srv.onlyPeer().owner)
		thief.request("1", "tasks/get", taskID(id)).wantError(t, -32602)
	})
}

func TestTSK22LimitsAreClearRefusals(t *testing.T) {
	h := newHold()
	c := newFixture(t, jobs(h), WithTaskLimits(task.Limits{Running: 1, PollsPerSecond: 1, ResultBytes: 10})).dialTasks("")
	id := c.start("1", "hang", "")
	c.request("2", "tools/call", `{"name":"hang","task":{}}`).wantError(t, -32600, "limit", "1")
	var refused bool
	for range 5 {
		m := c.request("3", "tasks/get", taskID(id))
		refused = refused || m.Error != nil && strings.Contains(m.Error.Message, "limit")
	}
	if !refused {
		t.Error("polling without a limit")
	}
	h.free()
	c.request("4", "tasks/result", taskID(id)).wantError(t, -32603, "limit")
}

func TestTSK23AuditTrail(t *testing.T) {
	var log syncBuffer
	h := newHold()
	f := newFixture(t, jobs(h), WithLogger(slog.New(slog.NewJSONHandler(&log, nil))))
	c, other := f.dialTasks("me"), f.dialTasks("you")
	done, gone := c.start("1", "quick", ""), c.start(`"h"`, "hang", "")
	c.request("2", "tasks/result", taskID(done))
	c.request("3", "tasks/cancel", taskID(gone))
	other.request("4", "tasks/get", taskID(done))
	c.fence()
	f.srv.records.Flush(t.Context())
	records := map[string]bool{}
	for line := range bytes.SplitSeq([]byte(log.String()), []byte("\n")) {
		var r map[string]any
		if json.Unmarshal(line, &r) == nil && (r["task"] == done || r["task"] == gone) {
			records[fmt.Sprint(r["msg"], " ", r["requestor"] != nil || r["owner"] != nil, " ", r["tool"] != nil)] = true
		}
	}
	if len(records) < 5 {
		t.Errorf("want creation, completion, retrieval, cancellation and refusal, got %v\n%s", records, log.String())
	}
}

func TestTSK24BadArgumentsNeverMakeATask(t *testing.T) {
	c := newFixture(t, jobs(newHold())).dialTasks("me")
	c.request("1", "tools/call", `{"name":"quick","arguments":{"text":"","count":12},"task":{}}`).wantError(t, -32602, "/arguments/count", "maximum", "(and 1 more)")
	c.request("2", "tasks/list", `{}`).wantResult(t, `{"tasks":[]}`)
}

func TestTSK25PanicFailsTheTaskAlone(t *testing.T) {
	var log syncBuffer
	c := newFixture(t, jobs(newHold()), WithLogger(slog.New(slog.NewTextHandler(&log, nil)))).dialTasks("")
	id := c.start("1", "panics", "")
	m := c.request("2", "tasks/result", taskID(id))
	m.wantError(t, -32603)
	if strings.Contains(m.raw, "secret") {
		t.Error(m.raw)
	}
	if got := c.request("3", "tasks/get", taskID(id)); got.str("result", "status") != "failed" {
		t.Error(got.raw)
	}
	c.srv.records.Flush(t.Context())
	if !strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "task_test.go") {
		t.Errorf("no stack in the log: %s", log.String())
	}
	c.start("4", "quick", "")
}

func TestCAN11TasksAreCancelledByTheirOwnMethodOnly(t *testing.T) {
	h := newHold()
	c := newFixture(t, jobs(h)).dialTasks("")
	id := c.start("1", "hang", "")
	c.cancel("1")
	c.cancel(`"` + id + `"`)
	c.fence()
	<-h.began
	if len(h.ended) != 0 {
		t.Error("cancelled by a notification")
	}
	for i := range 500 { // back to back: the task is made and lives, or was never made
		n := fmt.Sprint(1000 + i)
		c.sendf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"hang","task":{}}}`, n)
		c.cancel(n)
	}
	answered := 0
	count := func() {
		for _, m := range c.fence() {
			if m.str("result", "task", "taskId") != "" {
				answered++
			}
		}
	}
	for c.srv.onlyPeer().live.n.Load() > 1 {
		count()
	}
	count() // what was answered last
	for range answered {
		<-h.began
	}
	if len(h.began) != 0 || len(h.ended) != 0 {
		t.Errorf("%d answered, %d more began, %d ended", answered, len(h.began), len(h.ended))
	}
	c.request("2", "tasks/cancel", taskID(id))
	if cause := <-h.ended; cause.Source != inflight.SourcePeer {
		t.Error(cause)
	}
	h.free()
}

func TestPRO03TasksKeepTheTokenForTheirLife(t *testing.T) {
	steps := make(chan float64)
	c := newFixture(t, []Tool{tool("work", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		for v := range steps {
			call.Progress(ctx, v, 0, "")
		}
		return &echoOutput{}, nil
	}), withTask(TaskOptional))}).dialTasks("")
	id := c.start("1", "work", `,"_meta":{"progressToken":"tok"}`)
	for v := 1.0; v < 4; v++ {
		c.fence() // long after the answer to the request
		steps <- v
		m := c.next()
		if m.Method != "notifications/progress" || m.str("params", "progressToken") != "tok" || m.field("params", "progress") != fmt.Sprint(v) {
			t.Error(m.raw)
		}
	}
	close(steps)
	c.request("2", "tasks/result", taskID(id))
}

func TestLET17ATimeoutNeedsNoListeningHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		c := newFixture(t, []Tool{tool("hang", h.handler(), func(t *Tool) {
			t.Task = TaskPolicy{Support: TaskRequired, Timeout: time.Minute}
			t.Cancel.Timeout = time.Second // of inline calls only
		})}).dialTasks("")
		id := c.start("1", "hang", "")
		start := time.Now()
		if m := c.request("2", "tasks/result", taskID(id)); m.field("result", "isError") != "true" || !strings.Contains(m.raw, "hang timed out after 1m0s") {
			t.Error(m.raw)
		}
		if took := time.Since(start); took != time.Minute {
			t.Error(took)
		}
		c.close()
		_ = c.srv.Shutdown(context.Background())
	})
}

func TestOperatorsListAndCountEverybodysTasks(t *testing.T) {
	none := &Server{}
	if page, err := none.ListTasks(t.Context(), task.Filter{}, "", 0); err != nil || len(page.Tasks) != 0 {
		t.Errorf("a server without tasks lists %v, %v", page, err)
	}
	s := &Server{engine: task.New(task.Config{Machine: ^task.Machine(0), Runner: func(context.Context, *task.Run) task.Outcome {
		return task.Outcome{Status: task.Completed}
	}})}
	for _, owner := range []string{"ada", "bob"} {
		if _, err := s.engine.Create(t.Context(), task.Spec{Owner: owner, Tool: "tool"}); err != nil {
			t.Fatal(err)
		}
	}
	page, err := s.ListTasks(t.Context(), task.Filter{Owners: []string{"bob"}}, "", 0)
	if err != nil || len(page.Tasks) != 1 || page.Tasks[0].Owner != "bob" {
		t.Errorf("bob's: %+v, %v", page, err)
	}
	n, err := s.CountTasks(t.Context(), task.Filter{})
	if err != nil || n[task.Working] != 2 {
		t.Errorf("counts: %v, %v", n, err)
	}
	if err := s.engine.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
