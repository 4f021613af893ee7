package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// withdrawn is the notification that withdraws a question.
func withdrawn(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"` + id + `"}}`
}

// tallied is a user who accepts everything, and what a host hears of the answers.
type tallied struct {
	asked atomic.Int32
	heard chan error
}

func (c *tallied) handlers() client.Option {
	c.heard = make(chan error, 1000)
	return client.WithHandlers(client.Handlers{
		Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			c.asked.Add(1)
			return accept(ctx, q)
		},
		Answered: func(_ *client.Question, err error) { c.heard <- err },
	})
}

// A server that loses the stream of a question withdraws the question, and asks it again on the next stream. What the user has said meanwhile, and the server
// does not have, answers that: for a while, and as long as the task goes on.
func TestCAN30AnAnswerThatHasNotArrivedWhenItsQuestionIsWithdrawn(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		for after, asked := range map[time.Duration]int32{0: 1, time.Second: 1, 8 * time.Second: 1, time.Minute: 2} {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				var user tallied
				var latest atomic.Value // the answer
				s, d := dialDeafTo(t, func(attempt int, m message) (*http.Response, error) {
					if latest.Store(m); attempt > 1 {
						return status(http.StatusAccepted), nil
					}
					if hangs {
						<-release
					}
					return status(http.StatusServiceUnavailable), nil
				}, user.handlers())
				x := resume(t, s)
				for d.answers.Load() == 0 {
					sleep(t.Context(), 10*time.Millisecond)
				}
				synctest.Wait()
				d.say(withdrawn("q"))
				if after == time.Minute {
					close(release)
				}
				sleep(t.Context(), after)
				if synctest.Wait(); asked == 1 && len(user.heard) > 0 {
					t.Errorf("hangs %v, after %v: there is a receipt already: %v", hangs, after, <-user.heard)
				}
				d.say(onceForm("new"))
				synctest.Wait()
				if n := user.asked.Load(); n != asked || d.answers.Load() != 2 {
					t.Errorf("hangs %v, after %v: asked %d times, %d answers", hangs, after, n, d.answers.Load())
				}
				m := latest.Load().(message)
				has(t, string(m.ID)+string(m.Result), `"new"`, `"action":"accept"`)
				if asked == 1 {
					close(release)
				}
				sleep(t.Context(), time.Minute)
				if n := len(user.heard); n != int(asked) {
					t.Errorf("hangs %v, after %v: heard %d times", hangs, after, n)
				}
				for i := range int(asked) {
					if err := <-user.heard; (err == nil) != (i == int(asked)-1) {
						t.Errorf("hangs %v, after %v: %v", hangs, after, err)
					}
				}
				x.Detach()
			})
		}
	}
}

// What the server has is no answer to what it asks later, though it asks the same.
func TestCAN30AnAnswerThatHasArrivedAnswersNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var user tallied
		s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(http.StatusAccepted), nil }, user.handlers())
		x := resume(t, s)
		for d.answers.Load() == 0 {
			sleep(t.Context(), 10*time.Millisecond)
		}
		synctest.Wait()
		d.say(withdrawn("q"))
		d.say(onceForm("new"))
		synctest.Wait()
		if n := user.asked.Load(); n != 2 || d.answers.Load() != 2 {
			t.Errorf("asked %d times, %d answers", n, d.answers.Load())
		}
		x.Detach()
	})
}

// A receipt that comes after the question was withdrawn is none: the server asks again, so it has dropped the answer.
func TestCAN30AReceiptAfterTheWithdrawalIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var user tallied
		s, d := dialDeaf(t, func(attempt int) (*http.Response, error) {
			if attempt == 1 {
				<-release
			}
			return status(http.StatusAccepted), nil
		}, user.handlers())
		x := resume(t, s)
		for d.answers.Load() == 0 {
			sleep(t.Context(), 10*time.Millisecond)
		}
		d.say(withdrawn("q"))
		synctest.Wait()
		close(release)
		synctest.Wait()
		if len(user.heard) > 0 {
			t.Errorf("there is a receipt: %v", <-user.heard)
		}
		d.say(onceForm("new"))
		synctest.Wait()
		if n := user.asked.Load(); n != 1 || d.answers.Load() != 2 {
			t.Errorf("asked %d times, %d answers", n, d.answers.Load())
		}
		if len(user.heard) != 1 || <-user.heard != nil {
			t.Error("no receipt for the answer that has arrived")
		}
		x.Detach()
	})
}

// An answer is not kept for a task that is over, and nobody is asked what that asks.
func TestCAN30AnAnswerIsKeptAsLongAsItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var user tallied
		s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(http.StatusServiceUnavailable), nil }, user.handlers())
		x := resume(t, s)
		for d.answers.Load() == 0 {
			sleep(t.Context(), 10*time.Millisecond)
		}
		synctest.Wait()
		d.say(withdrawn("q"))
		d.over.Store(true)
		sleep(t.Context(), 3*time.Second)
		if len(user.heard) != 1 || <-user.heard == nil {
			t.Error("the host does not hear that its answer has not arrived")
		}
		answers := d.answers.Load()
		d.say(onceForm("new"))
		synctest.Wait()
		if n := user.asked.Load(); n != 1 || d.answers.Load() != answers {
			t.Errorf("asked %d times, %d answers, then %d", n, answers, d.answers.Load())
		}
		x.Detach()
	})
}

// EXT22: whether the server has an answer is not known if the question is over, or was withdrawn, before the receipt. It is known of one that was refused.
func TestEXT22AReceiptThatIsLateIsNone(t *testing.T) {
	for name, c := range map[string]struct {
		refused, withdrawn, late, unconfirmed bool
	}{
		"refused, then withdrawn":      {refused: true, withdrawn: true},
		"withdrawn before the receipt": {withdrawn: true, late: true, unconfirmed: true},
		"withdrawn, no receipt":        {withdrawn: true, unconfirmed: true},
		"over, no receipt":             {unconfirmed: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			var user tallied
			s, d := dialDeaf(t, func(int) (*http.Response, error) {
				if c.refused {
					return status(http.StatusServiceUnavailable), nil
				}
				if <-release; !c.late {
					return nil, context.Canceled
				}
				return status(http.StatusAccepted), nil
			}, user.handlers())
			x := resume(t, s)
			for d.answers.Load() == 0 {
				sleep(t.Context(), 10*time.Millisecond)
			}
			synctest.Wait()
			d.over.Store(true)
			if c.withdrawn {
				d.say(withdrawn("q"))
				synctest.Wait()
			}
			close(release)
			sleep(t.Context(), time.Minute)
			x.Detach()
			var unconfirmed *client.UnconfirmedError
			if err := <-user.heard; err == nil || errors.As(err, &unconfirmed) != c.unconfirmed {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// VAL07: only so many answers are kept, of whichever kind.
func TestVAL07OnlySoManyAnswersAreKept(t *testing.T) {
	for _, arrive := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var user tallied
			s, d := dialDeaf(t, func(int) (*http.Response, error) {
				if arrive {
					return status(http.StatusAccepted), nil
				}
				return status(http.StatusServiceUnavailable), nil
			}, user.handlers())
			x := resume(t, s)
			for d.answers.Load() == 0 {
				sleep(t.Context(), 10*time.Millisecond)
			}
			for i := range 600 {
				size := 10
				if i > 500 {
					size = 50 << 10
				}
				id := fmt.Sprint("q", i)
				d.say(strings.Replace(onceForm(id), "sure?", id+strings.Repeat("?", size), 1))
				synctest.Wait()
				if !arrive {
					d.say(withdrawn(id))
				}
				synctest.Wait()
				if number, bytes := client.KeptAnswers(s); number > 256 || bytes > 1<<20 || number < min(i, 20) {
					t.Fatalf("arrive %v: after %d questions, %d answers are kept, of %d bytes", arrive, i, number, bytes)
				}
			}
			x.Detach()
			if sleep(t.Context(), 10*time.Minute); !arrive {
				if number, _ := client.KeptAnswers(s); number != 0 || len(user.heard) != int(user.asked.Load()) {
					t.Errorf("%d answers are kept; asked %d times, heard %d times", number, user.asked.Load(), len(user.heard))
				}
			}
		})
	}
}

// A question whose time has passed can be withdrawn before its answer is sent, while the host is told. The same question under another id is asked then.
func TestCAN31AQuestionIsTakenBackWhenItsTimeHasPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, asked := make(chan struct{}), make(chan struct{}, 10)
		s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithQuestionTimeout(time.Minute), client.WithHandlers(client.Handlers{
			Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				if asked <- struct{}{}; len(asked) > 1 {
					return accept(ctx, q)
				}
				<-ctx.Done()
				return nil, ctx.Err()
			},
			QuestionGone: func(*client.Question, error) { <-release },
		}))
		p.offerTask(s)
		go func() { p.answer(p.expect("tools/call"), `{"task":`+taskWorks+`}`) }()
		if _, err := s.Start(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
		p.send("%s", form(7, "same"))
		synctest.Wait()
		p.send("%s", form(8, "same"))
		sleep(t.Context(), 2*time.Minute)
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		synctest.Wait()
		close(release)
		has(t, p.next().raw, `"id":8`, `"action":"accept"`)
		if synctest.Wait(); client.InFlight(s) != 0 || len(asked) != 2 {
			t.Errorf("asked %d times, %d are in flight", len(asked), client.InFlight(s))
		}
	})
}

// An answer that the server had no time for, and whose question it has withdrawn since, was not used: the host hears that it is the question that is over, and
// why the answer had not arrived (CAN31).
func TestCAN31AnAnswerThatWasRefusedForNowAndWithdrawnIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := make(chan error, 10)
		s, f := dialForgetful(t, client.WithHandlers(client.Handlers{Elicit: accept, Answered: func(_ *client.Question, err error) { answered <- err }}))
		f.mu.Lock()
		f.busy = true
		f.mu.Unlock()
		ctx, cancel := context.WithCancel(t.Context())
		done := startSlow(ctx, s)
		for _, message := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"never mind"}}`,
		} {
			f.mu.Lock()
			_, _ = fmt.Fprintf(f.events, "data: %s\n\n", message)
			f.mu.Unlock()
			synctest.Wait()
		}
		sleep(t.Context(), time.Minute)
		err := <-answered
		var cause *client.Cause
		var last *client.StatusError
		if !errors.As(err, &cause) || cause.Source != inflight.SourcePeer || !errors.As(err, &last) || last.Status != http.StatusServiceUnavailable {
			t.Errorf("%T %v", err, err)
		}
		if errors.As(err, new(*client.UnconfirmedError)) {
			t.Errorf("the server has said that it does not have it: %v", err)
		}
		cancel()
		<-done
	})
}
