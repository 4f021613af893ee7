package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// replacing is middleware that puts a text in the place of another one in the results of a method, and adds to each result of requests, so that
// all of them are its own.
func replacing(method, old, with *string) Option {
	return WithMiddleware(func(next Handle) Handle {
		return func(ctx context.Context, m *Message) (*MessageResult, error) {
			result, err := next(ctx, m)
			if err != nil || result == nil || m.Direction != 0 {
				return result, err
			}
			all := membersOf(read(result))
			delete(all, "_meta") // the runtime's stays
			all["added"] = json.RawMessage(`{"_meta":0}`)
			own, _ := json.Marshal(all)
			if m.Method == *method {
				own = []byte(strings.Replace(string(own), *old, *with, 1))
			}
			return ResultOf(own), nil
		}
	})
}

func rawMethod(name, result string) MethodHandler {
	return BindMethod(name, func(context.Context, *Call, *noInput) (*rawResult, error) { return &rawResult{result}, nil },
		MethodCodec[noInput, rawResult]{Decode: func(d *check.Decoder, _ *noInput) { d.Skip() }, Append: appendRawResult})
}

// ownResults are what handlers answer, and for each method what middleware makes of it and no definition has.
var ownResults = []struct{ method, params, result, old, with, wrong string }{
	{"prompts/list", "", `{"prompts":[{"name":"p","icons":[{"src":"https://example.com/a.png"}]}]}`, "https://example.com/a.png", "javascript:alert(1)", "/prompts/0/icons/0/src"},
	{"prompts/list", "", `{"prompts":[{"name":"p"}]}`, `"name"`, `"title"`, "/prompts/0"},
	{"prompts/get", `"name":"p"`, `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`, `"user"`, `"system"`, "/messages/0/role"},
	{"prompts/get", `"name":"p"`, `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`, `"text":"x"`, `"text":7`, "/messages/0/content/text"},
	{"prompts/get", `"name":"p"`, `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`, `"type":"text"`, `"type":"video"`, "/messages/0/content"},
	{"prompts/get", `"name":"p"`, `{"messages":[{"role":"user","content":{"type":"image","data":"aGk=","mimeType":"image/png"}}]}`, `aGk=`, `no base64`, "/messages/0/content/data"},
	{"prompts/get", `"name":"p"`, `{"messages":[{"role":"user","content":{"type":"image","data":"aGk=","mimeType":"image/png"}}]}`, `image/png`, `png`, "/messages/0/content/mimeType"},
	{"resources/list", "", `{"resources":[{"name":"r","uri":"test://r","annotations":{"priority":0.5}}]}`, "0.5", "2", "/resources/0/annotations/priority"},
	{"resources/list", "", `{"resources":[{"name":"r","uri":"test://r"}]}`, "test://r", "no uri", "/resources/0/uri"},
	{"resources/read", `"uri":"test://r"`, `{"contents":[{"uri":"test://r","text":"x"}]}`, `"text"`, `"words"`, "/contents/0"},
	{"resources/read", `"uri":"test://r"`, `{"contents":[{"uri":"test://r","text":"x"}]}`, `{"added"`, `{"_meta":{"com.mcp.x/a":1},"added"`, "it is reserved for the protocol"},
	{"resources/read", `"uri":"test://r"`, `{"contents":[{"uri":"test://r","text":"x"}]}`, `"text"`, `"_meta":{"-":1},"text"`, "is no key for _meta"},
	{"completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`, `{"completion":{"values":["a"]}}`, `"a"`,
		strings.Repeat(`"a",`, 100) + `"a"`, "/completion/values"},
	{"tools/list", "", "", `"type":"object"`, `"type":"array"`, "/tools/0/inputSchema/type"},
	{"tools/list", "", "", `"tools"`, `"tool"`, "tools"},
	{"tools/list", "", "", `{"`, `{"_meta":7,"`, "_meta"},
}

