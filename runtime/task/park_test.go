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

// twoEngines runs test with two engines on one durable store, as two processes that share it.
func twoEngines(t *testing.T, c task.Config, test func(a, b *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c.Store, c.Resume = newDurable(), true
		a, b := &world{t, newEngine(c), t.Context()}, &world{t, newEngine(c), t.Context()}
		synctest.Wait()
		test(a, b)
		for _, w := range []*world{a, b} {
			if err := w.Close(context.Background()); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		synctest.Wait()
	})
}

func (w *world) wantRunning(n int) {
	w.Helper()
	if runs := w.Running(); len(runs) != n {
		w.Fatalf("%d runs, want %d: %+v", len(runs), n, runs)
	}
}

func TestDUR05AParkedRunHoldsNothingAndBeginsAgainWithItsAnswerAnywhere(t *testing.T) {
	for _, here := range []bool{true, false} {
		steps, runs := 0, []uint64{}
		twoEngines(t, task.Config{Runner: importing(&steps, &runs)}, func(a, b *world) {
			id := a.create(task.Spec{})
			time.Sleep(29 * time.Second)
			a.wantRunning(1)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			a.wantRunning(0)
			if n := a.Live(); n != 0 {
				t.Errorf("%d tasks held", n)
			}
			time.Sleep(30 * time.Minute)
			a.status(id, task.InputRequired)
			if len(runs) != 1 {
				t.Fatalf("a task that waits for an answer runs: %v", runs)
			}
			answering := a
			if !here {
				answering = b
			}
			answering.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
			synctest.Wait() // no lease has to end before
			if got := a.status(id, task.Completed); string(got.Result) != "stepped yes" || steps != 1 || fmt.Sprint(runs) != "[1 2]" {
				t.Errorf("result %q after %d steps in runs %v", got.Result, steps, runs)
			}
		})
	}
}

func TestDUR05AnAnswerThatComesWhileTheRunEndsIsNotForgotten(t *testing.T) {
	slow := make(chan struct{})
	twoEngines(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		data, err := r.Ask(ctx, task.Question{Name: "q"})
		if errors.Is(err, task.ErrParked) {
			<-slow
		}
		return done(string(data))
	}}, func(a, b *world) {
		for i, answering := range []*world{a, b} {
			slow = make(chan struct{})
			id := a.create(task.Spec{})
			time.Sleep(31 * time.Second)
			synctest.Wait()
			a.wantRunning(1) // the handler has not returned
			answering.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
			synctest.Wait()
			close(slow)
			synctest.Wait()
			if got := a.status(id, task.Completed); string(got.Result) != "yes" {
				t.Errorf("%d: result %q", i, got.Result)
			}
		}
	})
}

// slowPark is a store whose answer to Park takes a minute.
type slowPark struct{ task.Store }

func (s slowPark) Park(ctx context.Context, l task.Lease) (task.Task, error) {
	t, err := s.Store.Park(ctx, l)
	time.Sleep(5 * time.Second)
	return t, err
}

func TestDUR05AnAnswerThatComesWhileTheRunIsParkedIsNotForgotten(t *testing.T) {
	in(t, task.Config{Store: slowPark{newDurable()}, Runner: asking}, func(w *world) {
		id := w.create(task.Spec{})
		time.Sleep(31 * time.Second)
		synctest.Wait()
		w.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := w.status(id, task.Completed); string(got.Result) != "yes" {
			t.Errorf("result %q", got.Result)
		}
	})
}

func TestDUR05OneAnswerOfSeveralIsEnoughToBeginAgain(t *testing.T) {
	runs := 0
	twoEngines(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		runs++
		first := make(chan string, 2)
		var asking sync.WaitGroup
		other, stop := context.WithCancel(ctx)
		defer stop()
		for _, name := range []string{"a", "b"} {
			asking.Go(func() {
				data, err := r.Ask(other, task.Question{Name: name, Deadline: time.Now().Add(time.Hour)})
				if err == nil {
					first <- name + string(data)
					stop() // one is enough
				}
			})
		}
		asking.Wait()
		select {
		case data := <-first:
			return done(data)
		default:
			return done("none")
		}
	}}, func(a, b *world) {
		id := a.create(task.Spec{})
		time.Sleep(time.Minute)
		synctest.Wait()
		a.wantRunning(0)
		b.answer(id, task.Answer{Name: "nobody asked", Data: []byte("0")})
		b.answer(id, task.Answer{Name: "b", Data: []byte("2")})
		synctest.Wait()
		if got := a.status(id, task.Completed); string(got.Result) != "b2" {
			t.Errorf("%q after %d runs", got.Result, runs)
		}
	})
}

