package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// passing is middleware that notes what passes, and puts its name into the context.
func (l *trail) passing(name string) func(Handle) Handle {
	return func(next Handle) Handle {
		return func(ctx context.Context, m *Message) (*MessageResult, error) {
			way := "<"
			if m.Direction == inflight.Incoming {
				way = ">"
			}
			l.add("%s %s %s", name, way, m)
			result, err := next(context.WithValue(ctx, markKey{}, name), m)
			if m.Kind == rpc.KindRequest {
				l.add("%s = %.22s %v", name, read(result), err)
			}
			return result, err
		}
	}
}

// read is a result as it is on the wire.
func read(r *MessageResult) json.RawMessage {
	b, err := r.JSON()
	if err != nil {
		panic(err)
	}
	return b
}

// wrapping is middleware of one function, for messages of one method.
func wrapping(method string, wrap func(ctx context.Context, next Handle, m *Message) (*MessageResult, error)) Option {
	return WithMiddleware(func(next Handle) Handle {
		return func(ctx context.Context, m *Message) (*MessageResult, error) {
			if m.Method != method {
				return next(ctx, m)
			}
			return wrap(ctx, next, m)
		}
	})
}

func asksAndReports() Tool {
	return tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		call.Progress(ctx, 1, 2, "")
		call.LogMessage(ctx, LevelError, "", "x")
		a, err := Ask(ctx, call, confirmQuestion(), "")
		return &echoOutput{Text: fmt.Sprint(a.Action, " ", ctx.Value(markKey{}))}, err
	}), withTask(TaskOptional))
}

