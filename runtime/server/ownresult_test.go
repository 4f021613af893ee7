package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// presumed is what an author might say in a result that is not theirs to say, by the pages that define it:
// https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta and https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta.
const presumed = `"resultType":"task","_meta":{"mine":1,"io.modelcontextprotocol/related-task":{"taskId":"foreign"},` +
	`"io.modelcontextprotocol/serverInfo":{"name":"foreign"},"io.modelcontextprotocol/subscriptionId":"foreign"}`

// presuming changes results as middleware might: it adds members to what next returned, or answers itself.
func presuming(itself string) Option {
	return WithMiddleware(func(next Handle) Handle {
		return func(ctx context.Context, m *Message) (*MessageResult, error) {
			if m.Method == "initialize" || m.Kind != rpc.KindRequest {
				return next(ctx, m)
			}
			if itself != "" && m.Method == "tools/call" {
				return ResultOf([]byte(`{` + itself + `,` + presumed + `}`)), nil
			}
			result, err := next(ctx, m)
			if err != nil {
				return nil, err
			}
			all, added := membersOf(read(result)), membersOf([]byte(`{`+presumed+`}`))
			meta := membersOf(added["_meta"])
			if theirs := membersOf(all["_meta"]); theirs != nil {
				maps.Copy(theirs, meta)
				meta = theirs
			}
			all["resultType"] = added["resultType"]
			all["_meta"], _ = json.Marshal(meta)
			own, err := json.Marshal(all)
			return ResultOf(own), err
		}
	})
}

// holdsOwn compares the keys of a result's _meta, and looks for what is foreign.
func holdsOwn(t *testing.T, what string, m message, kind string, keys ...string) {
	t.Helper()
	var meta map[string]json.RawMessage
	_ = json.Unmarshal([]byte(m.field("result", "_meta")), &meta)
	if got := slices.Sorted(maps.Keys(meta)); !slices.Equal(got, keys) || m.field("result", "resultType") != kind {
		t.Errorf("%s: type %s, keys %q, want %s, %q: %s", what, m.field("result", "resultType"), got, kind, keys, m.raw)
	}
	for _, key := range append(keys, "resultType") {
		if n := strings.Count(m.raw, `"`+key+`":`); n > 1 || strings.Contains(m.raw, "foreign") {
			t.Errorf("%s: %s %d times: %s", what, key, n, m.raw)
		}
	}
}

const serverKey = "io.modelcontextprotocol/serverInfo"

// The keys of the protocol are the runtime's in results that middleware makes or changes, too.
func TestLET01MiddlewareDoesNotSpeakForTheProtocol(t *testing.T) {
	tools := []Tool{tool("echo", structured(echo), withTask(TaskOptional))}
	for _, itself := range []string{"", `"content":[],"structuredContent":{"text":"own"}`} {
		f := dual(t, Definition{Tools: tools, Methods: []MethodHandler{rawPrompt(`{"messages":[]}`)}}, presuming(itself))
		c := f.dialTasks("")
		const call = `"name":"echo","arguments":{"text":"x"}`
		for method, params := range map[string]string{"tools/call": call, "prompts/get": `"name":"p"`, "tools/list": "", "ping": ""} {
			holdsOwn(t, "a session's "+method, c.request("1", method, `{`+params+`}`), "", "mine")
			if method == "ping" {
				continue
			}
			holdsOwn(t, method, f.ask(t.Context(), frame(1, method, nothing, params)), `"complete"`, serverKey, "mine")
		}
		if itself != "" {
			continue
		}
		m := c.request("2", "tools/call", `{`+call+`,"task":{}}`)
		holdsOwn(t, "a session's new task", m, "", "mine")
		id := m.str("result", "task", "taskId")
		m = c.request("3", "tasks/result", `{"taskId":"`+id+`"}`)
		holdsOwn(t, "a session's result of a task", m, "", relatedKey, "mine")
		if m.str("result", "_meta", relatedKey, "taskId") != id {
			t.Error(m.raw)
		}
		m = f.ask(t.Context(), frame(1, "tools/call", withTasks, call))
		holdsOwn(t, "a new task", m, `"task"`, serverKey, "mine")
		m = f.await(t.Context(), m.str("result", "taskId"), task.Completed)
		m.raw = strings.Replace(m.raw, m.field("result", "result"), "{}", 1)
		holdsOwn(t, "a task", m, `"complete"`, serverKey, "mine")
	}
}

