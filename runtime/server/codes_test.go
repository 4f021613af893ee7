package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// fails has a tool and a method that return err.
func fails(err error) Definition {
	run := func(context.Context, *Call, *noInput) (*rawResult, error) { return nil, err }
	return Definition{
		Tools: []Tool{tool("fails", Bind(decodeNoInput, run, Unstructured(appendRawResult)), withTask(TaskOptional))},
		Methods: []MethodHandler{BindMethod("prompts/get", func(context.Context, *Call, *noInput) (*rawResult, error) { return nil, err },
			MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult})},
	}
}

const opensPages = `{"elicitation":{"url":{}}}`

// both calls the tool and the method in both revisions, for a client that opens pages.
func (f *fixture) both(t *testing.T, check func(name string, stateless bool, m message)) {
	t.Helper()
	session := f.dial(t.Context())
	session.initialize(opensPages)
	for method, params := range map[string]string{"tools/call": `"name":"fails"`, "prompts/get": `"name":"x"`} {
		check(method, false, session.request("1", method, "{"+params+"}"))
		check(method, true, f.ask(t.Context(), frame(1, method, opensPages, params)))
	}
}

func TestLET05ReservedCodesAreForTypedErrors(t *testing.T) {
	for code, want := range map[int]int{
		-32042: -32603, -32002: -32603, -32000: -32603, -32019: -32603, -32020: -32603, -32021: -32603, -32099: -32603, -32100: -32603,
		-32700: -32603, -32768: -32603,
		-32600: -32600, -32601: -32601, -32602: -32602, -32603: -32603, -32769: -32769, -31999: -31999, -1: -1, 4042: 4042,
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			f := dual(t, fails(fmt.Errorf("no: %w", rpc.Errorf(code, "too bad"))))
			f.both(t, func(name string, stateless bool, m message) {
				m.wantError(t, want)
				if said := strings.Contains(m.raw, "too bad"); said != (code == want) {
					t.Errorf("%s: %s", name, m.raw)
				}
			})
		})
	}
}

func TestLET05URLElicitationRequired(t *testing.T) {
	page := URLElicitation{ID: "p1", URL: "https://example.com/connect?a=1", Message: "Connect your account"}
	const data = `{"elicitations":[{"mode":"url","elicitationId":"p1","url":"https://example.com/connect?a=1","message":"Connect your account"}]}`
	f := dual(t, fails(&URLElicitationError{[]URLElicitation{page}}))
	f.both(t, func(name string, stateless bool, m message) {
		switch {
		case !stateless:
			m.wantError(t, -32042, "Connect your account")
			if m.field("error", "data") != data {
				t.Error(m.raw)
			}
		case name == "tools/call":
			if m.field("result", "isError") != "true" || !strings.Contains(m.raw, page.URL) || strings.Contains(m.raw, "32042") {
				t.Error(m.raw)
			}
		default:
			m.wantError(t, -32603, page.URL)
		}
	})
	for what, pages := range map[string][]URLElicitation{
		"none": nil, "no id": {{URL: page.URL, Message: "x"}}, "no URL": {{ID: "1", URL: "connect", Message: "x"}},
		"no message": {page, {ID: "1", URL: page.URL}}, "a script": {{ID: "1", URL: "javascript:alert(1)", Message: "x"}},
	} {
		f := dual(t, fails(&URLElicitationError{pages}))
		c := f.dial(t.Context())
		c.initialize(`{}`)
		if m := c.request("1", "tools/call", `{"name":"fails"}`); m.field("error", "code") != "-32603" || m.field("error", "data") != "" {
			t.Errorf("%s: %s", what, m.raw)
		}
	}
}

// TestLET05WhatIsNotSupportedIsNamed: by the code of a revision that has one, in words where it has none, of every handler bound here.
func TestLET05WhatIsNotSupportedIsNamed(t *testing.T) {
	for path, words := range map[string]string{"sampling/tools": "the client can not be asked for that: it did not declare the capability sampling/tools", "": "has no such request"} {
		d := fails(fmt.Errorf("outer: %w", &UnsupportedError{Capability: path}))
		own := customDefinition(func(context.Context, *Call, *echoInput) (*echoOutput, error) {
			return nil, &UnsupportedError{Capability: path}
		},
			func(context.Context, *Notice, *echoInput) error { return nil }, d.Tools...)
		own.Methods = append(own.Methods, d.Methods...)
		f := dual(t, own)
		c := f.dial(t.Context())
		c.initialize(nothing)
		for method, params := range map[string]string{"prompts/get": `"name":"x"`, "rows/read": `"text":"a"`} {
			c.request("1", method, "{"+params+"}").wantError(t, -32603, words)
			m := f.ask(t.Context(), frame(1, method, nothing, params))
			if path == "" {
				m.wantError(t, -32603, words)
			} else if m.wantError(t, -32021); m.field("error", "data") != `{"requiredCapabilities":{"sampling":{"tools":{}}}}` {
				t.Error(m.raw)
			}
			if strings.Contains(m.raw, "outer") {
				t.Errorf("what wraps the error is sent: %s", m.raw)
			}
		}
	}
}

