package task_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// durable is a memory store that claims to outlive the process: several engines on one are several processes.
type durable struct{ task.Store }

func (durable) Durable() bool { return true }

func newDurable() task.Store { return durable{task.NewMemory()} }

// crashing is a store whose process has died: what it writes is lost.
type crashing struct {
	task.Store
	mu   sync.Mutex
	dead bool
}

var errDead = errors.New("the process has died")

func (s *crashing) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
}

func (s *crashing) gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

func (s *crashing) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	if s.gone() {
		return task.Task{}, errDead
	}
	return s.Store.Finish(ctx, l, o)
}

func (s *crashing) Heartbeat(ctx context.Context, l []task.Lease, d time.Duration) (task.Beat, error) {
	if s.gone() {
		return task.Beat{}, errDead
	}
	return s.Store.Heartbeat(ctx, l, d)
}

func (s *crashing) Park(ctx context.Context, l task.Lease) (task.Task, error) {
	if s.gone() {
		return task.Task{}, errDead
	}
	return s.Store.Park(ctx, l)
}

// importing is a handler with a step and a question; it counts what it really did.
func importing(steps *int, runs *[]uint64) task.Runner {
	return func(ctx context.Context, r *task.Run) task.Outcome {
		*runs = append(*runs, r.Epoch())
		step, err := r.Do(ctx, "step", func(context.Context) ([]byte, error) {
			*steps++
			return []byte("stepped "), nil
		})
		if err != nil {
			return task.Outcome{Status: task.Failed, Message: err.Error()}
		}
		return done(string(step) + ask(ctx, r, "q"))
	}
}

func TestDeployParksAndResumesWithTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newDurable()
		steps, runs := 0, []uint64{}
		first := &world{t, newEngine(task.Config{Store: store, Runner: importing(&steps, &runs)}), t.Context()}
		id := first.create(task.Spec{})
		first.status(id, task.InputRequired)
		if err := first.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		second := &world{t, newEngine(task.Config{Store: store, Resume: true, Runner: importing(&steps, &runs)}), t.Context()}
		defer second.Close(context.Background())
		synctest.Wait()
		if len(runs) != 1 {
			t.Fatalf("a task that waits for an answer runs: %v", runs)
		}
		second.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
		synctest.Wait()
		got := second.status(id, task.Completed)
		if string(got.Result) != "stepped yes" || steps != 1 || fmt.Sprint(runs) != "[1 2]" {
			t.Errorf("result %q after %d steps in runs %v", got.Result, steps, runs)
		}
	})
}

func TestCrashIsTakenOverWhenTheLeaseRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newDurable()
		dying := &crashing{Store: store}
		release := make(chan struct{})
		stalled := &world{t, newEngine(task.Config{Store: dying, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
			<-release
			return done("stalled")
		}}), t.Context()}
		id := stalled.create(task.Spec{})
		heir := &world{t, newEngine(task.Config{Store: store, Resume: true, Runner: func(_ context.Context, r *task.Run) task.Outcome {
			return done(fmt.Sprint("epoch ", r.Epoch()))
		}}), t.Context()}
		defer heir.Close(context.Background())
		time.Sleep(5 * time.Minute) // heartbeats keep the lease
		heir.status(id, task.Working)
		dying.die()
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		got := heir.status(id, task.Completed)
		if string(got.Result) != "epoch 2" {
			t.Errorf("result %q", got.Result)
		}
		dying.mu.Lock()
		dying.dead = false // the stalled process wakes up
		dying.mu.Unlock()
		close(release)
		synctest.Wait()
		if after := heir.status(id, task.Completed); after.Version != got.Version || string(after.Result) != "epoch 2" {
			t.Errorf("a late writer overwrote the result: %+v", after)
		}
		if err := stalled.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestLostLeaseStopsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newDurable()
		dying := &crashing{Store: store}
		ended := make(chan error, 2)
		first := &world{t, newEngine(task.Config{Store: dying, Runner: causes(ended)}), t.Context()}
		defer first.Close(context.Background())
		id := first.create(task.Spec{})
		dying.die()
		time.Sleep(time.Minute)
		if _, err := store.Begin(t.Context(), id, "another", time.Hour); err != nil {
			t.Fatal(err)
		}
		dying.mu.Lock()
		dying.dead = false
		dying.mu.Unlock()
		time.Sleep(time.Minute)
		if cause := <-ended; source(cause) != inflight.SourceParent || !errors.Is(cause, task.ErrLease) {
			t.Errorf("the run ended with %v", cause)
		}
	})
}

