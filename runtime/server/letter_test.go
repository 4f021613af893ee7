package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// A capability counts as declared only if it is an object.
func TestLET21ACapabilityIsAnObject(t *testing.T) {
	f := dual(t, Definition{Tools: append(askingTools(), jobs(newHold())...)})
	for _, no := range []string{"false", `"no"`, "null", "[]", "0", "true"} {
		caps := fmt.Sprintf(`{"elicitation":%s,"sampling":{"tools":%[1]s},"roots":%[1]s,"extensions":{"io.modelcontextprotocol/tasks":%[1]s}}`, no)
		for tool, lacks := range map[string]string{"form": "elicitation", "tools": "sampling/tools", "roots": "roots"} {
			m := f.ask(t.Context(), frame(1, "tools/call", caps, callParams(tool, `{}`)))
			if got := m.str("result", "structuredContent", "text"); got != "lacks "+lacks {
				t.Errorf("%s: %s: %s", no, tool, m.raw)
			}
		}
		f.ask(t.Context(), frame(1, "tools/call", caps, callParams("must", `{"text":"x"}`))).wantError(t, -32021, "tasks")
		c := f.dial(t.Context())
		c.initialize(caps)
		if m := c.request("1", "tools/call", callObject("form")); m.str("result", "structuredContent", "text") != "lacks elicitation" {
			t.Errorf("%s: in a session: %s", no, m.raw)
		}
	}
}

func callObject(tool string) string { return "{" + callParams(tool, "{}") + "}" }

func TestLET21AnUnknownLogLevelIsRefused(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	for method, params := range map[string]string{"tools/call": callParams("echo", `{"text":"x"}`), "tools/list": "", "server/discover": ""} {
		f.ask(t.Context(), frameWith(1, method, nothing, params, `"io.modelcontextprotocol/logLevel":"loud"`)).wantError(t, -32602, "loud")
		if m := f.ask(t.Context(), frameWith(1, method, nothing, params, `"io.modelcontextprotocol/logLevel":"notice"`)); m.Error != nil {
			t.Error(m.raw)
		}
	}
}

// What a handler says in _meta stands beside the server's name, which is the server's to say.
func TestLET21EveryResultNamesTheServer(t *testing.T) {
	const key = "io.modelcontextprotocol/serverInfo"
	meta := `{"_meta":{"mine":1,"` + key + `":{"name":"other"}},"content":[],"messages":[]}`
	f := dual(t, Definition{Methods: []MethodHandler{rawPrompt(meta)}, Tools: []Tool{
		tool("meta", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*rawResult, error) { return &rawResult{meta}, nil }, Unstructured(appendRawResult))),
	}})
	for method, params := range map[string]string{"prompts/get": `"name":"p"`, "tools/call": callParams("meta", `{}`)} {
		m := f.ask(t.Context(), frame(1, method, nothing, params))
		if m.field("result", "_meta", key) != `{"name":"test","version":"1"}` || m.field("result", "_meta", "mine") != "1" || strings.Count(m.raw, key) != 1 {
			t.Errorf("%s: %s", method, m.raw)
		}
	}
}

// The page says results, of whatever method (https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta), and those of the tasks
// extension are results: update and cancel, which acknowledge, no less than get, which brings the task.
func TestLET21ResultsOfTasksNameTheServer(t *testing.T) {
	f := dual(t, Definition{Tools: append(jobs(newHold()), asker(confirmQuestion()))})
	ctx := t.Context()
	asks := f.create(ctx, "ask", `{}`, tasksAsks)
	f.awaitQuestions(ctx, asks, 1)
	hang := f.create(ctx, "hang", `{}`, withTasks)
	results := map[string]string{
		"create": frame(1, "tools/call", withTasks, callParams("must", `{"text":"x"}`)), "bad input": frame(1, "tools/call", withTasks, callParams("must", `{}`)),
		"get, asking": frame(1, "tasks/get", tasksAsks, taskMember(asks)), "get": frame(1, "tasks/get", withTasks, taskMember(hang)),
		"update":  frame(1, "tasks/update", tasksAsks, taskMember(asks)+`,"inputResponses":{"confirm":`+accepted+`}`),
		"cancel":  frame(1, "tasks/cancel", withTasks, taskMember(hang)),
		"asking":  frame(1, "tools/call", forms, callParams("ask", `{}`)),
		"listing": frame(1, "tools/list", nothing, ""), "discover": frame(1, "server/discover", nothing, ""),
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		m := f.ask(ctx, results[name])
		if m.str("result", "_meta", "io.modelcontextprotocol/serverInfo", "name") != "test" || strings.Count(m.raw, "/serverInfo") != 1 {
			t.Errorf("%s: %s", name, m.raw)
		}
	}
}

