package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/schema"
)

// adding is a tool with an output that adds to its result first.
func adding(name string, add func(call *Call)) Tool {
	return tool(name, plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		add(call)
		return &echoOutput{"out"}, nil
	}), withTask(TaskOptional))
}

const outputText = `{"type":"text","text":"{\"text\":\"out\"}"}`

func TestSRV04AStructuredResultCarriesWhatTheHandlerAdds(t *testing.T) {
	when := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	rows := []struct {
		name    string
		add     func(*Call)
		content string
		meta    string
	}{
		{"nothing", func(call *Call) { call.Content() }, outputText, ""},
		{"a text", func(call *Call) { call.Content(Text("é\"")) }, outputText + `,{"type":"text","text":"é\""}`, ""},
		{"a summary", func(call *Call) { call.Summary("no"); call.Summary("12 orders") }, `{"type":"text","text":"12 orders"}`, ""},
		{"in order", func(call *Call) { call.Content(Text("a")); call.Summary("s"); call.Content(Text("b"), Text("c")) },
			`{"type":"text","text":"s"},{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":"c"}`, ""},
		{"an image", func(call *Call) { call.Content(Image("image/png", []byte{1, 2, 3, 4})) }, outputText + `,{"data":"AQIDBA==","mimeType":"image/png","type":"image"}`, ""},
		{"a sound", func(call *Call) { call.Content(Audio("audio/wav", nil)) }, outputText + `,{"data":"","mimeType":"audio/wav","type":"audio"}`, ""},
		{"a resource", func(call *Call) {
			call.Content(TextResource("test://r", "text/plain", "t"), BlobResource("test://b", "", []byte("x")))
		}, outputText + `,{"resource":{"text":"t","uri":"test://r","mimeType":"text/plain"},"type":"resource"},{"resource":{"blob":"eA==","uri":"test://b"},"type":"resource"}`, ""},
		{"a link", func(call *Call) {
			call.Content(Link("test://r", "r").Title("R").Description("D").MIMEType("text/plain").Size(0))
		}, outputText + `,{"name":"r","type":"resource_link","uri":"test://r","description":"D","mimeType":"text/plain","size":0,"title":"R"}`, ""},
		{"annotations", func(call *Call) {
			call.Content(Text("a").Audience(RoleUser, RoleAssistant).Priority(0).LastModified(when).Meta("k", 1).Meta("k", "2"))
		}, outputText + `,{"text":"a","type":"text","annotations":{"audience":["user","assistant"],"lastModified":"2026-07-28T12:00:00Z","priority":0},"_meta":{"k":"2"}}`, ""},
		{"metadata of blocks that is the runtime's", func(call *Call) {
			text, image := Text("a"), Image("image/png", nil).Meta("k", 1)
			for _, key := range wiretest.Revision20260728().Own.Meta {
				text, image = text.Meta(key, "mine"), image.Meta(key, "mine")
			}
			call.Content(text, image)
		}, outputText + `,{"type":"text","text":"a"},{"data":"","mimeType":"image/png","type":"image","_meta":{"k":1}}`, ""},
		{"metadata", func(call *Call) {
			call.ResultMeta("example.com/cost", 1.5)
			call.ResultMeta("example.com/cost", map[string]int{"a": 1})
			call.ResultMeta("io.modelcontextprotocol/serverInfo", "mine")
		}, outputText, `{"example.com/cost":{"a":1}}`},
	}
	var tools []Tool
	for i, r := range rows {
		tools = append(tools, adding(fmt.Sprint("t", i), r.add))
	}
	f := dual(t, Definition{Tools: tools})
	c := f.dial(t.Context())
	c.initialize(nothing)
	for i, r := range rows {
		name := fmt.Sprint("t", i)
		want, meta := `{"content":[`+r.content+`],"structuredContent":{"text":"out"}`, ""
		if r.meta != "" {
			meta = `,"_meta":` + r.meta
		}
		c.call("1", name, `{}`)
		m, _ := c.answer("1")
		t.Run(r.name, func(t *testing.T) { m.wantResult(t, want+meta+"}") })
		id := c.start("2", name, "")
		m = c.request("3", "tasks/result", taskID(id))
		if m.field("result", "content") != "["+r.content+"]" || m.field("result", "structuredContent") != `{"text":"out"}` {
			t.Errorf("%s, of a task: %s", r.name, m.raw)
		}
		if m = f.ask(t.Context(), frame(1, "tools/call", nothing, callParams(name, `{}`))); m.field("result", "content") != "["+r.content+"]" {
			t.Errorf("%s, in 2026-07-28: %s", r.name, m.raw)
		}
		if r.meta != "" && (m.field("result", "_meta", "example.com/cost") != `{"a":1}` || strings.Contains(m.raw, "mine")) {
			t.Errorf("%s, in 2026-07-28: %s", r.name, m.raw)
		}
	}
}