func TestCancelOnAnotherNodeReachesTheRun(t *testing.T) {
	for _, force := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := newDurable()
			ended := make(chan error, 1)
			runs := &world{t, newEngine(task.Config{Store: store, Runner: causes(ended)}), t.Context()}
			defer runs.Close(context.Background())
			other := &world{t, newEngine(task.Config{Store: store, Runner: quick}), t.Context()}
			defer other.Close(context.Background())
			id := runs.create(task.Spec{})
			if _, err := other.Cancel(t.Context(), ada, id, task.Cancel{Force: force, Reason: "enough"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second) // a heartbeat
			if cause := <-ended; source(cause) != inflight.SourcePeer {
				t.Errorf("the run ended with %v", cause)
			}
			synctest.Wait()
			other.status(id, task.Cancelled)
		})
	}
}

// twice is a dispatcher that delivers everything twice, and once more too late.
type twice struct {
	engine *task.Engine
	all    sync.WaitGroup
}

func (d *twice) Dispatch(_ context.Context, id string) error {
	for _, after := range []time.Duration{0, 0, time.Hour / 2} {
		d.all.Go(func() {
			time.Sleep(after)
			d.engine.Run(id)
		})
	}
	return nil
}

func TestDispatcherMayDeliverTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &twice{}
		var mu sync.Mutex
		runs := 0
		w := &world{t, newEngine(task.Config{Dispatcher: d, Runner: func(context.Context, *task.Run) task.Outcome {
			mu.Lock()
			defer mu.Unlock()
			runs++
			return done("")
		}}), t.Context()}
		d.engine = w.Engine
		for range 100 {
			w.status(w.create(task.Spec{}), task.Completed)
		}
		d.all.Wait()
		if runs != 100 || w.Live() != 0 {
			t.Errorf("%d runs of 100 tasks, %d left over", runs, w.Live())
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// nowhere is a dispatcher that brings tasks to other processes, or fails.
type nowhere struct{ err error }

func (d nowhere) Dispatch(context.Context, string) error { return d.err }

func TestDispatchedTasksLeaveNothingBehind(t *testing.T) {
	in(t, task.Config{Dispatcher: nowhere{}, Runner: quick}, func(w *world) {
		id := w.create(task.Spec{})
		time.Sleep(time.Minute)
		synctest.Wait()
		if w.Live() != 0 {
			t.Errorf("%d tasks that run elsewhere are held", w.Live())
		}
		w.status(id, task.Working)
	})
}

func TestFailedDispatchFailsTheTask(t *testing.T) {
	in(t, task.Config{Dispatcher: nowhere{errors.New("queue is down")}, Runner: quick}, func(w *world) {
		got := w.status(w.create(task.Spec{}), task.Failed)
		if got.StatusMessage != "the task could not be dispatched" || w.Live() != 0 {
			t.Errorf("task: %+v, %d held", got, w.Live())
		}
	})
}

func TestLocalIsHandedToTheRun(t *testing.T) {
	in(t, task.Config{Runner: func(_ context.Context, r *task.Run) task.Outcome {
		return done(r.Local().(string))
	}}, func(w *world) {
		if got := w.status(w.create(task.Spec{Local: "here"}), task.Completed); string(got.Result) != "here" {
			t.Errorf("result %q", got.Result)
		}
	})
}

// A task that kills every process that runs it fails after its reruns; deploys do not count.
func TestCrashesAreLimited(t *testing.T) {
	for reruns, want := range map[int]struct {
		runs    int
		message string
	}{
		0:  {4, "the server died or lost its store in 4 runs of the task"},
		1:  {2, "the server died or lost its store in 2 runs of the task"},
		-1: {1, "the server died or lost its store in a run of the task, and the task may not run again"},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := newDurable()
			runs := 0
			counting := func(ctx context.Context, r *task.Run) task.Outcome {
				runs++
				return patient(ctx, r)
			}
			first := &world{t, newEngine(task.Config{Store: store, Runner: counting}), t.Context()}
			made, err := first.Create(t.Context(), task.Spec{Owner: ada, Reruns: reruns})
			if err != nil {
				t.Fatal(err)
			}
			if reruns >= 0 { // else a deploy ends it
				made.Start()
				synctest.Wait()
			}
			if err := first.Close(t.Context()); err != nil { // a deploy
				t.Fatal(err)
			}
			id := made.Task.ID
			time.Sleep(time.Minute) // of the time to begin it
			runs = 0
			for range 6 {
				dying := &crashing{Store: store}
				w := &world{t, newEngine(task.Config{Store: dying, Resume: true, Runner: counting}), t.Context()}
				synctest.Wait()
				dying.die()
				w.Close(context.Background())
				time.Sleep(time.Minute) // its lease is over
			}
			heir := &world{t, newEngine(task.Config{Store: store, Resume: true, Runner: counting}), t.Context()}
			defer heir.Close(context.Background())
			synctest.Wait()
			if got := heir.status(id, task.Failed); got.StatusMessage != want.message || runs != want.runs {
				t.Errorf("reruns %d: %d runs, %q; want %d, %q", reruns, runs, got.StatusMessage, want.runs, want.message)
			}
		})
	}
}