// What is no JSON would end the connection.
func TestLET01ResultsOfMiddlewareAreJSON(t *testing.T) {
	for name, result := range map[string]string{
		"bytes that are no text": "{\"content\":[],\"x\":\"\xff\"}", "a member twice": `{"content":[],"_meta":{"a":{"b":1,"b":2}}}`,
		"a list": `[]`, "null": `null`, "two": `{"content":[]}{}`,
	} {
		var logged syncBuffer
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, WithLogger(slog.New(slog.NewTextHandler(&logged, nil))),
			wrapping("tools/call", func(context.Context, Handle, *Message) (*MessageResult, error) { return ResultOf([]byte(result)), nil }))
		c := f.dial(t.Context())
		c.initialize(`{}`)
		c.request("1", "tools/call", `{`+callParams("echo", `{}`)+`}`).wantError(t, -32603, "internal error")
		f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("echo", `{}`))).wantError(t, -32603, "internal error")
		f.srv.records.Flush(t.Context())
		if !strings.Contains(logged.String(), "a middleware answered tools/call with") {
			t.Errorf("%s: %s", name, logged.String())
		}
	}
}

// Errors of middleware, and what a handler passes on of a client that answered with an error, have the codes that a handler's may have
// (https://modelcontextprotocol.io/specification/2026-07-28/basic#error-responses). What next returned may be said in other words.
func TestLET05ReservedCodesAreForTypedErrorsAroundACall(t *testing.T) {
	lookup := &ResourceError{URI: "test://x"}
	for _, row := range []struct {
		err             error
		session, modern int
	}{
		{rpc.Errorf(-32042, "x"), -32603, -32603}, {rpc.Errorf(-32000, "x"), -32603, -32603}, {rpc.Errorf(-32700, "x"), -32603, -32603}, {rpc.Errorf(-32021, "x"), -32603, -32603},
		{rpc.Errorf(-32602, "x"), -32602, -32602}, {rpc.Errorf(4290, "x"), 4290, 4290}, {lookup, -32002, -32602}, {(*rpc.Error)(nil), -32603, -32603},
		{&URLElicitationError{[]URLElicitation{{ID: "1", URL: "https://example.com", Message: "m"}}}, -32042, -32603},
	} {
		refuse := func(context.Context, Handle, *Message) (*MessageResult, error) { return nil, row.err }
		f := dual(t, fails(nil), wrapping("prompts/get", refuse))
		f.both(t, func(name string, stateless bool, m message) {
			if want := map[bool]int{false: row.session, true: row.modern}[stateless]; name == "prompts/get" {
				m.wantError(t, want)
			}
		})
		f = dual(t, fails(nil), WithToolMiddleware(func(ToolHandle) ToolHandle {
			return func(context.Context, *Call, any) (any, error) { return nil, row.err }
		}))
		f.both(t, func(name string, stateless bool, m message) {
			if name == "tools/call" && errors.As(row.err, new(*rpc.Error)) {
				m.wantError(t, row.session)
			}
		})
		f = customized(t, func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, row.err })
		c := f.dial(t.Context())
		c.initialize(opensPages)
		c.request("1", "rows/read", `{"text":"x"}`).wantError(t, row.session)
		f.ask(t.Context(), frame(1, "rows/read", opensPages, `"text":"x"`)).wantError(t, row.modern)
	}
	f := dual(t, Definition{Methods: []MethodHandler{rawPrompt(`{"messages":[]}`)}, Tools: []Tool{tool("must", structured(echo), withTask(TaskRequired))}},
		wrapping("tools/call", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			_, err := next(ctx, m)
			own := (*rpc.Error)(nil)
			if errors.As(err, &own) {
				err = &rpc.Error{Code: own.Code, Message: own.Message + " (trace 7)"}
			}
			return nil, err
		}))
	c := f.dial(t.Context())
	c.initialize(`{}`)
	c.request("1", "tools/call", `{`+callParams("must", `{"text":5}`)+`}`).wantError(t, -32601)
}