func TestSRV04AToolsOwnResultTakesMore(t *testing.T) {
	result := ""
	f := dual(t, Definition{Tools: []Tool{tool("own", Bind(decodeNoInput, func(_ context.Context, call *Call, _ *noInput) (*rawResult, error) {
		call.Content(Text("more"))
		call.Summary("first")
		call.ResultMeta("k", 2)
		if result == "" {
			return nil, nil
		}
		return &rawResult{result}, nil
	}, Unstructured(appendRawResult)))}})
	c := f.dial(t.Context())
	c.initialize(nothing)
	for in, want := range map[string]string{
		"":               `{"content":[{"type":"text","text":"first"},{"type":"text","text":"more"}],"_meta":{"k":2}}`,
		`{"content":[]}`: `{"content":[{"type":"text","text":"first"},{"type":"text","text":"more"}],"_meta":{"k":2}}`,
		`{"content":[ {"type":"text","text":"own"} ],"isError":true,"_meta":{"a":1,"k":1}}`: `{"content":[{"type":"text","text":"first"},{"type":"text","text":"own"},{"type":"text","text":"more"}],"isError":true,"_meta":{"a":1,"k":2}}`,
	} {
		result = in
		c.call("1", "own", `{}`)
		m, _ := c.answer("1")
		m.wantResult(t, want)
	}
}

// What no client may get is an internal error, and nothing of it is sent (LET01).
func TestSRV04WhatBreaksARuleIsNotSent(t *testing.T) {
	wrong := map[string]func(*Call){
		"no URI with a scheme":   func(call *Call) { call.Content(TextResource("secret.txt", "", "")) },
		"block 1":                func(call *Call) { call.Content(Text(""), Link("nowhere", "n")) },
		"needs a name":           func(call *Call) { call.Content(Link("test://r", "")) },
		"no media type":          func(call *Call) { call.Content(Image("png", nil)) },
		"\"\" is no media type":  func(call *Call) { call.Content(Audio("", nil)) },
		"text/ ":                 func(call *Call) { call.Content(BlobResource("test://r", "text/ ", nil)) },
		"between 0 and 1":        func(call *Call) { call.Content(Text("").Priority(math.NaN())) },
		"no role":                func(call *Call) { call.Content(Text("").Audience("system")) },
		"Title is of links":      func(call *Call) { call.Content(Text("").Title("t")) },
		"negative":               func(call *Call) { call.Content(Link("test://r", "r").Size(-1)) },
		"zero Block":             func(call *Call) { call.Content(Block{}) },
		"no key for _meta":       func(call *Call) { call.ResultMeta("a b", 1) },
		"reserved":               func(call *Call) { call.Content(Text("").Meta("com.mcp.x/y", 1)) },
		"unsupported type":       func(call *Call) { call.ResultMeta("k", func() {}) },
		"unsupported type: chan": func(call *Call) { call.Content(Text("").Meta("k", make(chan int))) },
	}
	for part, add := range wrong {
		var log syncBuffer
		f := newFixture(t, []Tool{adding("bad", add)}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		c := f.dial(t.Context())
		c.initialize(nothing)
		c.call("1", "bad", `{}`)
		m, _ := c.answer("1")
		m.wantError(t, -32603, "what was added to it breaks a rule")
		f.srv.records.Flush(t.Context())
		if !strings.Contains(log.String(), strings.ReplaceAll(part, `"`, `\"`)) {
			t.Errorf("%q is not in the log: %s", part, log.String())
		}
	}
}

func TestSRV04ARetryAddsAnew(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		call.Content(Text("before"))
		if _, err := Ask(ctx, call, confirmQuestion(), ""); err != nil {
			return nil, err
		}
		call.Content(Text("after"))
		return &echoOutput{"out"}, nil
	}))}})
	m, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
	if strings.Contains(m.raw, "before") {
		t.Errorf("a result that asks has content: %s", m.raw)
	}
	m, _, _ = f.try(t.Context(), forms, "ask", `{}`, answering(state, `{"confirm":`+accepted+`}`))
	if got := m.field("result", "content"); got != `[`+outputText+`,{"type":"text","text":"before"},{"type":"text","text":"after"}]` {
		t.Error(m.raw)
	}
}

