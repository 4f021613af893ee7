package client_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// undelivered are ways in which an answer does not arrive, however often it is sent.
func undelivered(t *testing.T) map[string]func() (*http.Response, error) {
	all := maps.Clone(failures)
	all["500"] = func() (*http.Response, error) { return status(http.StatusInternalServerError), nil }
	all["cut, then 400"] = func() func() (*http.Response, error) {
		attempts := 0
		return func() (*http.Response, error) {
			if attempts++; attempts == 1 {
				return nil, io.ErrUnexpectedEOF
			}
			return status(http.StatusBadRequest), nil
		}
	}()
	all["no reply"] = func() (*http.Response, error) {
		sleep(t.Context(), 10*time.Second)
		return nil, context.DeadlineExceeded
	}
	return all
}

// mayArrive has those of undelivered with which the server may have the answer all the same.
var mayArrive = map[string]bool{"500": true, "cut": true, "cut, then 400": true, "no reply": true}

// A task is left whose answer could not be delivered, if it still waits for input: it may wait for ever. Whoever resumes it is asked again, in the same session,
// too. The task of a call is cancelled.
func TestTSK27ATaskIsLeftWhoseAnswerIsNotDelivered(t *testing.T) {
	for name := range undelivered(t) {
		for how, follow := range follows {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var well atomic.Bool
					fails := undelivered(t)[name]
					s, d := dialDeaf(t, func(int) (*http.Response, error) {
						if well.Load() {
							return nil, nil
						}
						return fails()
					}, elicits(accept))
					d.startsTask = true
					for _, err := range s.ListTools(t.Context()) { // so that a call knows that it becomes a task
						if err != nil {
							t.Fatal(err)
						}
					}
					err := withinTime(t, 5*time.Minute, follow(t, s))
					var failed *client.TaskError
					cancels := how == "a call"
					if synctest.Wait(); !errors.As(err, &failed) || d.over.Load() != cancels {
						t.Fatalf("%v, cancelled: %v", err, d.over.Load())
					}
					what := "an answer to it was not taken: "
					if mayArrive[name] {
						what = "an answer to it was not acknowledged: "
					}
					has(t, err.Error(), what, map[bool]string{true: "asked to cancel the task", false: "the task may go on: Resume"}[cancels])
					if cancels {
						return
					}
					well.Store(true)
					if err := within(t, follows["Resume"](t, s)); err != nil {
						t.Errorf("resumed: %v", err)
					}
				})
			})
		}
	}
}

// A task goes on that has taken an answer whose receipts are lost: it waits for no input any more.
func TestTSK27ATaskGoesOnThatHasTakenAnAnswerWithoutAReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d *deaf
		s, d0 := dialDeaf(t, func(int) (*http.Response, error) {
			d.works.Store(true)
			return nil, io.ErrUnexpectedEOF
		}, elicits(accept))
		d = d0
		done := follows["Resume"](t, s)
		sleep(t.Context(), 10*time.Minute)
		d.say(`{"jsonrpc":"2.0","id":` + string(d.call.ID) + `,"result":{"content":[]}}`)
		if err := within(t, done); err != nil {
			t.Error(err)
		}
	})
}

// A task that has another question open is not left in doubt. When that is answered, and the task still waits for input, it asks again.
func TestTSK27ATaskWithAnotherQuestionAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		s, d := dialDeafTo(t, func(attempt int, m message) (*http.Response, error) {
			switch {
			case string(m.ID) == `"other"`:
				return status(http.StatusAccepted), nil
			case asked.Load() < 3:
				return nil, io.ErrUnexpectedEOF
			}
			return nil, nil
		}, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			if asked.Add(1); q.Message == "really?" {
				sleep(ctx, 4*time.Minute)
			}
			return accept(ctx, q)
		}))
		done := follows["Resume"](t, s)
		for d.answers.Load() == 0 {
			sleep(t.Context(), 10*time.Millisecond)
		}
		d.say(strings.Replace(onceForm("other"), "sure?", "really?", 1))
		sleep(t.Context(), 4*time.Minute)
		if err := within(t, done); err != nil || asked.Load() != 3 {
			t.Errorf("%v, asked %d times", err, asked.Load())
		}
	})
}

// A 404 to an answer ends no session that the server still knows: the task is left as with any other refusal, and nobody is asked again and again.
func TestCAN30ATaskIsLeftWhoseAnswerGets404InASessionThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var user tallied
		s, d := dialDeaf(t, func(attempt int) (*http.Response, error) {
			if attempt > 1 {
				return nil, nil
			}
			return status(http.StatusNotFound), nil
		}, user.handlers())
		err := within(t, follows["Resume"](t, s))
		var failed *client.TaskError
		if !errors.As(err, &failed) || user.asked.Load() != 1 || d.answers.Load() != 1 {
			t.Fatalf("%v, asked %d times, %d answers", err, user.asked.Load(), d.answers.Load())
		}
		has(t, err.Error(), "an answer to it was not taken", "HTTP status 404 Not Found; the server does not know the session", "the task may go on: Resume")
		if err := within(t, follows["Resume"](t, s)); err != nil || user.asked.Load() != 2 {
			t.Errorf("resumed: %v, asked %d times", err, user.asked.Load())
		}
	})
}
