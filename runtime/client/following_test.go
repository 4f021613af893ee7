package client

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client/internal/dialects"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// deaf is a link to a server that says nothing.
type deaf struct{ link }

func (deaf) send(context.Context, []byte, *round) error { return nil }
func (deaf) sessionID() string                          { return "" }
func (deaf) reply([]byte)                               {}

// alone is a session of the newest revision whose server says nothing, with a task that nobody follows yet.
func alone(handlers Handlers) (*Session, *follower) {
	s := newSession(newConfig([]Option{WithHandlers(handlers)}), "x")
	s.link = deaf{}
	s.dialect.Store(dialects.All[0])
	return s, s.newFollower(dialects.All[0], "x", TaskState{ID: "t", Status: "input_required", PollInterval: time.Hour})
}

// followed has one more execution follow the task.
func (f *follower) followed() (*execution, *following) {
	x := newExecution(f, rpc.ID{})
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return x, f.s.join(f, x)
}

// What was read for those who have left the task is not what its next followers are asked.
func TestEXT22AQuestionThatIsReadForThoseWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		s, f := alone(Handlers{Elicit: func(ctx context.Context, _ *Question) (*Answer, error) {
			asked.Add(1)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}})
		first, former := f.followed()
		first.detach()
		_, next := f.followed()
		questions := []byte(`{"k":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}`)
		former.answer(questions)
		if synctest.Wait(); asked.Load() != 0 {
			t.Error("the user is asked for those who left")
		}
		next.answer(questions)
		if synctest.Wait(); asked.Load() != 1 {
			t.Errorf("asked %d times", asked.Load())
		}
		s.cancel(ErrClosed)
	})
}

// A hint is for those who follow the task, not for those who left it.
func TestTSK27AHintIsNotTakenByThoseWhoLeft(t *testing.T) {
	s, f := alone(Handlers{})
	defer s.cancel(ErrClosed)
	for range 100 {
		first, former := f.followed()
		first.detach()
		next, _ := f.followed()
		next.wake()
		former.wait(0, time.Time{})
		if len(f.hint) == 0 {
			t.Fatal("the hint is lost")
		}
		next.detach()
	}
}

// A process that has ended by itself was not killed, whatever ends the wait for it.
func TestAProcessThatHasEndedIsNotKilled(t *testing.T) {
	c := &child{exited: make(chan struct{})}
	close(c.exited)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if !c.over(ctx, 0) {
			t.Fatal("it counts as running")
		}
	}
}