// Several goroutines of a handler add; what comes after its end is dropped.
func TestSRV04ContentOfSeveralGoroutines(t *testing.T) {
	var kept *Call
	f := newFixture(t, []Tool{adding("many", func(call *Call) {
		kept = call
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { call.Content(Text("x")); call.ResultMeta("k", 1) })
		}
		all.Wait()
	})})
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.call("1", "many", `{}`)
	m, _ := c.answer("1")
	if n := strings.Count(m.raw, `"x"`); n != 20 {
		t.Errorf("%d blocks: %s", n, m.raw)
	}
	kept.Content(Text("late"))
	kept.Summary("late")
}

func TestSRV04AnErrorCarriesDataAndBlocks(t *testing.T) {
	fails := func(err error) Handler {
		return plain(func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(Text("dropped"))
			call.ResultMeta("k", 1)
			return nil, err
		})
	}
	cause := errors.New("disk full")
	rows := map[string]struct {
		err  error
		want string
	}{
		"a message":        {&ToolError{Message: "no"}, `{"content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"k":1}}`},
		"a cause":          {&ToolError{Err: cause}, `{"content":[{"type":"text","text":"disk full"}],"isError":true,"_meta":{"k":1}}`},
		"wrapped":          {fmt.Errorf("saving: %w", &ToolError{Message: "no", Err: cause}), `{"content":[{"type":"text","text":"saving: no"}],"isError":true,"_meta":{"k":1}}`},
		"data that fits":   {&ToolError{Message: "no", Data: map[string]string{"text": "x"}}, `{"content":[{"type":"text","text":"no"},{"type":"text","text":"{\"text\":\"x\"}"}],"isError":true,"structuredContent":{"text":"x"},"_meta":{"k":1}}`},
		"data of its own":  {&ToolError{Message: "no", Data: map[string]int{"free": 3}}, `{"content":[{"type":"text","text":"no"},{"type":"text","text":"{\"free\":3}"}],"isError":true,"_meta":{"k":1}}`},
		"data, not object": {&ToolError{Message: "no", Data: []int{1}}, `{"content":[{"type":"text","text":"no"},{"type":"text","text":"[1]"}],"isError":true,"_meta":{"k":1}}`},
		"blocks":           {&ToolError{Message: "no", Content: []Block{Link("test://log", "log")}}, `{"content":[{"type":"text","text":"no"},{"name":"log","type":"resource_link","uri":"test://log"}],"isError":true,"_meta":{"k":1}}`},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			f := dual(t, Definition{Tools: []Tool{tool("fails", fails(r.err), withTask(TaskOptional))}})
			c := f.dial(t.Context())
			c.initialize(nothing)
			c.call("1", "fails", `{}`)
			m, _ := c.answer("1")
			m.wantResult(t, r.want)
			id := f.create(t.Context(), "fails", `{}`, withTasks)
			if m = f.await(t.Context(), id, task.Completed); m.field("result", "result", "content") != fieldOf(r.want, "content") {
				t.Errorf("of a task: %s", m.raw)
			}
		})
	}
	f := newFixture(t, []Tool{tool("odd", fails(&ToolError{Message: "no", Data: math.Inf(1)})), tool("nil", fails((*ToolError)(nil)))})
	c := f.dial(t.Context())
	c.initialize(nothing)
	for _, name := range []string{"odd", "nil"} {
		c.call("1", name, `{}`)
		m, _ := c.answer("1")
		m.wantError(t, -32603)
	}
	if !errors.Is(&ToolError{Err: cause}, cause) {
		t.Error("the cause is not found")
	}
}

func fieldOf(object, name string) string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(object), &members)
	return string(members[name])
}

// A tool without a schema for its output may say any object.
func TestSRV04AnErrorOfAnUnstructuredToolHasItsData(t *testing.T) {
	f := newFixture(t, []Tool{tool("fails", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*rawResult, error) {
		return nil, &ToolError{Message: "no", Data: map[string]int{"free": 3}}
	}, Unstructured(appendRawResult)))})
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.call("1", "fails", `{}`)
	m, _ := c.answer("1")
	m.wantResult(t, `{"content":[{"type":"text","text":"no"},{"type":"text","text":"{\"free\":3}"}],"isError":true,"structuredContent":{"free":3}}`)
}