// Every request and notification of a session passes, in both directions, through each middleware in its order.
func TestSRV01MessagesOfASessionPass(t *testing.T) {
	var l trail
	c := dual(t, Definition{Tools: []Tool{asksAndReports()}}, WithMiddleware(l.passing("a"), l.passing("b"))).dial(t.Context())
	c.initialize(forms)
	c.request("1", "ping", `{}`)
	l.want(t, `a > initialize "init"`, `b > initialize "init"`, `b = {"capabilities":{"logg <nil>`, `a = {"capabilities":{"logg <nil>`,
		"a > notifications/initialized", "b > notifications/initialized", "a > ping 1", "b > ping 1", "b = {} <nil>", "a = {} <nil>")
	c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{},"_meta":{"progressToken":7}}}`)
	question := c.nextRequest()
	c.reply(question, accepted)
	if m, _ := c.answer("2"); m.str("result", "structuredContent", "text") != "accept b" {
		t.Error(m.raw)
	}
	l.want(t, "a > tools/call 2", "b > tools/call 2", "a < notifications/progress", "b < notifications/progress", "a < notifications/message", "b < notifications/message",
		"a < elicitation/create 1", "b < elicitation/create 1", `b = {"action":"accept","co <nil>`, `a = {"action":"accept","co <nil>`,
		`b = {"content":[{"type":"t <nil>`, `a = {"content":[{"type":"t <nil>`)
	c.sendf(`{"jsonrpc":"2.0","method":"notifications/own","params":{}}`) // no revision knows it
	c.request("3", "no/method", `{}`).wantError(t, rpc.CodeMethodNotFound)
	c.srv.SetToolEnabled("ask", false)
	told := c.fence()
	if len(told) == 0 { // it comes before the fence's answer, or after it
		told = append(told, c.next())
	}
	if len(told) != 1 || told[0].Method != "notifications/tools/list_changed" {
		t.Error(told)
	}
	if got := strings.Join(l.taken(), "\n"); !strings.Contains(got, "a > notifications/own\nb > notifications/own") || strings.Contains(got, "no/method") {
		t.Error(got)
	}
}

// In a stateless revision the question is in the result, and a notification passes too.
func TestSRV01MessagesOfAStatelessRevisionPass(t *testing.T) {
	var l trail
	f := dual(t, Definition{Tools: []Tool{asksAndReports()}}, WithMiddleware(l.passing("a")), WithGather(0))
	_, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
	m, _, _ := f.try(t.Context(), forms, "ask", `{}`, answering(state, `{"confirm":`+accepted+`}`))
	if m.str("result", "structuredContent", "text") != "accept a" {
		t.Error(m.raw)
	}
	if calls := strings.Count(strings.Join(l.taken(), "\n"), "a > tools/call"); calls != 2 {
		t.Errorf("%d calls", calls)
	}
	f.exchange(t.Context(), strings.Replace(frame(1, "notifications/own", nothing, ""), `"id":1,`, "", 1))
	l.want(t, "a > notifications/own")
}

// What a middleware does instead of passing a request on, in both revisions, and what each kind of wrong one is answered and logged.
func TestSRV01WhatMiddlewareMayDo(t *testing.T) {
	for name, row := range map[string]struct {
		wrap func(ctx context.Context, next Handle, m *Message) (*MessageResult, error)
		want string // in the answer
		log  string
	}{
		"answers itself": {func(context.Context, Handle, *Message) (*MessageResult, error) {
			return ResultOf([]byte(`{"content":[{"type":"text","text":"kept"}],"structuredContent":{"text":"kept"}}`)), nil
		}, `"text":"kept"`, ""},
		"refuses with a code": {func(context.Context, Handle, *Message) (*MessageResult, error) {
			return nil, fmt.Errorf("limited: %w", rpc.Errorf(4290, "too often"))
		}, `"code":4290,"message":"too often"`, ""},
		"fails":        {func(context.Context, Handle, *Message) (*MessageResult, error) { return nil, errors.New("secret") }, `"internal error"`, "error=secret"},
		"panics":       {func(context.Context, Handle, *Message) (*MessageResult, error) { panic("oh") }, `"internal error"`, "panic=oh"},
		"ends":         {func(context.Context, Handle, *Message) (*MessageResult, error) { runtime.Goexit(); return nil, nil }, `"internal error"`, "Goexit"},
		"says no JSON": {func(context.Context, Handle, *Message) (*MessageResult, error) { return ResultOf([]byte(`{"a`)), nil }, `"internal error"`, "it is not a JSON object"},
		"says nothing": {func(context.Context, Handle, *Message) (*MessageResult, error) { return nil, nil }, `"internal error"`, "it is not a JSON object"},
		"breaks frames": {func(context.Context, Handle, *Message) (*MessageResult, error) {
			return nil, &rpc.Error{Code: 1, Data: []byte(`{"`)}
		}, `"internal error"`, "not JSON"},
		"changes the result": {func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			result, err := next(ctx, m)
			return ResultOf([]byte(strings.Replace(string(read(result)), "hi <nil>", strings.Repeat("long ", 3000), 1))), err
		}, `long long long`, ""},
		"hides the result": {func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			_, _ = next(ctx, m)
			return nil, rpc.Errorf(4290, "too much")
		}, `"code":4290`, ""},
		"calls next twice": {func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			_, _ = next(ctx, m)
			return next(ctx, m)
		}, `"internal error"`, "next was called again, or late, for tools/call 1"},
		"ignores that next was called twice": {func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			result, err := next(ctx, m)
			if _, again := next(ctx, m); !errors.Is(again, ErrNext) {
				t.Errorf("the second next: %v", again)
			}
			return result, err
		}, `"text":"hi <nil>"`, "next was called again, or late, for tools/call 1"},
		"returns before next does": {func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			began := make(chan struct{})
			go func() {
				close(began)
				_, _ = next(ctx, m)
			}()
			<-began
			return ResultOf([]byte(`{"content":[],"structuredContent":{"text":"kept"}}`)), nil
		}, `"content":[]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var logged syncBuffer
			f := dual(t, Definition{Tools: []Tool{tool("echo", structured(marked))}}, wrapping("tools/call", row.wrap), WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
			c := f.dial(t.Context())
			c.initialize(`{}`)
			for _, send := range []func(){
				func() { c.call("1", "echo", `{"text":"hi"}`) },
				func() { c.send(frame(1, "tools/call", nothing, callParams("echo", `{"text":"hi"}`))) },
			} {
				send()
				m, _ := c.answer("1")
				if !json.Valid([]byte(m.raw)) || !strings.Contains(m.raw, row.want) {
					t.Error(m.raw)
				}
				if m.Error == nil && strings.Contains(string(m.Result), "serverInfo") != (m.str("result", "resultType") == "complete") {
					t.Error(m.raw)
				}
			}
			c.fence()
			c.srv.records.Flush(t.Context())
			if !strings.Contains(logged.String(), row.log) {
				t.Errorf("the log does not say %q: %s", row.log, logged.String())
			}
		})
	}
}

// A middleware that keeps the message, and passes it on when it has returned, gets an error.
func TestSRV01NextAfterItsMiddlewareReturned(t *testing.T) {
	var late func() error
	c := newFixture(t, []Tool{tool("echo", structured(echo))}, wrapping("tools/call", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
		late = func() error { _, err := next(ctx, m); return err }
		return ResultOf([]byte(`{"content":[]}`)), nil
	})).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "echo", `{"text":"hi"}`)
	c.answer("1")
	if err := late(); !errors.Is(err, ErrNext) || !strings.Contains(err.Error(), "next was called again, or late, for tools/call 1") {
		t.Error(err)
	}
}

// Notifications that middleware drops are not sent, or not taken; the rest goes on, also after a panic or the end of a goroutine.
func TestSRV01NotificationsMayBeDropped(t *testing.T) {
	for name, drop := range map[string]func(){"drops": func() {}, "panics": func() { panic("oh") }, "ends": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			told := make(chan struct{}, 1)
			refuse := func(context.Context, Handle, *Message) (*MessageResult, error) { drop(); return nil, nil }
			silent := func(context.Context, Handle, *Message) (*MessageResult, error) { return nil, errors.New("not sent") }
			f := dual(t, Definition{Tools: []Tool{asksAndReports(), tool("echo", structured(echo))}}, wrapping("notifications/progress", silent),
				wrapping("notifications/message", silent), wrapping("notifications/roots/list_changed", refuse), WithRootsChanged(func(context.Context) { told <- struct{}{} }))
			c := f.dial(t.Context())
			c.initialize(`{"elicitation":{},"roots":{"listChanged":true}}`)
			c.sendf(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
			c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{},"_meta":{"progressToken":7}}}`)
			c.reply(c.next(), accepted) // nothing comes before the question
			m, before := c.answer("2")
			m.wantNoError(t)
			if len(before) > 0 || len(told) > 0 {
				t.Errorf("%v, %d", before, len(told))
			}
		})
	}
}

