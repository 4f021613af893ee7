package server

// Sentences of the specification that no rule of the ledger covers by itself; testdata/traceability/sentences names them.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

func TestCAN15QuestionsHaveIDsOfTheirOwn(t *testing.T) {
	c := newFixture(t, []Tool{tool("wizard", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		for _, name := range []string{"first", "second", "third"} {
			q := confirmQuestion()
			q.Name = name
			if _, err := Ask(ctx, call, q, ""); err != nil {
				return nil, err
			}
		}
		return &echoOutput{}, nil
	}))}).dialTasks("")
	var seen []string
	for _, id := range []string{"1", "2"} {
		c.call(id, "wizard", `{}`)
		for range 3 {
			q := c.nextRequest()
			if q.Method != elicit || slices.Contains(seen, string(q.ID)) || string(q.ID) == "null" {
				t.Errorf("%s after %v", q.raw, seen)
			}
			seen = append(seen, string(q.ID))
			c.reply(q, accepted)
		}
		if m, _ := c.answer(id); m.Error != nil {
			t.Error(m.raw)
		}
	}
}

// TestEXT18SessionsAreAskedForWhatTheyDeclared: in a session, too, a handler learns that the client can not be asked, and the
// client learns nothing.
func TestEXT18SessionsAreAskedForWhatTheyDeclared(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("many", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, model := Send(ctx, call, &sampling, "model", &noInput{})
		_, list := Send(ctx, call, &roots, "roots", &noInput{})
		if !errors.Is(model, ErrUnsupported) || !errors.Is(list, ErrUnsupported) {
			t.Errorf("%v, %v", model, list)
		}
		return &echoOutput{}, nil
	}))}})
	for _, capabilities := range []string{`{}`, `{"elicitation":{}}`} {
		c := f.dial(t.Context())
		c.initialize(capabilities)
		c.call("1", "many", `{}`)
		if m, before := c.answer("1"); m.Error != nil || len(before) != 0 {
			t.Errorf("%s: %v before %s", capabilities, before, m.raw)
		}
	}
}

func TestVAL02ParamsOfMethodsAreChecked(t *testing.T) {
	ran := 0
	f := dual(t, Definition{Methods: []MethodHandler{BindMethod("prompts/get", func(context.Context, *Call, *echoInput) (*rawResult, error) {
		ran++
		return nil, errors.New("a secret of the server")
	}, MethodCodec[echoInput, rawResult]{Decode: decodeEchoInput, Append: appendRawResult})}})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	for _, params := range []string{`{}`, `{"text":5}`, `{"text":"x","count":10}`} {
		c.request("1", "prompts/get", params).wantError(t, -32602)
	}
	if ran != 0 {
		t.Error("bad params reached the handler")
	}
	if m := c.request("2", "prompts/get", `{"text":"x"}`); m.Error == nil || m.Error.Code != -32603 || strings.Contains(m.raw, "secret") {
		t.Error(m.raw)
	}
}

// TestLogMessagesNeedTheRequestsLevel: a stateless request that names no level gets no log messages, and nobody else gets those of
// one that does.
func TestLogMessagesNeedTheRequestsLevel(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("log", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		call.LogMessage(ctx, LevelEmergency, "l", "d")
		return &echoOutput{}, nil
	}))}})
	l, _ := f.listen(t.Context(), nothing, `{"toolsListChanged":true}`)
	for meta, want := range map[string]int{``: 0, `"io.modelcontextprotocol/logLevel":"debug"`: 1} {
		frames, _ := f.exchange(t.Context(), frameWith(1, "tools/call", nothing, callParams("log", `{}`), meta))
		if len(frames) != want+1 || want == 1 && frames[0].Method != "notifications/message" || frames[want].str("result", "resultType") != "complete" {
			t.Errorf("%s: %v", meta, frames)
		}
		for _, m := range frames {
			if m.about != rpc.IntID(1) {
				t.Errorf("not on the stream of its request: %s", m.raw)
			}
		}
	}
	l.cancel()
	<-l.done
	if len(l.frames) != 0 {
		t.Errorf("told to a subscription: %v", l.frames)
	}
}