// Methods other than tools have results of their own.
func TestSRV04AMethodTakesNoContent(t *testing.T) {
	var log syncBuffer
	f := dual(t, Definition{Methods: []MethodHandler{BindMethod("prompts/get", func(_ context.Context, call *Call, _ *noInput) (*rawResult, error) {
		call.Content(Text("lost"))
		return &rawResult{`{"messages":[]}`}, nil
	}, MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult})}}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	m := f.ask(t.Context(), frame(1, "prompts/get", nothing, `"name":"p"`))
	f.srv.records.Flush(t.Context())
	if m.Error != nil || strings.Contains(m.raw, "lost") || !strings.Contains(log.String(), "nothing added") {
		t.Errorf("%s, log %s", m.raw, log.String())
	}
}

// reservedInSchema says of a key whether the two forms of the schema's rule reserve it: the pattern that generated checks have, and the function for
// a manifest, which leaves the prefix of extensions to its caller.
func reservedInSchema(rule *schema.Node) func(key string) (pattern, function bool) {
	own := regexp.MustCompile(rule.Get("anyOf").Items[0].Get("pattern").Text)
	reserved := regexp.MustCompile(rule.Get("anyOf").Items[1].Get("not").Get("pattern").Text)
	return func(key string) (pattern, function bool) {
		prefix, _, prefixed := strings.Cut(key, "/")
		function = prefixed && prefix != "io.modelcontextprotocol" && schema.ReservesMeta(strings.Split(prefix, "."))
		return !own.MatchString(key) && reserved.MatchString(key), function
	}
}

// TestLET04KeysOfResultsAreThoseOfTheSchema holds the runtime's rule for keys against the one that generated checks have, and that against a manifest's.
func TestLET04KeysOfResultsAreThoseOfTheSchema(t *testing.T) {
	rule := schema.MetaObject().Get("propertyNames")
	name, reserved := regexp.MustCompile(rule.Get("pattern").Text), reservedInSchema(rule)
	parts := []string{"", "a", "a-b", "a.b", "-a", "a-", "a_b", "1", "1a", "a b", "é", ".", "/", "a/", "/a", "mcp", "modelcontextprotocol", "io.modelcontextprotocol", "com.mcp", "mcp.", "x.mcp.y", "mcp.dev", "tools.mcp.com", "com.example.mcp.x", "com.example.mcp", "com.MCP", "IO.ModelContextProtocol"}
	for _, a := range parts {
		for _, b := range parts {
			for _, key := range []string{a, a + "/" + b, a + "." + b, a + b, a + "/" + b + "/" + a} {
				pattern, function := reserved(key)
				want := name.MatchString(key) && !pattern
				if err := checkMetaKey(key); (err == nil) != want {
					t.Errorf("%q: want %v, got %v", key, want, err)
				}
				if name.MatchString(key) && function != pattern {
					t.Errorf("%q: the pattern says %v, the function %v", key, pattern, function)
				}
			}
		}
	}
}

// What 2025-06-18 reserves beyond later revisions is refused in every revision: a handler writes its keys once for all of them.
func TestLET04KeysThatAnyRevisionReservesAreRefused(t *testing.T) {
	reserved := reservedInSchema(schema.MetaObject().Get("propertyNames"))
	for key, want := range map[string]bool{
		"modelcontextprotocol.io/x": true, "mcp.dev/x": true, "MCP.dev/x": true, "api.modelcontextprotocol.org/x": true, "tools.mcp.com/x": true,
		"com.example.mcp.tools/x": true, "com.mcp/x": true, "io.modelcontextprotocol.ui/x": true, "IO.ModelContextProtocol/x": true,
		"com.example.mcp/x": false, "mcp/x": false, "mcp.x": false, "x.mcp.y": false, "x.mcp": false, "a.b.mcp.y": false, "mcp.mcp.mcp": false, "x/mcp.dev": false, "io.modelcontextprotocol/x": false, "com.mcps.x/y": false,
	} {
		pattern, function := reserved(key)
		if err := checkMetaKey(key); (err != nil) != want || pattern != want || function != want {
			t.Errorf("%q: want %v; the runtime says %v, the pattern %v, the function %v", key, want, err, pattern, function)
		}
	}
	if err := checkMetaKey("com.a-/x"); err == nil || !strings.Contains(err.Error(), "end with a letter or digit") {
		t.Errorf("a label that ends with a hyphen: %v", err)
	}
	if schema.ReservesMeta(nil) {
		t.Error("a name without a prefix is reserved")
	}
}