// A middleware may answer a question in the client's place, inline and for a task, or see to it that it fails.
func TestSRV01AQuestionAnsweredByMiddleware(t *testing.T) {
	for name, row := range map[string]struct {
		wrap func(ctx context.Context, next Handle, m *Message) (*MessageResult, error)
		want string
	}{
		"answers": {func(context.Context, Handle, *Message) (*MessageResult, error) {
			return ResultOf([]byte(`{"action":"decline"}`)), nil
		}, "decline <nil>"},
		"refuses": {func(context.Context, Handle, *Message) (*MessageResult, error) {
			return nil, rpc.Errorf(4290, "not now")
		}, "not now"},
		"fails":  {func(context.Context, Handle, *Message) (*MessageResult, error) { return nil, errors.New("secret") }, "internal error"},
		"panics": {func(context.Context, Handle, *Message) (*MessageResult, error) { panic("secret") }, "internal error"},
		"ends":   {func(context.Context, Handle, *Message) (*MessageResult, error) { runtime.Goexit(); return nil, nil }, "internal error"},
		"gives it no time": {func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(errors.New("no time"))
			return next(ctx, m)
		}, "no time"},
	} {
		t.Run(name, func(t *testing.T) {
			c := dual(t, Definition{Tools: []Tool{asksAndReports()}}, wrapping(elicit, row.wrap)).dial(t.Context())
			c.initialize(forms)
			c.call("1", "ask", `{}`)
			if m, _ := c.answer("1"); !strings.Contains(m.raw, row.want) {
				t.Errorf("inline: %s", m.raw)
			}
			if name == "gives it no time" {
				return // the task waits for an answer of another stream
			}
			c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{},"task":{}}}`)
			m, _ := c.answer("2")
			m = c.request("3", "tasks/result", `{"taskId":`+m.field("result", "task", "taskId")+`}`)
			if !strings.Contains(m.raw, row.want) {
				t.Errorf("as a task: %s", m.raw)
			}
		})
	}
}

// A cancellation has taken effect before middleware sees it, and what middleware answers after it is not sent (CAN02).
func TestSRV01MiddlewareDoesNotHoldUpACancellation(t *testing.T) {
	h := newHold()
	answered, release := make(chan struct{}), make(chan struct{})
	f := newFixture(t, []Tool{tool("hang", h.handler())},
		wrapping("notifications/cancelled", func(context.Context, Handle, *Message) (*MessageResult, error) { <-release; return nil, nil }),
		wrapping("tools/call", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			_, _ = next(ctx, m)
			var cause *inflight.Cause
			if !errors.As(context.Cause(ctx), &cause) || cause.Source != inflight.SourcePeer {
				t.Errorf("cause %v", context.Cause(ctx))
			}
			close(answered)
			return ResultOf([]byte(`{"content":[]}`)), nil
		}))
	c := f.dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "hang", `{}`)
	<-h.began
	c.cancel("1")
	<-answered
	close(release)
	for _, m := range c.fence() {
		t.Errorf("sent after the cancellation: %s", m.raw)
	}
}

// The end of a connection ends the contexts of middleware where messages are read; one that does not return all the same is late.
func TestSRV01MiddlewareThatDoesNotReturn(t *testing.T) {
	for _, method := range []string{"initialize", "notifications/initialized"} {
		for _, deaf := range []bool{false, true} {
			t.Run(fmt.Sprint(method, deaf), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					release := make(chan struct{})
					f := newFixture(t, nil, wrapping(method, func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
						if deaf {
							<-release
						}
						<-ctx.Done()
						return nil, context.Cause(ctx)
					}))
					near, far := rpc.Pipe()
					ctx, stop := context.WithCancelCause(t.Context())
					served := make(chan error, 1)
					go func() { served <- f.srv.Serve(ctx, far) }()
					go func() {
						for {
							if _, err := near.ReadFrame(nil); err != nil {
								return
							}
						}
					}()
					_ = near.WriteFrame([]byte(initializeFrame))
					if method != "initialize" {
						_ = near.WriteFrame([]byte(initialized))
					}
					synctest.Wait()
					began := time.Now()
					stop(errors.New("stop"))
					err := <-served
					if errors.Is(err, ErrGrace) != deaf || deaf != (time.Since(began) > 0) {
						t.Errorf("after %v: %v", time.Since(began), err)
					}
					close(release)
					_ = near.Close()
					synctest.Wait()
				})
			})
		}
	}
}

// A context of middleware reaches the run of a task, with its values alone.
func TestSRV01AContextOfMiddlewareReachesATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(marked), withTask(TaskRequired))}},
			wrapping("tools/call", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
				ctx, cancel := context.WithCancel(context.WithValue(ctx, markKey{}, "mine"))
				defer cancel()
				return next(ctx, m)
			}))
		id := f.create(t.Context(), "echo", `{"text":"hi"}`, withTasks)
		if m := f.await(t.Context(), id, task.Completed); m.str("result", "result", "structuredContent", "text") != "hi mine" {
			t.Error(m.raw)
		}
		_ = f.srv.Shutdown(t.Context())
	})
}

// Middleware knows who sent a message, as handlers do.
func TestSRV03MiddlewareKnowsWhoCalls(t *testing.T) {
	var l trail
	note := func(_ context.Context, next Handle, m *Message) (*MessageResult, error) {
		client := m.Client()
		l.add("%s|%v|%s|%s|%s|%s|%s", client.Name, client.Can("elicitation"), m.Revision, m.Principal, m.Meta().Text("traceparent"), m.Header().Get("x-trace"), m.Tool)
		return ResultOf([]byte(`{"content":[]}`)), nil
	}
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, wrapping("tools/call", note))
	in := newInbox(t)
	ss := f.srv.NewSession(as(t, "ada"), in)
	ss.Receive(t.Context(), []byte(askingClient(initializeFrame)))
	ss.ReceiveWithHeader(t.Context(), traced, []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{`+traceMeta+`}}}`))
	in.take()
	in.take()
	_ = ss.Close(nobodyWaits)
	to, err := f.srv.Route([]byte(frameWith(7, "tools/call", forms, callParams("echo", `{}`), `"io.modelcontextprotocol/clientInfo":`+clientInfo+","+traceMeta)), "")
	if err != nil {
		t.Fatal(err)
	}
	to.Header = traced
	f.srv.Exchange(as(t, "bob"), &to, in)
	l.want(t, "inspector|true|2025-11-25|ada|00-1-2-01|t1|echo", "inspector|true|2026-07-28|bob|00-1-2-01|t1|echo")
}