func TestEXT13ChangesOfEveryListAreTold(t *testing.T) {
	f := dual(t, Definition{Methods: append(prompts(), resources())})
	l, _ := f.listen(t.Context(), nothing, `{"promptsListChanged":true,"resourcesListChanged":true}`)
	c := f.dial(t.Context())
	c.initialize(`{}`)
	for name, change := range map[string]func(){
		"notifications/prompts/list_changed": f.srv.PromptsChanged, "notifications/resources/list_changed": f.srv.ResourcesChanged,
	} {
		change()
		if m := l.take(); m.Method != name || m.subscription() != "77" {
			t.Error(m.raw)
		}
		if m := c.next(); m.Method != name || m.field("id") != "" {
			t.Error(m.raw)
		}
	}
}

// TestEXT20WhatIsReadSaysHowLongItMayBeKept: also results of handlers that say nothing of it themselves.
func TestEXT20WhatIsReadSaysHowLongItMayBeKept(t *testing.T) {
	f := dual(t, Definition{Methods: []MethodHandler{BindMethod("resources/read", func(context.Context, *Call, *noInput) (*rawResult, error) {
		return &rawResult{`{"contents":[]}`}, nil
	}, MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult})}})
	m := f.ask(t.Context(), frame(1, "resources/read", nothing, `"uri":"test://x"`))
	if m.field("result", "ttlMs") != "0" || m.str("result", "cacheScope") != "private" {
		t.Error(m.raw)
	}
}

func TestEXT07AFailedTaskSaysWhy(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	m := f.await(t.Context(), f.create(t.Context(), "coded", `{}`, withTasks), task.Failed)
	if m.str("result", "statusMessage") == "" || m.str("result", "statusMessage") != m.str("result", "error", "message") {
		t.Error(m.raw)
	}
}

// A server with resources answers every list that comes with them, also one that it has nothing for.
func TestLET04AListWithoutAHandlerIsEmpty(t *testing.T) {
	f := dual(t, Definition{Methods: []MethodHandler{resources()}})
	m := f.ask(t.Context(), frame(1, "resources/templates/list", nothing, ""))
	m.wantResult(t, `{"resourceTemplates":[],"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}}}`)
	c := f.dial(t.Context())
	c.initialize(`{}`)
	c.request("1", "resources/templates/list", `{}`).wantResult(t, `{"resourceTemplates":[]}`)
	for _, cursor := range []string{"x", ""} {
		c.request("2", "resources/templates/list", `{"cursor":"`+cursor+`"}`).wantError(t, -32602, "cursor")
	}
}

// Whoever asks for a version that is not spoken learns which are, however it asks: basic/transports/streamable-http#protocol-version-header,
// basic/versioning#backward-compatibility.
func TestLET19AVersionInTheHeaderAloneIsAnsweredToo(t *testing.T) {
	session, stateless := wiretest.Revision20251125(), wiretest.Revision20260728()
	const bare = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	for name, row := range map[string]struct {
		revisions    []*wire.Revision
		header       string
		code, status int
		data         string
	}{
		"one version":      {[]*wire.Revision{stateless}, "2025-11-25", -32022, 400, `{"requested":"2025-11-25","supported":["2026-07-28"]}`},
		"both":             {[]*wire.Revision{stateless, session}, "1900-01-01", -32022, 400, `{"requested":"1900-01-01","supported":["2026-07-28","2025-11-25"]}`},
		"sessions alone":   {[]*wire.Revision{session}, "2026-07-28", -32600, 0, `{"supported":["2025-11-25"],"requested":"2026-07-28"}`},
		"what is spoken":   {[]*wire.Revision{session}, "2025-11-25", 0, 0, ``},
		"without a header": {[]*wire.Revision{stateless, session}, "", 0, 0, ``},
	} {
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}, Revisions: row.revisions})
		to, err := f.srv.Route([]byte(bare), row.header)
		switch {
		case row.code == 0 && err == nil:
		case err == nil || err.Code != row.code || to.Status != row.status || string(err.Data) != row.data:
			t.Errorf("%s: %v, %s, status %d", name, err, err.Data, to.Status)
		}
	}
	c := dual(t, Definition{Revisions: []*wire.Revision{stateless}}).dial(t.Context())
	m := c.request("1", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	if m.field("error", "data") != `{"requested":"2025-11-25","supported":["2026-07-28"]}` {
		t.Error(m.raw)
	}
	c = dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}, Revisions: []*wire.Revision{session}}).dial(t.Context())
	for method, code := range map[string]int{"server/discover": -32601, "tools/list": -32600} {
		c.send(frame(1, method, nothing, ""))
		m, _ := c.answer("1")
		if m.wantError(t, code, "speaks 2025-11-25"); m.field("error", "data") != `{"supported":["2025-11-25"]}` {
			t.Error(m.raw)
		}
	}
}

