package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// create makes a task by a call that declares the extension.
func (f *fixture) create(ctx context.Context, tool, args, caps string) string {
	f.t.Helper()
	m := f.ask(ctx, frame(1, "tools/call", caps, callParams(tool, args)))
	if m.str("result", "resultType") != "task" || m.str("result", "status") != "working" || m.field("result", "ttlMs") == "" || m.field("result", "task") != "" {
		f.t.Fatalf("no new task: %s", m.raw)
	}
	return m.str("result", "taskId")
}

func byID(id string) string { return fmt.Sprintf(`"taskId":%q`, id) }

func (f *fixture) get(ctx context.Context, id string) message {
	f.t.Helper()
	return f.ask(ctx, frame(1, "tasks/get", withTasks, byID(id)))
}

// await is the task when it has the status.
func (f *fixture) await(ctx context.Context, id string, status task.Status) message {
	f.t.Helper()
	owner := ownedByNobody
	if p := PrincipalFrom(ctx); p != "" {
		owner = ownedByPrincipal + p
	}
	for {
		tk, changed, err := f.srv.engine.Watch(ctx, owner, id)
		if err != nil {
			f.t.Fatal(err)
		}
		if tk.Status == status {
			return f.get(ctx, id)
		}
		if tk.Status.Terminal() {
			f.t.Fatalf("want %s, got %s: %s", status, tk.Status, tk.StatusMessage)
		}
		<-changed
	}
}

func TestEXT03ATaskIsForRequestsThatDeclareTheExtension(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	c := f.dial(t.Context())
	for i, row := range []struct {
		caps, tool string
		task       bool
	}{{withTasks, "quick", true}, {nothing, "quick", false}, {withTasks, "never", false}, {withTasks, "must", true}, {`{"extensions":{}}`, "quick", false}} {
		c.send(frame(i, "tools/call", row.caps, callParams(row.tool, `{"text":"x"}`)))
		m, _ := c.answer(fmt.Sprint(i))
		if got := m.str("result", "resultType") == "task"; m.Error != nil || got != row.task {
			t.Errorf("%+v: %s", row, m.raw)
		}
	}
}

func TestEXT04CreateTaskResultIsFlat(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	m := f.ask(t.Context(), frame(1, "tools/call", withTasks, callParams("quick", `{"text":"x"}`)))
	if got := keysOf(t, string(m.Result)); strings.Join(got, " ") != "_meta createdAt lastUpdatedAt resultType status taskId ttlMs" || m.str("result", "resultType") != "task" {
		t.Error(m.raw)
	}
	m = f.ask(t.Context(), frame(1, "tools/call", withTasks, callParams("quick", `{"text":5}`)))
	if m.str("result", "resultType") != "complete" || m.field("result", "isError") != "true" {
		t.Errorf("TSK24: %s", m.raw)
	}
}

func TestEXT05AToolThatOnlyRunsAsATaskNeedsTheExtension(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	frames, result := f.exchange(t.Context(), frame(1, "tools/call", forms, callParams("must", `{"text":"x"}`)))
	frames[0].wantError(t, -32021)
	if got := frames[0].field("error", "data"); got != `{"requiredCapabilities":`+withTasks+`}` || result.Status != 400 {
		t.Errorf("%s, status %d", frames[0].raw, result.Status)
	}
}

func TestEXT06TaskMethodsNeedTheExtension(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: jobs(h)})
	id := f.create(t.Context(), "hang", `{}`, withTasks)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		f.ask(t.Context(), frame(1, method, forms, byID(id)+`,"inputResponses":{}`)).wantError(t, -32021)
	}
	f.ask(t.Context(), frame(1, "subscriptions/listen", forms, `"notifications":{"taskIds":["`+id+`"]}`)).wantError(t, -32021, "io.modelcontextprotocol/tasks")
	h.free()
	f.await(t.Context(), id, task.Completed)
}

func TestEXT07TheTaskHoldsItsOutcome(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	id := f.create(t.Context(), "quick", `{"text":"hi"}`, withTasks)
	m := f.await(t.Context(), id, task.Completed)
	if m.str("result", "resultType") != "complete" || m.str("result", "result", "structuredContent", "text") != "hi" || m.str("result", "result", "resultType") != "complete" {
		t.Error(m.raw)
	}
	id = f.create(t.Context(), "coded", `{}`, withTasks)
	m = f.await(t.Context(), id, task.Failed)
	if m.field("result", "error") != `{"code":4042,"message":"go there","data":{"url":"x"}}` || m.field("result", "result") != "" {
		t.Error(m.raw)
	}
	id = f.create(t.Context(), "panics", `{}`, withTasks)
	if m = f.await(t.Context(), id, task.Failed); m.field("result", "error", "code") != "-32603" || strings.Contains(m.raw, "secret") {
		t.Error(m.raw)
	}
}

