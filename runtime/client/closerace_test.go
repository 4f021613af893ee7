package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// createdIn is the answer that makes the call of a tool the task t1, in a revision.
func createdIn(revision string) string {
	if revision == "2026-07-28" {
		return taskIs("task", "working", "")
	}
	return fmt.Sprintf(created, "t1")
}

// heldCall is a call whose goroutine is busy passing progress on until release is called.
type heldCall struct {
	p       *peer
	call    message
	goOn    chan struct{}
	release func()       // closes goOn
	done    <-chan error // the end of the call
}

// holdCall has call call a tool that may be a task, and holds its goroutine.
func holdCall(t *testing.T, revision string, call func(s *client.Session, opt client.CallOption) error) (*client.Session, *heldCall) {
	t.Helper()
	s, p := meetOffering(t, revision, taskOffers)
	if revision == "2025-11-25" {
		p.offerTask(s)
	}
	h, done := &heldCall{p: p, goOn: make(chan struct{})}, make(chan error, 1)
	h.release, h.done = sync.OnceFunc(func() { close(h.goOn) }), done
	t.Cleanup(h.release)
	go func() { done <- call(s, client.OnProgress(func(client.Progress) { <-h.goOn })) }()
	h.call = p.expect("tools/call")
	p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, h.call.ID)
	synctest.Wait()
	return s, h
}

func closing(s *client.Session) <-chan error {
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	synctest.Wait()
	return closed
}

func callX(s *client.Session, opt client.CallOption) error {
	_, err := s.CallTool(context.Background(), "x", nil, opt)
	return err
}

// endsWithSession checks that a call has ended because of Close.
func endsWithSession(t *testing.T, err error) {
	t.Helper()
	var cause *client.Cause
	if !errors.As(err, &cause) || cause.Source != inflight.SourceShutdown {
		t.Errorf("the call ended with %v", err)
	}
}

func closedInOrder(t *testing.T, closed <-chan error) {
	t.Helper()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// The answer has come, and the call has not read it yet: Close waits until the call knows its task.
func TestCAN11CloseCancelsATaskThatItsCallDoesNotKnowYet(t *testing.T) {
	for _, revision := range withTasks {
		synctest.Test(t, func(t *testing.T) {
			s, h := holdCall(t, revision, callX)
			h.p.answer(h.call, createdIn(revision))
			synctest.Wait()
			closed := closing(s)
			h.release()
			h.p.answer(h.p.expect("tasks/cancel"), taskIs("complete", "cancelled", ""))
			closedInOrder(t, closed)
			endsWithSession(t, <-h.done)
		})
	}
}

// What Start has begun goes on: its caller gets the Ref, also if Close comes before.
func TestCAN11CloseLeavesATaskToTheCallerOfStart(t *testing.T) {
	for _, revision := range withTasks {
		synctest.Test(t, func(t *testing.T) {
			var started *client.Execution[client.ToolResult]
			s, h := holdCall(t, revision, func(s *client.Session, opt client.CallOption) (err error) {
				started, err = s.Start(context.Background(), "x", nil, opt)
				return err
			})
			h.p.answer(h.call, createdIn(revision))
			synctest.Wait()
			closed := closing(s)
			h.release()
			closedInOrder(t, closed)
			if err := <-h.done; err != nil {
				t.Fatal(err)
			}
			if ref, ok := started.Ref(); !ok || ref.ID != "t1" {
				t.Errorf("the Ref is %v", ref)
			}
			if frame, err := h.p.conn.ReadFrame(nil); err == nil {
				t.Errorf("the client sent %s", frame)
			}
			_, err := started.Result(context.Background())
			endsWithSession(t, err)
		})
	}
}

// The task can not be followed any more, and its call has not given it up yet.
func TestCAN11CloseCancelsATaskThatIsJustNotFollowedAnyMore(t *testing.T) {
	for _, revision := range withTasks {
		synctest.Test(t, func(t *testing.T) {
			s, h := holdCall(t, revision, callX)
			h.p.answer(h.call, createdIn(revision))
			h.goOn <- struct{}{}
			synctest.Wait()
			h.p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":2}}`, h.call.ID)
			h.p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, h.p.expect("tasks/get").ID)
			synctest.Wait()
			closed := closing(s)
			h.p.answer(h.p.expect("tasks/cancel"), taskIs("complete", "cancelled", ""))
			closedInOrder(t, closed)
			h.release()
			if err := <-h.done; err == nil {
				t.Error("the call has a result")
			}
		})
	}
}