// A client is told only of pages that it was sent to, and once; what it did not declare it is not sent to:
// client/elicitation#completion-notifications-for-url-mode-elicitation.
func TestLET21PagesAreForTheClientThatOpensThem(t *testing.T) {
	sent := &URLElicitationError{[]URLElicitation{{ID: "e-1", URL: "https://example.com/x", Message: "sign in"}}}
	f := dual(t, Definition{Tools: []Tool{
		tool("page", plain(func(context.Context, *Call) (*echoOutput, error) { return nil, sent })),
		tool("done", structured(func(ctx context.Context, call *Call, in *echoInput) (*echoOutput, error) {
			return &echoOutput{"told"}, call.ElicitationComplete(ctx, in.Text)
		})),
	}})
	asked, other := f.dial(t.Context()), f.dial(t.Context())
	for _, c := range []*client{asked, other} {
		c.initialize(`{"elicitation":{"url":{}}}`)
	}
	told := func(c *client, id string) bool {
		c.call("1", "done", `{"text":"`+id+`"}`)
		m, before := c.answer("1")
		if len(before) == 0 && !strings.Contains(m.raw, ErrNotAsked.Error()) {
			t.Error(m.raw)
		}
		return len(before) == 1 && before[0].raw == `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"`+id+`"}}`
	}
	asked.request("2", "tools/call", `{"name":"page"}`).wantError(t, -32042, "https://example.com/x")
	if told(asked, "invented") || told(other, "e-1") || !told(asked, "e-1") || told(asked, "e-1") {
		t.Error("told of a page that it was not sent to, or not of its own")
	}
	for _, caps := range []string{`{}`, `{"elicitation":{}}`, `{"elicitation":{"url":false}}`} {
		c := f.dial(t.Context())
		c.initialize(caps)
		if m := c.request("1", "tools/call", `{"name":"page"}`); m.field("result", "isError") != "true" || strings.Contains(m.raw, "example.com") {
			t.Errorf("%s: %s", caps, m.raw)
		}
	}
}

// No revision has a form in which the addresses of pages reach a client that does not open them, as an answer or about a task.
func TestLET21AddressesOfPagesAreForClientsThatOpenThem(t *testing.T) {
	sent := &URLElicitationError{[]URLElicitation{{ID: "e-1", URL: "https://example.com/x", Message: "sign in"}}}
	d := fails(fmt.Errorf("access: %w", sent))
	pageless := older("2025-06-18", wire.View{})
	pageless.Codes.URLElicitationRequired = 0
	for i, o := range pageless.Outgoing {
		if o.Op == wire.OpElicit {
			pageless.Outgoing[i].Needs = []wire.Need{{Member: "mode", Values: []string{"url"}}}
		}
	}
	d.Revisions = []*wire.Revision{wiretest.Revision20260728(), wiretest.Revision20251125(), pageless}
	f := dual(t, d)
	check := func(what string, opens bool, m message) {
		t.Helper()
		if got := strings.Contains(m.raw, "example.com"); got != opens {
			t.Errorf("%s: %s", what, m.raw)
		}
	}
	for caps, opens := range map[string]bool{nothing: false, `{"elicitation":{}}`: false, `{"elicitation":{"form":{}}}`: false, opensPages: true} {
		sessions := map[string]*client{}
		for _, revision := range []string{"2025-06-18", "2025-11-25"} {
			c := f.dial(t.Context())
			c.request("0", "initialize", `{"protocolVersion":"`+revision+`","capabilities":`+caps+`,"clientInfo":{"name":"c","version":"1"}}`)
			sessions[revision] = c
		}
		for method, params := range map[string]string{"tools/call": `"name":"fails"`, "prompts/get": `"name":"x"`} {
			check(method+", "+caps, opens, f.ask(t.Context(), frame(1, method, caps, params)))
			for revision, c := range sessions {
				check(method+" in "+revision+", "+caps, opens && revision != "2025-06-18", c.request("1", method, `{`+params+`}`))
			}
		}
		id := f.create(t.Context(), "fails", `{}`, withTasks)
		f.await(t.Context(), id, task.Completed)
		both := `{"extensions":{"io.modelcontextprotocol/tasks":{}},` + caps[1:]
		if caps == nothing {
			both = withTasks
		}
		check("a task, "+caps, opens, f.ask(t.Context(), frame(1, "tasks/get", both, byID(id))))
		c := sessions["2025-11-25"]
		id = c.start("2", "fails", "")
		check("the result of a task, "+caps, opens, c.request("3", "tasks/result", taskID(id)))
		check("the status of a task, "+caps, false, c.request("4", "tasks/get", taskID(id)))
	}
}

