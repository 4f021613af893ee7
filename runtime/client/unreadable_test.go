package client_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// One question that is none hides no other of its task. It stays open as one that can not be answered, and is warned of once.
func TestEXT22AQuestionThatIsNoneHidesNoOther(t *testing.T) {
	for question, why := range map[string]string{`5`: "method is a string: 5", `null`: "no method", `[]`: "method is a string: []", `{"method":5}`: `method is a string: {"method":5}`, `{}`: "no method"} {
		for _, hears := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				open := make(chan opened, 10)
				h := client.Handlers{Elicit: accept}
				if hears {
					h.LeftOpen = func(q *client.Question, why error) { open <- opened{q, why} }
				}
				s, p := meetOffering(t, "2026-07-28", taskOffers, client.WithHandlers(h), client.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				x := resume(t, s)
				asking := taskIs("complete", "input_required", `,"inputRequests":{"a":`+question+`,"b":`+goodForm+`}`)
				p.answer(p.expect("tasks/get"), asking)
				m := p.expect("tasks/update")
				has(t, m.raw, `"inputResponses":{"b":{"action":"accept","content":{"yes":true}}}`)
				p.answer(m, `{"resultType":"complete"}`)
				for range 3 {
					p.answer(p.expect("tasks/get"), asking)
				}
				p.answer(p.expect("tasks/get"), taskIs("complete", "completed", `,"result":{"content":[]}`))
				if _, err := x.Result(t.Context()); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if hears {
					left := <-open
					if left.q.Key != "a" || left.q.Task != "t1" || len(open) > 0 || log.Len() > 0 {
						t.Errorf("%+v, %d more, %s", left.q, len(open), &log)
					}
					has(t, left.why.Error(), `"a"`, why)
				} else if strings.Count(log.String(), "\n") != 1 {
					t.Errorf("%s: %s", question, &log)
				}
			})
		}
	}
}

// The session that has started such a task cancels it, as with any question that it can not answer.
func TestEXT22AQuestionThatIsNoneEndsTheTaskOfItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2026-07-28", taskOffers, elicits(func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}))
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), taskIs("task", "working", ""))
		p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", `,"inputRequests":{"a":5,"b":`+goodForm+`}`))
		p.answer(p.expect("tasks/cancel"), `{"resultType":"complete"}`)
		r := <-done
		var bad *client.ProtocolError
		if !errors.As(r.err, &bad) {
			t.Fatal(r.err)
		}
		has(t, r.err.Error(), `its question "a" was not answered`, "the server is asked to cancel the task")
	})
}

// A completed task without a result is read again, and has failed as a task if it never has one.
func TestEXT22ACompletedTaskWithoutAResult(t *testing.T) {
	for _, comes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2026-07-28", taskOffers)
			x := resume(t, s)
			for range 3 {
				p.answer(p.expect("tasks/get"), taskIs("complete", "completed", ""))
			}
			last := ""
			if comes {
				last = `,"result":{"content":[]}`
			}
			p.answer(p.expect("tasks/get"), taskIs("complete", "completed", last))
			_, err := x.Result(t.Context())
			var failed *client.TaskError
			var bad *client.ProtocolError
			switch {
			case comes && err != nil, !comes && !(errors.As(err, &failed) && errors.As(err, &bad)):
				t.Errorf("%v: %T %v", comes, err, err)
			case !comes:
				has(t, err.Error(), "task t1: completed", "tasks/get", "has no result", "Resume asks for its result again")
			}
		})
	}
}

// Questions that are no object break the protocol, and end the wait for the task.
func TestEXT22QuestionsThatAreNoObject(t *testing.T) {
	for _, questions := range []string{`5`, `["x"]`, `"k"`, `true`} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2026-07-28", taskOffers, elicits(accept))
			x := resume(t, s)
			for range 4 { // it is read again
				p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", `,"inputRequests":`+questions))
			}
			_, err := x.Result(t.Context())
			var bad *client.ProtocolError
			if !errors.As(err, &bad) {
				t.Fatalf("%s: %v", questions, err)
			}
			has(t, err.Error(), "task t1", "tasks/get", questions, "the task may go on")
		})
	}
}