func taskMember(id string) string { return fmt.Sprintf(`"taskId":%q`, id) }

// rawPrompt is prompts/get with a fixed result.
func rawPrompt(result string) MethodHandler {
	return BindMethod("prompts/get", func(context.Context, *Call, *noInput) (*rawResult, error) { return &rawResult{result}, nil },
		MethodCodec[noInput, rawResult]{Decode: func(d *check.Decoder, _ *noInput) { d.Skip() }, Append: appendRawResult})
}

// Public is what anybody may read: not what a handler gives to an identity, and a retry's result is not kept at all.
func TestLET21WhatMayBeKept(t *testing.T) {
	read := BindMethod("resources/read", func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
		if _, err := Ask(ctx, call, confirmQuestion(), ""); err != nil && !errors.Is(err, ErrUnsupported) {
			return nil, err
		}
		return &rawResult{`{"contents":[]}`}, nil
	}, MethodCodec[noInput, rawResult]{Decode: func(d *check.Decoder, _ *noInput) { d.Skip() }, Append: appendRawResult})
	f := dual(t, Definition{Methods: []MethodHandler{read}}, WithCacheHint(time.Minute, true))
	hint := func(m message) string { return m.field("result", "ttlMs") + " " + m.str("result", "cacheScope") }
	const uri = `"uri":"test://x"`
	if got := hint(f.ask(t.Context(), frame(1, "resources/read", nothing, uri))); got != "60000 public" {
		t.Error("anybody's:", got)
	}
	if got := hint(f.ask(as(t, "me"), frame(1, "resources/read", nothing, uri))); got != "60000 private" {
		t.Error("an identity's:", got)
	}
	m := f.ask(t.Context(), frame(1, "resources/read", forms, uri))
	state := m.field("result", "requestState")
	m = f.ask(t.Context(), frame(1, "resources/read", forms, uri+`,"requestState":`+state+`,"inputResponses":{"confirm":`+accepted+`}`))
	if got := hint(m); got != "0 private" {
		t.Error("a retry's:", got, m.raw)
	}
}

// A client that did not say that it opens pages is not told that one is done.
func TestLET21ElicitationCompleteTakesItsCapability(t *testing.T) {
	w := wiretest.Revision20251125()
	srv, err := New(Definition{Name: "test", Version: "1", Runtime: Generation1, Revisions: []*wire.Revision{w}, Tools: []Tool{
		tool("done", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			call.peer.pagesSent.add("e-1") // as if it had been asked
			return &echoOutput{"told"}, call.ElicitationComplete(ctx, "e-1")
		})),
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, srv: srv}
	for caps, want := range map[string]string{
		`{}`: "elicitation/url", `{"elicitation":{}}`: "elicitation/url", `{"elicitation":{"form":{}}}`: "elicitation/url", `{"elicitation":{"url":{}}}`: "told",
	} {
		c := f.dial(t.Context())
		c.initialize(caps)
		c.call("1", "done", `{}`)
		m, before := c.answer("1")
		if told := len(before) > 0; told != (want == "told") || !strings.Contains(m.raw, want) {
			t.Errorf("%s: %v %s", caps, before, m.raw)
		}
	}
}

// A question that ends the exchange does not swallow the progress that was held back before it.
func TestPRO05TheLastProgressComesBeforeTheQuestion(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		for i := range 50 {
			call.Progress(ctx, float64(i+1), 50, "")
		}
		_, err := Ask(ctx, call, confirmQuestion(), "")
		return &echoOutput{"done"}, err
	}))}})
	c := f.dial(t.Context())
	c.send(frameWith(1, "tools/call", forms, callParams("ask", `{}`), `"progressToken":7`))
	m, before := c.answer("1")
	if m.str("result", "resultType") != "input_required" || len(before) == 0 || before[len(before)-1].field("params", "progress") != "50" {
		t.Errorf("%v, then %s", before, m.raw)
	}
}

// completion/complete may not be answered by a result that asks, in the revision where asking is one.
func TestLET16WhatMayNotAskCanNot(t *testing.T) {
	complete := BindMethod("completion/complete", func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
		_, err := Ask(ctx, call, confirmQuestion(), "")
		_, sent := Send(ctx, call, asks["sample"], "sample", &noInput{})
		return &rawResult{fmt.Sprintf(`{"completion":{"values":["%v %v"]}}`, errors.Is(err, ErrUnsupported), errors.Is(sent, ErrUnsupported))}, nil
	}, MethodCodec[noInput, rawResult]{Decode: func(d *check.Decoder, _ *noInput) { d.Skip() }, Append: appendRawResult})
	f := dual(t, Definition{Methods: []MethodHandler{complete}})
	m := f.ask(t.Context(), frame(1, "completion/complete", everyAsk, ""))
	if m.field("result", "completion", "values") != `["true true"]` {
		t.Error(m.raw)
	}
}

