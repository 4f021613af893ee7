package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// outcome is how one of those that follow a task ends.
type outcome = <-chan error

// follows are ways in which a session follows a task; what they return is how that ends.
var follows = map[string]func(t *testing.T, s *client.Session) outcome{
	"a call": func(t *testing.T, s *client.Session) outcome {
		return ending(func() error { _, err := s.CallTool(t.Context(), "x", nil); return err })
	},
	"Start": func(t *testing.T, s *client.Session) outcome {
		return ending(func() error {
			x, err := s.Start(t.Context(), "x", nil)
			if err == nil {
				_, err = x.Result(t.Context())
			}
			return err
		})
	},
	"Resume": func(t *testing.T, s *client.Session) outcome {
		x := resume(t, s)
		return ending(func() error { _, err := x.Result(t.Context()); return err })
	},
}

func ending(f func() error) outcome {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// one is a server with one task, t1, which every call becomes.
type one struct {
	*peer
	revision string
	mu       sync.Mutex
	status   string
	then     string  // the status after an answer
	call     message // the first that became the task
	result   []message
	sent     map[string]int // requests of the client by their methods
}

// serveOne has the tool x become the task of the server, whose state is read every second.
func serveOne(t *testing.T, revision string, opts ...client.Option) (*client.Session, *one) {
	s, p := meetOffering(t, revision, taskOffers, opts...)
	p.offerTask(s)
	o := &one{peer: p, revision: revision, status: "working", then: "completed", sent: map[string]int{}}
	go p.each(o.serve)
	return s, o
}

func (o *one) serve(m message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent[m.Method]++
	switch m.Method {
	case "tools/call":
		if o.call.ID == nil {
			o.call = m
		}
		o.answer(m, map[string]string{"2026-07-28": o.state("task"), "2025-11-25": `{"task":` + o.state("") + `}`}[o.revision])
	case "tasks/get":
		o.answer(m, o.state("complete"))
	case "tasks/result":
		o.result = append(o.result, m)
		o.settle()
	case "tasks/update":
		o.status = o.then
		o.answer(m, `{"resultType":"complete"}`)
	case "tasks/cancel":
		o.status = "cancelled"
		o.answer(m, o.state("complete"))
		o.settle()
	case "": // the answer to a question
		o.status = o.then
		o.settle()
	}
}

// settle answers what waits for the end of the task, if that has come.
func (o *one) settle() {
	for _, m := range o.result {
		switch o.status {
		case "completed":
			o.answer(m, `{"content":[]}`)
		case "cancelled":
			o.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"cancelled"}}`, m.ID)
		default:
			return
		}
	}
	o.result = nil
}

func (o *one) state(kind string) string {
	more := ""
	switch o.status {
	case "input_required":
		more = `,"inputRequests":{"k":` + goodForm + `}`
	case "completed":
		more = `,"result":{"content":[]}`
	}
	return fmt.Sprintf(`{"resultType":%q,"taskId":"t1","status":%q,%s,"ttl":null,"ttlMs":null,"pollInterval":1000,"pollIntervalMs":1000%s}`, kind, o.status, moments, more)
}

// is sets the status of the task.
func (o *one) is(status string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.status = status
	o.settle()
}

// asks has the task ask, in the way of the revision.
func (o *one) asks() {
	o.is("input_required")
	sleep(o.t.Context(), 3*time.Second)
	if o.revision == "2025-11-25" {
		o.send("%s", ofTask(goodForm))
	}
}

// count is how many requests with that method came.
func (o *one) count(method string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent[method]
}

// twice runs a test in each revision with tasks, for each two ways in which a session follows one task.
func twice(t *testing.T, f func(t *testing.T, revision string, first, second func(t *testing.T, s *client.Session) outcome)) {
	for _, revision := range withTasks {
		for a, first := range follows {
			for b, second := range follows {
				t.Run(revision+" "+a+" and "+b, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { f(t, revision, first, second) })
				})
			}
		}
	}
}

// However often a session follows a task, each question is put to its user once and answered once.
func TestEXT22ATaskThatIsFollowedTwiceAsksOnce(t *testing.T) {
	twice(t, func(t *testing.T, revision string, first, second func(t *testing.T, s *client.Session) outcome) {
		var asked atomic.Int32
		s, o := serveOne(t, revision, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			asked.Add(1)
			sleep(ctx, 5*time.Second)
			return accept(ctx, q)
		}))
		ends := []outcome{first(t, s), second(t, s)}
		synctest.Wait()
		o.asks()
		for _, end := range ends {
			if err := <-end; err != nil {
				t.Error(err)
			}
		}
		if updates := o.count("tasks/update"); asked.Load() != 1 || revision == "2026-07-28" && updates != 1 || o.count("tasks/result") > 1 {
			t.Errorf("asked %d times, %d updates, %d requests for the result", asked.Load(), updates, o.count("tasks/result"))
		}
	})
}

// left starts or resumes a task, and follows it a second time for a while.
func left(t *testing.T, s *client.Session, first func(t *testing.T, s *client.Session) outcome) outcome {
	end := first(t, s)
	sleep(t.Context(), 1500*time.Millisecond)
	x := resume(t, s)
	sleep(t.Context(), 1500*time.Millisecond)
	x.Detach()
	if _, err := x.Result(t.Context()); !errors.Is(err, client.ErrDetached) {
		t.Error(err)
	}
	return end
}

// A question ends with its task, also if somebody else in the session has followed the task for a while.
func TestCAN31AQuestionEndsWithATaskThatAnotherHasLeft(t *testing.T) {
	for _, revision := range withTasks {
		synctest.Test(t, func(t *testing.T) {
			open, gone := make(chan struct{}), make(chan error, 4)
			s, o := serveOne(t, revision, client.WithHandlers(client.Handlers{
				Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					close(open)
					<-ctx.Done()
					return nil, context.Cause(ctx)
				},
				QuestionGone: func(_ *client.Question, cause error) { gone <- cause },
			}))
			end := left(t, s, follows["Start"])
			o.asks()
			<-open
			o.is("completed")
			if err := <-end; err != nil {
				t.Error(err)
			}
			synctest.Wait()
			var cause *client.Cause
			if len(gone) != 1 || !errors.As(<-gone, &cause) || cause.Source != inflight.SourceParent {
				t.Errorf("%s: %d are gone, the first because of %v", revision, len(gone), cause)
			}
		})
	}
}

// An open question of a task pauses the clock of its call, and the call stays listed, also if somebody else has followed the task for a while.
func TestCAN28TheClockOfACallWhoseTaskAnotherHasLeft(t *testing.T) {
	for _, revision := range withTasks {
		synctest.Test(t, func(t *testing.T) {
			s, o := serveOne(t, revision, client.WithTimeout(10*time.Second, 20*time.Second), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				sleep(ctx, time.Minute)
				return accept(ctx, q)
			}))
			end := left(t, s, follows["a call"])
			if all := s.Requests(); len(all) != 1 || all[0].Task != "t1" || all[0].Tool != "x" {
				t.Errorf("%s: %+v", revision, all)
			}
			o.asks()
			if err := <-end; err != nil {
				t.Errorf("%s: %v", revision, err)
			}
		})
	}
}

// A call that joins those who follow a task while a question is open has its own time, and no more.
func TestCAN28ACallThatJoinsWhileAQuestionIsOpen(t *testing.T) {
	for _, revision := range withTasks {
		synctest.Test(t, func(t *testing.T) {
			s, o := serveOne(t, revision, client.WithTimeout(10*time.Second, 20*time.Second), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				sleep(ctx, time.Minute)
				return accept(ctx, q)
			}))
			o.then = "working"
			x := resume(t, s)
			o.asks()
			sleep(t.Context(), 30*time.Second)
			began := time.Now()
			err := <-follows["a call"](t, s)
			var cause *client.Cause
			if took := time.Since(began); !errors.As(err, &cause) || cause.Source != inflight.SourceTimeout || took < 45*time.Second || took > 51*time.Second {
				t.Errorf("%s: %v after %v", revision, err, took)
			}
			x.Detach()
			synctest.Wait() // the server may still be answering
		})
	}
}

// A call whose task is resumed, too, is given up by its id, and has its progress.
func TestCAN17ACallWhoseTaskIsResumedTooIsGivenUp(t *testing.T) {
	for _, revision := range withTasks {
		synctest.Test(t, func(t *testing.T) {
			var progress atomic.Int32
			s, o := serveOne(t, revision)
			done := start(t.Context(), s, "x", client.OnProgress(func(client.Progress) { progress.Add(1) }))
			synctest.Wait()
			id := s.Requests()[0].ID
			x := resume(t, s)
			if revision == "2025-11-25" { // else a task has none
				o.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, o.call.ID)
				synctest.Wait()
				if progress.Load() != 1 {
					t.Errorf("%d reports", progress.Load())
				}
			}
			began := time.Now()
			if err := s.CancelRequest(id, "enough"); err != nil {
				t.Error(err)
			}
			var cause *client.Cause
			if r := <-done; !errors.As(r.err, &cause) || cause.Source != inflight.SourceCaller || time.Since(began) > 0 {
				t.Errorf("%s: %v after %v", revision, r.err, time.Since(began))
			}
			var over *client.TaskError
			if _, err := x.Result(t.Context()); !errors.As(err, &over) || over.State.Status != task.Cancelled || o.count("tasks/cancel") != 1 {
				t.Errorf("%s: %v, %d cancellations", revision, err, o.count("tasks/cancel"))
			}
		})
	}
}

// Whoever cancels a task cancels it for all who follow it. Whoever detaches leaves it to the others.
func TestCAN11ATaskThatIsFollowedTwiceIsCancelledForBoth(t *testing.T) {
	for _, revision := range withTasks {
		synctest.Test(t, func(t *testing.T) {
			s, o := serveOne(t, revision)
			x, y, z := resume(t, s), resume(t, s), resume(t, s)
			synctest.Wait()
			x.Detach()
			if err := y.Cancel(t.Context(), "enough"); err != nil {
				t.Error(err)
			}
			if _, err := x.Result(t.Context()); !errors.Is(err, client.ErrDetached) {
				t.Error(err)
			}
			for _, one := range []*client.Execution[client.ToolResult]{y, z} {
				var over *client.TaskError
				if _, err := one.Result(t.Context()); !errors.As(err, &over) || over.State.Status != task.Cancelled {
					t.Errorf("%s: %v", revision, err)
				}
			}
			if n := o.count("tasks/cancel"); n != 1 {
				t.Errorf("%s: %d cancellations", revision, n)
			}
		})
	}
}