// The error with which a client answered a question is not the server's answer, whatever its code: the model of a tool, and the client of another
// method, read which question was refused. The handler finds the client's error.
func TestLET05TheErrorOfAClientIsNotTheServersOwn(t *testing.T) {
	asks := func(ctx context.Context, call *Call, in *echoInput) (*echoOutput, error) {
		_, err := Ask(ctx, call, confirmQuestion(), "")
		var refused *QuestionError
		if own := (*rpc.Error)(nil); !errors.As(err, &refused) || refused.Question != "confirm" || !errors.As(err, &own) || own.Message != "no" {
			t.Errorf("the handler got %v", err)
		}
		return nil, fmt.Errorf("not asked: %w", err)
	}
	f := customized(t, asks, append(askingTools(), tool("ask", structured(asks), withTask(TaskOptional)))...)
	c := f.dial(WithPrincipal(t.Context(), "somebody"))
	c.initialize(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`)
	for _, code := range []int{-32601, -32602, -32603, -32042, -32002, -32700, -1, 7} {
		refuse := func(tool string) {
			t.Helper()
			question := c.next()
			for question.Method != "" && question.ID == nil { // the status of a task
				question = c.next()
			}
			if question.Method == "" {
				t.Fatalf("%s does not ask: %s", tool, question.raw)
			}
			c.sendf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, question.ID, code)
		}
		for name, question := range map[string]string{"form": "q", "url": "q", "sample": "q", "roots": "q", "ask": "confirm"} {
			want := fmt.Sprintf(`the client answered the question \"%s\" with an error: no (code %d)`, question, code)
			c.call("1", name, `{"text":"x"}`)
			refuse(name)
			m, _ := c.answer("1")
			if m.field("result", "isError") != "true" || !strings.Contains(m.raw, want) {
				t.Errorf("%s: %s", name, m.raw)
			}
			id := c.start("2", name, "")
			c.sendf(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":%s}`, taskID(id))
			refuse(name)
			if m, _ = c.answer("3"); m.field("result", "isError") != "true" || !strings.Contains(m.raw, want) {
				t.Errorf("the task of %s: %s", name, m.raw)
			}
			if m = c.request("4", "tasks/get", taskID(id)); !strings.Contains(m.raw, want) {
				t.Errorf("the status of %s: %s", name, m.raw)
			}
		}
		c.sendf(`{"jsonrpc":"2.0","id":5,"method":"rows/read","params":{"text":"x"}}`)
		refuse("rows/read")
		m, _ := c.answer("5")
		m.wantError(t, -32603, fmt.Sprintf(`the client answered the question "confirm" with an error: no (code %d)`, code))
	}
}

// A request outside of calls may have no name: its errors have the method.
func TestLET05TheErrorOfAClientNamesTheMethodOfARequestWithoutAName(t *testing.T) {
	f := newFixture(t, nil)
	c := f.dial(t.Context())
	c.initialize(`{"elicitation":{},"roots":{}}`)
	c.fence() // the session has begun
	answered := make(chan error, 1)
	for session := range f.srv.Sessions() {
		go func() {
			_, err := Send(t.Context(), session, asks["roots"], "", &noInput{})
			answered <- err
		}()
	}
	c.sendf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, c.nextRequest().ID)
	if err := <-answered; err == nil || err.Error() != `the client answered the question "roots/list" with an error: no (code -32601)` {
		t.Error(err)
	}
}

// An error of middleware is not the client's: it is what asking fails with, as it is, and the answer if the handler returns it.
func TestLET05AnErrorOfMiddlewareIsNotTheClients(t *testing.T) {
	var around func(err error) error
	ended := make(chan error, 1)
	asks := func(ctx context.Context, call *Call, in *echoInput) (*echoOutput, error) {
		_, err := Ask(ctx, call, confirmQuestion(), "")
		ended <- err
		return nil, err
	}
	middleware := wrapping("elicitation/create", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
		if err := around(nil); err != nil {
			return nil, err
		}
		_, err := next(ctx, m)
		return nil, around(err)
	})
	f := dual(t, customDefinition(asks, func(context.Context, *Notice, *echoInput) error { return nil }, tool("ask", structured(asks), withTask(TaskOptional))), middleware)
	c := f.dial(WithPrincipal(t.Context(), "somebody"))
	c.initialize(`{"elicitation":{"form":{}}}`)
	always := func(err error) func(error) error { return func(error) error { return err } }
	for _, row := range []struct {
		around        func(err error) error // what middleware returns, with nil instead of passing the question on
		asked, client bool                  // whether the client was asked, and the error is the client's
		code          int                   // of the answer, if the error is not the client's
	}{
		{always(rpc.Errorf(4290, "busy")), false, false, 4290},
		{always(errors.New("secret")), false, false, -32603},
		{always((*rpc.Error)(nil)), false, false, -32603},
		{func(err error) error {
			if err != nil {
				err = rpc.Errorf(4291, "in other words")
			}
			return err
		}, true, false, 4291},
		{func(err error) error {
			if err != nil {
				err = fmt.Errorf("wrapped: %w", err)
			}
			return err
		}, true, true, 0},
	} {
		around = row.around
		for _, place := range []string{"inline", "task", "method"} {
			switch place {
			case "inline":
				c.call("2", "ask", `{"text":"x"}`)
			case "task":
				c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(c.start("1", "ask", "")))
			case "method":
				c.sendf(`{"jsonrpc":"2.0","id":2,"method":"rows/read","params":{"text":"x"}}`)
			}
			if row.asked {
				c.sendf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, c.nextRequest().ID)
			}
			if err := <-ended; errors.As(err, new(*QuestionError)) != row.client {
				t.Errorf("%s, %d: the handler got %v", place, row.code, err)
			}
			if m, _ := c.answer("2"); row.code != 0 {
				m.wantError(t, row.code)
			} else if !strings.Contains(m.raw, "the client answered the question") {
				t.Errorf("%s: %s", place, m.raw)
			}
		}
	}
}