// prompts/get and resources/read ask, and what their retries bring along is read.
func TestLET16RetriesOfPromptsAndResourcesAreRead(t *testing.T) {
	var methods []MethodHandler
	for _, name := range []string{"prompts/get", "resources/read"} {
		methods = append(methods, BindMethod(name, func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
			a, err := Ask(ctx, call, confirmQuestion(), "")
			if err != nil {
				return nil, err
			}
			b, err := Ask(ctx, call, confirmQuestion(), "", Named("again"))
			return &rawResult{fmt.Sprintf(`{"messages":[],"contents":[],"said":"%s %s"}`, a.Action, b.Action)}, err
		}, MethodCodec[noInput, rawResult]{Decode: func(d *check.Decoder, _ *noInput) { d.Skip() }, Append: appendRawResult}))
	}
	f := dual(t, Definition{Methods: methods})
	for method, params := range map[string]string{"prompts/get": `"name":"p"`, "resources/read": `"uri":"test://x"`} {
		m := f.ask(t.Context(), frame(1, method, forms, params))
		for _, name := range []string{"confirm", "confirm#again"} {
			if m.str("result", "resultType") != "input_required" || m.field("result", "inputRequests", name) == "" {
				t.Fatalf("%s: want %s asked, got %s", method, name, m.raw)
			}
			m = f.ask(t.Context(), frame(1, method, forms, params+","+answering(m.str("result", "requestState"), fmt.Sprintf(`{%q:%s}`, name, accepted))))
		}
		if m.str("result", "said") != "accept accept" {
			t.Errorf("%s: %s", method, m.raw)
		}
	}
}

const relatedKey = "io.modelcontextprotocol/related-task"

// The cancellation of a task's question belongs to the task as the question did.
func TestLET08ACancelledQuestionNamesItsTask(t *testing.T) {
	c := newFixture(t, []Tool{asker(confirmQuestion())}).dialTasks("")
	withdrawn := func(asked message) message {
		for {
			if m := c.next(); m.Method == "notifications/cancelled" && m.field("params", "requestId") == string(asked.ID) {
				return m
			}
		}
	}
	id := c.start("1", "ask", "")
	c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
	asked := c.nextRequest()
	c.sendf(`{"jsonrpc":"2.0","id":3,"method":"tasks/cancel","params":%s}`, taskID(id))
	if m := withdrawn(asked); m.str("params", "_meta", relatedKey, "taskId") != id {
		t.Error(m.raw)
	}
	c.call("4", "ask", `{}`)
	asked = c.nextRequest()
	c.cancel("4")
	if m := withdrawn(asked); strings.Contains(m.raw, relatedKey) {
		t.Error("inline there is no task to name:", m.raw)
	}
}

// A handler's own key gives way, in the result and in the params of a question.
func TestLET08RelatedTaskIsThereOnce(t *testing.T) {
	const own = `"_meta":{"` + relatedKey + `":{"taskId":"another"},"mine":1}`
	question := &ClientRequest[noInput, noInput]{Op: wire.OpCreateMessage, Codecs: rawCodec(`{"messages":[],"maxTokens":5,` + own + `}`)}
	f := dual(t, Definition{Tools: []Tool{tool("meta", Bind(decodeNoInput, func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
		if call.TaskID() != "" {
			if _, err := Send(ctx, call, question, "q", &noInput{}); err != nil && !errors.Is(err, ErrUnsupported) {
				return nil, err
			}
		}
		return &rawResult{`{"content":[],` + own + `}`}, nil
	}, Unstructured(appendRawResult)), withTask(TaskOptional))}})
	c := f.dialTasks("")
	id := c.start("1", "meta", "")
	m := c.request("2", "tasks/result", taskID(id))
	if m.str("result", "_meta", relatedKey, "taskId") != id || m.field("result", "_meta", "mine") != "1" || strings.Count(m.raw, relatedKey) != 1 {
		t.Error(m.raw)
	}
	if m := c.request("3", "tools/call", callObject("meta")); strings.Contains(m.raw, relatedKey) || m.field("result", "_meta", "mine") != "1" {
		t.Error("inline:", m.raw)
	}
}

