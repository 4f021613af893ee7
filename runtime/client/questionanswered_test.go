package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// questioned is a session with a peer, whose handlers answer when release is closed.
type questioned struct {
	*peer
	s       *client.Session
	release chan struct{}
	got     map[string][]string // answers, by the ids of the questions
	calls   chan message        // other requests of the client
}

func question(t *testing.T, offers string, opts ...client.Option) *questioned {
	q := &questioned{release: make(chan struct{}), got: map[string][]string{}, calls: make(chan message, 100)}
	wait := func(ctx context.Context) {
		select {
		case <-q.release:
		case <-ctx.Done():
		}
	}
	q.s, q.peer = meetOffering(t, "2025-11-25", offers, append(opts, client.WithHandlers(client.Handlers{
		Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
			wait(ctx)
			return &client.Answer{Action: client.Declined}, nil
		},
		Sample: func(ctx context.Context, _ *client.Question) (json.RawMessage, error) {
			wait(ctx)
			return json.RawMessage(`{"role":"assistant","model":"m","content":{"type":"text","text":"given"}}`), nil
		},
		Roots: func(ctx context.Context, _ *client.Question) ([]client.Root, error) {
			wait(ctx)
			return []client.Root{{URI: "file:///given"}}, nil
		},
	}))...)
	go q.each(func(m message) {
		switch {
		case m.Method == "":
			id := strings.Trim(string(m.ID), `"`)
			said := string(m.Result)
			if m.Error != nil {
				said = fmt.Sprint(m.Error.Code, " ", m.Error.Message)
			}
			q.got[id] = append(q.got[id], said)
		case m.ID != nil:
			q.calls <- m
		}
	})
	return q
}

// questions are those that a server asks, and what the handlers answer.
var questions = map[string][]string{
	"roots/list":             {`{}`, `{"roots":[{"uri":"file:///given"}]}`},
	"sampling/createMessage": {`{"messages":[],"maxTokens":5}`, `{"role":"assistant","model":"m","content":{"type":"text","text":"given"}}`},
	"elicitation/create":     {`{"message":"?","requestedSchema":{"type":"object","properties":{}}}`, `{"action":"decline"}`},
}

// A server that asks while requests are in flight that no question can be part of, or several, asks on its own account: the end of these takes nothing from
// the question, whatever it is.
func TestCAN31TheEndOfAnotherRequestEndsNoQuestion(t *testing.T) {
	for method, question := range questions {
		for name, requests := range map[string][]func(ctx context.Context, s *client.Session){
			"tools/list": {func(ctx context.Context, s *client.Session) {
				s.ListTools(ctx)(func(json.RawMessage, error) bool { return true })
			}},
			"ping":                {func(ctx context.Context, s *client.Session) { _ = s.Ping(ctx) }},
			"logging/setLevel":    {func(ctx context.Context, s *client.Session) { _ = s.SetLevel(ctx, "info") }},
			"resources/subscribe": {func(ctx context.Context, s *client.Session) { _ = s.Subscribe(ctx, "file:///x") }},
			"completion/complete": {func(ctx context.Context, s *client.Session) { _, _ = s.Complete(ctx, []byte(`{}`)) }},
			"two calls": {
				func(ctx context.Context, s *client.Session) { _, _ = s.CallTool(ctx, "x", nil) },
				func(ctx context.Context, s *client.Session) { _, _ = s.CallTool(ctx, "y", nil) },
			},
			"a call and a ping": {
				func(ctx context.Context, s *client.Session) { _ = s.Ping(ctx) },
				func(ctx context.Context, s *client.Session) { _, _ = s.CallTool(ctx, "x", nil, client.Timeout(0, 0)) },
			},
		} {
			t.Run(method+" beside "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { endOthers(t, method, question, requests) })
			})
		}
	}
}

// endOthers has a question asked beside requests, the first of which is answered at once, all if there are only others.
func endOthers(t *testing.T, method string, params []string, requests []func(ctx context.Context, s *client.Session)) {
	q := question(t, offers)
	done := make(chan struct{}, len(requests))
	for _, f := range requests {
		go func() { f(t.Context(), q.s); done <- struct{}{} }()
	}
	synctest.Wait()
	q.send(`{"jsonrpc":"2.0","id":"q","method":%q,"params":%s}`, method, params[0])
	synctest.Wait()
	var open []message
	for range requests {
		switch m := <-q.calls; m.Method {
		case "tools/call":
			open = append(open, m)
		case "tools/list":
			q.answer(m, `{"tools":[]}`)
		case "completion/complete":
			q.answer(m, `{"completion":{"values":[]}}`)
		default:
			q.answer(m, `{}`)
		}
	}
	if len(open) == 2 {
		q.answer(open[0], `{"content":[]}`)
		q.answer(open[1], `{"content":[]}`)
		open = nil
	}
	synctest.Wait()
	if len(q.got["q"]) > 0 {
		t.Errorf("too early: %q", q.got["q"])
	}
	close(q.release)
	synctest.Wait()
	for _, m := range open {
		q.answer(m, `{"content":[]}`)
	}
	for range requests {
		<-done
	}
	if got := q.got["q"]; !slices.Equal(got, params[1:]) {
		t.Errorf("got %q, want %q", got, params[1])
	}
}