// Where the server decides which call becomes a task, Close does what the end of a call's context does: it cancels the request, and the task that a late answer
// names. It waits for that no longer than an answer may be on its way.
func TestCAN17CloseCancelsARequestThatMayBecomeATask(t *testing.T) {
	for _, before := range []bool{false, true} {
		for _, silent := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s, p := meetOffering(t, "2026-07-28", taskOffers)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := start(ctx, s, "x")
				call := p.expect("tools/call")
				if before {
					cancel()
					<-done
				}
				began, closed := time.Now(), closing(s)
				has(t, p.expect("notifications/cancelled").raw, `"requestId":`+string(call.ID))
				if silent {
					closedInOrder(t, closed)
				} else {
					time.Sleep(200 * time.Millisecond)
					p.answer(call, taskIs("task", "working", ""))
					p.answer(p.expect("tasks/cancel"), taskIs("complete", "cancelled", ""))
					closedInOrder(t, closed)
				}
				if took := time.Since(began); silent != (took == 250*time.Millisecond) || took > 250*time.Millisecond {
					t.Errorf("closed after %v", took)
				}
				if !before {
					endsWithSession(t, (<-done).err)
				}
			})
		}
	}
}

// While Close waits for a task, no call is sent that may become another.
func TestCAN11NoTaskIsBegunDuringClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		answer := sync.OnceFunc(func() { close(goOn) })
		s, p := meetOffering(t, "2026-07-28", taskOffers, client.WithHandlers(client.Handlers{
			Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
				<-goOn
				return &client.Answer{Action: client.Declined}, nil
			},
		}))
		asking := start(t.Context(), s, "x")
		t.Cleanup(answer)
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"k":`+goodForm+`}}`)
		synctest.Wait()
		waits := start(t.Context(), s, "x")
		p.expect("tools/call")
		closed := closing(s)
		p.expect("notifications/cancelled")
		late := start(t.Context(), s, "x")
		answer()
		for _, done := range []<-chan result{asking, waits, late} {
			endsWithSession(t, (<-done).err)
		}
		closedInOrder(t, closed)
		if frame, err := p.conn.ReadFrame(nil); err == nil {
			t.Errorf("the client sent %s", frame)
		}
	})
}

// Whenever Close comes, the task is cancelled, and once, also if its call is given up at the same time.
func TestCAN11CloseAtAnyMomentCancelsATaskOnce(t *testing.T) {
	for _, revision := range withTasks {
		for _, overHTTP := range []bool{false, true} {
			for _, givenUp := range []bool{false, true} {
				for range 60 {
					synctest.Test(t, func(t *testing.T) {
						w := &working{revision: revision, called: make(chan struct{}, 1), cancels: make(chan message, 5)}
						s := w.dial(t, overHTTP)
						listTools(t, s)
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						done := start(ctx, s, "x")
						<-w.called
						for range rand.N(40) {
							runtime.Gosched()
						}
						if givenUp {
							go cancel()
						}
						if err := s.Close(); err != nil {
							t.Error(err)
						}
						if r := <-done; r.err == nil {
							t.Error("the call has a result")
						}
						if len(w.cancels) != 1 {
							t.Errorf("%s, HTTP %v, given up %v: %d cancellations, want 1", revision, overHTTP, givenUp, len(w.cancels))
						}
					})
				}
			}
		}
	}
}