// Nothing is asked of a client before it says that it is initialized. Waiting for that counts in no timeout of the call: the question's own
// bounds it.
func TestLET09NothingIsAskedBeforeInitialized(t *testing.T) {
	const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for name, then := range map[string]func(c *client){
		"initialized": func(c *client) {
			c.send(initialized)
			c.reply(c.nextRequest(), accepted)
			if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "accept true true" {
				t.Error(m.raw)
			}
		},
		"cancelled before": func(c *client) {
			c.cancel("1")
			c.send(initialized)
			synctest.Wait()
			for _, m := range c.fence() {
				t.Error("asked for a call that is over:", m.raw)
			}
		},
		"never": func(c *client) {
			if m, _ := c.answer("1"); !strings.Contains(m.raw, `nobody answered the question in time: \"confirm\" after 1m0s`) {
				t.Error(m.raw)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, err := New(Definition{Name: "test", Version: "1", Runtime: Generation1, Revisions: []*wire.Revision{wiretest.Revision20251125()}, Tools: []Tool{
					tool("ask", asker(confirmQuestion()).Handler, func(t *Tool) { t.Cancel.Timeout = time.Second }),
				}})
				if err != nil {
					t.Fatal(err)
				}
				c := (&fixture{t: t, srv: srv}).dial(t.Context())
				defer c.close()
				c.request(`"init"`, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}`)
				c.call("1", "ask", `{}`)
				synctest.Wait()
				for _, m := range c.fence() {
					t.Error("asked before initialized:", m.raw)
				}
				then(c)
			})
		})
	}
}

// What comes back to a form that a handler wrote itself is held against it, in a session and in a retry.
func TestLET12AnswersAreHeldAgainstTheFormThatWasAsked(t *testing.T) {
	form := &ClientRequest[noInput, noInput]{Op: wire.OpElicit, Codecs: rawCodec(`{"message":"?","requestedSchema":{"type":"object","required":["n","kind"],"properties":{` +
		`"code":{"type":"string","pattern":"^[a-z]+$"},"odd":{"type":"string","pattern":"(?=x)"},"fixed":{"type":"number","const":1},` +
		`"n":{"type":"integer","minimum":1,"maximum":9},"kind":{"type":"string","enum":["a","b"]},"titled":{"type":"string","oneOf":[{"const":"x","title":"X"}]},` +
		`"mail":{"type":"string","format":"email"},"yes":{"type":"boolean"},"short":{"type":"string","maxLength":3},` +
		`"many":{"type":"array","maxItems":2,"items":{"type":"string","anyOf":[{"const":"p","title":"P"},{"const":"q","title":"Q"}]}}}}}`)}
	f := dual(t, Definition{Tools: []Tool{tool("send", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, err := Send(ctx, call, form, "form", &noInput{})
		var broken *AnswerError
		if errors.As(err, &broken) {
			return &echoOutput{"broken"}, nil
		}
		return &echoOutput{"fits"}, err
	}))}})
	c := f.dialTasks("")
	for content, want := range map[string]string{
		`{"n":3,"kind":"a","titled":"x","mail":"a@example.com","yes":true,"short":"abc","many":["p","q"],"more":1}`: "fits",
		`{"n":1.0,"kind":"b"}`: "fits", `{"n":0,"kind":"a"}`: "broken", `{"n":10,"kind":"a"}`: "broken", `{"n":1.5,"kind":"a"}`: "broken",
		`{"n":"3","kind":"a"}`: "broken", `{"n":3}`: "broken", `{"n":3,"kind":"c"}`: "broken", `{"n":3,"kind":"a","titled":"y"}`: "broken",
		`{"n":3,"kind":"a","mail":"no"}`: "broken", `{"n":3,"kind":"a","yes":"true"}`: "broken", `{"n":3,"kind":"a","short":"abcd"}`: "broken",
		`{"n":3,"kind":"a","many":["r"]}`: "broken", `{"n":3,"kind":"a","many":["p","q","p"]}`: "broken", `{}`: "broken", `null`: "broken",
		`{"n":3,"kind":"a","code":"abc","odd":"y","fixed":1.0}`: "fits",
		`{"n":3,"kind":"a","code":"ABC"}`:                       "broken", `{"n":3,"kind":"a","fixed":2}`: "broken",
	} {
		c.call("1", "send", `{}`)
		answer := `{"action":"accept","content":` + content + `}`
		c.reply(c.nextRequest(), answer)
		if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != want {
			t.Errorf("%s: want %s, got %s", content, want, m.raw)
		}
		_, _, state := f.try(t.Context(), forms, "send", `{}`, "")
		m, _, _ := f.try(t.Context(), forms, "send", `{}`, answering(state, `{"form":`+answer+`}`))
		if asked := m.str("result", "resultType") == "input_required"; asked != (want == "broken") {
			t.Errorf("%s: want %s, got %s", content, want, m.raw)
		}
	}
	c.call("2", "send", `{}`)
	c.reply(c.nextRequest(), `{"action":"decline"}`)
	if m, _ := c.answer("2"); m.str("result", "structuredContent", "text") != "fits" {
		t.Error(m.raw)
	}
}

func TestLET12ChangedRootsReachTheApplication(t *testing.T) {
	told := make(chan string, 1)
	f := newFixture(t, []Tool{tool("echo", structured(echo))}, WithRootsChanged(func(ctx context.Context) {
		told <- PrincipalFrom(ctx)
		<-ctx.Done() // nothing waits for it
	}))
	const changed = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	for _, capabilities := range []string{`{}`, `{"roots":{}}`, `{"roots":{"listChanged":false}}`, `{"roots":{"listChanged":"true"}}`, `{"roots":{"listChanged":{}}}`} {
		other := f.dial(WithPrincipal(t.Context(), "other"))
		other.initialize(capabilities)
		other.send(changed) // it did not say that it would
		other.fence()
	}
	c := f.dial(WithPrincipal(t.Context(), "me"))
	c.initialize(`{"roots":{"listChanged":true}}`)
	c.send(changed)
	if who := <-told; who != "me" {
		t.Errorf("told of the roots of %q", who)
	}
	c.fence()
}

// What the client needs to get ready is not taken from the time that its user has to answer, nor from that of the call.
func TestLET09CAN28TheTimeToAnswerBeginsWhenTheClientCanBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := confirmQuestion()
		q.Timeout = time.Minute
		ask := asker(q)
		ask.Cancel.Timeout = 10 * time.Second
		srv, err := New(Definition{Name: "test", Version: "1", Runtime: Generation1, Revisions: []*wire.Revision{wiretest.Revision20251125()}, Tools: []Tool{ask}})
		if err != nil {
			t.Fatal(err)
		}
		c := (&fixture{t: t, srv: srv}).dial(t.Context())
		defer c.close()
		c.request(`"init"`, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}`)
		c.call("1", "ask", `{}`)
		time.Sleep(50 * time.Second)
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		asked := c.nextRequest()
		time.Sleep(50 * time.Second)
		c.reply(asked, accepted)
		if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "accept true true" {
			t.Error(m.raw)
		}
	})
}

