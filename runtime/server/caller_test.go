package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

type traceKey struct{}

var nobodyWaits = &inflight.Cause{Source: inflight.SourceDisconnect}

// whoCalls says what its call knows of its caller, and asks first if its call can.
func whoCalls(ctx context.Context, call *Call) (*echoOutput, error) {
	return &echoOutput{Text: caller(ctx, call)}, nil
}

func caller(ctx context.Context, call *Call) string {
	c := call.Client()
	return fmt.Sprintf("%s|%s|%s|%v|%v|%s|%s|%s|%v", c.Name, c.Title, c.Version, c.Can("elicitation"), c.Can("sampling"),
		call.Revision(), call.Meta().Text("traceparent"), call.Header().Get("x-trace"), ctx.Value(traceKey{}))
}

const (
	clientInfo  = `{"name":"inspector","title":"The Inspector","version":"2.1"}`
	calledBy    = "inspector|The Inspector|2.1|true|false|"
	traceMeta   = `"traceparent":"00-1-2-01"`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

var traced = Header{"X-Trace": {"t1"}}

func askingClient(frame string) string {
	return strings.Replace(strings.Replace(frame, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1), `"clientInfo":{"name":"c","version":"1"}`, `"clientInfo":`+clientInfo, 1)
}

// whoTools are a tool that runs at once or as a task, and a method.
func whoTools() Definition {
	return Definition{
		Tools: []Tool{tool("who", plain(whoCalls), withTask(TaskOptional))},
		Methods: []MethodHandler{BindMethod("prompts/get", func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
			return &rawResult{fmt.Sprintf(`{"messages":[],"description":%q}`, caller(ctx, call))}, nil
		}, MethodCodec[noInput, rawResult]{Decode: decodeAnything, Append: appendRawResult})},
	}
}

// Every handler knows who calls: in a session by the handshake, in a stateless revision by the request, in a task as when it was created.
func TestSRV03AHandlerKnowsWhoCalls(t *testing.T) {
	ctx := context.WithValue(t.Context(), traceKey{}, "v1")
	for name, row := range map[string]struct {
		revision string
		call     func(f *fixture, method, params string) message
	}{
		"session": {"2025-11-25", func(f *fixture, method, params string) message {
			in := newInbox(t)
			ss := f.srv.NewSession(t.Context(), in)
			defer func() { _ = ss.Close(nobodyWaits) }()
			ss.Receive(t.Context(), []byte(askingClient(initializeFrame)))
			ss.Receive(t.Context(), []byte(initialized))
			in.take()
			ss.ReceiveWithHeader(ctx, traced, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s,"_meta":{%s}}}`, method, params, traceMeta))
			return in.take()
		}},
		"stateless": {"2026-07-28", func(f *fixture, method, params string) message {
			meta := `"io.modelcontextprotocol/clientInfo":` + clientInfo + "," + traceMeta
			to, err := f.srv.Route([]byte(frameWith(7, method, forms, params, meta)), "2026-07-28")
			if err != nil {
				t.Fatal(err)
			}
			to.Header = traced
			in := newInbox(t)
			f.srv.Exchange(ctx, &to, in)
			return in.take()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := dual(t, whoTools())
			want := calledBy + row.revision + "|00-1-2-01|t1|v1"
			if m := row.call(f, "tools/call", callParams("who", `{}`)); m.str("result", "structuredContent", "text") != want {
				t.Errorf("a tool: %s", m.raw)
			}
			if m := row.call(f, "prompts/get", `"name":"x"`); !strings.Contains(m.raw, want) {
				t.Errorf("a method: %s", m.raw)
			}
		})
	}
}

// A task knows who created it. When its handler runs again in another process, there are neither a header nor values.
func TestSRV03ATaskKnowsWhoCreatedIt(t *testing.T) {
	for _, row := range []struct {
		revision string
		create   func(f *fixture, ctx context.Context)
	}{
		{"2025-11-25", func(f *fixture, ctx context.Context) {
			ss := f.srv.NewSession(ctx, newInbox(t))
			ss.Receive(ctx, []byte(askingClient(initializeFrame)))
			ss.ReceiveWithHeader(context.WithValue(ctx, traceKey{}, "v1"), traced,
				[]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"who","arguments":{},"task":{},"_meta":{`+traceMeta+`}}}`))
			synctest.Wait()
			_ = ss.Close(nobodyWaits)
		}},
		{"2026-07-28", func(f *fixture, ctx context.Context) {
			meta := `"io.modelcontextprotocol/clientInfo":` + clientInfo + "," + traceMeta
			to, err := f.srv.Route([]byte(frameWith(7, "tools/call", tasksAsks, callParams("who", `{}`), meta)), "2026-07-28")
			if err != nil {
				t.Fatal(err)
			}
			to.Header = traced
			f.srv.Exchange(context.WithValue(ctx, traceKey{}, "v1"), &to, newInbox(t))
		}},
	} {
		t.Run(row.revision, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said := make(chan string, 2)
				twice := Definition{Tools: []Tool{tool("who", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
					said <- caller(ctx, call)
					<-ctx.Done() // a run that the end of its process parks
					return nil, ctx.Err()
				}), withTask(TaskOptional))}}
				store := WithTaskStore(durable{task.NewMemory()})
				f := dual(t, twice, store)
				row.create(f, as(t, "ada"))
				if got, want := <-said, calledBy+row.revision+"|00-1-2-01|t1|v1"; got != want {
					t.Errorf("the first run: %s, want %s", got, want)
				}
				_ = f.srv.Shutdown(t.Context())
				f = dual(t, twice, store)
				f.srv.ResumeTasks()
				synctest.Wait()
				if got, want := <-said, calledBy+row.revision+"|00-1-2-01||<nil>"; got != want {
					t.Errorf("the second run: %s, want %s", got, want)
				}
				_ = f.srv.Shutdown(t.Context())
			})
		})
	}
}