// A part of a capability that is declared as something else than an object is declined, not left to the default.
func TestLET21AFormThatIsDeclinedIsNotSent(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}})
	for caps, asked := range map[string]bool{
		`{"elicitation":{}}`: true, `{"elicitation":{"form":{}}}`: true,
		`{"elicitation":{"form":false}}`: false, `{"elicitation":{"form":null}}`: false, `{"elicitation":{"form":true}}`: false,
	} {
		c := f.dial(t.Context())
		c.initialize(caps)
		c.call("1", "ask", `{}`)
		if m := c.next(); (m.Method == elicit) != asked {
			t.Errorf("%s: %s", caps, m.raw)
		}
		if m := f.ask(t.Context(), frame(1, "tools/call", caps, callParams("ask", `{}`))); (m.str("result", "resultType") == "input_required") != asked {
			t.Errorf("%s: %s", caps, m.raw)
		}
	}
}

// All pages of a list say the same scope: server/utilities/caching#interaction-with-pagination.
func TestLET21PagesOfAListHaveOneScope(t *testing.T) {
	scopes := map[string]string{"": `"public"`, "2": `"private"`, "3": ``}
	list := BindMethod("prompts/list", func(_ context.Context, _ *Call, in *echoInput) (*rawResult, error) {
		if scope := scopes[in.Text]; scope != "" {
			return &rawResult{`{"prompts":[],"cacheScope":` + scope + `}`}, nil
		}
		return &rawResult{`{"prompts":[]}`}, nil
	}, MethodCodec[echoInput, rawResult]{Append: appendRawResult, Decode: func(d *check.Decoder, in *echoInput) {
		for f := d.Object(nil); f >= 0; f = d.Next() {
			if d.Key() == "cursor" {
				in.Text = d.String(nil)
			} else {
				d.Skip()
			}
		}
	}})
	page := func(f *fixture, ctx context.Context, cursor string) string {
		params := ""
		if cursor != "" {
			params = `"cursor":"` + cursor + `"`
		}
		m := f.ask(ctx, frame(1, "prompts/list", nothing, params))
		return m.str("result", "cacheScope") + m.field("error", "code")
	}
	for _, ctx := range []context.Context{t.Context(), as(t, "me")} {
		f := dual(t, Definition{Methods: []MethodHandler{list}}, WithCacheHint(0, true))
		if got := page(f, ctx, ""); got != "public" {
			t.Errorf("page 1: %s", got)
		}
		if got := page(f, ctx, "2"); got != "-32602" {
			t.Errorf("page 2 differs: %s", got)
		}
		for _, cursor := range []string{"", "2", "3"} {
			if got := page(f, ctx, cursor); got != "private" {
				t.Errorf("page %q afterwards: %s", cursor, got)
			}
		}
	}
	tools := dual(t, Definition{Tools: []Tool{tool("a", structured(echo)), tool("b", structured(echo))}}, WithPageSize(1), WithCacheHint(0, true))
	first := tools.ask(t.Context(), frame(1, "tools/list", nothing, ""))
	second := tools.ask(t.Context(), frame(1, "tools/list", nothing, `"cursor":"`+first.str("result", "nextCursor")+`"`))
	if first.str("result", "cacheScope") != "public" || second.str("result", "cacheScope") != "public" {
		t.Error(first.raw, second.raw)
	}
}
