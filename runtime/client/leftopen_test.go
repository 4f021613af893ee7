package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Questions of a task. Of a host that can only be asked for forms, and whose user has a form named broken, it can answer the first.
const (
	goodForm    = `{"method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{"yes":{"type":"boolean","default":true}}}}}`
	brokenForm  = `{"method":"elicitation/create","params":{"message":"broken","requestedSchema":{"type":"object","properties":{}}}}`
	unreadable  = `{"method":"elicitation/create","params":{"message":"which?","requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}}}`
	wantsSample = `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}`
	wantsRoots  = `{"method":"roots/list","params":{}}`
	wantsMore   = `{"method":"future/ask","params":{}}`
)

// leftOpen are questions that a host leaves open which has resumed a task, and what it hears of them.
var leftOpen = []struct{ question, method, why string }{
	{wantsSample, "sampling/createMessage", "has not declared sampling"},
	{wantsRoots, "roots/list", "has not declared roots"},
	{unreadable, "elicitation/create", "the form's field a"},
	{brokenForm, "elicitation/create", "no hands"},
}

// opened is what LeftOpen was called with.
type opened struct {
	q   *client.Question
	why error
}

// leaves are the handlers of a host that answers forms.
func leaves(open chan<- opened) client.Option {
	return client.WithHandlers(client.Handlers{
		Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			if q.Message == "broken" {
				return nil, errors.New("no hands")
			}
			return accept(ctx, q)
		},
		LeftOpen: func(q *client.Question, why error) { open <- opened{q, why} },
	})
}

