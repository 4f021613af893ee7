package client

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client/internal/dialects"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// deaf is a link to a server that says nothing.
type deaf struct{ link }

func (deaf) send(context.Context, []byte, *round) error { return nil }
func (deaf) sessionID() string                          { return "" }
func (deaf) reply(origin, []byte)                       {}
func (deaf) shared() bool                               { return true }

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

// asked is a question of the task as a request, which nobody is asked yet.
func (f *follower) asked(t *testing.T, id int64, bad *Error) (*question, *inflight.Entry) {
	t.Helper()
	s := f.s
	q := &question{Question: &Question{Task: f.task}, s: s, dialect: f.dialect, op: wire.OpElicit, id: rpc.IntID(id), bad: bad, life: s.ctx}
	e, err := s.tracker.RegisterIn(&q.entryMemory, s.ctx, s.key(q.id, inflight.Incoming), inflight.Info{Kind: inflight.Kind{AnswersTimeout: true}}, q)
	if err != nil {
		t.Fatal(err)
	}
	return q, e
}

// A question that can not be asked is refused, or waits because those who follow its task leave, but not both.
func TestCAN02AQuestionThatIsTakenBackIsNotRefused(t *testing.T) {
	s, f := alone(Handlers{})
	defer s.cancel(ErrClosed)
	f.followed()
	for i := range 5_000 {
		q, e := f.asked(t, int64(i), rpc.Errorf(rpc.CodeInvalidParams, "bad"))
		var all sync.WaitGroup
		all.Go(func() { q.ask(e, nil) })
		all.Go(func() {
			for taken := false; !taken && e.Err() == nil; {
				s.mu.Lock()
				taken = q.answer != nil && q.answer.dialog != nil
				s.mu.Unlock()
			}
			q.leave(e)
		})
		all.Wait()
		e.Cancel(&Cause{Source: inflight.SourcePeer})
		if s.unasked != 0 {
			t.Fatalf("%d wait, though all are over", s.unasked)
		}
	}
	s.work.Wait()
}

// The server gets an answer when the time of a question passes, also while the question is taken back from its handler.
func TestCAN20TheTimeOfAQuestionPassesWhileItIsTakenBack(t *testing.T) {
	s, f := alone(Handlers{})
	defer s.cancel(ErrClosed)
	sent := make(chan string, 1)
	s.link = hears{sent: sent}
	x, _ := f.followed()
	f.startedHere = true
	q, e := f.asked(t, 7, nil)
	q.nextDialog(e)
	x.detach()
	e.Cancel(&Cause{Source: inflight.SourceTimeout})
	if got := <-sent; !strings.Contains(got, `"id":7`) || !strings.Contains(got, "cancel") {
		t.Errorf("answered %s", got)
	}
	if s.work.Wait(); s.tracker.Len() != 0 || s.unasked != 0 {
		t.Errorf("%d are in flight, %d wait", s.tracker.Len(), s.unasked)
	}
}

// A question that can not even wait is answered, as one is that comes while too many are open, or left open: else its task would wait for ever.
func TestVAL07AQuestionThatCanNotWaitIsRefused(t *testing.T) {
	for _, startedHere := range []bool{true, false} {
		refused, leftOpen := make(chan string, 2), make(chan error, 2)
		s, f := alone(Handlers{LeftOpen: func(_ *Question, why error) { leftOpen <- why }})
		s.link = refusals{sent: refused}
		x, _ := f.followed()
		f.startedHere = startedHere
		open, itsEntry := f.asked(t, 7, nil)
		open.nextDialog(itsEntry)
		s.mu.Lock()
		s.unasked = maxQuestions
		s.mu.Unlock()
		x.detach() // takes it back from its handler
		next, e := f.asked(t, 8, nil)
		next.ask(e, nil)
		s.work.Wait()
		if e.Err() == nil || itsEntry.Err() == nil {
			t.Error("they are in flight")
		}
		if !startedHere {
			if len(leftOpen) != 2 || len(refused) != 0 {
				t.Errorf("%d are left open, %d refused", len(leftOpen), len(refused))
			}
		} else if all := <-refused + <-refused; !strings.Contains(all, `"id":7`) || !strings.Contains(all, `"id":8`) || strings.Count(all, "100 questions wait") != 2 {
			t.Errorf("refused with %s", all)
		}
		s.cancel(ErrClosed)
	}
}

// refusals is a link that passes on replies.
type refusals struct {
	deaf
	sent chan string
}

func (r refusals) reply(_ origin, frame []byte) { r.sent <- string(frame) }

// hears is a link that passes on what is sent.
type hears struct {
	deaf
	sent chan string
}

func (h hears) send(_ context.Context, frame []byte, _ *round) error {
	h.sent <- string(frame)
	return nil
}

// A process that has ended by itself was not killed, whatever ends the wait for it.
func TestAProcessThatHasEndedIsNotKilled(t *testing.T) {
	c := &child{exited: make(chan struct{})}
	close(c.exited)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if !c.endsWithin(ctx, 0) {
			t.Fatal("it counts as running")
		}
	}
}
