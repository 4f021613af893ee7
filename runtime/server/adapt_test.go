package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// older is a revision before 2025-11-25: without tasks, and with what view leaves of the rest.
func older(version string, view wire.View) *wire.Revision {
	w := wiretest.Revision20251125()
	w.Version, w.Task, w.Capabilities, w.View = version, wire.TaskRules{}, wire.Capabilities{Tools: "tools"}, view
	return w
}

// newOlderFixture is a server of 2025-11-25 and a revision before it.
func newOlderFixture(t *testing.T, d Definition, view wire.View) *fixture {
	t.Helper()
	d.Name, d.Version, d.Runtime = "test", "1", Generation1
	d.Revisions = []*wire.Revision{older("2025-06-18", view), wiretest.Revision20251125()}
	srv, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, srv: srv}
}

// dialAs is a client that asks for a revision, and the answer to its handshake.
func (f *fixture) dialAs(version string) (*client, message) {
	f.t.Helper()
	c := f.dial(f.t.Context())
	answer := c.request("0", "initialize", `{"protocolVersion":"`+version+`","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c, answer
}

func TestREV06InitializeAnswersWithWhatIsAskedForElseTheNewest(t *testing.T) {
	f := newOlderFixture(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, wire.View{})
	for asked, want := range map[string]string{
		"2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "2024-10-07": "2025-11-25", "2027-01-01": "2025-11-25",
	} {
		if _, answer := f.dialAs(asked); answer.str("result", "protocolVersion") != want {
			t.Errorf("asked for %s: %s", asked, answer.raw)
		}
	}
}

func TestREV06WhatARevisionHasNotIsNotListed(t *testing.T) {
	titled := tool("titled", structured(echo))
	titled.Definition = `{"name":"titled","title":"T","inputSchema":{"type":"object","title":"kept"},"icons":[]}`
	f := newOlderFixture(t, Definition{
		Title: "Test", Info: `{"icons":[]}`,
		Tools: []Tool{titled, tool("job", structured(echo), withTask(TaskRequired)), tool("maybe", structured(echo), withTask(TaskOptional))},
	}, wire.View{ToolOmits: []string{"icons", "title"}, ServerOmits: []string{"icons", "title"}})
	c, answer := f.dialAs("2025-06-18")
	if got := answer.field("result", "serverInfo"); got != `{"name":"test","version":"1"}` {
		t.Errorf("server: %s", got)
	}
	c.request("1", "tools/list", `{}`).wantResult(t,
		`{"tools":[{"name":"titled","inputSchema":{"type":"object","title":"kept"}},{"name":"maybe","inputSchema":{"type":"object"}}]}`)
	c.call("2", "job", `{"text":"a"}`)
	m, _ := c.answer("2")
	m.wantError(t, -32602, "job", "runs as a task only", "2025-06-18 has no tasks")
	c.call("3", "maybe", `{"text":"a"}`)
	if m, _ = c.answer("3"); m.str("result", "structuredContent", "text") != "a" {
		t.Errorf("an optional task runs inline: %s", m.raw)
	}
	c, _ = f.dialAs("2025-11-25")
	if m = c.request("1", "tools/list", `{}`); !strings.Contains(m.raw, `"title":"T"`) || !strings.Contains(m.raw, `"job"`) {
		t.Errorf("the newest revision has all: %s", m.raw)
	}
}

// TestREV06ASchemaIsAnObjectWhereTheRevisionTakesNothingElse: true and false are schemas, and the revisions before 2026-07-28 take only objects
// for properties. Elsewhere, also deeper in a schema, they stay.
func TestREV06ASchemaIsAnObjectWhereTheRevisionTakesNothingElse(t *testing.T) {
	const members = `"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"a":%s,"b":%s,"c":{"additionalProperties":false}},"additionalProperties":true}`
	free := tool("free", structured(echo), withTask(TaskOptional))
	free.Definition = `{"name":"free",` + fmt.Sprintf(members, "true", "false") + `}`
	free.Execution = `{"taskSupport":"optional"}`
	f := newOlderFixture(t, Definition{Tools: []Tool{free}}, wire.View{})
	err := f.srv.AddTool([]byte(`{"name": "added", `+fmt.Sprintf(members, " true", "\n false")+`}`), anything{},
		func(context.Context, *Call, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	c, _ := f.dialAs("2025-11-25")
	objects := fmt.Sprintf(members, "{}", `{"not":{}}`)
	c.request("1", "tools/list", `{}`).wantResult(t, `{"tools":[{"name":"free",`+objects+`,"execution":{"taskSupport":"optional"}},{"name":"added",`+objects+`}]}`)
	c, _ = f.dialAs("2025-06-18") // whose view says nothing of it here
	if m := c.request("1", "tools/list", `{}`); !strings.Contains(m.raw, `"a":true,"b":false`) {
		t.Errorf("where every schema is taken they stay: %s", m.raw)
	}
}

func TestREV06SwitchedToolsShowInEveryRevision(t *testing.T) {
	f := newOlderFixture(t, Definition{Tools: []Tool{tool("a", structured(echo)), tool("b", structured(echo))}}, wire.View{})
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		c, _ := f.dialAs(version)
		for _, on := range []bool{false, true} {
			f.srv.SetToolEnabled("a", on)
			if m := c.request("1", "tools/list", `{}`); strings.Contains(m.raw, `"a"`) != on {
				t.Errorf("%s, %v: %s", version, on, m.raw)
			}
		}
	}
}

func TestREV06BlocksThatARevisionHasNotBecomeText(t *testing.T) {
	rev := &revision{Revision: older("2025-03-26", wire.View{Blocks: []string{"text", "image"}})}
	for in, want := range map[string]string{
		`{"type":"text","text":"a"}`: `{"type":"text","text":"a"}`,
		`{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"what it is"}`: `{"type":"text","text":"A: file:///a\nwhat it is"}`,
		`{"type":"resource_link","uri":"file:///a","name":"a"}`:                                        `{"type":"text","text":"a: file:///a"}`,
		`{"type":"audio","data":"AAAA","mimeType":"audio/wav"}`:                                        `{"type":"text","text":"[audio audio/wav: not in protocol revision 2025-03-26]"}`,
	} {
		for path, around := range map[string]string{"content/*": `{"content":[{"type":"image"},?],"isError":true}`, "messages/*/content": `{"messages":[{"role":"user","content":?}]}`} {
			got := rev.adaptBlocks([]byte(strings.Replace(around, "?", in, 1)), path)
			if string(got) != strings.Replace(around, "?", want, 1) {
				t.Errorf("%s: %s", in, got)
			}
		}
	}
}

// TestLET01NoTextStandsForWhatIsNoBlock: its definition refuses what is left as it is.
func TestLET01NoTextStandsForWhatIsNoBlock(t *testing.T) {
	rev := &revision{Revision: older("2025-03-26", wire.View{Blocks: []string{"text", "image"}})}
	for _, block := range []string{`null`, `{}`, `{"type":""}`, `{"type":null}`, `7`} {
		if got, changed := rev.adaptBlock([]byte(block)); changed {
			t.Errorf("%s became %s", block, got)
		}
	}
	if got, changed := rev.adaptBlock([]byte(`{"type":"resource_link","name":"","uri":"file:///a"}`)); !changed || !strings.Contains(string(got), "file:///a") {
		t.Errorf("a link without a title is %s", got)
	}
}

// TestREV06AToolsLinkIsTextWhereThereAreNoLinks goes the whole way of a result that a handler built.
func TestREV06AToolsLinkIsTextWhereThereAreNoLinks(t *testing.T) {
	link := `{"content":[{"type":"resource_link","uri":"file:///a","name":"a"}]}`
	f := newOlderFixture(t, Definition{Tools: []Tool{tool("link", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*rawResult, error) {
		return &rawResult{link}, nil
	}, Unstructured(appendRawResult)))}}, wire.View{Blocks: []string{"text"}})
	for i := range f.srv.revisions {
		if rev := f.srv.revisions[i]; rev.Version == "2025-06-18" {
			rev.blocks = "content/*"
		}
	}
	for version, want := range map[string]string{"2025-06-18": `[{"type":"text","text":"a: file:///a"}]`, "2025-11-25": `[{"type":"resource_link","uri":"file:///a","name":"a"}]`} {
		c, _ := f.dialAs(version)
		c.call("1", "link", `{}`)
		if m, _ := c.answer("1"); m.field("result", "content") != want {
			t.Errorf("%s: %s", version, m.raw)
		}
	}
}

