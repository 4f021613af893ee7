package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// deaf is a server over HTTP whose tool, or its task t1, asks on the stream of its call, and that takes no answer as long as fails returns something.
type deaf struct {
	events  *io.PipeWriter // of the call
	call    message
	answers atomic.Int32 // attempts
	over    atomic.Bool  // the task is
	last    message      // the latest answer that it has taken

	startsTask bool        // its tool is a task
	works      atomic.Bool // the task is working, and waits for no input
}

func dialDeaf(t *testing.T, fails func(attempt int) (*http.Response, error), opts ...client.Option) (*client.Session, *deaf) {
	t.Helper()
	return dialDeafTo(t, func(attempt int, _ message) (*http.Response, error) { return fails(attempt) }, opts...)
}

// dialDeafTo is dialDeaf for a server whose attention depends on the answer.
func dialDeafTo(t *testing.T, fails func(attempt int, answer message) (*http.Response, error), opts ...client.Option) (*client.Session, *deaf) {
	t.Helper()
	d := &deaf{}
	endpoint := client.HTTP("http://server.example/mcp")
	endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
		w := httptest.NewRecorder()
		switch {
		case r.Method != http.MethodPost:
			return status(http.StatusMethodNotAllowed), nil
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+taskOffers+`,"serverInfo":{"name":"deaf","version":"1"}}`)
		case m.Method == "tasks/get":
			status := "input_required"
			switch {
			case d.over.Load():
				status = "completed"
			case d.works.Load():
				status = "working"
			}
			answer(w, m, `{"taskId":"t1",`+moments+`,"ttl":null,"status":"`+status+`"}`)
		case m.Method == "tasks/cancel":
			d.over.Store(true)
			answer(w, m, `{"taskId":"t1",`+moments+`,"ttl":null,"status":"cancelled"}`)
		case m.Method == "tools/list":
			answer(w, m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
		case m.Method == "tools/call" && d.startsTask:
			answer(w, m, `{"task":{"taskId":"t1",`+moments+`,"ttl":null,"status":"working"}}`)
		case m.Method == "tools/call" || m.Method == "tasks/result":
			d.call = m
			var resp *http.Response
			resp, d.events = eventStream(r)
			question := `{"jsonrpc":"2.0","id":"q",` + goodForm[1:]
			if m.Method == "tasks/result" {
				question = ofTask(goodForm)
			}
			go d.say(question)
			return resp, nil
		case m.Method == "":
			attempt := int(d.answers.Add(1))
			if resp, err := fails(attempt, m); resp != nil || err != nil {
				return resp, err
			}
			d.last = m
			go d.say(`{"jsonrpc":"2.0","id":` + string(d.call.ID) + `,"result":{"content":[]}}`)
			return status(http.StatusAccepted), nil
		default:
			return status(http.StatusAccepted), nil
		}
		return w.Result(), nil
	})}
	return connect(t, endpoint, append(opts, client.WithRevision("2025-11-25"))), d
}

// eventStream answers a request with a stream that the test writes, until its client leaves.
func eventStream(r *http.Request) (*http.Response, *io.PipeWriter) {
	body, events := io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = body.CloseWithError(r.Context().Err()) })
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, events
}

func (d *deaf) say(frame string) { _, _ = fmt.Fprintf(d.events, "data: %s\n\n", frame) }

// An answer to a question that is a request of its own is sent again if it did not arrive, whatever the answer is.
func TestCAN30AnAnswerThatDidNotArriveIsSentAgain(t *testing.T) {
	for name, fail := range failures {
		for what, h := range map[string]func(ctx context.Context, q *client.Question) (*client.Answer, error){
			`"action":"accept"`: accept,
			"an error":          func(context.Context, *client.Question) (*client.Answer, error) { return nil, errors.New("no hands") },
			`"action":"cancel"`: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
				<-ctx.Done() // its time has passed
				return nil, ctx.Err()
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				s, d := dialDeaf(t, func(attempt int) (*http.Response, error) {
					if attempt > 3 {
						return nil, nil
					}
					return fail()
				}, client.WithQuestionTimeout(10*time.Second), elicits(h))
				if _, err := s.CallTool(t.Context(), "x", nil); err != nil || d.answers.Load() != 4 {
					t.Errorf("%s: %v after %d answers", name, err, d.answers.Load())
				}
				if what == "an error" {
					has(t, fmt.Sprint(d.last.Error), "-32603")
				} else {
					has(t, string(d.last.Result), what)
				}
			})
		}
	}
}

// A server that uses an id again has the answer to the request that had it before, also while the answer's own exchange is not over.
func TestCAN08AnIDIsFreeAsSoonAsItsAnswerHasArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *client.Session
		var d *deaf
		s, d = dialDeaf(t, func(attempt int) (*http.Response, error) {
			if attempt > 1 {
				return nil, nil
			}
			d.say(`{"jsonrpc":"2.0","id":"q",` + goodForm[1:])
			synctest.Wait()
			return status(http.StatusAccepted), nil
		}, elicits(accept))
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil || d.answers.Load() != 2 {
			t.Errorf("%v after %d answers", err, d.answers.Load())
		}
		has(t, string(d.last.Result), `"action":"accept"`)
	})
}

