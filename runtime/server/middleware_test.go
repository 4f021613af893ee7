package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// trail is what middleware noted, in order.
type trail struct {
	mu    sync.Mutex
	lines []string
}

func (l *trail) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// taken is what was noted so far; it is noted no more.
func (l *trail) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func (l *trail) want(t *testing.T, want ...string) {
	t.Helper()
	if got := l.taken(); !slices.Equal(got, want) {
		t.Errorf("noted\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

type markKey struct{}

// marking is middleware that notes what passes, and puts its name into the context.
func (l *trail) marking(name string) func(ToolHandle) ToolHandle {
	return func(next ToolHandle) ToolHandle {
		return func(ctx context.Context, call *Call, in any) (any, error) {
			l.add("%s %s %T", name, call.Tool(), in)
			out, err := next(context.WithValue(ctx, markKey{}, name), call, in)
			l.add("%s %T %v", name, out, err)
			return out, err
		}
	}
}

func marked(ctx context.Context, _ *Call, in *echoInput) (*echoOutput, error) {
	if in.Text == "fail" {
		return nil, errors.New("no such order")
	}
	return &echoOutput{Text: fmt.Sprint(in.Text, " ", ctx.Value(markKey{}))}, nil
}

// Tool middleware runs in the order in which it was given, sees input, output and error, and hands on a context.
func TestSRV01ToolMiddlewareRunsInOrder(t *testing.T) {
	var l trail
	c := newFixture(t, []Tool{tool("echo", structured(marked))}, WithToolMiddleware(l.marking("a"), l.marking("b")), WithToolMiddleware(l.marking("c"))).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "echo", `{"text":"hi"}`)
	m, _ := c.answer("1")
	if m.str("result", "structuredContent", "text") != "hi c" {
		t.Error(m.raw)
	}
	l.want(t, "a echo *server.echoInput", "b echo *server.echoInput", "c echo *server.echoInput",
		"c *server.echoOutput <nil>", "b *server.echoOutput <nil>", "a *server.echoOutput <nil>")
	c.call("2", "echo", `{"text":"fail"}`)
	if m, _ = c.answer("2"); m.field("result", "isError") != "true" || !strings.Contains(m.raw, "no such order") {
		t.Error(m.raw)
	}
	l.want(t, "a echo *server.echoInput", "b echo *server.echoInput", "c echo *server.echoInput",
		"c <nil> no such order", "b <nil> no such order", "a <nil> no such order")
	c.call("3", "echo", `{"text":""}`) // breaks its schema
	if m, _ = c.answer("3"); m.field("result", "isError") != "true" {
		t.Error(m.raw)
	}
	l.want(t)
}

// What a tool middleware does instead of its handler, and what each kind of wrong one is answered and logged.
func TestSRV01WhatToolMiddlewareMayDo(t *testing.T) {
	late := make(chan func(), 1)
	for name, row := range map[string]struct {
		wrap func(ctx context.Context, next ToolHandle, call *Call, in any) (any, error)
		want string // in the answer
		log  string
	}{
		"answers itself": {func(context.Context, ToolHandle, *Call, any) (any, error) { return &echoOutput{Text: "kept"}, nil }, `"text":"kept"`, ""},
		"refuses":        {func(context.Context, ToolHandle, *Call, any) (any, error) { return nil, errors.New("not today") }, `"isError":true`, ""},
		"refuses with a code": {func(context.Context, ToolHandle, *Call, any) (any, error) {
			return nil, rpc.Errorf(4290, "too often")
		}, `"code":4290`, ""},
		"changes input and output": {func(ctx context.Context, next ToolHandle, call *Call, in any) (any, error) {
			out, err := next(ctx, call, &echoInput{Text: in.(*echoInput).Text + "!"})
			out.(*echoOutput).Text += "?"
			return out, err
		}, `"text":"hi! <nil>?"`, ""},
		"breaks the schema": {func(context.Context, ToolHandle, *Call, any) (any, error) {
			return &echoOutput{Text: strings.Repeat("x", 1<<20+1)}, nil
		}, `"code":-32603`, "output refused"},
		"returns nothing":      {func(context.Context, ToolHandle, *Call, any) (any, error) { return (*echoOutput)(nil), nil }, "gave no result", "output refused"},
		"panics":               {func(context.Context, ToolHandle, *Call, any) (any, error) { panic("oh") }, `"internal error"`, "panic=oh"},
		"returns another type": {func(context.Context, ToolHandle, *Call, any) (any, error) { return 5, nil }, `"internal error"`, "a middleware returned a int for the tool echo, whose handler returns a *server.echoOutput"},
		"passes another type": {func(ctx context.Context, next ToolHandle, call *Call, _ any) (any, error) {
			return next(ctx, call, &noInput{})
		}, `"internal error"`, "a middleware passed a *server.noInput to the tool echo, whose handler takes a *server.echoInput"},
		"passes nil": {func(ctx context.Context, next ToolHandle, call *Call, _ any) (any, error) {
			return next(ctx, call, nil)
		}, `"internal error"`, "a middleware passed a <nil> to the tool echo"},
		"calls next twice": {func(ctx context.Context, next ToolHandle, call *Call, in any) (any, error) {
			_, _ = next(ctx, call, in)
			return next(ctx, call, in)
		}, `"internal error"`, "next was called again, or late, for tool echo"},
		"ignores that next was called twice": {func(ctx context.Context, next ToolHandle, call *Call, in any) (any, error) {
			out, err := next(ctx, call, in)
			if _, again := next(ctx, call, in); !errors.Is(again, ErrNext) {
				t.Errorf("the second next: %v", again)
			}
			return out, err
		}, `"text":"hi <nil>"`, "next was called again, or late, for tool echo"},
		"calls next late": {func(ctx context.Context, next ToolHandle, call *Call, in any) (any, error) {
			late <- func() {
				if _, err := next(ctx, call, in); !errors.Is(err, ErrNext) {
					t.Errorf("a late next: %v", err)
				}
			}
			return &echoOutput{Text: "early"}, nil
		}, `"text":"early"`, ""},
		"returns before next does": {func(ctx context.Context, next ToolHandle, call *Call, in any) (any, error) {
			began := make(chan struct{})
			go func() {
				close(began)
				_, _ = next(ctx, call, in)
			}()
			<-began
			return &echoOutput{Text: "early"}, nil
		}, `"text":"early"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var logged syncBuffer
			wrap := func(next ToolHandle) ToolHandle {
				return func(ctx context.Context, call *Call, in any) (any, error) { return row.wrap(ctx, next, call, in) }
			}
			c := newFixture(t, []Tool{tool("echo", structured(marked))}, WithToolMiddleware(wrap), WithLogger(slog.New(slog.NewTextHandler(&logged, nil)))).dial(t.Context())
			c.initialize(`{}`)
			c.call("1", "echo", `{"text":"hi"}`)
			m, _ := c.answer("1")
			select {
			case again := <-late:
				again()
			default:
			}
			c.srv.records.Flush(t.Context())
			if !strings.Contains(m.raw, row.want) || !strings.Contains(logged.String(), row.log) {
				t.Errorf("%s\n%s", m.raw, logged.String())
			}
		})
	}
}

// A tool's middleware is around every run: inline again with the answer to a question, and in a task.
func TestSRV01ToolMiddlewareIsAroundEveryRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l trail
		asks := tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			a, err := Ask(ctx, call, confirmQuestion(), "")
			return &echoOutput{Text: fmt.Sprint(a.Action, " ", ctx.Value(markKey{}))}, err
		}), withTask(TaskOptional))
		f := dual(t, Definition{Tools: []Tool{asks}}, WithToolMiddleware(l.marking("a")), WithGather(0))
		_, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
		m, _, _ := f.try(t.Context(), forms, "ask", `{}`, answering(state, `{"confirm":`+accepted+`}`))
		if m.str("result", "structuredContent", "text") != "accept a" {
			t.Error(m.raw)
		}
		l.want(t, "a ask *server.noInput", "a *server.echoOutput "+ErrAsked.Error(), "a ask *server.noInput", "a *server.echoOutput <nil>")
		id := f.create(t.Context(), "ask", `{}`, tasksAsks)
		synctest.Wait()
		f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"confirm":`+accepted+`}`)).wantNoError(t)
		if m = f.await(t.Context(), id, task.Completed); m.str("result", "result", "structuredContent", "text") != "accept a" {
			t.Error(m.raw)
		}
		l.want(t, "a ask *server.noInput", "a *server.echoOutput <nil>")
		_ = f.srv.Shutdown(t.Context())
	})
}