// What middleware answers itself is adapted as results of handlers are, and its structured content is validated where the revision does not show it, too.
func TestREV06VAL01AResultOfMiddlewareIsAdapted(t *testing.T) {
	old := older("2024-11-05", wire.View{Blocks: []string{"text"}})
	appendResult := old.AppendCallResult
	old.AppendCallResult = func(b []byte, r *wire.CallResult) []byte {
		plain := *r
		plain.StructuredContent = nil
		return appendResult(b, &plain)
	}
	for i := range old.Methods {
		if old.Methods[i].Op == wire.OpCallTool {
			old.Methods[i].Blocks = "content/*"
		}
	}
	own := ""
	srv, err := New(Definition{
		Name: "test", Version: "1", Runtime: Generation1, Revisions: []*wire.Revision{old, wiretest.Revision20251125()},
		Tools: []Tool{tool("echo", structured(echo))},
	}, wrapping("tools/call", func(context.Context, Handle, *Message) (*MessageResult, error) { return ResultOf([]byte(own)), nil }))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, srv: srv}
	const said = `"content":[{"type":"text","text":"t"}]`
	for version, want := range map[string]string{
		"2024-11-05": `{` + said + `}`, "2025-11-25": `{` + said + `,"structuredContent":{"text":"own"}}`,
	} {
		c, _ := f.dialAs(version)
		own = `{` + said + `,"structuredContent":{"text":"own"}}`
		c.request("1", "tools/call", `{"name":"echo","arguments":{"text":"x"}}`).wantResult(t, want)
		own = `{` + said + `,"structuredContent":{"text":7}}`
		if m := c.request("2", "tools/call", `{"name":"echo","arguments":{"text":"x"}}`); m.Error == nil {
			t.Errorf("%s: %s", version, m.raw)
		}
	}
}

