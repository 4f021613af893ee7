package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// A question of a kind that the revision does not have is not taken for one of another kind.
func TestEXT17AQuestionOfAnUnknownMode(t *testing.T) {
	for mode, says := range map[string]string{`"foo"`: `no such mode: "foo"`, `5`: "no such mode: 5", `null`: ""} {
		s, p := meet(t, "2026-07-28", elicits(accept))
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":`+mode+`,"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`)
		if says == "" {
			p.answer(p.expect("tools/call"), `{"content":[]}`)
		}
		r := <-done
		if (r.err != nil) != (says != "") {
			t.Fatalf("%s: %v", mode, r.err)
		}
		if r.err != nil {
			has(t, r.err.Error(), says)
		}
	}
}

// Every question of a result is answered before the call goes on, and the state goes back byte for byte, to this call alone.
func TestEXT17TheStateGoesBackAsItCame(t *testing.T) {
	s, p := meet(t, "2026-07-28", client.WithHandlers(client.Handlers{
		Elicit: accept, Roots: func(context.Context, *client.Question) ([]client.Root, error) {
			return []client.Root{{URI: "file:///a"}}, nil
		},
	}))
	done := start(t.Context(), s, "x")
	first := p.expect("tools/call")
	other := start(t.Context(), s, "y")
	unrelated := p.expect("tools/call")
	state := `"\u0041 é\/<>\ud83d\ude00"`
	p.answer(first, `{"resultType":"input_required","requestState":`+state+`,"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}},"b":{"method":"roots/list"}}}`)
	second := p.expect("tools/call")
	has(t, second.raw, `"requestState":`+state, `"a":{"action":"accept","content":{}}`, `"b":{"roots":[{"uri":"file:///a"}]}`)
	if string(second.ID) == string(first.ID) {
		t.Error("the id is the same")
	}
	p.answer(unrelated, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`)
	if m := p.expect("tools/call"); json.Valid(m.Params) && containsState(m.raw) {
		t.Error(m.raw)
	} else {
		p.answer(m, `{"content":[]}`)
	}
	<-other
	p.answer(second, `{"resultType":"input_required","inputRequests":{"c":{"method":"roots/list"}}}`)
	third := p.expect("tools/call")
	if containsState(third.raw) {
		t.Error(third.raw)
	}
	p.answer(third, `{"content":[]}`)
	if r := <-done; r.err != nil {
		t.Error(r.err)
	}
}

func containsState(frame string) bool {
	var m struct{ Params map[string]json.RawMessage }
	_ = json.Unmarshal([]byte(frame), &m)
	return m.Params["requestState"] != nil
}

func TestACallThatWaitsForAnAnswerCanBeCancelled(t *testing.T) {
	open := make(chan struct{})
	s, p := meet(t, "2026-07-28", elicits(func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
		close(open)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	done := start(t.Context(), s, "x")
	p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`)
	<-open
	all := s.Requests()
	if len(all) != 1 || !all[0].Waiting {
		t.Fatalf("%+v", all)
	}
	if err := s.CancelRequest(all[0].ID, "enough"); err != nil {
		t.Error(err)
	}
	var cause *client.Cause
	if r := <-done; !errors.As(r.err, &cause) || cause.Source != inflight.SourceCaller {
		t.Error(r.err)
	}
}

// A requestState that is null is none, and is not sent back.
func TestEXT17ARequestStateOfNullIsNone(t *testing.T) {
	s, p := meet(t, "2026-07-28", elicits(accept))
	done := start(t.Context(), s, "x")
	p.answer(p.expect("tools/call"), `{"resultType":"input_required","requestState":null,"inputRequests":{"a":`+goodForm+`}}`)
	m := p.expect("tools/call")
	if strings.Contains(m.raw, "requestState") || !strings.Contains(m.raw, `"inputResponses":{"a"`) {
		t.Error(m.raw)
	}
	p.answer(m, `{"resultType":"complete","content":[]}`)
	if r := <-done; r.err != nil {
		t.Error(r.err)
	}
}

// manyQuestions are more than anybody answers.
func manyQuestions() string {
	var all []string
	for i := range 5000 {
		all = append(all, fmt.Sprintf(`"%d":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`, i))
	}
	return `"inputRequests":{` + strings.Join(all, ",") + `}`
}

// A result and a task ask no more at once than requests may.
func TestEXT17QuestionsWithoutNumber(t *testing.T) {
	for _, asTask := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			s, p := meetOffering(t, "2026-07-28", taskOffers, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				asked.Add(1)
				<-ctx.Done()
				return nil, ctx.Err()
			}), client.WithQuestionTimeout(time.Minute))
			done := start(t.Context(), s, "x")
			m := p.expect("tools/call")
			if asTask {
				p.answer(m, taskIs("task", "working", ""))
				for range 4 { // it is read again
					p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", ","+manyQuestions()))
				}
				p.answer(p.expect("tasks/cancel"), `{"resultType":"complete"}`)
			} else {
				p.answer(m, `{"resultType":"input_required",`+manyQuestions()+`}`)
			}
			r := <-done
			var bad *client.ProtocolError
			if !errors.As(r.err, &bad) || asked.Load() > 0 {
				t.Fatalf("%v, %d were asked", r.err, asked.Load())
			}
			has(t, r.err.Error(), "5000")
		})
	}
}