// A connection has no header, a client need not say who it is, and sessions have names.
func TestSRV03WhatIsNotSaidIsEmpty(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("who", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		return &echoOutput{Text: fmt.Sprintf("%+v|%v|%v|%s", call.Client(), call.Meta(), call.Header(), call.Session())}, nil
	}))}})
	c := f.dial(t.Context())
	c.send(frame(1, "tools/call", nothing, callParams("who", `{}`)))
	m, _ := c.answer("1")
	if text := m.str("result", "structuredContent", "text"); !strings.HasPrefix(text, "{Name: Title: Version: Capabilities:[]}|map[io.modelcontextprotocol/clientCapabilities") || !strings.HasSuffix(text, "|map[]|") {
		t.Error(text)
	}
	c.send(strings.Replace(initializeFrame, `{"name":"c","version":"1"}`, `{"name":"`+strings.Repeat("n", 500)+`","version":""}`, 1))
	c.next()
	c.send(initialized)
	c.call("2", "who", `{}`)
	m, _ = c.answer("2")
	if text := m.str("result", "structuredContent", "text"); !strings.HasPrefix(text, "{Name:"+strings.Repeat("n", 128)+"… Title:") || !strings.Contains(text, "|map[]|map[]|") || strings.HasSuffix(text, "|") {
		t.Error(text)
	}
}

// What a handler keeps by mistake says nothing of its caller any more: the memory is another request's.
func TestSRV03AnEndedCallSaysNothing(t *testing.T) {
	var kept *Call
	f := newFixture(t, []Tool{tool("who", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		kept = call
		return &echoOutput{}, nil
	}))})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	c.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","arguments":{},"_meta":{%s}}}`, traceMeta)
	c.answer("1")
	if kept.Meta() != nil || kept.Header() != nil || kept.Client().Name != "" {
		t.Errorf("%v %v %v", kept.Meta(), kept.Header(), kept.Client())
	}
}