// Before a client says that it is initialized it hears of nothing that changes; then of each thing once:
// basic/lifecycle#initialization.
func TestLET09NothingIsSaidOfChangesBeforeInitialized(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo)), tool("job", structured(echo), withTask(TaskOptional))}})
	c := f.dial(t.Context())
	c.request("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	for range 3 {
		f.srv.ToolsChanged()
	}
	c.call("1", "job", `{"text":"x"},"task":{}`)
	m, before := c.answer("1")
	id := m.str("result", "task", "taskId")
	c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
	r, early := c.answer("2")
	if early = append(append(before, early...), c.fence()...); r.Error != nil || len(early) != 0 {
		t.Errorf("before initialized: %v, %s", early, r.raw)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.until("notifications/tools/list_changed")
	for _, m := range c.fence() {
		if m.Method == "notifications/tools/list_changed" {
			t.Error("told twice:", m.raw)
		}
	}
}

// Nor does it hear of progress, though it asked for that.
func TestLET09NoProgressIsSentBeforeInitialized(t *testing.T) {
	said, goOn := make(chan struct{}), make(chan struct{})
	f := dual(t, Definition{Tools: []Tool{tool("steps", structured(func(ctx context.Context, call *Call, _ *echoInput) (*echoOutput, error) {
		call.Progress(ctx, 1, 3, "")
		said <- struct{}{}
		<-goOn
		call.Progress(ctx, 2, 3, "")
		return &echoOutput{}, nil
	}))}})
	c := f.dial(t.Context())
	c.request("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	c.call("1", "steps", `{"text":"x"},"_meta":{"progressToken":7}`)
	<-said
	before := c.fence()
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.fence()
	close(goOn)
	m, after := c.answer("1")
	if len(before) != 0 || len(after) != 1 || !strings.Contains(after[0].raw, `"progress":2`) {
		t.Errorf("%d messages before initialized, then %v, %s", len(before), after, m.raw)
	}
}
