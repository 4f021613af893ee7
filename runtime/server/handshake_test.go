package server

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

func TestHandshakeAgreesOnARevision(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}, Revisions: []*wire.Revision{
		older("2025-03-26", wire.View{}), wiretest.Revision20260728(), wiretest.Revision20251125(), older("2025-06-18", wire.View{}),
	}})
	for asked, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26",
		"1999-01-01": "2025-11-25", "2099-01-01": "2025-11-25", "2026-07-28": "2025-11-25", // which has no handshake
	} {
		c := f.dial(t.Context())
		m := c.request("1", "initialize", `{"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
		if got := m.str("result", "protocolVersion"); got != want {
			t.Errorf("asked for %s, got %s", asked, m.raw)
		}
		if got := m.field("result", "serverInfo"); got != `{"name":"test","version":"1"}` {
			t.Errorf("serverInfo: %s", got)
		}
		c.close()
	}
}

func TestHandshakeComesFirstAndOnce(t *testing.T) {
	c := newFixture(t, []Tool{tool("echo", structured(echo))}).dial(t.Context())
	c.request("1", "tools/list", `{}`).wantError(t, -32600, "handshake")
	c.request("2", "ping", `{}`).wantResult(t, `{}`)
	c.request("3", "initialize", `{"capabilities":{},"clientInfo":{"name":"c","version":"1"}}`).wantError(t, -32602, "protocolVersion")
	c.initialize(`{}`)
	c.request("4", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`).wantError(t, -32600)
	c.request("5", "tools/list", `{}`).wantResult(t, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`)
}

// TestSRV01AHandshakeThatMiddlewareFailsIsNone: the client may try again, as if the first one had not come.
func TestSRV01AHandshakeThatMiddlewareFailsIsNone(t *testing.T) {
	for name, fail := range map[string]func(ctx context.Context, m *Message, next Handle) (*MessageResult, error){
		"error": func(context.Context, *Message, Handle) (*MessageResult, error) { return nil, errors.New("no") },
		"panic": func(context.Context, *Message, Handle) (*MessageResult, error) { panic("no") },
		"exit": func(context.Context, *Message, Handle) (*MessageResult, error) {
			runtime.Goexit()
			return nil, nil
		},
		"twice":   func(ctx context.Context, m *Message, next Handle) (*MessageResult, error) { return next(ctx, m) },
		"invalid": func(context.Context, *Message, Handle) (*MessageResult, error) { return ResultOf([]byte(`{}`)), nil },
	} {
		t.Run(name, func(t *testing.T) {
			failed := false
			f := newFixture(t, []Tool{tool("echo", structured(echo))}, WithMiddleware(func(next Handle) Handle {
				return func(ctx context.Context, m *Message) (*MessageResult, error) {
					result, err := next(ctx, m)
					if failed || m.Method != "initialize" || err != nil {
						return result, err
					}
					failed = true
					return fail(ctx, m, next)
				}
			}))
			c := f.dial(t.Context())
			c.request("1", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"first","version":"1"}}`).wantError(t, -32603, "internal error")
			c.request("2", "tools/list", `{}`).wantError(t, -32600, "comes after the handshake")
			if sessions := sessionsOf(f.srv); len(sessions) != 0 {
				t.Errorf("%d sessions without a handshake", len(sessions))
			}
			if m := c.initialize(`{}`); m.str("result", "protocolVersion") != "2025-11-25" {
				t.Fatal(m.raw)
			}
			c.request("4", "tools/call", `{"name":"echo","arguments":{"text":"hi"}}`).wantResult(t, `{"content":[{"type":"text","text":"{\"text\":\"hi\"}"}],"structuredContent":{"text":"hi"}}`)
			if sessions := sessionsOf(f.srv); len(sessions) != 1 || sessions[0].Client().Name != "c" {
				t.Errorf("not the session of the second handshake: %v", sessions)
			}
		})
	}
}

func TestHandshakeIsServedBeforeWhatFollowsInTheSameWrite(t *testing.T) {
	c := newFixture(t, []Tool{tool("echo", structured(echo))}).dial(t.Context())
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.call("2", "echo", `{"text":"hi"}`)
	m, _ := c.answer("2")
	if m.str("result", "structuredContent", "text") != "hi" {
		t.Error(m.raw)
	}
}

func TestTSK01CapabilitiesAreWhatIsServed(t *testing.T) {
	plain := []Tool{tool("echo", structured(echo))}
	tasks := append([]Tool{tool("job", structured(echo), withTask(TaskOptional))}, plain...)
	for name, row := range map[string]struct {
		tools     []Tool
		opts      []Option
		principal string
		want      string
	}{
		"no tools":               {want: `{"logging":{}}`},
		"tools":                  {tools: plain, want: `{"logging":{},"tools":{"listChanged":true}}`},
		"tasks":                  {tools: tasks, want: `{"logging":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}},"tools":{"listChanged":true}}`},
		"tasks with an identity": {tools: tasks, principal: "me", want: `{"logging":{},"tasks":{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}},"tools":{"listChanged":true}}`},
		"tasks with a list":      {tools: tasks, opts: []Option{WithTaskList()}, want: `{"logging":{},"tasks":{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}},"tools":{"listChanged":true}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newFixture(t, row.tools, row.opts...).dial(WithPrincipal(t.Context(), row.principal))
			if got := c.initialize(`{}`).field("result", "capabilities"); got != row.want {
				t.Errorf("declared %s, want %s", got, row.want)
			}
			for method, member := range map[string]string{
				"tools/list": `"tools":{"l`, "tasks/list": `"list"`, "tasks/get": `"tasks"`, "tasks/result": `"tasks"`, "tasks/cancel": `"cancel"`,
			} {
				m := c.request("1", method, `{"taskId":"x"}`)
				if served := m.Error == nil || m.Error.Code != -32601; served != strings.Contains(row.want, member) {
					t.Errorf("%s: %s", method, m.raw)
				}
			}
		})
	}
}

