package task_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func ask(ctx context.Context, r *task.Run, name string) string {
	answer, err := r.Ask(ctx, task.Question{Name: name, Method: "elicitation/create", Payload: []byte(name)})
	if err != nil {
		return err.Error()
	}
	return string(answer)
}

func (w *world) answer(id string, answers ...task.Answer) task.Task {
	w.Helper()
	t, err := w.Answer(w.ctx, ada, id, answers...)
	if err != nil {
		w.Fatalf("answer: %v", err)
	}
	return t
}

func TestTSK19TaskAsksAndGoesOn(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		return done(ask(ctx, r, "q"))
	}}, func(w *world) {
		id := w.create(task.Spec{})
		got := w.status(id, task.InputRequired)
		if len(got.Questions) != 1 || got.Questions[0].Method != "elicitation/create" || string(got.Questions[0].Payload) != "q" {
			t.Fatalf("questions: %+v", got.Questions)
		}
		if got := w.answer(id, task.Answer{Name: "q", Data: []byte("yes")}); got.Status != task.Working {
			t.Errorf("answered task is %s", got.Status)
		}
		synctest.Wait()
		if got := w.status(id, task.Completed); string(got.Result) != "yes" {
			t.Errorf("result %q", got.Result)
		}
	})
}

func TestEXT10SeveralQuestionsMayBeOpen(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		other := make(chan string)
		go func() { other <- ask(ctx, r, "b") }()
		return done(ask(ctx, r, "a") + <-other)
	}}, func(w *world) {
		id := w.create(task.Spec{})
		if got := w.status(id, task.InputRequired); len(got.Questions) != 2 {
			t.Fatalf("questions: %+v", got.Questions)
		}
		if got := w.answer(id, task.Answer{Name: "b", Data: []byte("B")}, task.Answer{Name: "never-issued"}); got.Status != task.InputRequired {
			t.Errorf("partly answered task is %s", got.Status)
		}
		w.answer(id, task.Answer{Name: "b", Data: []byte("again")}, task.Answer{Name: "a", Data: []byte("A")})
		synctest.Wait()
		if got := w.status(id, task.Completed); string(got.Result) != "AB" {
			t.Errorf("result %q", got.Result)
		}
	})
}

func TestEXT09SameNameIsTheSameQuestion(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		first, again := ask(ctx, r, "q"), ask(ctx, r, "q")
		_, err := r.Ask(ctx, task.Question{Name: "q", Method: "else"})
		_, err2 := r.Do(ctx, "q", nil)
		var name *task.NameError
		return done(fmt.Sprint(first, again, errors.As(err, &name), errors.As(err2, &name)))
	}}, func(w *world) {
		id := w.create(task.Spec{})
		w.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
		synctest.Wait()
		if got := w.status(id, task.Completed); string(got.Result) != "yesyestrue true" {
			t.Errorf("result %q", got.Result)
		}
	})
}

func TestAskGivesUpAtItsDeadline(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		q := task.Question{Name: "q", Deadline: time.Now().Add(time.Minute)}
		_, first := r.Ask(ctx, q)
		q.Deadline = time.Now().Add(time.Minute)
		_, again := r.Ask(ctx, q)
		return done(fmt.Sprint(errors.Is(first, task.ErrUnanswered), errors.Is(again, task.ErrUnanswered)))
	}}, func(w *world) {
		id := w.create(task.Spec{})
		time.Sleep(time.Minute - 1)
		w.status(id, task.InputRequired)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := w.status(id, task.Completed); string(got.Result) != "true true" || got.UpdatedAt.Sub(got.CreatedAt) != time.Minute {
			t.Errorf("task: %+v", got)
		}
		if w.Timers() > 3 { // the next expiry, a heartbeat and a look at fences
			t.Errorf("%d timers are left", w.Timers())
		}
	})
}