// However a question ends, its server gets one answer, unless it has withdrawn the question itself.
func TestCAN31CAN30AQuestionThatEndsIsAnsweredOnce(t *testing.T) {
	const over = "-32600 the call that asked is over"
	for name, c := range map[string]struct {
		end  func(q *questioned, call message, cancel context.CancelFunc)
		want map[string][]string // by method
	}{
		"answered": {func(q *questioned, _ message, _ context.CancelFunc) { close(q.release) },
			map[string][]string{"roots/list": questions["roots/list"][1:], "sampling/createMessage": questions["sampling/createMessage"][1:], "elicitation/create": questions["elicitation/create"][1:]}},
		"withdrawn": {func(q *questioned, _ message, _ context.CancelFunc) { q.send(`%s`, withdrawn("q")) }, nil},
		"its time has passed": {func(q *questioned, _ message, _ context.CancelFunc) { time.Sleep(time.Hour) }, // of the bubble's clock
			map[string][]string{"roots/list": {"-32603 not answered in time"}, "sampling/createMessage": {"-32603 not answered in time"}, "elicitation/create": {`{"action":"cancel"}`}}},
		"its call is answered": {func(q *questioned, m message, _ context.CancelFunc) { q.answer(m, `{"content":[]}`) },
			map[string][]string{"roots/list": {over}, "sampling/createMessage": {over}, "elicitation/create": {`{"action":"cancel"}`}}},
		"its caller gives up": {func(_ *questioned, _ message, cancel context.CancelFunc) { cancel() },
			map[string][]string{"roots/list": {over}, "sampling/createMessage": {over}, "elicitation/create": {`{"action":"cancel"}`}}},
		"its call is cancelled": {func(q *questioned, _ message, _ context.CancelFunc) { _ = q.s.CancelRequest(q.s.Requests()[0].ID, "") },
			map[string][]string{"roots/list": {over}, "sampling/createMessage": {over}, "elicitation/create": {`{"action":"cancel"}`}}},
	} {
		for method, params := range questions {
			t.Run(method+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					q := question(t, offers)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					done := start(ctx, q.s, "x")
					m := <-q.calls
					q.send(`{"jsonrpc":"2.0","id":"q","method":%q,"params":%s}`, method, params[0])
					synctest.Wait()
					c.end(q, m, cancel)
					synctest.Wait()
					if got := q.got["q"]; !slices.Equal(got, c.want[method]) {
						t.Errorf("got %q, want %q", got, c.want[method])
					}
					cancel()
					<-done
				})
			})
		}
	}
}

// So are the questions of a task that this session has started: when the task is over, and when too many wait for somebody who follows it.
func TestCAN31CAN30TheQuestionsOfATaskAreAnsweredOnce(t *testing.T) {
	const offers = `{"tools":{"listChanged":true},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`
	begin := func(t *testing.T) (*questioned, *client.Execution[client.ToolResult]) {
		q := question(t, offers)
		go func() {
			q.answer(<-q.calls, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
			q.answer(<-q.calls, `{"task":{"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"working"}}`)
		}()
		x, err := q.s.Start(t.Context(), "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		return q, x
	}
	t.Run("its task is over", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q, _ := begin(t)
			for id, text := range map[string]string{"a": "one?", "b": "two?"} {
				q.send(`{"jsonrpc":"2.0","id":%q,%s`, id, ofTask(strings.Replace(goodForm, "sure?", text, 1))[len(`{"jsonrpc":"2.0","id":"q",`):])
			}
			q.answer(<-q.calls, `{"taskId":"t1",`+moments+`,"ttl":null,"status":"cancelled"}`)
			synctest.Wait()
			q.send(`{"jsonrpc":"2.0","id":"late",%s`, ofTask(goodForm)[len(`{"jsonrpc":"2.0","id":"q",`):])
			synctest.Wait()
			for id, want := range map[string]string{"a": `{"action":"cancel"}`, "b": `{"action":"cancel"}`, "late": "-32600 the task that asked is over"} {
				if got := q.got[id]; !slices.Equal(got, []string{want}) {
					t.Errorf("%s: got %q, want %q", id, got, want)
				}
			}
		})
	})
	t.Run("too many wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q, x := begin(t)
			x.Detach()
			for i := range 101 {
				q.send(`{"jsonrpc":"2.0","id":"w%d",%s`, i, ofTask(goodForm)[len(`{"jsonrpc":"2.0","id":"q",`):])
			}
			synctest.Wait()
			if got := q.got["w100"]; len(q.got) != 1 || len(got) != 1 || !strings.HasPrefix(got[0], "-32603 100 questions wait") {
				t.Errorf("got %q", q.got)
			}
			q.got = map[string][]string{}
		})
	})
}