func TestEXT08ResultsWithIsErrorComplete(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	for _, name := range []string{"fails", "whole"} {
		m := f.await(t.Context(), f.create(t.Context(), name, `{}`, withTasks), task.Completed)
		if m.field("result", "result", "isError") != "true" || m.field("result", "error") != "" {
			t.Error(m.raw)
		}
	}
}

// pair asks two questions at once.
func pair() Tool {
	return tool("pair", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		var all sync.WaitGroup
		var errs [2]error
		var said [2]Answer[confirmation]
		for i, name := range []string{"left", "right"} {
			q := confirmQuestion()
			q.Name = name
			all.Go(func() { said[i], errs[i] = Ask(ctx, call, q, "") })
		}
		all.Wait()
		return &echoOutput{fmt.Sprint(said[0].Value.Overwrite, said[1].Value.Overwrite)}, errors.Join(errs[:]...)
	}), withTask(TaskOptional))
}

// awaitQuestions is the task when n questions are open.
func (f *fixture) awaitQuestions(ctx context.Context, id string, n int) message {
	f.t.Helper()
	for {
		tk, changed, err := f.srv.engine.Watch(ctx, ownedByNobody, id)
		if err != nil || tk.Status.Terminal() {
			f.t.Fatal(err, tk.Status)
		}
		if len(tk.Questions) == n {
			return f.get(ctx, id)
		}
		<-changed
	}
}

func TestEXT09EveryOpenQuestionIsListed(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{pair()}})
	id := f.create(t.Context(), "pair", `{}`, tasksAsks)
	m := f.awaitQuestions(t.Context(), id, 2)
	if got := m.field("result", "inputRequests"); got != `{}` {
		t.Errorf("EXT18: shown to a client that can not ask: %s", m.raw)
	}
	m = f.ask(t.Context(), frame(1, "tasks/get", tasksAsks, byID(id)))
	if got := keysOf(t, m.field("result", "inputRequests")); strings.Join(got, " ") != "left right" || m.str("result", "status") != "input_required" {
		t.Error(m.raw)
	}
	if m.str("result", "inputRequests", "left", "method") != elicit || m.field("result", "inputRequests", "left", "params", "requestedSchema") == "" {
		t.Error(m.raw)
	}
	f.ask(t.Context(), frame(1, "tasks/cancel", withTasks, byID(id)))
	if m := f.await(t.Context(), id, task.Cancelled); m.field("result", "inputRequests") != "" {
		t.Error(m.raw)
	}
}

// acknowledged is the result that says nothing but who answers (LET21).
const acknowledged = `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}}}`

func TestEXT10AnswersComeByUpdate(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{pair()}})
	id := f.create(t.Context(), "pair", `{}`, tasksAsks)
	f.awaitQuestions(t.Context(), id, 2)
	update := func(responses string) message {
		return f.ask(t.Context(), frame(1, "tasks/update", withTasks, byID(id)+`,"inputResponses":`+responses))
	}
	for _, wrong := range []string{`{"left":5}`, `{"left":{"action":"accept","content":{"overwrite":"x"}}}`, `{"left":null}`,
		`{"right":` + accepted + `,"left":{"action":"accept"}}`, `[]`} {
		update(wrong).wantError(t, -32602)
	}
	f.awaitQuestions(t.Context(), id, 2) // nothing was taken
	for _, ignored := range []string{`{}`, `{"unknown-key":{"ignored":true}}`} {
		update(ignored).wantResult(t, acknowledged)
	}
	update(`{"left":`+accepted+`}`).wantResult(t, acknowledged)
	f.awaitQuestions(t.Context(), id, 1)
	if m := f.ask(t.Context(), frame(1, "tasks/get", tasksAsks, byID(id))); strings.Join(keysOf(t, m.field("result", "inputRequests")), " ") != "right" {
		t.Error(m.raw)
	}
	update(`{"left":{"action":"decline"},"right":`+accepted+`}`).wantResult(t, acknowledged)
	m := f.await(t.Context(), id, task.Completed)
	if m.str("result", "result", "structuredContent", "text") != "true true" {
		t.Error(m.raw)
	}
	update(`{"right":{"action":"decline"}}`).wantResult(t, acknowledged)
}

