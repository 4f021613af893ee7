package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// withdraw withdraws the question with that id.
func (p *peer) withdraw(id int) {
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
	synctest.Wait()
}

// underTwoIDs is a session of a user whom task t1 asks the same under the ids 7 and 8.
func underTwoIDs(t *testing.T, opts ...client.Option) (*user, *client.Session, *peer, *client.Execution[client.ToolResult]) {
	u := newUser()
	s, p := meetOffering(t, "2025-11-25", taskOffers, append(opts, u.handlers(false))...)
	x := p.follow(t, s)
	p.send("%s", form(7, "same"))
	p.send("%s", form(8, "same"))
	synctest.Wait()
	return u, s, p, x
}

// A form that a person fills in for two ids stays open as long as one of them is: whichever is withdrawn, the answer goes to the other.
func TestTSK29CAN30WithdrawingOneOfTwoIDsClosesNoForm(t *testing.T) {
	for withdrawn, other := range map[int]string{7: `"id":8`, 8: `"id":7`} {
		synctest.Test(t, func(t *testing.T) {
			u, s, p, x := underTwoIDs(t)
			if p.withdraw(withdrawn); len(u.asked) != 1 || len(u.gone)+len(u.answered) != 0 {
				t.Fatalf("%d: asked %d times, gone %d times, answered %d times", withdrawn, len(u.asked), len(u.gone), len(u.answered))
			}
			u.answers <- struct{}{}
			has(t, p.next().raw, other, `"action":"decline"`)
			synctest.Wait()
			if len(u.asked) != 1 || len(u.gone) != 0 || len(u.answered) != 1 || (<-u.answered).err != nil || client.InFlight(s) != 0 {
				t.Errorf("%d: asked %d times, gone %d times; %d are in flight", withdrawn, len(u.asked), len(u.gone), client.InFlight(s))
			}
			x.Detach()
		})
	}
}

// It closes when the last of them is withdrawn, and the host is told once, with the cause.
func TestCAN31AFormClosesWithTheLastOfItsIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, s, p, x := underTwoIDs(t)
		p.withdraw(7)
		p.withdraw(8)
		if len(u.asked) != 1 || len(u.gone) != 1 || len(u.answered) != 1 || client.InFlight(s) != 0 {
			t.Fatalf("asked %d times, gone %d times, answered %d times; %d are in flight", len(u.asked), len(u.gone), len(u.answered), client.InFlight(s))
		}
		for _, err := range []error{(<-u.gone).err, (<-u.answered).err} {
			var cause *client.Cause
			if !errors.As(err, &cause) || cause.Source != inflight.SourcePeer {
				t.Errorf("%v", err)
			}
		}
		x.Detach()
	})
}

// Its time is that of the question, whoever asks it: to withdraw one id gives a person neither less time nor more.
func TestCAN28AFormHasOneClockForAllItsIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deadlines := make(chan context.Context, 10)
		s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithQuestionTimeout(time.Minute), elicits(func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
			deadlines <- ctx
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		p.offerTask(s)
		go func() { p.answer(p.expect("tools/call"), `{"task":`+taskWorks+`}`) }()
		if _, err := s.Start(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		p.send("%s", form(7, "same"))
		sleep(t.Context(), 20*time.Second)
		p.send("%s", form(8, "same"))
		synctest.Wait()
		p.withdraw(7)
		ctx := <-deadlines
		if deadline, ok := ctx.Deadline(); !ok || deadline.Sub(began) != time.Minute || ctx.Err() != nil {
			t.Errorf("it ends after %v; %v", deadline.Sub(began), context.Cause(ctx))
		}
		has(t, p.next().raw, `"id":8`, `"action":"cancel"`)
		if time.Since(began) != time.Minute || !errors.Is(ctx.Err(), context.DeadlineExceeded) || len(deadlines) != 0 {
			t.Errorf("after %v: %v; asked %d times more", time.Since(began), ctx.Err(), len(deadlines))
		}
	})
}

// The clock of the task's caller stands as long as the form is open, and goes on afterwards.
func TestCAN28AFormThatLosesAnIDStillStopsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ask = `{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`
		asked := make(chan struct{}, 10)
		s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithTimeout(time.Minute, 6*time.Minute), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			asked <- struct{}{}
			sleep(ctx, 8*time.Minute)
			return accept(ctx, q)
		}))
		neverDone(p, "2025-11-25", ask)
		for range s.ListTools(t.Context()) {
		}
		began := time.Now()
		done := start(t.Context(), s, "x")
		<-asked
		p.send("%s", strings.Replace(neverDoneAsks, `"q1"`, `"q2"`, 1))
		synctest.Wait()
		p.send("%s", withdrawn("q1"))
		var cause *client.Cause
		if r := <-done; !errors.As(r.err, &cause) || cause.Source != inflight.SourceTimeout || !about(time.Since(began), 14*time.Minute) || len(asked) != 0 {
			t.Errorf("%v after %v; asked %d times more", r.err, time.Since(began), len(asked))
		}
	})
}

// When nobody follows the task any more, such a form is taken back, and asked again for all its ids when somebody does.
func TestCAN31AFormOfSeveralIDsIsTakenBackWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, s, p, x := underTwoIDs(t)
		p.send("%s", form(9, "same"))
		synctest.Wait()
		p.withdraw(7)
		x.Detach()
		if synctest.Wait(); len(u.gone) != 1 || client.Waiting(s) != 2 {
			t.Fatalf("gone %d times, %d wait", len(u.gone), client.Waiting(s))
		}
		x = p.follow(t, s)
		p.withdraw(8)
		u.answers <- struct{}{}
		has(t, p.next().raw, `"id":9`)
		if synctest.Wait(); len(u.asked) != 2 || len(u.gone) != 1 || client.Waiting(s)+client.InFlight(s) != 0 {
			t.Errorf("asked %d times, gone %d times; %d wait, %d are in flight", len(u.asked), len(u.gone), client.Waiting(s), client.InFlight(s))
		}
		x.Detach()
	})
}

// The end of the session ends such a form once.
func TestCAN31AFormOfSeveralIDsEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, s, _, _ := underTwoIDs(t)
		_ = s.Abort()
		var cause *client.Cause
		if len(u.asked) != 1 || len(u.gone) != 1 || !errors.As((<-u.gone).err, &cause) || cause.Source != inflight.SourceShutdown {
			t.Errorf("asked %d times, gone %d times more; %v", len(u.asked), len(u.gone), cause)
		}
	})
}