// Middleware sees that its call was cancelled, and why. What it answers then is not sent (CAN02).
func TestSRV01AnAnswerAfterTheCancellationIsWithheld(t *testing.T) {
	causes := make(chan *inflight.Cause, 1)
	wrap := func(next ToolHandle) ToolHandle {
		return func(ctx context.Context, call *Call, in any) (any, error) {
			_, err := next(ctx, call, in)
			var cause *inflight.Cause
			if !errors.As(context.Cause(ctx), &cause) || err == nil {
				t.Errorf("cause %v, error %v", context.Cause(ctx), err)
			}
			causes <- cause
			return &echoOutput{Text: "all the same"}, nil
		}
	}
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler()), tool("echo", structured(echo))}, WithToolMiddleware(func(next ToolHandle) ToolHandle {
		around := wrap(next)
		return func(ctx context.Context, call *Call, in any) (any, error) {
			if call.Tool() == "hang" {
				return around(ctx, call, in)
			}
			return next(ctx, call, in)
		}
	})).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "hang", `{}`)
	<-h.began
	c.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`)
	if cause := <-causes; cause.Source != inflight.SourcePeer || cause.Reason != "enough" {
		t.Errorf("cause %v", cause)
	}
	for _, m := range c.fence() {
		t.Errorf("sent after the cancellation: %s", m.raw)
	}
}

// A middleware that gives its handler less time is answered by the handler.
func TestSRV01AContextOfMiddlewareEndsItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler())}}, WithToolMiddleware(func(next ToolHandle) ToolHandle {
			return func(ctx context.Context, call *Call, in any) (any, error) {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				_, err := next(ctx, call, in)
				return nil, err
			}
		}))
		if m := f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("hang", `{}`))); !strings.Contains(m.raw, "deadline exceeded") {
			t.Error(m.raw)
		}
	})
}