// What a step does is not cut short because the handler waits elsewhere.
func TestDUR05ARunIsParkedBetweenSteps(t *testing.T) {
	var steps, runs int
	twoEngines(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		runs++
		var asking sync.WaitGroup
		answer := ""
		asking.Go(func() { answer = ask(ctx, r, "q") })
		_, err := r.Do(ctx, "long", func(ctx context.Context) ([]byte, error) {
			steps++
			select {
			case <-time.After(10 * time.Minute):
				return nil, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		})
		asking.Wait()
		return done(fmt.Sprint(answer, " ", err))
	}}, func(a, b *world) {
		id := a.create(task.Spec{})
		time.Sleep(9 * time.Minute)
		a.wantRunning(1)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		a.wantRunning(0)
		b.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
		synctest.Wait()
		if got := a.status(id, task.Completed); string(got.Result) != "yes <nil>" || steps != 1 || runs != 2 {
			t.Errorf("%q after %d steps and %d runs", got.Result, steps, runs)
		}
	})
}

func TestDUR05AParkedQuestionEndsAtItsDeadline(t *testing.T) {
	twoEngines(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		_, err := r.Ask(ctx, task.Question{Name: "q", Deadline: time.Now().Add(5*time.Minute + 5*time.Second)})
		return done(fmt.Sprint(r.Epoch(), " ", err))
	}}, func(a, b *world) {
		id := a.create(task.Spec{})
		time.Sleep(5*time.Minute + 4*time.Second) // nobody looks for orphans in the next seconds but for this one
		a.status(id, task.InputRequired)
		a.wantRunning(0)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := a.status(id, task.Completed); string(got.Result) != "2 nobody answered the question in time" {
			t.Errorf("%q", got.Result)
		}
	})
}