func TestLET05InvalidParamsAreOneSentenceAndAList(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional))}})
	c := f.dialTasks("")
	m := c.request("1", "tools/call", `{"name":"echo","arguments":{"text":"","count":12,"more":1},"task":{}}`)
	m.wantError(t, -32602, "invalid params of tools/call: /arguments/", "(and 2 more)")
	if strings.Contains(m.field("error", "message"), `\n`) {
		t.Error(m.raw)
	}
	for _, part := range []string{`{"violations":["/arguments/`, "/arguments/text: minLength", "/arguments/count: maximum", "/arguments/more: additionalProperties"} {
		if !strings.Contains(m.field("error", "data"), part) {
			t.Errorf("no %s in %s", part, m.raw)
		}
	}
	m = c.request("2", "tools/call", `{"name":7}`)
	m.wantError(t, -32602, "invalid params of tools/call: /name: ")
	if strings.Contains(m.raw, "more)") || !strings.HasPrefix(m.field("error", "data"), `{"violations":["/name: `) {
		t.Error(m.raw)
	}
}

func TestLET05ArgumentsAreAnObject(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional))}})
	c := f.dialTasks("")
	for _, arguments := range []string{`[]`, `"text"`, `5`, `true`} {
		for _, task := range []string{``, `,"task":{}`} {
			c.request("1", "tools/call", `{"name":"echo","arguments":`+arguments+task+`}`).wantError(t, -32602, "/arguments: type: found")
		}
		f.ask(t.Context(), frame(1, "tools/call", withTasks, callParams("echo", arguments))).wantError(t, -32602, "/arguments: type: found")
	}
}

// TestLET05RefusedParamsCarryData: not only params that break their definition, also those that name what is not there, in every place.
func TestLET05RefusedParamsCarryData(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional)), asker(confirmQuestion())}, Methods: []MethodHandler{resources()}}, WithTaskList())
	c := f.dialTasks("")
	long := `"test://` + strings.Repeat("x", maxURI) + `"`
	check := func(name, at string, m message) {
		t.Helper()
		m.wantError(t, -32602)
		if !strings.HasPrefix(m.field("error", "data"), `{"violations":["`+at+`: `) {
			t.Errorf("%s: %.300s", name, m.raw)
		}
	}
	for _, r := range []struct{ method, params, at string }{
		{"tools/call", `"name":"nothing"`, "/name"}, {"tools/call", `"name":7`, "/name"},
		{"tools/list", `"cursor":"x"`, "/cursor"}, {"tools/list", `"cursor":""`, "/cursor"}, {"tools/list", `"cursor":7`, "/cursor"},
	} {
		check("a session's "+r.method, r.at, c.request("1", r.method, "{"+r.params+"}"))
		check(r.method, r.at, f.ask(t.Context(), frame(1, r.method, nothing, r.params)))
	}
	for _, r := range []struct{ method, params, at string }{
		{"tasks/list", `"cursor":"x"`, "/cursor"}, {"tasks/get", `"taskId":"x"`, "/taskId"}, {"tasks/cancel", `"taskId":"x"`, "/taskId"}, {"tasks/result", `"taskId":"x"`, "/taskId"},
		{"tools/call", `"name":"echo","arguments":{"text":"x"},"task":{"ttl":-1}`, "/task/ttl"}, {"logging/setLevel", `"level":"loud"`, "/level"},
	} {
		check("a session's "+r.method, r.at, c.request("1", r.method, "{"+r.params+"}"))
	}
	for _, r := range []struct{ method, params, at string }{
		{"tasks/get", `"taskId":"x"`, "/taskId"}, {"tasks/update", `"taskId":"x","inputResponses":{}`, "/taskId"}, {"tasks/cancel", `"taskId":"x"`, "/taskId"},
		{"tools/call", callParams("ask", `{}`) + `,"requestState":"x"`, "/requestState"},
		{"subscriptions/listen", `"notifications":{"resourceSubscriptions":[` + long + `]}`, "/notifications/resourceSubscriptions"},
	} {
		check(r.method, r.at, f.ask(t.Context(), frame(1, r.method, withTasks, r.params)))
	}
	check("a level", "/_meta/io.modelcontextprotocol~1logLevel", f.ask(t.Context(), frameWith(1, "tools/list", nothing, "", `"io.modelcontextprotocol/logLevel":"loud"`)))
}
