package client_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// onceForm is a question of task t1 under an id.
func onceForm(id string) string {
	return strings.Replace(ofTask(goodForm), `"id":"q"`, `"id":"`+id+`"`, 1)
}

// A question that comes again under its id while its dialog is open is the same question: it gets one answer.
func TestCAN30AQuestionThatComesAgainIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		s, p := meet(t, "2025-11-25", elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			asked.Add(1)
			sleep(ctx, time.Second)
			return accept(ctx, q)
		}))
		done := start(t.Context(), s, "x")
		m := p.expect("tools/call")
		for range 3 {
			p.send(`{"jsonrpc":"2.0","id":"q",%s`, goodForm[1:])
			synctest.Wait()
		}
		has(t, p.next().raw, `"id":"q"`, `"action":"accept"`)
		p.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
		has(t, p.next().raw, `"id":"ping"`)
		p.answer(m, `{"content":[]}`)
		if <-done; asked.Load() != 1 {
			t.Errorf("asked %d times", asked.Load())
		}
	})
}

// One that comes again while its answer was not delivered, during the first attempt or after it, is answered with what the user has said.
func TestCAN30AQuestionThatComesAgainBeforeItsAnswerArrived(t *testing.T) {
	for _, during := range []bool{true, false} {
		for name, fail := range failures {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				var d *deaf
				again := func() {
					d.say(`{"jsonrpc":"2.0","id":"q",` + goodForm[1:])
					sleep(t.Context(), 10*time.Millisecond)
				}
				s, d0 := dialDeaf(t, func(attempt int) (*http.Response, error) {
					if attempt > 1 {
						return nil, nil
					}
					if during {
						again()
					}
					return fail()
				}, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					asked.Add(1)
					return accept(ctx, q)
				}))
				d = d0
				done := start(t.Context(), s, "x")
				sleep(t.Context(), 100*time.Millisecond)
				if synctest.Wait(); !during {
					again()
				}
				if r := <-done; r.err != nil || asked.Load() != 1 || d.answers.Load() != 2 {
					t.Errorf("%s, during %v: %v, asked %d times, %d answers", name, during, r.err, asked.Load(), d.answers.Load())
				}
				has(t, string(d.last.Result), `"action":"accept"`)
			})
		}
	}
}

// A task that asks the same under another id, and has not withdrawn the first, is asking something new: the user may have agreed to delete another file. That the
// receipt of the first answer is lost says nothing.
func TestTSK29CAN30WhatIsNotWithdrawnIsAnotherQuestion(t *testing.T) {
	lost := map[string]func() (*http.Response, error){
		"open": func() (*http.Response, error) { return status(http.StatusAccepted), nil },
		"500":  func() (*http.Response, error) { return status(http.StatusInternalServerError), nil },
		"503":  func() (*http.Response, error) { return status(http.StatusServiceUnavailable), nil },
		"cut":  func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
	}
	for name, receipt := range lost {
		for _, ever := range []bool{true, false} { // the server says at last that it has the answer
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				s, d := dialDeafTo(t, func(attempt int, m message) (*http.Response, error) {
					if string(m.ID) == `"new"` && asked.Load() < 2 {
						t.Errorf("%s: %q is answered with what was asked before", name, m.ID)
					}
					if string(m.ID) == `"new"` || ever && attempt > 1 {
						return status(http.StatusAccepted), nil
					}
					return receipt()
				}, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					if asked.Add(1); name == "open" {
						sleep(ctx, 3*time.Second)
					}
					return accept(ctx, q)
				}))
				x := resume(t, s)
				for asked.Load() == 0 || name != "open" && d.answers.Load() == 0 {
					sleep(t.Context(), 10*time.Millisecond)
				}
				synctest.Wait()
				d.say(onceForm("new"))
				sleep(t.Context(), 5*time.Minute)
				if asked.Load() != 2 {
					t.Errorf("%s, ever %v: asked %d times", name, ever, asked.Load())
				}
				x.Detach()
			})
		}
	}
}