// An answer that is refused is not sent again, nor one to a question that is over: the server has withdrawn it, or its call has ended.
func TestCAN31AnAnswerIsNotSentAgainWhenItsQuestionIsOver(t *testing.T) {
	for name, end := range map[string]struct {
		status int
		ends   func(d *deaf, cancel context.CancelFunc)
	}{
		"refused": {http.StatusBadRequest, func(*deaf, context.CancelFunc) {}},
		"withdrawn": {http.StatusServiceUnavailable, func(d *deaf, _ context.CancelFunc) {
			d.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`)
		}},
		"given up": {http.StatusServiceUnavailable, func(_ *deaf, cancel context.CancelFunc) { cancel() }},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(end.status), nil }, elicits(accept))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := start(ctx, s, "x")
			synctest.Wait()
			if d.answers.Load() != 1 {
				t.Errorf("%s: %d answers", name, d.answers.Load())
			}
			end.ends(d, cancel)
			sleep(t.Context(), 30*time.Second)
			if d.answers.Load() != 1 {
				t.Errorf("%s: %d answers", name, d.answers.Load())
			}
			cancel()
			<-done
		})
	}
}

// So is one to the question of a task that is over.
func TestCAN31AnAnswerIsNotSentAgainWhenItsTaskIsOver(t *testing.T) {
	for _, over := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(http.StatusServiceUnavailable), nil }, elicits(accept))
			x := resume(t, s)
			synctest.Wait()
			d.over.Store(over)
			sleep(t.Context(), 2500*time.Millisecond)
			before := d.answers.Load()
			if over {
				d.say(`{"jsonrpc":"2.0","id":` + string(d.call.ID) + `,"result":{"content":[]}}`)
				if _, err := x.Result(t.Context()); err != nil {
					t.Error(err)
				}
			}
			sleep(t.Context(), 30*time.Second)
			if again := d.answers.Load() > before; before == 0 || again == over {
				t.Errorf("over %v: %d answers, then %d", over, before, d.answers.Load())
			}
			x.Detach()
		})
	}
}

// A server that never takes the answer is not asked for ever.
func TestCAN31AnAnswerThatNeverArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(http.StatusServiceUnavailable), nil }, elicits(accept), client.WithTimeout(time.Hour, 0))
		ctx, cancel := context.WithCancel(t.Context())
		done := start(ctx, s, "x")
		sleep(t.Context(), 50*time.Minute)
		if d.answers.Load() < 5 || d.answers.Load() > 20 {
			t.Errorf("%d answers", d.answers.Load())
		}
		cancel()
		<-done
	})
}

// The session can be closed while an answer waits to be sent again.
func TestCAN21CloseWaitsForNoAnswerThatDoesNotArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(http.StatusServiceUnavailable), nil }, elicits(accept))
		done := start(t.Context(), s, "x")
		sleep(t.Context(), 10*time.Second)
		began := time.Now()
		if err := s.Close(); err != nil || time.Since(began) > time.Second || d.answers.Load() < 2 {
			t.Errorf("%v after %v and %d answers", err, time.Since(began), d.answers.Load())
		}
		<-done
	})
}

// A host hears once whether the server has an answer, if the question came as a request, too.
func TestEXT22AHostHearsWhetherItsAnswerHasArrived(t *testing.T) {
	for name, c := range map[string]struct {
		status int // of the first answers
		misses int
		ends   func(d *deaf)
		want   func(err error) bool
	}{
		"at once": {0, 0, nil, func(err error) bool { return err == nil }},
		"at last": {http.StatusServiceUnavailable, 3, nil, func(err error) bool { return err == nil }},
		"never":   {http.StatusServiceUnavailable, 1000, nil, isStatus(http.StatusServiceUnavailable)},
		"refused": {http.StatusBadRequest, 1000, nil, isStatus(http.StatusBadRequest)},
		"withdrawn": {http.StatusServiceUnavailable, 1000, func(d *deaf) {
			d.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`)
		}, func(err error) bool { return err != nil }},
	} {
		synctest.Test(t, func(t *testing.T) {
			heard := make(chan error, 10)
			s, d := dialDeaf(t, func(attempt int) (*http.Response, error) {
				if attempt > c.misses {
					return nil, nil
				}
				return status(c.status), nil
			}, client.WithTimeout(time.Hour, 0), client.WithHandlers(client.Handlers{Elicit: accept, Answered: func(q *client.Question, err error) {
				if q.Message != "sure?" {
					t.Errorf("%s: %+v", name, q)
				}
				heard <- err
			}}))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := start(ctx, s, "x")
			synctest.Wait()
			if c.ends != nil {
				c.ends(d)
			}
			if err := <-heard; !c.want(err) {
				t.Errorf("%s: %v", name, err)
			}
			cancel()
			<-done
			synctest.Wait()
			if len(heard) > 0 {
				t.Errorf("%s: and then %v", name, <-heard)
			}
		})
	}
}

func isStatus(code int) func(error) bool {
	return func(err error) bool {
		var status *client.StatusError
		return errors.As(err, &status) && status.Status == code
	}
}
