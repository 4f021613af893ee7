package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// Handlers are called in the order in which the server has written the questions of a result or a task, and may run at the same time.
func TestEXT17HandlersAreCalledInTheOrderOfTheQuestions(t *testing.T) {
	var all, keys []string
	for i := range 20 {
		keys = append(keys, fmt.Sprintf("k\u00e9%d", i*7%20))
		all = append(all, `"k\u00e9`+keys[i][len("ké"):]+`":`+goodForm)
	}
	requests := `"inputRequests":{` + strings.Join(all, ",") + `}`
	for _, asTask := range []bool{false, true} {
		for range 50 {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var called []string
				together := make(chan struct{})
				s, p := meetOffering(t, "2026-07-28", taskOffers, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					mu.Lock()
					called = append(called, q.Key)
					if len(called) == len(keys) {
						close(together)
					}
					mu.Unlock()
					<-together
					return accept(ctx, q)
				}))
				done := start(t.Context(), s, "x")
				m := p.expect("tools/call")
				if asTask {
					p.answer(m, taskIs("task", "working", ""))
					p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", ","+requests))
					for range keys {
						p.answer(p.expect("tasks/update"), `{"resultType":"complete"}`)
					}
					p.answer(p.expect("tasks/get"), taskIs("complete", "completed", `,"result":{"content":[]}`))
				} else {
					p.answer(m, `{"resultType":"input_required",`+requests+`}`)
					p.answer(p.expect("tools/call"), `{"content":[]}`)
				}
				if r := <-done; r.err != nil || !slices.Equal(called, keys) {
					t.Errorf("%v, called %q", r.err, called)
				}
			})
		}
	}
}

// So are hosts told which questions of a task stay open, among those that a handler is called with.
func TestEXT22QuestionsAreLeftOpenInTheirOrder(t *testing.T) {
	const sampling = `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}`
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			keys := make(chan string, 20)
			h := client.Handlers{
				LeftOpen: func(q *client.Question, _ error) { keys <- q.Key },
				Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					keys <- q.Key
					<-ctx.Done()
					return nil, context.Cause(ctx)
				},
			}
			s, p := meetOffering(t, "2026-07-28", taskOffers, client.WithHandlers(h))
			x := resume(t, s)
			var want, all []string
			for i := range 20 {
				want = append(want, fmt.Sprint("k", i*7%20))
				all = append(all, `"`+want[i]+`":`+[]string{sampling, goodForm, `{}`}[i%3])
			}
			p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", `,"inputRequests":{`+strings.Join(all, ",")+`}`))
			for i := range want {
				if key := <-keys; key != want[i] {
					t.Fatalf("question %d is %s, want %s", i, key, want[i])
				}
			}
			x.Detach()
		})
	}
}

// The ways in which a question can come, see askBy.
var waysToAsk = []string{"request", "request of a task", "as a task", "result", "task"}

// askBy has the peer ask a question in one of the ways, of a call or task that is followed.
func askBy(t *testing.T, way string, opts ...client.Option) *client.Session {
	t.Helper()
	revision := "2025-11-25"
	if way == "result" || way == "task" {
		revision = "2026-07-28"
	}
	s, p := meetOffering(t, revision, taskOffers, opts...)
	p.offerTask(s)
	ask := func(form string) { p.send(`{"jsonrpc":"2.0","id":"q",%s`, form[1:]) }
	go p.each(func(m message) {
		switch {
		case m.Method == "tasks/get":
			p.answer(m, taskIs("complete", "input_required", `,"inputRequests":{"k":`+goodForm+`}`))
		case m.Method == "tasks/result":
			p.send("%s", ofTask(goodForm))
		case m.Method != "tools/call":
		case way == "request":
			ask(goodForm)
		case way == "as a task":
			ask(strings.Replace(goodForm, `"params":{`, `"params":{"task":{},`, 1))
		case way == "result":
			p.answer(m, `{"resultType":"input_required","inputRequests":{"k":`+goodForm+`}}`)
		}
	})
	if strings.HasSuffix(way, " task") && way != "as a task" || way == "task" {
		resume(t, s)
	} else {
		start(t.Context(), s, "x")
	}
	return s
}

