package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// The questions of a task end when its caller has cancelled it and the server says that it is over, whether or not the result comes. What the task asks
// later is for nobody.
func TestCAN31QuestionsEndWithTheTaskThatIsCancelled(t *testing.T) {
	for _, followed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			u := newUser()
			s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(false))
			x := p.follow(t, s)
			for i := range 3 {
				p.send("%s", form(i, fmt.Sprint("open", i)))
			}
			synctest.Wait()
			if !followed {
				x.Detach()
				synctest.Wait()
			}
			go func() {
				p.answer(p.expect("tasks/cancel"), strings.Replace(taskWorks, "working", "cancelled", 1))
				p.each(func(message) {}) // and nothing else is answered
			}()
			if err := x.Cancel(t.Context(), "enough"); err != nil {
				t.Fatal(err)
			}
			p.send("%s", form(8, "later"))
			p.send("%s", form(1, "open1"))
			synctest.Wait()
			u.over(t, 3)
		})
	}
}

// over finds that the user was asked so many questions, which all are gone, each for a cause.
func (u *user) over(t *testing.T, asked int) {
	t.Helper()
	if len(u.asked) != asked || len(u.gone) != asked {
		t.Errorf("asked %d times, gone %d times", len(u.asked), len(u.gone))
	}
	for len(u.gone) > 0 {
		isCause(t, (<-u.gone).err)
	}
	for len(u.answered) > 0 {
		isCause(t, (<-u.answered).err)
	}
}

// So it is over HTTP.
func TestCAN31OverHTTPQuestionsEndWithTheTaskThatIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser()
		s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(http.StatusAccepted), nil }, u.handlers(false))
		x := resume(t, s)
		for len(u.asked) == 0 {
			sleep(t.Context(), 10*time.Millisecond)
		}
		if err := x.Cancel(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		d.say(onceForm("later"))
		synctest.Wait()
		u.over(t, 1)
	})
}

// And with servers of this project, in each revision that has tasks.
func TestCAN31QuestionsEndWithTheCancelledTaskOfAServer(t *testing.T) {
	overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
		u := newUser()
		ended := make(chan error, 10)
		s := dial(client.WithHandlers(client.Handlers{
			Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				u.asked <- q.Message
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return nil, ctx.Err()
			},
			QuestionGone: func(q *client.Question, cause error) { u.gone <- receipt{q.Message, cause} },
		}))
		x, err := s.Start(t.Context(), "ask", nil)
		if err != nil {
			t.Fatal(err)
		}
		<-u.asked
		if err := x.Cancel(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		isCause(t, <-ended)
		if _, err := x.Result(t.Context()); err == nil {
			t.Error("it has a result")
		}
		isCause(t, (<-u.gone).err)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if len(u.gone)+len(u.asked) > 0 {
			t.Errorf("%d more are gone, %d asked", len(u.gone), len(u.asked))
		}
	}, asTask(tool("ask", ask), server.TaskRequired))
}

func isCause(t *testing.T, err error) {
	t.Helper()
	var cause *client.Cause
	if !errors.As(err, &cause) {
		t.Errorf("%v is no *Cause", err)
	}
}

// A task that is known to be over is not asked to be cancelled: one whose result is awaited, and one that a late answer names.
func TestCAN11ATaskThatIsOverIsNotCancelled(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2025-11-25", taskOffers)
			p.offerTask(s)
			ctx, cancel := context.WithCancel(t.Context())
			done := start(ctx, s, "x")
			call := p.expect("tools/call")
			go p.each(func(m message) {
				switch m.Method {
				case "tasks/get":
					p.answer(m, taskIs("", "completed", ""))
				case "tasks/cancel":
					t.Errorf("late %v: a task that is over is cancelled", late)
				}
			})
			if late {
				cancel()
				<-done
				p.answer(call, `{"task":`+taskIs("", "completed", "")+`}`)
			} else {
				p.answer(call, `{"task":`+taskIs("", "working", "")+`}`)
				sleep(t.Context(), 5*time.Second)
				cancel()
				<-done
			}
			sleep(t.Context(), time.Minute)
		})
	}
}