func TestEXT11CancelIsAcknowledgedAndCooperative(t *testing.T) {
	h, stubborn := newHold(), newHold()
	f := dual(t, Definition{Tools: append(jobs(h), tool("stubborn", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		return &echoOutput{"done"}, stubborn.run(ctx, call)
	}), withTask(TaskOptional), func(t *Tool) { t.Cancel.Uncancellable = true }))})
	cancel := func(id string) message { return f.ask(t.Context(), frame(1, "tasks/cancel", withTasks, byID(id))) }
	id := f.create(t.Context(), "hang", `{}`, withTasks)
	<-h.began
	cancel(id).wantResult(t, acknowledged)
	if cause := <-h.ended; cause.Source != inflight.SourcePeer {
		t.Errorf("cause %v", cause)
	}
	if m := f.await(t.Context(), id, task.Cancelled); m.field("result", "result") != "" || m.field("result", "error") != "" {
		t.Error(m.raw)
	}
	cancel(id).wantResult(t, acknowledged)
	id = f.create(t.Context(), "stubborn", `{}`, withTasks)
	<-stubborn.began
	cancel(id).wantResult(t, acknowledged)
	stubborn.free()
	if m := f.await(t.Context(), id, task.Completed); m.str("result", "result", "structuredContent", "text") != "done" {
		t.Error(m.raw)
	}
	cancel("no such").wantError(t, -32602, "unknown task")
}

func TestEXT15TheTaskIsThereBeforeTheAnswer(t *testing.T) {
	store := task.NewMemory()
	f := dual(t, Definition{Tools: jobs(newHold())}, WithTaskStore(store))
	replica := dual(t, Definition{Tools: jobs(newHold())}, WithTaskStore(store))
	found := 0
	for range 200 {
		j, err := f.srv.Route([]byte(frame(1, "tools/call", withTasks, callParams("quick", `{"text":"x"}`))), "")
		if err != nil {
			t.Fatal(err)
		}
		f.srv.Exchange(t.Context(), &j, writerFunc(func(_ rpc.ID, _ bool, frame []byte) {
			m := message{raw: string(frame)}
			if got := replica.get(t.Context(), m.str("result", "taskId")); got.Error == nil && got.str("result", "status") == "working" {
				found++
			}
		}))
	}
	if found != 200 {
		t.Errorf("%d of 200 found by a replica when the answer was written", found)
	}
}

func TestEXT16StrangersReachNothing(t *testing.T) {
	f := dual(t, Definition{Tools: append(jobs(newHold()), pair())})
	me := as(t, "me")
	id := f.create(me, "pair", `{}`, tasksAsks)
	for _, stranger := range []context.Context{as(t, "you"), t.Context(), as(t, "nobody:")} {
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			m := f.ask(stranger, frame(1, method, withTasks, byID(id)+`,"inputResponses":{"left":`+accepted+`}`))
			m.wantError(t, -32602, "unknown task")
		}
	}
	c := f.dialTasks("you")
	for i, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		c.request(fmt.Sprint(i), method, taskID(id)).wantError(t, -32602, "unknown task")
	}
	f.await(me, id, task.InputRequired)
	tk, _, err := f.srv.engine.Watch(me, ownedByPrincipal+"me", id)
	if err != nil || tk.CancelRequested {
		t.Errorf("a stranger had an effect: %+v %v", tk, err)
	}
}

func TestPRO04TasksOfAStatelessRevisionTellNothing(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("loud", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		call.Progress(ctx, 1, 2, "half")
		call.LogMessage(ctx, LevelError, "l", "bad")
		return &echoOutput{}, nil
	}), withTask(TaskOptional))}})
	const meta = `"progressToken":7,"io.modelcontextprotocol/logLevel":"debug"`
	c := f.dial(t.Context())
	c.send(frameWith(1, "tools/call", withTasks, callParams("loud", `{}`), meta))
	m, before := c.answer("1")
	owner := f.srv.onlyPeer().owner
	if tk, err := f.srv.engine.Wait(t.Context(), owner, m.str("result", "taskId")); err != nil || tk.Status != task.Completed {
		t.Error(tk, err)
	}
	c.send(frameWith(2, "tools/call", nothing, callParams("loud", `{}`), meta))
	_, inline := c.answer("2")
	if len(before) != 0 || len(inline) != 2 || inline[0].Method != "notifications/progress" || inline[1].Method != "notifications/message" {
		t.Errorf("task: %v, inline: %v", before, inline)
	}
	c.send(frameWith(3, "tools/call", nothing, callParams("loud", `{}`), `"io.modelcontextprotocol/logLevel":"critical"`))
	if _, inline = c.answer("3"); len(inline) != 0 {
		t.Errorf("below the level: %v", inline)
	}
}