// A result that middleware puts in the place of a handler's or of the runtime's is what its revision defines, or an internal error that the log
// explains. https://modelcontextprotocol.io/specification/2026-07-28/schema says what each result is.
func TestLET01ResultsOfMiddlewareFitTheirDefinitions(t *testing.T) {
	for _, row := range ownResults {
		old, with := row.old, row.old
		var logged syncBuffer
		d := Definition{Tools: []Tool{tool("echo", structured(echo))}}
		if row.result != "" {
			d.Methods = []MethodHandler{rawMethod(row.method, row.result)}
		}
		f := dual(t, d, replacing(&row.method, &old, &with), WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
		c := f.dial(t.Context())
		c.initialize(`{}`)
		c.request("1", row.method, `{`+row.params+`}`).wantNoError(t)
		f.ask(t.Context(), frame(1, row.method, nothing, row.params)).wantNoError(t)
		with = row.with
		for _, m := range []message{c.request("2", row.method, `{`+row.params+`}`), f.ask(t.Context(), frame(1, row.method, nothing, row.params))} {
			if m.Error == nil || m.Error.Code != -32603 {
				t.Errorf("%s with %s in place of %s: %.300s", row.method, row.with, row.old, m.raw)
			}
		}
		if f.srv.records.Flush(t.Context()); strings.Count(logged.String(), "a middleware answered "+row.method) != 2 || !strings.Contains(logged.String(), row.wrong) {
			t.Errorf("%s with %s: the log does not say %q: %.600s", row.method, row.with, row.wrong, logged.String())
		}
	}
}

// The same for what has no handler, and is of one revision alone.
func TestLET01ResultsOfMiddlewareWithoutAHandler(t *testing.T) {
	var method, old, with string
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional))}}, replacing(&method, &old, &with))
	c := f.dialTasks("ann")
	created := c.request("1", "tools/call", `{"name":"echo","arguments":{"text":"x"},"task":{}}`)
	id := created.str("result", "task", "taskId")
	c.request("2", "tasks/result", `{"taskId":"`+id+`"}`).wantNoError(t)
	extended := f.ask(t.Context(), frame(1, "tools/call", withTasks, callParams("echo", `{"text":"x"}`))).str("result", "taskId")
	f.await(t.Context(), extended, task.Completed)
	for _, row := range []struct{ method, params, caps, old, with string }{
		{"tasks/get", `"taskId":"` + id + `"`, "", `"completed"`, `"done"`},
		{"tasks/list", ``, "", `"ttl"`, `"lifetime"`},
		{"tasks/result", `"taskId":"` + id + `"`, "", `"content"`, `"contents"`},
		{"tasks/result", `"taskId":"` + id + `"`, "", `"structuredContent":{"text":"x"}`, `"structuredContent":{"text":7}`},
		{"tasks/result", `"taskId":"` + id + `"`, "", `"structuredContent":{"text":"x"}`, `"isError":false`},
		{"tools/call", `"name":"echo","arguments":{"text":"x"},"task":{}`, "", `"createdAt"`, `"created"`},
		{"ping", ``, "", `{`, `{"_meta":[],"x":{},`},
		{"server/discover", ``, nothing, `"supportedVersions":[`, `"supportedVersions":[1,`},
		{"server/discover", ``, nothing, `"capabilities":{`, `"capabilities":7,"was":{`},
		{"tasks/get", `"taskId":"` + extended + `"`, withTasks, `"completed"`, `"done"`},
		{"tasks/get", `"taskId":"` + extended + `"`, withTasks, `"structuredContent":{"text":"x"}`, `"structuredContent":{"text":7}`},
		{"tasks/get", `"taskId":"` + extended + `"`, withTasks, `"type":"text"`, `"type":"song"`},
		{"tools/call", callParams("echo", `{"text":"x"}`), withTasks, `"taskId"`, `"id"`},
	} {
		send := func() message {
			if row.caps == "" {
				return c.request("9", row.method, `{`+row.params+`}`)
			}
			return f.ask(t.Context(), frame(1, row.method, row.caps, row.params))
		}
		method, old, with = row.method, row.old, row.old
		m := send()
		if m.Error != nil || !strings.Contains(m.raw, row.old) {
			t.Errorf("%s without %s: %s", row.method, row.old, m.raw)
		}
		if with = row.with; send().Error == nil {
			t.Errorf("%s with %s in place of %s", row.method, row.with, row.old)
		}
		method = ""
	}
}

// What middleware puts in the place of a tool's output is held against the tool's outputSchema, in every revision that has structured content.
func TestVAL01MiddlewareKeepsToOutputSchemas(t *testing.T) {
	method, old, with := "tools/call", "", ""
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, replacing(&method, &old, &with))
	added := `{"name":"added","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["text"]}}`
	if err := f.srv.AddTool([]byte(added), textOutputs{}, func(_ context.Context, _ *Call, args json.RawMessage) (json.RawMessage, error) { return args, nil }); err != nil {
		t.Fatal(err)
	}
	c := f.dial(t.Context())
	c.initialize(`{}`)
	for _, name := range []string{"echo", "added"} {
		for other, valid := range map[string]bool{
			`"structuredContent":{"text":"other"}`:          true,
			`"isError":true`:                                true,
			`"structuredContent":{"text":7}`:                false,
			`"structuredContent":{}`:                        false,
			`"structuredContent":[1]`:                       false,
			`"structuredContent":null`:                      false,
			`"isError":false`:                               false,
			`"isError":true,"structuredContent":{"text":7}`: false,
			`"structuredContent":{"text":"other"},"structuredContent":{"text":"x"}`: false,
		} {
			old = `"structuredContent":{"text":"x"}`
			with = other
			params := callParams(name, `{"text":"x"}`)
			for _, m := range []message{c.request("1", "tools/call", `{`+params+`}`), f.ask(t.Context(), frame(1, "tools/call", nothing, params))} {
				if (m.Error == nil) != valid {
					t.Errorf("%s with %s: %s", name, with, m.raw)
				}
			}
		}
	}
}

