package client_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// A task that the session does not follow any more asks nobody here, and gets no answer: it is over, or whoever follows it elsewhere answers.
func TestTSK27ATaskThatWasLeftIsAnsweredElsewhere(t *testing.T) {
	for _, question := range []string{wantsSample, unreadable, brokenForm, goodForm} {
		for _, over := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithHandlers(client.Handlers{
					Elicit: func(_ context.Context, q *client.Question) (*client.Answer, error) {
						t.Errorf("%s: somebody is asked, though the task is over: %v", question, over)
						return &client.Answer{Action: client.Declined}, nil
					},
				}))
				x := resume(t, s)
				if over {
					p.answer(p.expect("tasks/get"), `{"taskId":"t1",`+moments+`,"ttl":null,"status":"completed"}`)
					p.answer(p.expect("tasks/result"), `{"content":[]}`)
					if _, err := x.Result(t.Context()); err != nil {
						t.Error(err)
					}
				} else {
					p.expect("tasks/get")
					x.Detach()
				}
				go p.each(func(m message) {
					if m.Method == "" {
						t.Errorf("%s: answered %s %v, though the task is over: %v", question, m.Result, m.Error, over)
					}
				})
				p.send("%s", ofTask(question))
				sleep(t.Context(), time.Hour)
				_ = s.Abort()
			})
		}
	}
}

// A question that the server withdraws while its answer is on the way is not answered again.
func TestCAN31AnAnswerThatWasOnItsWayIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := make(chan struct{})
		s, d := dialDeaf(t, func(attempt int) (*http.Response, error) {
			if attempt == 1 {
				<-slow
			}
			return status(http.StatusServiceUnavailable), nil
		}, elicits(accept))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := start(ctx, s, "x")
		synctest.Wait()
		d.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`)
		synctest.Wait()
		close(slow)
		sleep(t.Context(), 30*time.Second)
		if n := d.answers.Load(); n != 1 {
			t.Errorf("%d answers", n)
		}
		cancel()
		<-done
	})
}

// A task that takes no answer because it is over has a result.
func TestEXT22AnAnswerThatComesTooLateCostsNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2026-07-28", taskOffers, elicits(accept))
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), taskIs("task", "working", ""))
		p.answer(p.expect("tasks/get"), asks("2026-07-28", `,"pollIntervalMs":300000`))
		p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"task is completed"}}`, p.expect("tasks/update").ID)
		go p.each(func(m message) {
			if m.Method != "tasks/get" {
				t.Errorf("sent %s", m.raw)
				return
			}
			p.answer(m, taskIs("complete", "completed", `,"result":{"content":[]}`))
		})
		if r := <-done; r.err != nil {
			t.Error(r.err)
		}
	})
}

// EXT21: what a completed task has is complete.
func TestEXT21TheResultOfATaskIsComplete(t *testing.T) {
	for _, kind := range []string{"task", "input_required", "future"} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2026-07-28", taskOffers)
			done := start(t.Context(), s, "x")
			p.answer(p.expect("tools/call"), taskIs("task", "working", ""))
			p.answer(p.expect("tasks/get"), taskIs("complete", "completed", `,"result":{"resultType":"`+kind+`","content":[]}`))
			if r := <-done; r.err == nil {
				t.Errorf("%s: it counts as a result", kind)
			}
		})
	}
}

// VAL07: the names of a task's questions are remembered, and only so many.
func TestVAL07ATaskAsksOnlySoMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2026-07-28", taskOffers, leaves(make(chan opened, 10_000)))
		x := resume(t, s)
		var readings atomic.Int32
		go p.each(func(m message) {
			var keys []string
			for i := range 100 {
				keys = append(keys, fmt.Sprintf(`"%s%d-%d":{"method":"future/ask"}`, strings.Repeat("k", 5000), readings.Load(), i))
			}
			if readings.Add(1) > 20 {
				p.answer(m, taskIs("complete", "completed", `,"result":{"content":[]}`))
				return
			}
			p.answer(m, taskIs("complete", "input_required", `,"pollIntervalMs":1,"inputRequests":{`+strings.Join(keys, ",")+`}`))
		})
		if _, err := x.Result(t.Context()); err == nil || !strings.Contains(err.Error(), "questions") || readings.Load() > 5 {
			t.Errorf("%v after %d readings", err, readings.Load())
		}
	})
}
