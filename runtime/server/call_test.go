package server

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func TestVAL01InputsAndOutputsAreChecked(t *testing.T) {
	var ran atomic.Int32
	c := newFixture(t, []Tool{
		tool("counted", structured(func(_ context.Context, _ *Call, in *echoInput) (*echoOutput, error) {
			ran.Add(1)
			return &echoOutput{Text: in.Text}, nil
		})),
		tool("overlong", structured(func(context.Context, *Call, *echoInput) (*echoOutput, error) {
			return &echoOutput{Text: strings.Repeat("x", 1<<20+1)}, nil
		})),
		tool("nothing", structured(func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, nil })),
	}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "counted", `{"text":""}`)
	m, _ := c.answer("1")
	if m.field("result", "isError") != "true" || ran.Load() != 0 {
		t.Errorf("bad input reached the handler: %s", m.raw)
	}
	c.call("2", "counted", `{"text":"fine"}`)
	m, _ = c.answer("2")
	m.wantResult(t, `{"content":[{"type":"text","text":"{\"text\":\"fine\"}"}],"structuredContent":{"text":"fine"}}`)
	c.call("3", "overlong", `{"text":"x"}`)
	m, _ = c.answer("3")
	m.wantError(t, -32603, "schema")
	c.call("4", "nothing", `{"text":"x"}`)
	m, _ = c.answer("4")
	m.wantError(t, -32603, "gave no result")
}

func TestVAL02ViolationsAreResultsThatListThemAll(t *testing.T) {
	c := newFixture(t, []Tool{tool("echo", structured(echo))}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "echo", `{"text":"","count":12,"more":1}`)
	m, _ := c.answer("1")
	if m.field("result", "isError") != "true" {
		t.Fatalf("no isError: %s", m.raw)
	}
	for _, part := range []string{"/text", "minLength", "/count", "maximum", "12", "9", "/more", "additionalProperties"} {
		if !strings.Contains(m.raw, part) {
			t.Errorf("%q is not in %s", part, m.raw)
		}
	}
	c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`)
	if m, _ = c.answer("2"); m.field("result", "isError") != "true" || !strings.Contains(m.raw, "text") {
		t.Errorf("absent arguments: %s", m.raw)
	}
	c.request("3", "tools/call", `{"name":"ghost"}`).wantError(t, -32602, "ghost")
	c.request("4", "tools/call", `{"arguments":{}}`).wantError(t, -32602, "name")
	c.request("5", "tools/call", `{"name":5}`).wantError(t, -32602, "name")
	c.sendf(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":[]}`)
	m, _ = c.answer("6")
	m.wantError(t, -32602)
}

func TestHandlerErrors(t *testing.T) {
	c := newFixture(t, []Tool{
		tool("plain", plain(func(context.Context, *Call) (*echoOutput, error) { return nil, errors.New("no such order") })),
		tool("coded", plain(func(context.Context, *Call) (*echoOutput, error) {
			return nil, &rpc.Error{Code: 4042, Message: "go there", Data: []byte(`{"url":"x"}`)}
		})),
		tool("panics", plain(func(context.Context, *Call) (*echoOutput, error) { panic("secret") })),
		tool("exits", plain(func(context.Context, *Call) (*echoOutput, error) { runtime.Goexit(); return nil, nil })),
	}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "plain", `{}`)
	m, _ := c.answer("1")
	m.wantResult(t, `{"content":[{"type":"text","text":"no such order"}],"isError":true}`)
	c.call("2", "coded", `{}`)
	m, _ = c.answer("2")
	m.wantError(t, 4042, "go there")
	if m.field("error", "data") != `{"url":"x"}` {
		t.Error(m.raw)
	}
	c.call("3", "panics", `{}`)
	m, _ = c.answer("3")
	m.wantError(t, -32603)
	if strings.Contains(m.raw, "secret") {
		t.Errorf("a panic's text is not for the peer: %s", m.raw)
	}
	c.call("4", "exits", `{}`)
	m, _ = c.answer("4")
	m.wantError(t, -32603)
	c.call("5", "plain", `{}`)
	c.answer("5")
}

func TestUnstructuredResultsKeepWhatTheToolSaid(t *testing.T) {
	c := newFixture(t, []Tool{
		tool("whole", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*rawResult, error) {
			return &rawResult{`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":true,"_meta":{"k":1}}`}, nil
		}, Unstructured(appendRawResult))),
		tool("broken", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*rawResult, error) {
			return &rawResult{`{"content":1,"isError":"no"}`}, nil
		}, Unstructured(appendRawResult))),
	}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "whole", `{}`)
	m, _ := c.answer("1")
	m.wantResult(t, `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":true,"_meta":{"k":1}}`)
	c.call("2", "broken", `{}`)
	m, _ = c.answer("2")
	m.wantError(t, -32603)
}

func TestCallKnowsItself(t *testing.T) {
	seen := make(chan string, 1)
	f := newFixture(t, []Tool{tool("who", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		seen <- strings.Join([]string{call.ID().String(), call.Tool(), call.Principal(), call.TaskID(), PrincipalFrom(ctx)}, " ")
		return &echoOutput{}, call.SetStatus(ctx, "ignored")
	}))})
	c := f.dial(WithPrincipal(t.Context(), "me"))
	c.initialize(`{}`)
	c.call(`"a"`, "who", `{}`)
	c.answer(`"a"`)
	if got := <-seen; got != `"a" who me  me` {
		t.Error(got)
	}
}

func TestDoRunsAStepOnce(t *testing.T) {
	c := newFixture(t, []Tool{tool("steps", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		n := 0
		step := func(context.Context) ([]byte, error) { n++; return []byte{byte('0' + n)}, nil }
		fails := func(context.Context) ([]byte, error) { n++; return nil, errors.New("not yet") }
		if _, err := call.Do(ctx, "b", fails); err == nil {
			return nil, errors.New("a failed step gave no error")
		}
		a, _ := call.Do(ctx, "a", step)
		if _, err := call.Do(ctx, "a", step); !errors.As(err, new(*task.NameError)) {
			return nil, fmt.Errorf("another step of the same name: %v", err)
		}
		b, err := call.Do(ctx, "b", step)
		return &echoOutput{Text: string(a) + string(b)}, err
	}))}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "steps", `{}`)
	m, _ := c.answer("1")
	if got := m.str("result", "structuredContent", "text"); got != "23" {
		t.Error(m.raw)
	}
}
