package server

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// The schemas say integer for ids, tokens and times, and JSON Schema takes 1.0 for one
// (https://modelcontextprotocol.io/specification/2025-11-25/schema#requestid, https://json-schema.org/draft/2020-12/json-schema-core#section-4.2.3).
func TestLET14IDsAreTheSameByValue(t *testing.T) {
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler()), tool("echo", structured(echo))}).dial(t.Context())
	c.initialize(`{}`)
	for _, id := range []string{`1.0`, `2e0`, `-0`, `3.00E+2`, `12345678901234567890.0`} {
		if m := c.request(id, "tools/call", `{`+callParams("echo", `{"text":"x"}`)+`}`); m.str("result", "structuredContent", "text") != "x" {
			t.Errorf("%s: %s", id, m.raw) // request waits for an answer with the id as it was spelt
		}
	}
	for id, other := range map[string]string{`100`: `1e2`, `1.0`: `1`, `20`: `20.0`, `12345678901234567890`: `1.234567890123456789e19`} {
		c.call(id, "hang", `{}`)
		<-h.began
		c.call(other, "hang", `{}`)
		if m := c.next(); string(m.ID) != other {
			t.Errorf("want the answer to %s, got %s", other, m.raw)
		} else {
			m.wantError(t, -32600, "in flight")
		}
		c.cancel(`"` + id + `"`)
		c.fence()
		if len(h.ended) != 0 {
			t.Error("a string is no number")
		}
		c.cancel(other)
		<-h.ended
	}
}

func TestLET14NumbersThatTheServerReads(t *testing.T) {
	f := dual(t, Definition{Tools: append(jobs(newHold()), asker(confirmQuestion()), tool("tell", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		call.Progress(ctx, 1, 2, "")
		return &echoOutput{"told"}, nil
	})))})
	c := f.dialTasks("")
	for _, ttl := range []string{`60000`, `60000.0`, `6e4`} {
		m := c.request("1", "tools/call", `{`+callParams("must", `{"text":"x"}`)+`,"task":{"ttl":`+ttl+`}}`)
		if m.field("result", "task", "ttl") != "60000" {
			t.Errorf("ttl %s: %s", ttl, m.raw)
		}
	}
	for _, token := range []string{`7`, `7.0`, `7e0`} {
		c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tell","arguments":{},"_meta":{"progressToken":%s}}}`, token)
		m, before := c.answer("2")
		told := slices.IndexFunc(before, func(m message) bool { return m.Method == "notifications/progress" }) // among the statuses of tasks
		if told < 0 || before[told].field("params", "progressToken") != token {
			t.Errorf("progress of %s: %v, %s", token, before, m.raw)
		}
	}
	c.call("3", "ask", `{}`)
	asked := c.nextRequest()
	c.sendf(`{"jsonrpc":"2.0","id":%s.0,"result":%s}`, asked.ID, accepted)
	if m, _ := c.answer("3"); m.str("result", "structuredContent", "text") != "accept true true" {
		t.Error(m.raw)
	}
}

// A retry may come from another library, which writes the arguments in its own way.
func TestLET14ARetryMaySpellItsArgumentsOtherwise(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}})
	args := []string{`{"text":"a\u0062","count":10,"more":[1.5]}`, `{"more":[15e-1],"count":1e1,"text":"ab"}`, `{"count":10.0,"text":"ab","more":[1.50]}`}
	for i := range args {
		m, _, state := f.try(t.Context(), forms, "ask", args[i], "")
		if state == "" {
			t.Fatal(m.raw)
		}
		for _, again := range args {
			m, _, _ := f.try(t.Context(), forms, "ask", again, answering(state, fmt.Sprintf(`{"confirm":%s}`, accepted)))
			if m.str("result", "structuredContent", "text") != "accept true true" {
				t.Errorf("%s, then %s: %s", args[i], again, m.raw)
			}
		}
		m, _, _ = f.try(t.Context(), forms, "ask", `{"text":"ab","count":"10","more":[1.5]}`, answering(state, fmt.Sprintf(`{"confirm":%s}`, accepted)))
		m.wantError(t, -32602, "requestState")
	}
}