func TestAskWithdrawsWhenItsCallerGoesOnWithout(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := r.Ask(short, task.Question{Name: "q"})
		_, again := r.Ask(ctx, task.Question{Name: "q"})
		time.Sleep(time.Second)
		told := errors.Is(err, context.DeadlineExceeded) && errors.Is(err, task.ErrWithdrawn)
		return done(fmt.Sprint(told, errors.Is(again, task.ErrWithdrawn)))
	}}, func(w *world) {
		id := w.create(task.Spec{})
		w.status(id, task.InputRequired)
		time.Sleep(time.Second)
		synctest.Wait()
		w.status(id, task.Working)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := w.status(id, task.Completed); string(got.Result) != "true true" {
			t.Errorf("result %q", got.Result)
		}
	})
}

// Whatever the store was doing when the caller stopped waiting: no question stays open that nobody waits for.
func TestTSK29AskLeavesNothingOpenWhenItsCallerGoesOnWithout(t *testing.T) {
	for name, c := range map[string]struct {
		call       string
		hang, late bool
		want       string
	}{
		"a watch that hangs":            {call: "watch", hang: true, want: "true true"},
		"a watch that fails":            {call: "watch", want: "true true"},
		"a question that was stored":    {call: "ask", late: true, want: "true true"},
		"a question that hangs":         {call: "ask", hang: true, want: "true false"},
		"a question that never arrives": {call: "ask", want: "true false"},
	} {
		t.Run(name, func(t *testing.T) {
			store := newFailing(c.call)
			store.hang, store.late = c.hang, c.late
			in(t, task.Config{Store: store, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
				short, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				_, err := r.Ask(short, task.Question{Name: "q"})
				time.Sleep(5 * time.Second)
				var name *task.NameError
				if errors.As(err, &name) {
					return done(err.Error())
				}
				return done(fmt.Sprint(errors.Is(err, context.DeadlineExceeded), " ", errors.Is(err, task.ErrWithdrawn)))
			}}, func(w *world) {
				store.fail(15 * time.Second)
				id := w.create(task.Spec{})
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if got := w.get(id); got.Status != task.Working {
					t.Errorf("the task is %s, with the questions %+v", got.Status, got.Questions)
				}
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if got := w.status(id, task.Completed); string(got.Result) != c.want {
					t.Errorf("result %q, want %q", got.Result, c.want)
				}
			})
		})
	}
}

// An answer that is there counts even if it can not be read before its caller stops waiting.
func TestTSK29AnAnswerThatIsReadLateCounts(t *testing.T) {
	store := newFailing("entry")
	in(t, task.Config{Store: store, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return asking(short, r)
	}}, func(w *world) {
		id := w.create(task.Spec{})
		store.fail(5 * time.Second)
		w.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := w.status(id, task.Completed); string(got.Result) != "yes" {
			t.Errorf("result %q", got.Result)
		}
	})
}

// A later run, too, withdraws what an earlier one has asked and it does not wait for.
func TestTSK29ALaterRunWithdrawsWhatItDoesNotWaitFor(t *testing.T) {
	twoEngines(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		other, stop := context.WithCancel(ctx)
		defer stop()
		var asking sync.WaitGroup
		if r.Epoch() == 1 {
			asking.Go(func() { _ = ask(other, r, "a") })
		}
		answer := ask(other, r, "b")
		stop() // one is enough
		asking.Wait()
		_, err := r.Ask(other, task.Question{Name: "a", Method: "elicitation/create", Payload: []byte("a")})
		_, fresh := r.Ask(other, task.Question{Name: "c"})
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
		return done(fmt.Sprint(answer, " ", errors.Is(err, task.ErrWithdrawn), " ", fresh))
	}}, func(a, b *world) {
		id := a.create(task.Spec{})
		time.Sleep(time.Minute)
		synctest.Wait()
		a.wantRunning(0)
		b.answer(id, task.Answer{Name: "b", Data: []byte("2")})
		synctest.Wait()
		if got := a.get(id); got.Status != task.Working {
			t.Errorf("the task is %s, with the questions %+v", got.Status, got.Questions)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := a.status(id, task.Completed); string(got.Result) != "2 true context canceled" {
			t.Errorf("result %q", got.Result)
		}
	})
}