// When the session ends, each handler learns why, and the host that the question is gone and that the answer came too late, before Close returns.
func TestCAN31HostsLearnOfQuestionsThatTheEndOfTheSessionEnds(t *testing.T) {
	for _, way := range waysToAsk {
		for how, end := range map[string]func(s *client.Session) error{"Close": (*client.Session).Close, "Abort": (*client.Session).Abort} {
			for range 20 {
				synctest.Test(t, func(t *testing.T) {
					asked := make(chan struct{})
					var saw error
					var gone, late atomic.Int32
					s := askBy(t, way, client.WithHandlers(client.Handlers{
						Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
							close(asked)
							<-ctx.Done()
							saw = context.Cause(ctx)
							return accept(ctx, q)
						},
						QuestionGone: func(_ *client.Question, cause error) { gone.Add(1) },
						Answered: func(_ *client.Question, err error) {
							if err != nil {
								late.Add(1)
							}
						},
					}))
					<-asked
					if err := end(s); err != nil {
						t.Error(err)
					}
					var cause *client.Cause
					if !errors.As(saw, &cause) || gone.Load() != 1 || late.Load() != 1 {
						t.Errorf("%s, %s: the handler saw %v, gone %d, late %d", way, how, saw, gone.Load(), late.Load())
					}
				})
			}
		}
	}
}

// A handler that returns nothing at all has failed; the process goes on.
func TestCAN31AHandlerThatReturnsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2025-11-25", elicits(func(context.Context, *client.Question) (*client.Answer, error) { return nil, nil }))
		done := start(t.Context(), s, "x")
		m := p.expect("tools/call")
		p.send(`{"jsonrpc":"2.0","id":"q",%s`, goodForm[1:])
		if refusal := p.next(); refusal.Error == nil || refusal.Error.Code != -32603 {
			t.Error(refusal.raw)
		}
		p.answer(m, `{"content":[]}`)
		<-done
	})
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2026-07-28", elicits(func(context.Context, *client.Question) (*client.Answer, error) { return nil, nil }))
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"k":`+goodForm+`}}`)
		r := <-done
		if r.err == nil {
			t.Fatal("the call goes on without an answer")
		}
		has(t, r.err.Error(), "neither an answer nor an error")
	})
}

// A question that a task does not list any more was answered by another client: its dialog ends, and an answer to it is too late. If it is listed again, it is
// asked again.
func TestEXT22AQuestionThatTheTaskDoesNotListAnyMoreEnds(t *testing.T) {
	for _, then := range []string{taskIs("complete", "working", ""), taskIs("complete", "input_required", `,"inputRequests":{"other":`+goodForm+`}`)} {
		synctest.Test(t, func(t *testing.T) {
			asked, gone, answered := make(chan string, 9), make(chan error, 9), make(chan error, 9)
			s, p := meetOffering(t, "2026-07-28", taskOffers, client.WithHandlers(client.Handlers{
				Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					asked <- q.Key
					<-ctx.Done()
					return accept(ctx, q)
				},
				QuestionGone: func(_ *client.Question, cause error) { gone <- cause },
				Answered:     func(_ *client.Question, err error) { answered <- err },
			}))
			x := resume(t, s)
			listed := taskIs("complete", "input_required", `,"inputRequests":{"k":`+goodForm+`}`)
			p.answer(p.expect("tasks/get"), listed)
			if key := <-asked; key != "k" {
				t.Error(key)
			}
			p.answer(p.expect("tasks/get"), then)
			for _, told := range []chan error{gone, answered} {
				var cause *client.Cause
				if err := <-told; !errors.As(err, &cause) {
					t.Error(err)
				}
			}
			get := p.expect("tasks/get")
			for len(asked) > 0 {
				<-asked
			}
			p.answer(get, listed)
			sleep(t.Context(), 100*time.Millisecond)
			if key := <-asked; key != "k" {
				t.Error(key)
			}
			x.Detach()
		})
	}
}
