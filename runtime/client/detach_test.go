package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// receipt is what Answered and QuestionGone were called with.
type receipt struct {
	of  string // the message of the question
	err error
}

// user is a person whom a session asks, and who answers when told.
type user struct {
	asked          chan string // messages of questions
	answers        chan struct{}
	answered, gone chan receipt
}

func newUser() *user {
	return &user{asked: make(chan string, 1000), answers: make(chan struct{}, 1000), answered: make(chan receipt, 1000), gone: make(chan receipt, 1000)}
}

// handlers are those of a session that asks the user. The user may be stubborn, and answer what is not to be answered any more.
func (u *user) handlers(stubborn bool) client.Option {
	return client.WithHandlers(client.Handlers{
		Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			u.asked <- q.Message
			over := ctx.Done()
			if stubborn {
				over = nil
			}
			select {
			case <-u.answers:
				return &client.Answer{Action: client.Declined}, nil
			case <-over:
				return nil, context.Cause(ctx)
			}
		},
		Answered:     func(q *client.Question, err error) { u.answered <- receipt{q.Message, err} },
		QuestionGone: func(q *client.Question, cause error) { u.gone <- receipt{q.Message, cause} },
	})
}

// form is a question of the task t1 as a request.
func form(id int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}},"message":%q,"requestedSchema":{"type":"object","properties":{}}}}`, id, message)
}

const taskWorks = `{"taskId":"t1",` + moments + `,"ttl":null,"status":"working","pollInterval":3600000}`

// follow resumes the task t1, whose state the server reports as working.
func (p *peer) follow(t *testing.T, s *client.Session) *client.Execution[client.ToolResult] {
	t.Helper()
	x := resume(t, s)
	p.answer(p.expect("tasks/get"), taskWorks)
	synctest.Wait()
	return x
}

// A question that comes while nobody follows its task is asked when somebody does: the server sends it once.
func TestTSK27AQuestionThatComesWhileNobodyFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser()
		s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(false), client.WithQuestionTimeout(time.Minute))
		p.follow(t, s).Detach()
		p.send("%s", form(7, "early"))
		sleep(t.Context(), time.Hour) // no time of the question passes
		if len(u.asked) > 0 {
			t.Fatal("somebody is asked, though nobody follows the task")
		}
		p.follow(t, s)
		u.answers <- struct{}{}
		if m := p.next(); string(m.ID) != "7" || !strings.Contains(string(m.Result), "decline") {
			t.Errorf("%s %v", m.raw, m.Error)
		}
		synctest.Wait()
		if len(u.asked) != 1 || len(u.gone) != 0 || len(u.answered) != 1 || (<-u.answered).err != nil {
			t.Errorf("asked %d times, %d gone, %d answered", len(u.asked), len(u.gone), len(u.answered))
		}
	})
}

// A question that is open when the last who follows its task detaches is taken back, and asked again when somebody follows the task again. What the
// first handler returns meanwhile is not sent (CAN31).
func TestCAN31AQuestionThatIsOpenWhenTheLastDetaches(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			u := newUser()
			s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(stubborn), client.WithQuestionTimeout(time.Minute))
			x := p.follow(t, s)
			p.send("%s", form(7, "open"))
			sleep(t.Context(), 50*time.Second)
			x.Detach()
			synctest.Wait()
			var cause *client.Cause
			if len(u.gone) != 1 || !errors.As((<-u.gone).err, &cause) || !strings.Contains(cause.Reason, "not followed any more") {
				t.Fatalf("stubborn %v: %v", stubborn, cause)
			}
			if stubborn {
				u.answers <- struct{}{} // too late
				synctest.Wait()
			}
			if len(u.answered) != 1 || !errors.As((<-u.answered).err, &cause) || cause.Source != inflight.SourceParent {
				t.Errorf("stubborn %v: %v", stubborn, cause)
			}
			p.follow(t, s)
			sleep(t.Context(), 50*time.Second) // it has its whole time again
			u.answers <- struct{}{}
			if m := p.next(); string(m.ID) != "7" || !strings.Contains(string(m.Result), "decline") {
				t.Errorf("%s %v", m.raw, m.Error)
			}
			synctest.Wait()
			if len(u.asked) != 2 || len(u.answered) != 1 || (<-u.answered).err != nil || len(u.gone) != 0 {
				t.Errorf("stubborn %v: asked %d times, %d answered, %d gone", stubborn, len(u.asked), len(u.answered), len(u.gone))
			}
		})
	}
}

// A question that waits is asked no more if the server withdraws it, or the task is known to be over.
func TestCAN23AQuestionThatWaitsIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser()
		s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(false))
		p.follow(t, s).Detach()
		p.send("%s", form(7, "early"))
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		synctest.Wait()
		if n := client.InFlight(s); n != 0 {
			t.Errorf("%d are in flight", n)
		}
		p.follow(t, s)
		synctest.Wait()
		if len(u.asked)+len(u.gone)+len(u.answered) != 0 {
			t.Errorf("%d asked, %d gone, %d answered", len(u.asked), len(u.gone), len(u.answered))
		}
	})
}

// A task that was cancelled when nobody followed it asks nobody any more.
func TestTSK27ATaskThatIsCancelledWhenNobodyFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser()
		s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(false))
		x := p.follow(t, s)
		x.Detach()
		p.send("%s", form(7, "early"))
		synctest.Wait()
		go func() {
			p.answer(p.expect("tasks/cancel"), strings.Replace(taskWorks, "working", "cancelled", 1))
		}()
		if err := x.Cancel(t.Context(), "enough"); err != nil {
			t.Error(err)
		}
		resume(t, s)
		if synctest.Wait(); len(u.asked) > 0 || client.InFlight(s) > 1 { // the request for its state is in flight
			t.Errorf("%d are asked, %d in flight", len(u.asked), client.InFlight(s))
		}
	})
}

// What can not be asked stays open then, too, and the host learns that when it follows the task.
func TestTSK27AQuestionThatWaitsAndCanNotBeAsked(t *testing.T) {
	for _, c := range leftOpen {
		synctest.Test(t, func(t *testing.T) {
			open := make(chan opened, 10)
			s, p := meetOffering(t, "2025-11-25", taskOffers, leaves(open))
			p.follow(t, s).Detach()
			p.send("%s", ofTask(c.question))
			synctest.Wait()
			if len(open) != 0 {
				t.Error("the host is told before it follows the task")
			}
			p.follow(t, s)
			left := <-open
			if left.q.Method != c.method || !strings.Contains(left.why.Error(), c.why) {
				t.Errorf("%+v: %v", left.q, left.why)
			}
		})
	}
}

// Handlers are called in the order in which the questions come, so that one which answers from a list does not mix them up.
func TestCAN30QuestionsThatComeAsRequestsAreAskedInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser()
		s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(false))
		p.follow(t, s)
		const questions = 50
		for i := range questions {
			p.send("%s", form(1000+i, fmt.Sprint("question", i)))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for i := range questions {
			if got := <-u.asked; got != fmt.Sprint("question", i) {
				t.Errorf("%s was asked in place %d", got, i)
			}
		}
	})
}

// VAL07: questions that wait are remembered, and only so many; so are the tasks that were left.
func TestVAL07OnlySoManyQuestionsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser()
		s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(false))
		p.follow(t, s).Detach()
		for i := range 300 {
			p.send("%s", form(1000+i, fmt.Sprint("early", i)))
		}
		synctest.Wait()
		if n := client.InFlight(s); n != 100 {
			t.Errorf("%d wait", n)
		}
		x := p.follow(t, s)
		time.Sleep(time.Second) // each is asked after the head start of the one before
		if synctest.Wait(); len(u.asked) != 100 {
			t.Errorf("%d are asked", len(u.asked))
		}
		x.Detach()
		synctest.Wait()
		go p.each(func(message) {})
		for i := range 300 {
			y, err := s.Resume(t.Context(), client.Ref{Version: 1, Endpoint: s.Endpoint(), Revision: s.Revision(), Tool: "x", ID: fmt.Sprintf("other%d", i)})
			if err != nil {
				t.Fatal(err)
			}
			y.Detach()
		}
		sleep(t.Context(), 2*time.Minute)
		if n := client.InFlight(s); n != 0 {
			t.Errorf("%d are in flight when their task is forgotten", n)
		}
	})
}

// abandoned is a session of 2026-07-28 that follows its task no more, which asks.
type abandoned struct {
	*user
	*peer
	s      *client.Session
	asking string  // the state of the task
	update message // with the answer
}

// abandon has a task detached that has asked, after the user has answered or not. The state of the task is read every poll milliseconds.
func abandon(t *testing.T, poll int, answered bool) *abandoned {
	t.Helper()
	a := &abandoned{user: newUser(), asking: asks("2026-07-28", fmt.Sprintf(`,"pollIntervalMs":%d`, poll))}
	a.s, a.peer = meetOffering(t, "2026-07-28", taskOffers, a.handlers(false))
	x := resume(t, a.s)
	a.answer(a.expect("tasks/get"), a.asking)
	if answered {
		a.answers <- struct{}{}
		a.update = a.expect("tasks/update")
	}
	synctest.Wait()
	x.Detach()
	return a
}

// An answer that is on its way when the last who follows its task detaches arrives, and nobody is asked again.
func TestEXT22AnAnswerOnItsWayWhenTheLastDetaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := abandon(t, 1000, true)
		resume(t, a.s)
		for range 3 {
			a.answer(a.expect("tasks/get"), a.asking)
			synctest.Wait()
		}
		if len(a.asked) != 1 || len(a.answered) != 0 {
			t.Fatalf("asked %d times, %d receipts", len(a.asked), len(a.answered))
		}
		a.answer(a.update, `{"resultType":"complete"}`)
		if r := <-a.answered; r.err != nil {
			t.Error(r.err)
		}
		a.answer(a.expect("tasks/get"), a.asking)
		if synctest.Wait(); len(a.asked) != 1 {
			t.Errorf("asked %d times", len(a.asked))
		}
	})
}

// If it does not arrive, whoever follows the task then is asked again.
func TestEXT22AnAnswerThatIsRefusedWhenNobodyFollows(t *testing.T) {
	for _, again := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a := abandon(t, 3600000, true)
			if again {
				resume(t, a.s)
				a.answer(a.expect("tasks/get"), a.asking)
				synctest.Wait()
			}
			a.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"not this"}}`, a.update.ID)
			a.answer(a.expect("tasks/get"), a.asking) // is it over?
			if r := <-a.answered; r.err == nil {
				t.Error("it counts as delivered")
			}
			if !again {
				synctest.Wait()
				resume(t, a.s)
			}
			a.answer(a.expect("tasks/get"), a.asking)
			synctest.Wait()
			if len(a.asked) != 2 {
				t.Errorf("asked %d times", len(a.asked))
			}
		})
	}
}

// A question whose handler was cut is asked again at once when somebody follows the task again, in every revision.
func TestEXT22AQuestionThatNobodyAnsweredIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := abandon(t, 3600000, false)
		resume(t, a.s)
		a.answer(a.expect("tasks/get"), a.asking)
		synctest.Wait()
		if len(a.asked) != 2 || len(a.gone) != 1 {
			t.Errorf("asked %d times, gone %d times", len(a.asked), len(a.gone))
		}
		a.answers <- struct{}{}
		a.answer(a.expect("tasks/update"), `{"resultType":"complete"}`)
		if r := <-a.answered; r.err != nil {
			t.Error(r.err)
		}
	})
}
