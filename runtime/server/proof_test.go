package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Sentences of 2026-07-28 that tests of older revisions alone do not prove.

// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#structured-content and #output-schema
func TestVAL01StructuredOutputKeepsItsSchemaAndIsATextToo(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{
		tool("echo", structured(echo), withTask(TaskOptional)),
		tool("overlong", structured(func(context.Context, *Call, *echoInput) (*echoOutput, error) {
			return &echoOutput{Text: strings.Repeat("x", 1<<20+1)}, nil
		}), withTask(TaskOptional)),
	}})
	const want = `[{"type":"text","text":"{\"text\":\"a \\\"b\\\"\"}"}]`
	m := f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("echo", `{"text":"a \"b\""}`)))
	if m.field("result", "structuredContent") != `{"text":"a \"b\""}` || m.field("result", "content") != want {
		t.Error(m.raw)
	}
	f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("overlong", `{"text":"x"}`))).wantError(t, -32603, "schema")

	id := f.create(t.Context(), "echo", `{"text":"a \"b\""}`, withTasks)
	m = f.await(t.Context(), id, "completed")
	if m.field("result", "result", "structuredContent") != `{"text":"a \"b\""}` || m.field("result", "result", "content") != want {
		t.Error("as a task:", m.raw)
	}
	id = f.create(t.Context(), "overlong", `{"text":"x"}`, withTasks)
	if m = f.await(t.Context(), id, "failed"); m.field("result", "error", "code") != "-32603" || m.field("result", "result") != "" {
		t.Error("as a task:", m.raw)
	}
}

// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
func TestLET21AResponseHoldsWhatItsRequestSaysAlone(t *testing.T) {
	h := newHold()
	h.onward = func(ctx context.Context, call *Call) {
		call.Progress(ctx, 1, 2, call.ID().String())
		call.LogMessage(ctx, LevelInfo, "", call.ID().String())
	}
	f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler()), tool("other", structured(echo))}, Methods: []MethodHandler{resources()}})
	l, _ := f.listen(t.Context(), nothing, `{"toolsListChanged":true,"resourceSubscriptions":["x:a"]}`)
	var streams []*inbox
	done := make(chan Result)
	for id := range 3 {
		j, refused := f.srv.Route([]byte(frameWith(id+1, "tools/call", nothing, callParams("hang", `{}`),
			fmt.Sprintf(`"progressToken":"of %d","io.modelcontextprotocol/logLevel":"info"`, id+1))), "")
		if refused != nil {
			t.Fatal(refused)
		}
		in := newInbox(t)
		streams = append(streams, in)
		go func() { done <- f.srv.Exchange(t.Context(), &j, in) }()
		<-h.began
	}
	f.srv.SetToolEnabled("other", false)
	f.srv.ResourceUpdated("x:a")
	l.take()
	l.take()
	h.free()
	for range streams {
		<-done
	}
	for i, in := range streams {
		id := fmt.Sprint(i + 1)
		if len(in.frames) != 3 {
			t.Errorf("%s: %v", id, in.frames)
		}
		for _, m := range in.frames {
			switch {
			case m.Method == "notifications/progress" && m.str("params", "progressToken") == "of "+id && m.str("params", "message") == id:
			case m.Method == "notifications/message" && m.str("params", "data") == id:
			case m.Method == "" && string(m.ID) == id:
			default:
				t.Errorf("on the stream of %s: %s", id, m.raw)
			}
		}
	}
}

// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown
func TestCAN26AConnectionWithoutAHandshakeEndsWithItsInput(t *testing.T) {
	lines := frame(1, "tools/list", nothing, "") + "\n" + frame(2, "tools/call", nothing, callParams("hang", `{}`)) + "\n" +
		frame(3, "subscriptions/listen", nothing, `"notifications":{"toolsListChanged":true}`) + "\n"
	for name, limit := range map[string]time.Duration{"idle": 0, "busy": 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			h := newHold()
			s := new(script)
			f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler())}}, WithGrace(2*time.Second))
			input := lines
			if name == "idle" {
				h.free()
			}
			began := time.Now()
			err := f.srv.Run(t.Context(), rpc.Lines(strings.NewReader(input), s, nil, rpc.LineOptions{Local: true}))
			if name == "busy" && (!errors.Is(err, ErrUnanswered) || !strings.Contains(err.Error(), ": 1 after 2s")) || name == "idle" && err != nil {
				t.Error(name, err)
			}
			if took := time.Since(began); took != limit {
				t.Errorf("%s: it took %v", name, took)
			}
		})
	}
}