// A question that waits for the answer to the same under another id gets that if the first is withdrawn before it has arrived, or its answer is refused.
func TestCAN30WhatTheServerDoesNotHaveAnswersTheNext(t *testing.T) {
	for _, refuses := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var user tallied
			s, d := dialDeafTo(t, func(_ int, m message) (*http.Response, error) {
				switch {
				case string(m.ID) == `"new"`:
					return status(http.StatusAccepted), nil
				case refuses:
					sleep(t.Context(), time.Second)
					return status(http.StatusBadRequest), nil
				}
				return status(http.StatusServiceUnavailable), nil
			}, user.handlers())
			x := resume(t, s)
			for d.answers.Load() == 0 {
				sleep(t.Context(), 10*time.Millisecond)
			}
			d.say(onceForm("new"))
			synctest.Wait()
			if !refuses {
				d.say(withdrawn("q"))
			}
			sleep(t.Context(), time.Minute)
			if n := user.asked.Load(); n != 1 || len(user.heard) != 1 || <-user.heard != nil {
				t.Errorf("refuses %v: asked %d times", refuses, n)
			}
			x.Detach()
		})
	}
}

// A task that asks the same again after it has the answer is asking something new.
func TestCAN30ATaskThatAsksTheSameAfterItsAnswerIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		var d *deaf
		s, d0 := dialDeaf(t, func(attempt int) (*http.Response, error) {
			if attempt == 1 {
				d.say(onceForm("next"))
				synctest.Wait()
			}
			return status(http.StatusAccepted), nil
		}, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			asked.Add(1)
			return accept(ctx, q)
		}))
		d = d0
		x := resume(t, s)
		sleep(t.Context(), 5*time.Second)
		if asked.Load() != 2 || d.answers.Load() != 2 {
			t.Errorf("asked %d times, %d answers", asked.Load(), d.answers.Load())
		}
		x.Detach()
	})
}

// No answer follows what answers a message that came after the result of the call that asks.
func TestCAN31NoAnswerFollowsTheEndOfTheCallThatAsks(t *testing.T) {
	release := make(chan struct{})
	s, p := meet(t, "2025-11-25", elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
		select {
		case <-release:
		case <-t.Context().Done():
		}
		return accept(ctx, q)
	}))
	for id := range 1000 {
		done := start(t.Context(), s, "x")
		m := p.expect("tools/call")
		p.send(`{"jsonrpc":"2.0","id":"q%d",%s`, id, goodForm[1:])
		go func() { // nobody takes it from one whose question is one too many
			select {
			case release <- struct{}{}:
			case <-t.Context().Done():
			}
		}()
		p.answer(m, `{"content":[]}`)
		p.noAnswerAfterPing(id)
		<-done
	}
}

// noAnswerAfterPing sends a ping, and finds nothing after its answer, but that to another ping.
func (p *peer) noAnswerAfterPing(id int) {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"p%d","method":"ping"}`, id)
	for pong := fmt.Sprintf(`"p%d"`, id); string(p.next().ID) != pong; {
	}
	p.send(`{"jsonrpc":"2.0","id":"l%d","method":"ping"}`, id)
	if late := p.next(); string(late.ID) != fmt.Sprintf(`"l%d"`, id) {
		p.t.Fatalf("after ping %d: the client sent %s", id, late.raw)
	}
}

// Nor does one follow what answers a message that came after a cancellation.
func TestCAN02NoAnswerFollowsTheCancellationOfItsQuestion(t *testing.T) {
	const together = 60
	s, p := meet(t, "2025-11-25", elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
		time.Sleep(rand.N(300 * time.Microsecond)) // around the cancellation
		return accept(ctx, q)
	}))
	for round := range 60 {
		done := start(t.Context(), s, "x")
		m := p.expect("tools/call")
		go func() {
			for i := range together {
				p.send(`{"jsonrpc":"2.0","id":"q%d",%s`, i, goodForm[1:])
			}
			for i := range together {
				p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q%d"}}`, i)
				p.send(`{"jsonrpc":"2.0","id":"p%d","method":"ping"}`, i)
			}
			p.send(`{"jsonrpc":"2.0","id":"end","method":"ping"}`)
		}()
		read := map[string]bool{}
		for id := ""; id != "end"; {
			id = strings.Trim(string(p.next().ID), `"`)
			if read[id] = true; id[0] == 'q' && read["p"+id[1:]] {
				t.Fatalf("round %d: the answer to %s came after that to the ping behind its cancellation", round, id)
			}
		}
		p.answer(m, `{"content":[]}`)
		<-done
	}
}
