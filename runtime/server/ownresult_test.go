package server

import (
	"context"
	"encoding/json"
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
		return func(ctx context.Context, m *Message) (json.RawMessage, error) {
			if m.Method == "initialize" || m.Kind != rpc.KindRequest {
				return next(ctx, m)
			}
			if itself != "" && m.Method == "tools/call" {
				return json.RawMessage(`{` + itself + `,` + presumed + `}`), nil
			}
			result, err := next(ctx, m)
			if err != nil {
				return nil, err
			}
			all, added := membersOf(result), membersOf([]byte(`{`+presumed+`}`))
			meta := membersOf(added["_meta"])
			if theirs := membersOf(all["_meta"]); theirs != nil {
				maps.Copy(theirs, meta)
				meta = theirs
			}
			all["resultType"] = added["resultType"]
			all["_meta"], _ = json.Marshal(meta)
			return json.Marshal(all)
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
	for _, itself := range []string{"", `"content":[]`} {
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
			wrapping("tools/call", func(context.Context, Handle, *Message) (json.RawMessage, error) { return json.RawMessage(result), nil }))
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