// lucky is a store in which an answer comes just before its question is withdrawn.
type lucky struct{ task.Store }

func (s lucky) Withdraw(ctx context.Context, l task.Lease, name string) (task.Task, error) {
	if _, err := s.Answer(ctx, ada, l.Task, []task.Answer{{Name: name, Data: []byte("yes")}}); err != nil {
		return task.Task{}, err
	}
	return s.Store.Withdraw(ctx, l, name)
}

func TestTSK29AnAnswerThatComesFirstCounts(t *testing.T) {
	in(t, task.Config{Store: lucky{task.NewMemory()}, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		data, err := r.Ask(short, task.Question{Name: "q"})
		return done(fmt.Sprint(string(data), err))
	}}, func(w *world) {
		id := w.create(task.Spec{})
		time.Sleep(time.Second)
		synctest.Wait()
		if got := w.status(id, task.Completed); string(got.Result) != "yes<nil>" {
			t.Errorf("result %q", got.Result)
		}
	})
}

func TestTSK18CancelEndsAnOpenQuestion(t *testing.T) {
	ended := make(chan error, 1)
	in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		_, err := r.Ask(ctx, task.Question{Name: "q"})
		ended <- err
		return done("")
	}}, func(w *world) {
		id := w.create(task.Spec{})
		got, err := w.Cancel(w.ctx, ada, id, task.Cancel{Force: true})
		if err != nil || got.Status != task.Cancelled || len(got.Questions) != 0 {
			t.Errorf("cancel: %+v, %v", got, err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ask ended with %v", err)
		}
		if got := w.answer(id, task.Answer{Name: "q"}); got.Status != task.Cancelled {
			t.Errorf("an answer revived the task: %+v", got)
		}
	})
}

func TestDoRunsOncePerName(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		runs := 0
		step := func(context.Context) ([]byte, error) { runs++; return []byte(fmt.Sprint(runs)), nil }
		broken := errors.New("broken")
		_, err := r.Do(ctx, "step", func(context.Context) ([]byte, error) { return nil, broken })
		first, _ := r.Do(ctx, "step", step)
		again, _ := r.Do(ctx, "step", step)
		other, _ := r.Do(ctx, "other", step)
		_, nested := r.Do(ctx, "outer", func(ctx context.Context) ([]byte, error) { return r.Do(ctx, "outer", step) })
		_, asked := r.Ask(ctx, task.Question{Name: "step"})
		var name *task.NameError
		return done(fmt.Sprint(err == broken, string(first), string(again), string(other), errors.As(nested, &name), errors.As(asked, &name)))
	}}, func(w *world) {
		if got := w.status(w.create(task.Spec{}), task.Completed); string(got.Result) != "true112true true" {
			t.Errorf("result %q", got.Result)
		}
	})
}

// What a handler leaves running when it returns, or when its task is gone, begins no step: nobody would know that it was done.
func TestNoStepBeginsWhenTheRunIsOver(t *testing.T) {
	for name, end := range map[string]func(w *world, returning chan struct{}){
		"returned": func(_ *world, returning chan struct{}) { close(returning) },
		"expired": func(_ *world, returning chan struct{}) {
			time.Sleep(time.Hour)
			synctest.Wait()
			close(returning)
		},
		"discarded": func(w *world, returning chan struct{}) {
			w.Discard(w.ctx, ada)
			synctest.Wait()
			close(returning)
		},
	} {
		var returning chan struct{}
		stepped := make(map[string]error, 1)
		hour := time.Hour
		in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
			go func() {
				<-ctx.Done()
				_, stepped["error"] = r.Do(context.Background(), "late", func(context.Context) ([]byte, error) { stepped["done"] = nil; return nil, nil })
			}()
			<-returning
			return done("")
		}}, func(w *world) {
			returning = make(chan struct{})
			w.create(task.Spec{TTL: &hour})
			end(w, returning)
			synctest.Wait()
		})
		if _, ran := stepped["done"]; ran || stepped["error"] == nil {
			t.Errorf("%s: a step was done (%v), the error is %v", name, ran, stepped["error"])
		}
	}
}