// formKeywords are those of 2025-06-18.
var formKeywords = []string{"default", "description", "enum", "enumNames", "format", "maxLength", "maximum", "minLength", "minimum", "title", "type"}

func TestREV06FormsAreSaidAsTheRevisionHasThem(t *testing.T) {
	rev := &revision{Revision: older("2025-06-18", wire.View{FormKeywords: formKeywords})}
	form := func(field string) string {
		return `{"type":"object","required":["b"],"properties":{"b":` + field + `,"a":{"type":"boolean"}}}`
	}
	for in, want := range map[string]string{
		`{"type":"string","minLength":1}`:                                       `{"type":"string","minLength":1}`,
		`{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g"}]}`: `{"type":"string","enum":["r","g"],"enumNames":["Red","g"]}`,
		`{"type":"array","items":{"type":"string","enum":["a"]}}`:               "",
	} {
		for _, q := range []task.Question{
			{Method: askMethod, Payload: []byte(`{"message":"m","schema":` + form(in) + `}`)},
			{Method: elicitMethod, Payload: []byte(`{"message":"m","requestedSchema":` + form(in) + `}`)},
		} {
			adapted, ok := rev.adaptQuestion(q)
			if ok != (want != "") || ok && !strings.Contains(string(adapted.Payload), form(want)) {
				t.Errorf("%s: %v, %s", in, ok, adapted.Payload)
			}
		}
	}
}

func TestREV06AQuestionThatARevisionCanNotPutIsUnsupported(t *testing.T) {
	several := Question[noInput]{Name: "several", Message: "Which?", Schema: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","enum":["x"]}}}}`, Decode: decodeNoInput}
	f := newOlderFixture(t, Definition{Tools: []Tool{tool("ask", structured(func(ctx context.Context, call *Call, _ *echoInput) (*echoOutput, error) {
		_, err := Ask(ctx, call, &several, "")
		if unsupported := (*UnsupportedError)(nil); errors.As(err, &unsupported) && unsupported.Capability == "" {
			return &echoOutput{Text: "unsupported"}, nil
		}
		return nil, err
	}))}}, wire.View{FormKeywords: formKeywords})
	c, _ := f.dialAs("2025-06-18")
	c.call("1", "ask", `{"text":"a"}`)
	if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "unsupported" {
		t.Error(m.raw)
	}
}

// TestREV06ParamsThatNobodyCanDeclareAreRefused: a part of a question that no client of the revision can have.
func TestREV06ParamsThatNobodyCanDeclareAreRefused(t *testing.T) {
	rev := &revision{Revision: older("2025-06-18", wire.View{})}
	rev.Outgoing = []wire.Outgoing{{Op: wire.OpCreateMessage, Name: "sampling/createMessage", Capability: "sampling", Needs: []wire.Need{{Member: "tools"}}}}
	rev.compileQuestions()
	can := rev.abilities([]byte(`{"sampling":{"tools":{}}}`))
	if refused := rev.unsupported(can, &task.Question{Method: messageMethod, Payload: []byte(`{"tools":[]}`)}); refused == nil || refused.Capability != "" {
		t.Errorf("tools: %v", refused)
	}
	if refused := rev.unsupported(can, &task.Question{Method: messageMethod, Payload: []byte(`{}`)}); refused != nil {
		t.Errorf("without: %v", refused)
	}
}