// textOutputs is the validator of an object with a text.
type textOutputs struct{ anything }

func (textOutputs) ValidateOutput(output []byte) check.Violations {
	d := check.Get(output, check.Limits{})
	defer d.Put()
	decodeEchoOutput(d, new(echoOutput))
	if err := d.Finish(); err != nil {
		return check.Violations{{Keyword: "type"}}
	}
	return nil
}

// A question of the package's own is in a task that the runtime shows, and no revision defines it; one that middleware adds is the protocol's.
func TestLET01AQuestionOfThePackagesOwnStaysInATask(t *testing.T) {
	method, old, with := "tasks/get", "", ""
	srv, err := New(customized1(t, chooser()).srv.Definition(), replacing(&method, &old, &with))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
	f := &fixture{t: t, srv: srv}
	id := f.ask(t.Context(), frame(1, "tools/call", choosesRows, callParams("choose", `{}`))).str("result", "taskId")
	f.await(t.Context(), id, task.InputRequired)
	old = `"inputRequests":{`
	for other, valid := range map[string]bool{
		old: true, old + `"more":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://example.com"}},`: true,
		old + `"more":{"method":"rows/choose","params":{}},`: false,
	} {
		with = other
		m := f.ask(t.Context(), frame(1, "tasks/get", choosesRows, byID(id)))
		if (m.Error == nil) != valid || valid && m.str("result", "inputRequests", "which", "method") != "rows/choose" {
			t.Errorf("%s: %s", other, m.raw)
		}
	}
}

// What a tool asks before there is a task passes through middleware, which may add to it.
func TestLET01AQuestionBeforeTheTaskPassesThroughMiddleware(t *testing.T) {
	q := confirmQuestion()
	early := asker(q)
	early.Task.Support, early.Before = TaskRequired, []BeforeQuestion{q.Before()}
	method, old, with := "tools/call", "", ""
	f := dual(t, Definition{Tools: []Tool{early}}, replacing(&method, &old, &with))
	m, keys, state := f.try(t.Context(), tasksAsks, "ask", `{}`, "")
	if strings.Join(keys, " ") != "confirm" || !strings.Contains(m.raw, `"added"`) {
		t.Fatal(m.raw)
	}
	m, _, _ = f.try(t.Context(), tasksAsks, "ask", `{}`, answering(state, `{"confirm":`+accepted+`}`))
	if m.str("result", "resultType") != "task" || !strings.Contains(m.raw, `"added"`) {
		t.Error(m.raw)
	}
}

// What middleware puts in the place of a task or of questions is a complete result, with the output that the tool's schema wants, or one that asks.
func TestVAL01LET01MiddlewareInPlaceOfATaskOrOfQuestions(t *testing.T) {
	own := ""
	early := tool("early", structured(echo), withTask(TaskRequired))
	early.Before = []BeforeQuestion{confirmQuestion().Before()}
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional)), early}},
		wrapping("tools/call", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			result, err := next(ctx, m)
			if err == nil {
				read(result)
				result = ResultOf([]byte(own))
			}
			return result, err
		}))
	const question = `"inputRequests":{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}`
	for _, row := range []struct {
		tool, own, kind string // "": it is refused
	}{
		{"echo", `{"content":[]}`, ""},
		{"echo", `{"content":[],"resultType":"complete"}`, ""},
		{"echo", `{"content":[],"isError":true}`, "complete"},
		{"echo", `{"content":[],"structuredContent":{"text":"own"}}`, "complete"},
		{"early", `{"content":[]}`, ""},
		{"early", `{"content":[],"structuredContent":{"text":"own"}}`, "complete"},
		{"early", `{"resultType":"input_required"}`, ""},
		{"early", `{"resultType":"input_required","content":[],"inputRequests":{}}`, ""},
		{"early", `{"resultType":"input_required","inputRequests":{},"requestState":"s"}`, ""},
		{"early", `{"resultType":"input_required","inputRequests":{"q":{}}}`, ""},
		{"early", `{"resultType":"input_required","inputRequests":[],"requestState":"s"}`, ""},
		{"early", `{"resultType":"input_required",` + question + `,"requestState":7}`, ""},
		{"early", `{"resultType":"input_required","requestState":"s"}`, "input_required"},
		{"early", `{"resultType":"input_required",` + question + `}`, "input_required"},
	} {
		own = row.own
		m := f.ask(t.Context(), frame(1, "tools/call", tasksAsks, callParams(row.tool, `{"text":"x"}`)))
		if kind := m.str("result", "resultType"); kind != row.kind || row.kind == "" && (m.Error == nil || m.Error.Code != -32603) {
			t.Errorf("%s in place of what %s returns: %s", row.own, row.tool, m.raw)
		}
	}
}