func TestToolListHasPages(t *testing.T) {
	tools := []Tool{tool("a", structured(echo)), tool("b", structured(echo)), tool("c", structured(echo))}
	c := newFixture(t, tools, WithPageSize(2)).dial(t.Context())
	c.initialize(`{}`)
	first := c.request("1", "tools/list", `{}`)
	cursor := first.str("result", "nextCursor")
	if cursor == "" || !strings.Contains(first.raw, `"b"`) || strings.Contains(first.raw, `"c"`) {
		t.Error(first.raw)
	}
	c.request("2", "tools/list", `{"cursor":"`+cursor+`"}`).wantResult(t, `{"tools":[{"name":"c","inputSchema":{"type":"object"}}]}`)
	c.request("3", "tools/list", `{"cursor":"elsewhere"}`).wantError(t, -32602, "cursor")
}

// TestLET06ACursorStaysGoodWhenAToolIsSwitchedOff: server/utilities/pagination#implementation-guidelines.
func TestLET06ACursorStaysGoodWhenAToolIsSwitchedOff(t *testing.T) {
	var tools []Tool
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		tools = append(tools, tool(name, structured(echo)))
	}
	f := newFixture(t, tools, WithPageSize(2))
	c := f.dial(t.Context())
	c.initialize(`{}`)
	first := c.request("1", "tools/list", `{}`)
	for _, change := range []struct {
		name string
		on   bool
		want string
	}{{"a", false, `"c" "d"`}, {"b", false, `"c" "d"`}, {"c", false, `"d"`}, {"a", true, `"d"`}, {"d", false, ``}, {"c", true, `"c"`}} {
		f.srv.SetToolEnabled(change.name, change.on)
		second := c.request("2", "tools/list", `{"cursor":"`+first.str("result", "nextCursor")+`"}`)
		var names []string
		for _, name := range []string{`"a"`, `"b"`, `"c"`, `"d"`, `"e"`} {
			if strings.Contains(second.field("result", "tools"), `"name":`+name) {
				names = append(names, name)
			}
		}
		if got := strings.Join(names, " "); got != change.want {
			t.Errorf("%+v: page 2 has %s", change, got)
		}
		third := c.request("3", "tools/list", `{"cursor":"`+second.str("result", "nextCursor")+`"}`)
		if !strings.Contains(third.raw, `"name":"e"`) || third.str("result", "nextCursor") != "" {
			t.Errorf("%+v: page 3 is %s", change, third.raw)
		}
	}
}

// The edges that the revisions declare are those of the engine: New refuses what it can not work with, and revisions that disagree.
func TestTSK07EdgesAreThoseOfTheRevisions(t *testing.T) {
	with := func(w *wire.Revision, edges ...wire.Edges) *wire.Revision {
		w.Task.Edges = edges
		return w
	}
	all := wiretest.Revision20251125().Task.Edges
	noQuestions := []wire.Edges{{From: task.Working, To: []task.Status{task.Completed, task.Failed, task.Cancelled}}}
	for name, c := range map[string]struct {
		revisions []*wire.Revision
		err       string
	}{
		"out of an end": {[]*wire.Revision{with(wiretest.Revision20251125(), append(slices.Clone(all), wire.Edges{From: task.Completed, To: []task.Status{task.Working}})...)},
			"server: revision 2025-11-25: a task can not go from completed to working"},
		"none":         {[]*wire.Revision{with(wiretest.Revision20251125())}, "server: revision 2025-11-25: there is no edge from working to completed, which every task needs"},
		"disagreement": {[]*wire.Revision{wiretest.Revision20251125(), with(wiretest.Revision20260728(), noQuestions...)}, "server: revisions 2026-07-28 and 2025-11-25 have different edges for tasks"},
		"agreement":    {[]*wire.Revision{with(wiretest.Revision20251125(), noQuestions...), with(wiretest.Revision20260728(), noQuestions...)}, "<nil>"},
	} {
		runs := tool("runs", structured(echo))
		runs.Task.Support = TaskOptional
		s, err := New(Definition{Runtime: Generation1, Revisions: c.revisions, Tools: []Tool{runs}})
		if fmt.Sprint(err) != c.err {
			t.Errorf("%s: %v", name, err)
		}
		if s != nil {
			s.Shutdown(t.Context())
		}
	}
}

func TestNewRefusesWhatDoesNotFit(t *testing.T) {
	whole := tool("whole", Bind(decodeNoInput, nil, Unstructured(appendRawResult)))
	for name, d := range map[string]Definition{
		"generation":     {Revisions: []*wire.Revision{wiretest.Revision20251125()}},
		"no wires":       {Runtime: Generation1},
		"two tools":      {Runtime: Generation1, Revisions: []*wire.Revision{wiretest.Revision20251125()}, Tools: []Tool{tool("a", structured(echo)), tool("a", structured(echo))}},
		"no handler":     {Runtime: Generation1, Revisions: []*wire.Revision{wiretest.Revision20251125()}, Tools: []Tool{tool("a", Handler{})}},
		"bad definition": {Runtime: Generation1, Revisions: []*wire.Revision{wiretest.Revision20251125()}, Tools: []Tool{{Name: "a", Handler: structured(echo), Definition: `{`}}},
		"missing function": {Runtime: Generation1, Tools: []Tool{whole}, Revisions: []*wire.Revision{func() *wire.Revision {
			w := wiretest.Revision20251125()
			w.ReadCallResult = nil
			return w
		}()}},
	} {
		if _, err := New(d); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