func TestREV03EachRevisionHasItsOwnView(t *testing.T) {
	f := dual(t, Definition{Tools: append(jobs(newHold()), pair())})
	me := as(t, "me")
	c := f.dial(me)
	c.initialize(`{"elicitation":{}}`)
	old := c.start("1", "fails", "")
	c.request("2", "tasks/result", taskID(old))
	if m := c.request("3", "tasks/get", taskID(old)); m.str("result", "status") != "failed" || m.field("result", "ttl") == "" {
		t.Error(m.raw)
	}
	if m := f.get(me, old); m.str("result", "status") != "completed" || m.field("result", "result", "isError") != "true" || m.field("result", "ttlMs") == "" {
		t.Error(m.raw)
	}
	current := f.create(me, "fails", `{}`, withTasks)
	f.await(me, current, task.Completed)
	if m := c.request("4", "tasks/get", taskID(current)); m.str("result", "status") != "failed" {
		t.Error(m.raw)
	}
	if m := c.request("5", "tasks/result", taskID(current)); m.field("result", "isError") != "true" || m.field("result", "resultType") != "" {
		t.Error(m.raw)
	}
	// A question of a task that one revision created is answered through the other.
	old = c.start("6", "pair", "")
	for range 2 {
		q := c.nextRequest()
		if q.Method != elicit {
			t.Error(q.raw)
		}
	}
	f.ask(me, frame(1, "tasks/update", withTasks, byID(old)+`,"inputResponses":{"left":`+accepted+`,"right":`+accepted+`}`)).wantNoError(t)
	if m := c.request("7", "tasks/result", taskID(old)); m.str("result", "structuredContent", "text") != "true true" {
		t.Error(m.raw)
	}
}

// WithLimits holds for the answers to such questions, too.
func TestEXT17VAL07LimitsOfAnswersBeforeTheTask(t *testing.T) {
	q := confirmQuestion()
	q.Decode = func(d *check.Decoder, v *confirmation) { v.Overwrite = len(d.Raw(nil)) > 4000 }
	early := asker(q)
	early.Task.Support, early.Before = TaskRequired, []BeforeQuestion{q.Before()}
	f := dual(t, Definition{Tools: []Tool{early}}, WithLimits(check.Limits{NumberBytes: 5000}))
	_, _, state := f.try(t.Context(), tasksAsks, "ask", `{}`, "")
	long := `{"confirm":{"action":"accept","content":{"overwrite":` + strings.Repeat("7", 4000) + `}}}`
	m, _, _ := f.try(t.Context(), tasksAsks, "ask", `{}`, answering(state, long))
	if m.str("result", "resultType") != "task" {
		t.Fatal(m.raw)
	}
	if m = f.await(t.Context(), m.str("result", "taskId"), task.Completed); m.str("result", "result", "structuredContent", "text") != "accept true true" {
		t.Error(m.raw)
	}
}

// A tool that asks before there is a task: round 1 asks, round 2 creates it.
func TestEXT17QuestionsBeforeTheTask(t *testing.T) {
	q := confirmQuestion()
	early := asker(q)
	early.Task.Support, early.Before = TaskRequired, []BeforeQuestion{q.Before()}
	f := dual(t, Definition{Tools: []Tool{early}})
	m, keys, state := f.try(t.Context(), tasksAsks, "ask", `{}`, "")
	if strings.Join(keys, " ") != "confirm" || m.field("result", "taskId") != "" {
		t.Fatal(m.raw)
	}
	m, keys, _ = f.try(t.Context(), tasksAsks, "ask", `{}`, answering(state, `{"confirm":{"action":"accept","content":{}}}`))
	if len(keys) != 1 {
		t.Error(m.raw)
	}
	m, _, _ = f.try(t.Context(), tasksAsks, "ask", `{}`, answering(state, `{"confirm":`+accepted+`}`))
	if m.str("result", "resultType") != "task" || m.field("result", "requestState") != "" {
		t.Fatal(m.raw)
	}
	if m = f.await(t.Context(), m.str("result", "taskId"), task.Completed); m.str("result", "result", "structuredContent", "text") != "accept true true" {
		t.Error(m.raw)
	}
	f.ask(t.Context(), frame(1, "tools/call", withTasks, callParams("ask", `{}`))).wantError(t, -32021)
	f.ask(t.Context(), frame(1, "tools/call", tasksAsks, callParams("ask", `{}`)+`,"requestState":"x"`)).wantError(t, -32602)
	// 2025-11-25 has no such round: the task asks.
	c := f.dialTasks("")
	id := c.start("1", "ask", "")
	c.reply(c.nextRequest(), accepted)
	if m := c.request("2", "tasks/result", taskID(id)); m.str("result", "structuredContent", "text") != "accept true true" {
		t.Error(m.raw)
	}
}