func TestCAN11AParkedTaskIsCancelledAtOnce(t *testing.T) {
	twoEngines(t, task.Config{Runner: asking}, func(a, b *world) {
		id := a.create(task.Spec{})
		time.Sleep(time.Minute)
		synctest.Wait()
		a.wantRunning(0)
		if got, err := b.Cancel(b.ctx, ada, id, task.Cancel{Reason: "enough"}); err != nil || got.Status != task.Cancelled {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func asking(ctx context.Context, r *task.Run) task.Outcome { return done(ask(ctx, r, "q")) }

func TestDUR05WhoMayNotBeginAgainKeepsItsRun(t *testing.T) {
	limited := func(ctx context.Context, r *task.Run) task.Outcome {
		short, stop := context.WithTimeout(ctx, 10*time.Minute)
		defer stop()
		return asking(short, r)
	}
	for name, c := range map[string]struct {
		config task.Config
		spec   task.Spec
	}{
		"a store that is not durable":         {task.Config{Runner: asking}, task.Spec{}},
		"a task that fails on a crash":        {task.Config{Store: newDurable(), Runner: asking}, task.Spec{Reruns: -1}},
		"a task that can not be cancelled":    {task.Config{Store: newDurable(), Runner: asking}, task.Spec{Uncancellable: true}},
		"a handler that goes on at some time": {task.Config{Store: newDurable(), Runner: limited}, task.Spec{}},
		"an engine that does not park":        {task.Config{Store: newDurable(), Runner: asking, ParkAfter: -1}, task.Spec{}},
	} {
		in(t, c.config, func(w *world) {
			id := w.create(c.spec)
			time.Sleep(5 * time.Minute)
			if runs := w.Running(); len(runs) != 1 || runs[0].Epoch != 1 {
				t.Errorf("%s: %+v", name, runs)
			}
			w.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
			synctest.Wait()
			if got := w.status(id, task.Completed); string(got.Result) != "yes" {
				t.Errorf("%s: %q", name, got.Result)
			}
		})
	}
}

// working takes 40 seconds, asks, and takes 40 seconds more.
func working(ctx context.Context, r *task.Run) task.Outcome {
	work := func() {
		select {
		case <-time.After(40 * time.Second):
		case <-ctx.Done():
		}
	}
	_, _ = r.Do(ctx, "before", func(context.Context) ([]byte, error) { work(); return nil, nil })
	answer := ask(ctx, r, "q")
	work()
	return done(answer)
}

func TestCAN20TheTimeoutOfATaskCountsAllItsRuns(t *testing.T) {
	for timeout, want := range map[time.Duration]task.Status{time.Minute: task.Failed, 2 * time.Minute: task.Completed} {
		twoEngines(t, task.Config{Runner: working}, func(a, b *world) {
			id := a.create(task.Spec{Timeout: timeout})
			time.Sleep(30 * time.Minute) // parked; a question's time counts nowhere (CAN28)
			if got := a.status(id, task.InputRequired); got.Ran != 40*time.Second {
				t.Errorf("ran %v", got.Ran)
			}
			b.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
			time.Sleep(21 * time.Second)
			synctest.Wait()
			if got := a.get(id); (got.Status == task.Failed) != (want == task.Failed) {
				t.Errorf("timeout %v: %s after a minute", timeout, got.Status)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			a.status(id, want)
		})
	}
}

// A crash takes along what is not known of the running time; the reruns bound that.
func TestCAN20TheTimeoutOfATaskCountsWhatACrashedRunWrote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newDurable()
		dying := &crashing{Store: store}
		first := &world{t, newEngine(task.Config{Store: dying, Runner: working}), t.Context()}
		id := first.create(task.Spec{Timeout: time.Minute})
		time.Sleep(50 * time.Second) // 40 until the step is recorded, and then a question
		dying.die()
		first.Close(context.Background())
		time.Sleep(time.Minute)
		second := &world{t, newEngine(task.Config{Store: store, Resume: true, Runner: working}), t.Context()}
		second.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
		time.Sleep(21 * time.Second)
		synctest.Wait()
		if got := second.status(id, task.Failed); got.StatusMessage != "timed out after 1m0s" {
			t.Error(got.StatusMessage)
		}
		second.Close(context.Background())
	})
}

// Who may not begin again may finish within the grace period of a shutdown.
func TestCAN21ATaskThatFailsOnACrashHasTheGracePeriod(t *testing.T) {
	for name, store := range map[string]func() task.Store{"durable": newDurable, "memory": func() task.Store { return task.NewMemory() }} {
		for takes, want := range map[time.Duration]task.Status{3 * time.Second: task.Completed, time.Hour: task.Failed} {
			synctest.Test(t, func(t *testing.T) {
				w := &world{t, newEngine(task.Config{Store: store(), Runner: func(ctx context.Context, _ *task.Run) task.Outcome {
					select {
					case <-time.After(takes):
					case <-ctx.Done():
					}
					return done("finished")
				}}), t.Context()}
				id := w.create(task.Spec{Reruns: -1})
				grace, stop := context.WithTimeout(t.Context(), 5*time.Second)
				defer stop()
				began := time.Now()
				err := w.Close(grace)
				if took := time.Since(began); (err == nil) != (want == task.Completed) || took != min(takes, 5*time.Second) {
					t.Errorf("%s, %v: closed after %v: %v", name, takes, took, err)
				}
				if got := w.status(id, want); want == task.Failed && got.StatusMessage != "the server was shut down before the task was done" {
					t.Errorf("%s: %q", name, got.StatusMessage)
				}
				synctest.Wait()
			})
		}
	}
}

// A task that may not run again and has not begun is left to others.
func TestCAN21ATaskThatHasNotBegunIsLeftToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newDurable()
		a := &world{t, newEngine(task.Config{Store: store, Runner: patient}), t.Context()}
		made, err := a.Create(t.Context(), task.Spec{Owner: ada, Reruns: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		b := &world{t, newEngine(task.Config{Store: store, Runner: quick, Resume: true}), t.Context()}
		time.Sleep(time.Minute)
		synctest.Wait()
		b.status(made.Task.ID, task.Completed)
		b.Close(context.Background())
	})
}

// A store that is away does not hold up a shutdown.
func TestDUR06AShutdownDoesNotWaitForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFailing("finish")
		w := &world{t, newEngine(task.Config{Store: store, Runner: patient}), t.Context()}
		for range 10 {
			w.create(task.Spec{Reruns: -1})
		}
		store.hang = true
		store.fail(time.Hour)
		grace, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		began := time.Now()
		if err := w.Close(grace); err == nil {
			t.Error("the tasks have ended")
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("closing took %v", took)
		}
	})
}
