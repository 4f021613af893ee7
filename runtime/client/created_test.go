package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// formTaskAs is formAsTask under an id.
func formTaskAs(id string) string { return `{"jsonrpc":"2.0","id":"` + id + `",` + formAsTask[1:] }

// dialCreating is dialDeafTo for a server that takes the answer to the question of its call, and asks more. named gets the answers to that.
func dialCreating(t *testing.T, named func(m message) int, opts ...client.Option) (*client.Session, *deaf) {
	t.Helper()
	return dialDeafTo(t, func(_ int, m message) (*http.Response, error) {
		if string(m.ID) == `"q"` {
			return status(http.StatusAccepted), nil
		}
		return status(named(m)), nil
	}, opts...)
}

// A task that no server knows asks nobody.
func TestTSK26NobodyIsAskedWhenTheAnswerThatNamesTheTaskIsNotTaken(t *testing.T) {
	for name, receipt := range map[string]int{"withdrawn": http.StatusServiceUnavailable, "withdrawn, received": http.StatusAccepted, "refused": http.StatusBadRequest, "no session": http.StatusNotFound} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				s, d := dialCreating(t, func(message) int {
					sleep(t.Context(), 100*time.Millisecond)
					return receipt
				}, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					asked.Add(1)
					return accept(ctx, q)
				}))
				ctx, end := context.WithCancel(t.Context())
				done := start(ctx, s, "x")
				synctest.Wait()
				d.say(formTaskAs("t"))
				if synctest.Wait(); receipt == http.StatusServiceUnavailable {
					sleep(t.Context(), 150*time.Millisecond)
				}
				if strings.HasPrefix(name, "withdrawn") {
					d.say(withdrawn("t"))
				}
				sleep(t.Context(), 30*time.Second)
				end()
				if <-done; asked.Load() != 1 || d.answers.Load() < 2 {
					t.Errorf("asked %d times, %d answers", asked.Load(), d.answers.Load())
				}
			})
		})
	}
}

// VAL07: errors that answer requests for tasks count while they are being sent, too.
func TestVAL07RefusalsOfTasksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused atomic.Int32
		s, d := dialCreating(t, func(m message) int {
			if strings.Contains(fmt.Sprint(m.Error), "-32602") {
				refused.Add(1)
				<-t.Context().Done()
			}
			return http.StatusAccepted
		}, elicits(accept))
		ctx, end := context.WithCancel(t.Context())
		done := start(ctx, s, "x")
		synctest.Wait()
		for i := range 150 {
			d.say(strings.Replace(formTaskAs(fmt.Sprint("t", i)), `"task":{}`, `"task":{"ttl":-5}`, 1))
		}
		synctest.Wait()
		if n := refused.Load(); n != 100 {
			t.Errorf("%d refusals are being sent", n)
		}
		end()
		<-done
	})
}

// The clock of a call goes on also if its question is a task that ends before anybody is asked, and not before, though the request comes again.
func TestCAN28TheClockOfACallWhoseQuestionIsATask(t *testing.T) {
	const thinks = 10 * time.Minute
	for _, cancels := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			var d *deaf
			s, d0 := dialCreating(t, func(m message) int {
				var created struct{ Task state }
				if _ = json.Unmarshal(m.Result, &created); cancels && created.Task.TaskID != "" {
					d.say(`{"jsonrpc":"2.0","id":"c","method":"tasks/cancel","params":` + ref(created.Task.TaskID) + `}`)
					sleep(t.Context(), time.Second)
				}
				return http.StatusAccepted
			}, client.WithTimeout(time.Minute, 2*time.Minute), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				if asked.Add(1); asked.Load() == 2 {
					sleep(ctx, thinks)
				}
				return accept(ctx, q)
			}))
			d = d0
			ctx, end := context.WithTimeout(t.Context(), time.Hour)
			defer end()
			began := time.Now()
			done := start(ctx, s, "x")
			synctest.Wait()
			d.say(formTaskAs("t"))
			sleep(t.Context(), 2*time.Second)
			d.say(formTaskAs("t"))
			<-done
			if took := time.Since(began).Round(time.Minute); cancels && took != time.Minute || !cancels && took != thinks+time.Minute {
				t.Errorf("cancels %v: the call ended after %v", cancels, took)
			}
		})
	}
}
