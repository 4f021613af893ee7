package task_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// twoQuestions asks a and b at once, works for ten minutes outside of any step when a is answered, and is done when b is. Meanwhile it does a step of
// the given length.
func twoQuestions(worked chan<- struct{}, step time.Duration) task.Runner {
	return func(ctx context.Context, r *task.Run) task.Outcome {
		var all sync.WaitGroup
		var a, b string
		all.Go(func() {
			if a = ask(ctx, r, "a"); a != "yes" {
				return
			}
			select {
			case <-time.After(10 * time.Minute):
				worked <- struct{}{}
			case <-ctx.Done():
			}
		})
		all.Go(func() { b = ask(ctx, r, "b") })
		if step > 0 {
			_, _ = r.Do(ctx, "step", func(context.Context) ([]byte, error) { time.Sleep(step); return nil, nil })
		}
		all.Wait()
		return done(a + " " + b)
	}
}

// What a handler does with one answer does not wait for the other.
func TestDUR05WorkBesideAnOpenQuestionIsNotCutShort(t *testing.T) {
	for name, c := range map[string]struct{ answered, step time.Duration }{
		"before either would be parked": {answered: 10 * time.Second},
		"while a step is being done":    {answered: time.Minute, step: 3 * time.Minute},
		"when the run is parked":        {answered: 5 * time.Minute},
		"after a step":                  {answered: 5 * time.Minute, step: time.Minute},
	} {
		worked := make(chan struct{}, 10)
		twoEngines(t, task.Config{Runner: twoQuestions(worked, c.step)}, func(a, b *world) {
			id := a.create(task.Spec{})
			time.Sleep(c.answered)
			b.answer(id, task.Answer{Name: "a", Data: []byte("yes")})
			time.Sleep(11 * time.Minute)
			synctest.Wait()
			if len(worked) != 1 {
				t.Errorf("answered %s: %d runs have done the work, want one: it waits for the other answer", name, len(worked))
			}
			a.status(id, task.InputRequired)
			b.answer(id, task.Answer{Name: "b", Data: []byte("no")})
			time.Sleep(11 * time.Minute)
			synctest.Wait()
			if got := a.status(id, task.Completed); string(got.Result) != "yes no" {
				t.Errorf("answered %s: %q", name, got.Result)
			}
		})
	}
}

// A parked task that is dispatched once too often is parked again: only one question is open, and nothing else was asked.
func TestDUR05ARunThatBeginsForNothingIsParkedAgain(t *testing.T) {
	twoEngines(t, task.Config{Runner: asking}, func(a, b *world) {
		id := a.create(task.Spec{})
		time.Sleep(time.Minute)
		a.wantRunning(0)
		var late sync.WaitGroup
		late.Go(func() {
			if err := b.Engine.Run(id); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		b.wantRunning(0)
		late.Wait()
		a.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
		synctest.Wait()
		a.status(id, task.Completed)
	})
}

// The deadline of a parked question costs nothing once the task goes on or is gone.
func TestDUR05DeadlinesOfParkedQuestionsAreForgotten(t *testing.T) {
	const tasks = 100
	runner := func(ctx context.Context, r *task.Run) task.Outcome {
		_, err := r.Ask(ctx, task.Question{Name: "q", Deadline: time.Now().Add(10 * time.Hour)})
		return done(fmt.Sprint(err))
	}
	in(t, task.Config{Store: newDurable(), Resume: true, Runner: runner}, func(w *world) {
		before, short := w.Timers(), time.Hour
		var ids []string
		for range tasks {
			ids = append(ids, w.create(task.Spec{TTL: &short}))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := w.Timers() - before; n < tasks {
			t.Fatalf("%d timers for %d deadlines: the test proves nothing", n, tasks)
		}
		for n, id := range ids {
			switch n % 3 { // the others expire
			case 0:
				w.answer(id, task.Answer{Name: "q"})
			case 1:
				if _, err := w.Cancel(w.ctx, ada, id, task.Cancel{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if n := w.Timers() - before; n > 10 {
			t.Errorf("%d timers are left of %d tasks that are over", n, tasks)
		}
	})
}

// A handler that ignores that its run is parked is parked when its timeout passes, once, and another run goes on with the answer.
func TestDUR05AHandlerThatIgnoresParkingIsParkedOnce(t *testing.T) {
	log := &record{}
	var stubborn chan struct{}
	in(t, task.Config{Store: newDurable(), Resume: true, Logger: log.logger(), Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		answer, err := r.Ask(ctx, task.Question{Name: "q"})
		if err != nil {
			<-stubborn
		}
		return done(string(answer))
	}}, func(w *world) {
		stubborn = make(chan struct{}) // in the bubble
		id := w.create(task.Spec{Timeout: time.Minute})
		time.Sleep(2 * time.Minute)
		w.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
		synctest.Wait()
		if got := w.status(id, task.Completed); string(got.Result) != "yes" {
			t.Errorf("%q", got.Result)
		}
		close(stubborn)
		synctest.Wait()
		if n := log.count("level=ERROR"); n > 0 {
			t.Errorf("%d errors were logged: %q", n, log.lines)
		}
	})
}

// A task whose runs have taken all of its time does not begin again: not even for a moment.
func TestCAN20ATaskWithoutTimeLeftDoesNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, runs := newDurable(), 0
		runner := func(ctx context.Context, r *task.Run) task.Outcome {
			runs++
			_, _ = r.Do(ctx, "slow", func(context.Context) ([]byte, error) { time.Sleep(70 * time.Second); return nil, nil })
			return done("")
		}
		dying := &crashing{Store: store}
		first := &world{t, newEngine(task.Config{Store: dying, Runner: runner}), t.Context()}
		id := first.create(task.Spec{Timeout: time.Minute})
		time.Sleep(50 * time.Second)
		dying.die() // that it took too long is never stored, only the step
		time.Sleep(time.Minute)
		gone, stop := context.WithCancel(t.Context())
		stop()
		first.Close(gone)
		if got := first.get(id); got.Ran < got.Timeout || got.Status != task.Working {
			t.Fatalf("%s after %v: the test proves nothing", got.Status, got.Ran)
		}
		second := &world{t, newEngine(task.Config{Store: store, Resume: true, Runner: runner}), t.Context()}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := second.status(id, task.Failed); got.StatusMessage != "timed out after 1m0s" || runs != 1 {
			t.Errorf("%q after %d runs", got.StatusMessage, runs)
		}
		second.Close(context.Background())
	})
}