func resume(t *testing.T, s *client.Session) *client.Execution[client.ToolResult] {
	t.Helper()
	x, err := s.Resume(t.Context(), client.Ref{Version: 1, Endpoint: s.Endpoint(), Revision: s.Revision(), Tool: "x", ID: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A session that has only resumed a task neither cancels it because of a question that it can not answer, nor answers that: the host that
// started the task may. What it can answer it does, and the task is followed to its end.
func TestEXT22AResumedTaskKeepsTheQuestionsOfItsHost(t *testing.T) {
	for _, c := range append(leftOpen, struct{ question, method, why string }{wantsMore, "future/ask", "no result can ask future/ask"}) {
		for _, beside := range []string{"", `,"good":` + goodForm} {
			synctest.Test(t, func(t *testing.T) {
				open := make(chan opened, 10)
				s, p := meetOffering(t, "2026-07-28", taskOffers, leaves(open))
				x := resume(t, s)
				asking := taskIs("complete", "input_required", `,"pollIntervalMs":1000,"inputRequests":{"k":`+c.question+beside+`}`)
				p.answer(p.expect("tasks/get"), asking)
				if beside != "" {
					m := p.expect("tasks/update")
					has(t, m.raw, `"inputResponses":{"good":{"action":"accept","content":{"yes":true}}}`)
					p.answer(m, `{"resultType":"complete"}`)
				}
				p.answer(p.expect("tasks/get"), asking) // and asked no second time
				left := <-open
				if left.q.Method != c.method || left.q.Key != "k" || left.q.Task != "t1" || !strings.Contains(left.why.Error(), c.why) {
					t.Errorf("%+v: %v", left.q, left.why)
				}
				p.answer(p.expect("tasks/get"), taskIs("complete", "completed", `,"result":{"content":[]}`))
				if _, err := x.Result(t.Context()); err != nil || len(open) != 0 {
					t.Errorf("%s: %v, and %d more", c.question, err, len(open))
				}
			})
		}
	}
}

// A server shows a session only questions that it has declared. If that is none, the host learns once that the task waits all the same, and again
// when it has worked meanwhile. After an answer, the list may be ahead of the status for one reading.
func TestEXT22AResumedTaskThatShowsNoQuestion(t *testing.T) {
	for _, none := range []string{``, `,"inputRequests":{}`, `,"inputRequests":null`} {
		synctest.Test(t, func(t *testing.T) {
			open := make(chan opened, 10)
			s, p := meetOffering(t, "2026-07-28", taskOffers, leaves(open))
			x := resume(t, s)
			reads := func(state string, want int) {
				t.Helper()
				p.answer(p.expect("tasks/get"), state)
				synctest.Wait()
				if len(open) != want {
					t.Fatalf("%q: told %d times", none, len(open))
				}
			}
			waits, works := taskIs("complete", "input_required", none), taskIs("complete", "working", "")
			for range 3 {
				reads(waits, 1)
			}
			left := <-open
			if left.q.Task != "t1" || left.q.Method != "" || left.q.Server != s.ServerTitle() {
				t.Errorf("%+v", left.q)
			}
			has(t, left.why.Error(), "waits for input", "not declared")
			reads(works, 0)
			reads(waits, 1)
			<-open
			p.answer(p.expect("tasks/get"), asks("2026-07-28", ""))
			p.answer(p.expect("tasks/update"), `{"resultType":"complete"}`)
			reads(waits, 0)
			reads(works, 0)
			reads(waits, 0)
			reads(waits, 1)
			p.answer(p.expect("tasks/get"), taskIs("complete", "completed", `,"result":{"content":[]}`))
			if _, err := x.Result(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// So it is with a server of this project.
func TestEXT22ASessionThatCanNotBeAskedLearnsThatATaskWaits(t *testing.T) {
	srv := newServer(t, []server.Tool{asTask(tool("ask", ask), server.TaskRequired)})
	me := &client.Endpoint{URL: ofSomebody(t, srv), Header: http.Header{"Authorization": {"Bearer me"}}}
	connect := func(h client.Handlers) *client.Session {
		s, err := client.Connect(t.Context(), me, client.WithHandlers(h))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	x, err := connect(client.Handlers{Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}).Start(t.Context(), "ask", nil)
	if err != nil {
		t.Fatal(err)
	}
	ref, _ := x.Ref()
	open := make(chan opened, 10)
	if _, err := connect(client.Handlers{LeftOpen: func(q *client.Question, why error) { open <- opened{q, why} }}).Resume(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if left := <-open; left.q.Task != ref.ID || left.q.Method != "" {
		t.Errorf("%+v: %v", left.q, left.why)
	}
}

// ofTask returns a question as a request of the task t1.
func ofTask(question string) string {
	of := strings.Replace(question, `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}},`, 1)
	return `{"jsonrpc":"2.0","id":"q",` + strings.Replace(of[1:], `,}`, `}`, 1)
}

// In 2025-11-25 such a question is a request, which gets no answer, no error and no result.
func TestTSK27AResumedTaskKeepsTheQuestionsOfItsHost(t *testing.T) {
	for _, c := range leftOpen {
		synctest.Test(t, func(t *testing.T) {
			open := make(chan opened, 10)
			s, p := meetOffering(t, "2025-11-25", taskOffers, leaves(open))
			x := resume(t, s)
			p.send("%s", ofTask(c.question))
			left := <-open
			if left.q.Method != c.method || left.q.Task != "t1" || !strings.Contains(left.why.Error(), c.why) {
				t.Errorf("%+v: %v", left.q, left.why)
			}
			p.answer(p.expect("tasks/get"), `{"taskId":"t1",`+moments+`,"ttl":null,"status":"completed"}`)
			p.answer(p.expect("tasks/result"), `{"content":[]}`)
			if _, err := x.Result(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Neither is a question answered in place of a person who has not.
func TestTSK27AResumedTaskIsNotAnsweredForAUserWhoHasNot(t *testing.T) {
	for _, revision := range withTasks {
		synctest.Test(t, func(t *testing.T) {
			open := make(chan opened, 10)
			s, p := meetOffering(t, revision, taskOffers, client.WithQuestionTimeout(time.Minute), client.WithHandlers(client.Handlers{
				Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
					<-ctx.Done()
					return nil, context.Cause(ctx)
				},
				LeftOpen: func(q *client.Question, why error) { open <- opened{q, why} },
			}))
			resume(t, s)
			p.answer(p.expect("tasks/get"), asks(revision, `,"pollIntervalMs":300000,"pollInterval":300000`))
			if revision == "2025-11-25" {
				p.expect("tasks/result")
				p.send("%s", ofTask(goodForm))
			}
			began := time.Now()
			left := <-open
			if took := time.Since(began); left.q.Message != "sure?" || took < time.Minute || took > 2*time.Minute {
				t.Errorf("%s: %+v: %v after %v", revision, left.q, left.why, took)
			}
			p.expect("tasks/get")
		})
	}
}

// asks is the state of a task that asks.
func asks(revision, more string) string {
	if revision == "2026-07-28" {
		return taskIs("complete", "input_required", more+`,"inputRequests":{"k":`+goodForm+`}`)
	}
	return `{"taskId":"t1",` + moments + `,"ttl":null,"status":"input_required"` + more + `}`
}

// The session that started a task cancels it if it can not answer: nobody else would. The error names the question.
func TestEXT22ATaskThatCanNotBeAnsweredSaysWhyItIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2026-07-28", taskOffers, leaves(nil))
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), taskIs("task", "working", ""))
		p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", `,"inputRequests":{"k":`+wantsSample+`}`))
		p.answer(p.expect("tasks/cancel"), `{"resultType":"complete"}`)
		r := <-done
		var ended *client.TaskError
		if !errors.As(r.err, &ended) {
			t.Fatalf("%v", r.err)
		}
		has(t, r.err.Error(), "task t1", "the server is asked to cancel the task", "sampling/createMessage", "has not declared sampling")
	})
}

// A state with more questions than can be asked ends the wait of a session that has resumed the task, and not the task.
func TestEXT22AResumedTaskThatAsksTooMuchGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2026-07-28", taskOffers, leaves(nil))
		x := resume(t, s)
		many := `"k0":` + goodForm
		for n := range 100 {
			many += fmt.Sprintf(`,"l%d":%s`, n, goodForm)
		}
		for range 4 { // it is read again
			p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", `,"inputRequests":{`+many+`}`))
		}
		_, err := x.Result(t.Context())
		var bad *client.ProtocolError
		if !errors.As(err, &bad) {
			t.Fatalf("%v", err)
		}
		has(t, err.Error(), "task t1", "101 questions", "the task may go on")
		p.send(`{"jsonrpc":"2.0","id":1,"method":"nothing"}`)
		if m := p.next(); m.Method != "" {
			t.Error(m.raw)
		}
	})
}

// The receipt of an answer is the server's answer to the request that has it, whatever the state of the task says meanwhile.
func TestEXT22TheReceiptOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		received := make(chan error, 10)
		s, p := meetOffering(t, "2026-07-28", taskOffers, client.WithHandlers(client.Handlers{Elicit: accept, Answered: func(q *client.Question, err error) {
			if q.Key != "good" {
				t.Errorf("nobody has answered %q: %v", q.Key, err)
			}
			received <- err
		}}))
		resume(t, s)
		p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", `,"inputRequests":{"k":`+wantsSample+`,"good":`+goodForm+`}`))
		m := p.expect("tasks/update")
		p.answer(p.expect("tasks/get"), taskIs("complete", "working", ""))
		synctest.Wait()
		if len(received) > 0 {
			t.Fatal("there is a receipt already")
		}
		p.answer(m, `{"resultType":"complete"}`)
		if err := <-received; err != nil {
			t.Error(err)
		}
	})
}

// busy is a server of 2026-07-28 whose task t1 asks until it is answered, and that takes no answer as long as fails returns something for it.
func busy(t *testing.T, seen map[string]int, fails func(attempt int) (*http.Response, error)) *client.Session {
	t.Helper()
	endpoint := client.HTTP("http://server.example/mcp")
	answered := false
	endpoint.Client = &http.Client{Transport: roundTrip(func(_ *http.Request, m message) (*http.Response, error) {
		w := httptest.NewRecorder()
		seen[m.Method]++
		switch {
		case m.Method == "server/discover":
			answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+taskOffers+`,"ttlMs":0,"cacheScope":"private"}`)
		case m.Method == "tools/call":
			answer(w, m, taskIs("task", "working", ""))
		case m.Method == "tasks/update":
			if resp, err := fails(seen[m.Method]); resp != nil || err != nil {
				return resp, err
			}
			answered = true
			answer(w, m, `{"resultType":"complete"}`)
		case m.Method == "tasks/cancel":
			answer(w, m, `{"resultType":"complete"}`)
		case answered:
			answer(w, m, taskIs("complete", "completed", `,"result":{"content":[]}`))
		default:
			answer(w, m, taskIs("complete", "input_required", `,"inputRequests":{"k":`+goodForm+`}`))
		}
		return w.Result(), nil
	})}
	s, err := client.Connect(t.Context(), endpoint, elicits(accept))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// failures are ways in which an answer does not arrive.
var failures = map[string]func() (*http.Response, error){
	"503": func() (*http.Response, error) { return status(http.StatusServiceUnavailable), nil },
	"429": func() (*http.Response, error) { return status(http.StatusTooManyRequests), nil },
	"cut": func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
}

func status(code int) *http.Response {
	w := httptest.NewRecorder()
	w.WriteHeader(code)
	return w.Result()
}

// An answer that did not arrive is sent again, by the session that has started the task and by one that has resumed it.
func TestEXT22AnAnswerThatDidNotArriveIsSentAgain(t *testing.T) {
	for name, fail := range failures {
		for _, made := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				seen := map[string]int{}
				s := busy(t, seen, func(attempt int) (*http.Response, error) {
					if attempt > 3 {
						return nil, nil
					}
					return fail()
				})
				var err error
				if made {
					_, err = s.CallTool(t.Context(), "x", nil)
				} else {
					_, err = resume(t, s).Result(t.Context())
				}
				if err != nil || seen["tasks/update"] != 4 || seen["tasks/cancel"] != 0 {
					t.Errorf("%s: %v, seen %v", name, err, seen)
				}
			})
		}
	}
}

// If it never arrives, whoever answered learns that. A task that was only resumed goes on.
func TestEXT22AnAnswerThatNeverArrives(t *testing.T) {
	for _, made := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			seen := map[string]int{}
			s := busy(t, seen, func(int) (*http.Response, error) { return status(http.StatusServiceUnavailable), nil })
			var err error
			if made {
				_, err = s.CallTool(t.Context(), "x", nil)
			} else {
				_, err = resume(t, s).Result(t.Context())
			}
			synctest.Wait()
			var refused *client.StatusError
			if !errors.As(err, &refused) || seen["tasks/update"] < 5 || (seen["tasks/cancel"] == 1) != made {
				t.Errorf("%v, seen %v", err, seen)
			}
			has(t, err.Error(), "an answer to it was not taken")
		})
	}
}
