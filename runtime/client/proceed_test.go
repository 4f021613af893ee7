package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// sends is a link of the session s1 that tells in which session each message is to be sent, and sends when it may.
type sends struct {
	deaf
	in  chan string
	may chan struct{}
}

func (l sends) send(ctx context.Context, _ []byte, _ *round) error {
	only, _ := ctx.Value(sessionKey{}).(string)
	l.in <- only
	<-l.may
	return nil
}

func (sends) sessionID() string { return "s1" }
func (sends) shared() bool      { return false }

// whileSending is a session with such a link, and a question of a task that it follows.
func whileSending(t *testing.T, handlers Handlers) (l sends, f *follower, q *question, e *inflight.Entry) {
	s, f := alone(handlers)
	t.Cleanup(func() { s.cancel(ErrClosed) })
	l = sends{in: make(chan string, 10), may: make(chan struct{})}
	s.link = l
	f.followed()
	f.startedHere = true
	q, e = f.asked(t, 7, nil)
	q.session = "s1"
	return l, f, q, e
}

// Where one question has run out of time, the same under another id is asked, however long it takes to say so to the server.
func TestCAN31TheNextIsAskedWhileALateAnswerIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan *Question, 10)
		l, f, q, e := whileSending(t, Handlers{Elicit: func(ctx context.Context, q *Question) (*Answer, error) {
			asked <- q
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}})
		f.s.cfg.questionTimeout = time.Minute
		q.ask(e, nil)
		next, later := f.asked(t, 8, nil)
		next.session = "s1"
		next.ask(later, nil)
		time.Sleep(time.Minute)
		if synctest.Wait(); len(asked) != 2 || len(l.in) != 1 {
			t.Errorf("asked %d times, %d answers", len(asked), len(l.in))
		}
		close(l.may)
		later.Cancel(&Cause{Source: inflight.SourcePeer})
	})
}

// What is sent once more goes to the HTTP session in which it was asked.
func TestCAN30AnAnswerIsSentOnceMoreInItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, f, q, e := whileSending(t, Handlers{Elicit: func(context.Context, *Question) (*Answer, error) {
			return &Answer{Action: Declined}, nil
		}})
		close(l.may)
		q.ask(e, nil)
		synctest.Wait()
		if !f.s.repeats(&rpc.Message{ID: q.id, Method: []byte(q.Method), Params: q.Params}, nil) {
			t.Error("it is another request")
		}
		synctest.Wait()
		if len(l.in) != 2 {
			t.Fatalf("%d answers", len(l.in))
		}
		for range 2 {
			if in := <-l.in; in != "s1" {
				t.Errorf("sent in session %q", in)
			}
		}
	})
}

// A host that is told of an answer does not hold up what tells it, which may be what reads the server's messages.
func TestEXT22AHostThatIsToldOfAnAnswerHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, _, q, e := whileSending(t, Handlers{Answered: func(*Question, error) { <-release }})
		q.nextDialog(e)
		a := q.answer
		a.asked, a.given, a.arrived, a.recipients[0].stage = q.Question, true, true, stageArrived
		done := make(chan struct{})
		go func() {
			a.proceed()
			close(done)
		}()
		synctest.Wait()
		select {
		case <-done:
		default:
			t.Error("it waits for the host")
		}
		close(release)
		<-done
		e.Cancel(&Cause{Source: inflight.SourcePeer})
	})
}