// A server that only wants to be called again can not pass the hard maximum.
func TestCAN16RoundsThatAskNothingPassNoMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2026-07-28")
		began := time.Now()
		done := start(t.Context(), s, "x", client.Timeout(time.Second, 3*time.Second))
		go p.each(func(m message) {
			if m.Method == "tools/call" {
				p.answer(m, `{"resultType":"input_required","requestState":"s"}`)
			}
		})
		r := <-done
		var cause *client.Cause
		if !errors.As(r.err, &cause) || cause.Source != inflight.SourceTimeout || time.Since(began) > 4*time.Second {
			t.Errorf("%v after %v", r.err, time.Since(began))
		}
	})
}

// A call that is given up between two rounds returns at once, whatever the handlers of its questions do. What they return then is not sent, and
// only Close waits for them.
func TestCAN15ACallWaitsForNoHandler(t *testing.T) {
	const asks = `"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"a","requestedSchema":{"type":"object","properties":{}}}},"b":{"method":"elicitation/create","params":{"message":"b","requestedSchema":{"type":"object","properties":{}}}}}`
	var cause *client.Cause
	for name, c := range map[string]struct {
		giveUp func(s *client.Session, cancel context.CancelFunc)
		fails  bool
		after  time.Duration
		is     func(err error) bool
	}{
		"its context": {
			giveUp: func(_ *client.Session, cancel context.CancelFunc) { cancel() },
			is:     func(err error) bool { return errors.As(err, &cause) && cause.Source == inflight.SourceParent },
		},
		"CancelRequest": {
			giveUp: func(s *client.Session, _ context.CancelFunc) { _ = s.CancelRequest(s.Requests()[0].ID, "enough") },
			is:     func(err error) bool { return errors.As(err, &cause) && cause.Source == inflight.SourceCaller },
		},
		"the time of questions": {
			after: time.Minute,
			is:    func(err error) bool { return errors.As(err, &cause) && cause.Source == inflight.SourceTimeout },
		},
		"another question": {
			fails: true, after: 5 * time.Millisecond, // so much later than the first it is asked
			is: func(err error) bool { return errors.Is(err, client.ErrRejected) },
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			answered := make(chan struct{})
			s, p := meet(t, "2026-07-28", client.WithQuestionTimeout(time.Minute), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				if c.fails && q.Message == "b" {
					return nil, client.ErrRejected
				}
				<-answered
				return accept(ctx, q)
			}))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			began := time.Now()
			done := start(ctx, s, "x")
			p.answer(p.expect("tools/call"), `{"resultType":"input_required",`+asks+`}`)
			synctest.Wait()
			if c.giveUp != nil {
				c.giveUp(s, cancel)
			}
			select {
			case r := <-done:
				if !c.is(r.err) || time.Since(began) != c.after {
					t.Errorf("%s: %v after %v", name, r.err, time.Since(began))
				}
			case <-time.After(time.Hour):
				t.Errorf("%s: the call does not return", name)
			}
			closed := make(chan struct{})
			go func() { defer close(closed); _ = s.Close() }()
			go p.each(func(m message) { t.Errorf("%s: the client sent %s", name, m.raw) })
			synctest.Wait()
			select {
			case <-closed:
				t.Errorf("%s: Close did not wait for the handlers", name)
			default:
			}
			close(answered)
			<-closed
		})
	}
}
