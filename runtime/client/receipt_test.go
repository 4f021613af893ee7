package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// An answer that is under way when its task ends is neither withdrawn nor lost: its receipt says what became of it.
func TestEXT22TheReceiptOfAnAnswerOutlivesItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		received := make(chan error, 10)
		s, p := meetOffering(t, "2026-07-28", taskOffers, client.WithHandlers(client.Handlers{Elicit: accept, Answered: func(_ *client.Question, err error) {
			received <- err
		}}))
		x := resume(t, s)
		p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", `,"inputRequests":{"good":`+goodForm+`}`))
		m := p.expect("tasks/update")
		p.answer(p.expect("tasks/get"), taskIs("complete", "completed", `,"result":{"content":[]}`))
		if _, err := x.Result(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(received) > 0 {
			t.Fatalf("there is a receipt already: %v", <-received)
		}
		p.answer(m, `{"resultType":"complete"}`)
		if err := <-received; err != nil {
			t.Error(err)
		}
	})
}

// An answer that can not be sent is not one that the server has: the host hears why.
func TestEXT22AHostHearsThatItsAnswerCanNotBeSent(t *testing.T) {
	for name, c := range map[string]struct{ question, says string }{
		"breaks the form": {strings.Replace(brokenForm, `"properties":{}`, `"properties":{"age":{"type":"integer"}}`, 1), "age: must be of type integer"},
		"no file":         {`{"method":"roots/list"}`, "no file:// address"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				received := make(chan error, 10)
				s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithHandlers(client.Handlers{
					Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
						return &client.Answer{Action: client.Accepted, Content: map[string]any{"age": "old"}}, nil
					},
					Roots: func(context.Context, *client.Question) ([]client.Root, error) {
						return []client.Root{{URI: "http://server.example"}}, nil
					},
					Answered: func(_ *client.Question, err error) { received <- err },
				}))
				done := start(t.Context(), s, "x")
				call := p.expect("tools/call")
				p.send("%s", `{"jsonrpc":"2.0","id":"q",`+c.question[1:])
				if m := p.next(); m.Error == nil {
					t.Errorf("%+v", m)
				}
				if err := <-received; err == nil {
					t.Error("there is no error")
				} else {
					has(t, err.Error(), c.says)
				}
				p.answer(call, `{"content":[]}`)
				<-done
			})
		})
	}
}

// Nor can it in 2026-07-28, where a handler's error has no place in a result or a task: the host hears it, once.
func TestEXT22AHostHearsThatItsHandlerHasFailed(t *testing.T) {
	form := strings.Replace(brokenForm, `"properties":{}`, `"properties":{"age":{"type":"integer"}},"required":["age"]`, 1)
	for says, c := range map[string]struct {
		answer *client.Answer
		err    error
	}{
		"no hands":              {nil, errors.New("no hands")},
		"mine":                  {nil, &client.Error{Code: 7, Message: "mine"}},
		"rejected by the user":  {nil, client.ErrRejected},
		"neither an answer nor": {nil, nil},
		"unknown action nod":    {&client.Answer{Action: "nod"}, nil},
		"age: must be of type":  {&client.Answer{Action: client.Accepted, Content: map[string]any{"age": "old"}}, nil},
		"age is required":       {&client.Answer{Action: client.Accepted}, nil},
	} {
		for _, asTask := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				received := make(chan error, 10)
				s, p := meetOffering(t, "2026-07-28", taskOffers, client.WithHandlers(client.Handlers{
					Elicit:   func(context.Context, *client.Question) (*client.Answer, error) { return c.answer, c.err },
					Answered: func(_ *client.Question, err error) { received <- err },
				}))
				done := start(t.Context(), s, "x")
				asks := `"inputRequests":{"k":` + form + `}`
				if m := p.expect("tools/call"); asTask {
					p.answer(m, taskIs("task", "working", ""))
					p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", ","+asks))
					p.answer(p.expect("tasks/cancel"), `{"resultType":"complete"}`)
				} else {
					p.answer(m, `{"resultType":"input_required",`+asks+`}`)
				}
				<-done
				if synctest.Wait(); len(received) != 1 {
					t.Fatalf("%s, task %v: told %d times", says, asTask, len(received))
				}
				if err := <-received; err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%s, task %v: %v", says, asTask, err)
				}
			})
		}
	}
}
