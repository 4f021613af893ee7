package server

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

const (
	pageOf2025   = `{"elicitationId":"e-1","message":"?","mode":"url","url":"https://example.com"}`
	pageOf2026   = `{"message":"?","mode":"url","url":"https://example.com"}`
	pagesOfTasks = `{"elicitation":{"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

// login is a tool that sends the user to a page, whose request has the form of each revision; older is that of 2025-11-25.
func login(older string) Tool {
	identified := check.Object{At: "#", Names: []string{"elicitationId"}, Required: []string{"elicitationId"}}
	codecs := append(rawCodec(older), rawCodec(pageOf2026)...)
	codecs[0].Check = func(d *check.Decoder) {
		for i := d.Object(&identified); i >= 0; i = d.Next() {
			d.Skip()
		}
	}
	codecs[1].Revision = "2026-07-28"
	page := ClientRequest[noInput, noInput]{Op: wire.OpElicit, Codecs: codecs}
	return tool("login", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, err := Send(ctx, call, &page, "page", &noInput{})
		return &echoOutput{"done"}, errors.Join(err, call.ElicitationComplete(ctx, "e-1"))
	}), withTask(TaskOptional))
}

// A task's request has the form of the revision that its reader speaks, whichever revision the task was created in.
func TestLET01REV03ATasksRequestHasTheFormOfItsReader(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{login(pageOf2025)}})
	me := as(t, "me")
	related := func(id, params string) string {
		return `{"_meta":{"io.modelcontextprotocol/related-task":` + taskID(id) + `},` + params[1:]
	}
	c := f.dial(me)
	c.initialize(pagesOfTasks)
	t.Run("created in 2026-07-28", func(t *testing.T) {
		id := f.create(me, "login", `{}`, pagesOfTasks)
		c.sendf(`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":%s}`, taskID(id))
		q := c.nextRequest()
		if string(q.Params) != related(id, pageOf2025) {
			t.Errorf("asked with %s", q.Params)
		}
		c.reply(q, `{"action":"accept"}`)
		if m := c.next(); m.Method != "notifications/elicitation/complete" || string(m.Params) != related(id, `{"elicitationId":"e-1"}`) {
			t.Errorf("not told that the page is done: %s", m.raw)
		}
		if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "done" {
			t.Error(m.raw)
		}
	})
	t.Run("created in 2025-11-25", func(t *testing.T) {
		id := c.start("2", "login", "")
		c.nextRequest()
		m := f.ask(me, frame(1, "tasks/get", pagesOfTasks, byID(id)))
		if got := m.field("result", "inputRequests", "page", "params"); got != pageOf2026 {
			t.Errorf("shown with %s", m.raw)
		}
		f.ask(me, frame(1, "tasks/update", pagesOfTasks, byID(id)+`,"inputResponses":{"page":{"action":"accept"}}`)).wantNoError(t)
		if m := c.request("3", "tasks/result", taskID(id)); m.str("result", "structuredContent", "text") != "done" {
			t.Error(m.raw)
		}
	})
}

// A request that a revision has no valid form for is not put there: the clients of other revisions get it.
func TestLET01ARequestWithoutAFormForItsReaderIsNotPut(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{login(pageOf2026)}})
	me := as(t, "me")
	id := f.create(me, "login", `{}`, pagesOfTasks)
	c := f.dial(me)
	c.initialize(pagesOfTasks)
	c.sendf(`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":%s}`, taskID(id))
	f.await(me, id, task.InputRequired)
	m := f.ask(me, frame(1, "tasks/get", pagesOfTasks, byID(id)))
	if got := m.field("result", "inputRequests", "page", "params"); got != pageOf2026 {
		t.Errorf("shown with %s", m.raw)
	}
	f.ask(me, frame(1, "tasks/update", pagesOfTasks, byID(id)+`,"inputResponses":{"page":{"action":"accept"}}`)).wantNoError(t)
	m, before := c.answer("1")
	if m.str("result", "structuredContent", "text") != "done" {
		t.Error(m.raw)
	}
	for _, b := range before {
		if strings.HasPrefix(b.Method, "elicitation/") {
			t.Errorf("asked: %s", b.raw)
		}
	}
}

// 2026-07-28 lets structured content be any value, 2025-11-25 an object alone.
func TestLET01REV03AResultHasTheFormOfItsReader(t *testing.T) {
	older, definition := *wiretest.Revision20251125(), check.Object{At: "#", Names: []string{"structuredContent"}}
	older.CheckCallResult = func(d *check.Decoder) {
		for i := d.Object(&definition); i >= 0; i = d.Next() {
			if i == 0 {
				d.EachMember(nil, (*check.Decoder).Skip)
			} else {
				d.Skip()
			}
		}
	}
	f := dual(t, Definition{Revisions: []*wire.Revision{&older, wiretest.Revision20260728()}, Tools: []Tool{tool("list", Bind(decodeEchoInput, func(_ context.Context, _ *Call, in *echoInput) (*rawResult, error) {
		return &rawResult{`{"content":` + in.Text + `,"structuredContent":[1,2]}`}, nil
	}, Unstructured(appendRawResult)), withTask(TaskOptional))}})
	me := as(t, "me")
	c := f.dial(me)
	c.initialize(`{}`)
	for content, want := range map[string]string{`[]`: `[{"type":"text","text":"[1,2]"}]`, `[{"type":"text","text":"1 and 2"}]`: `[{"type":"text","text":"1 and 2"}]`} {
		id := f.create(me, "list", `{"text":`+strconv.Quote(content)+`}`, withTasks)
		m := c.request("1", "tasks/result", taskID(id))
		if m.field("result", "content") != want || m.field("result", "structuredContent") != "" {
			t.Errorf("want the content %s alone, got %s", want, m.raw)
		}
		if m := f.get(me, id); m.field("result", "result", "content") != content || m.field("result", "result", "structuredContent") != "[1,2]" {
			t.Errorf("its own revision got %s", m.raw)
		}
	}
}
