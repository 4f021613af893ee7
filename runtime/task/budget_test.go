package task_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// stubborn works until it is let go, whatever becomes of its context.
func stubborn(free *chan struct{}) task.Runner {
	return func(context.Context, *task.Run) task.Outcome {
		<-*free
		return done("late")
	}
}

func TestTSK28ASlotIsFreeWhenTheHandlerHasReturned(t *testing.T) {
	var free chan struct{} // of the bubble
	in(t, task.Config{Runner: stubborn(&free), Limits: task.Limits{Running: 2, AllRunning: 3}}, func(w *world) {
		free = make(chan struct{})
		for range 2 {
			id := w.create(task.Spec{})
			if _, err := w.Cancel(w.ctx, ada, id, task.Cancel{Force: true}); err != nil {
				t.Fatal(err)
			}
			w.status(id, task.Cancelled)
		}
		w.refused("unfinished tasks per requestor", task.Spec{Owner: ada})
		w.create(task.Spec{Owner: "bob"})
		w.refused("unfinished tasks in all", task.Spec{Owner: "eve"})
		for range 3 {
			free <- struct{}{}
		}
		synctest.Wait()
		w.create(task.Spec{})
		w.create(task.Spec{})
		close(free)
	})
}

func TestTSK28QuotaKeysTellRequestorsApart(t *testing.T) {
	in(t, task.Config{Runner: patient, Limits: task.Limits{Running: 1}}, func(w *world) {
		w.create(task.Spec{QuotaKey: "east"})
		w.refused("unfinished tasks per requestor", task.Spec{Owner: ada, QuotaKey: "east"})
		w.create(task.Spec{QuotaKey: "west"})
		w.create(task.Spec{})
	})
}

// here is a Dispatcher that has each task run by the engine that it came from, once it is told to.
type here struct{ ids chan string }

func (h here) Dispatch(_ context.Context, id string) error {
	h.ids <- id
	return nil
}

// A task counts for its quota key also where a dispatcher has it run: not for its owner, whom many may share.
func TestTSK28ADispatchedTaskCountsForItsQuotaKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := here{make(chan string, 1)}
		w := &world{t, newEngine(task.Config{Dispatcher: d, Runner: patient, Limits: task.Limits{Running: 1}}), t.Context()}
		id := w.create(task.Spec{QuotaKey: "east"})
		go func() { _ = w.Engine.Run(<-d.ids) }()
		synctest.Wait()
		if n := len(w.Running()); n != 1 {
			t.Fatalf("%d runs", n)
		}
		w.create(task.Spec{}) // of the owner, who has no other
		w.refused("unfinished tasks per requestor", task.Spec{Owner: ada})
		if _, err := w.Cancel(w.ctx, ada, id, task.Cancel{Force: true}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A task that begins again counts for its quota key, too, wherever it does.
func TestTSK28ATaskThatBeginsAgainCountsForItsQuotaKey(t *testing.T) {
	for _, here := range []bool{true, false} {
		c := task.Config{Limits: task.Limits{Running: 1}, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
			ask(ctx, r, "q")
			return patient(ctx, r)
		}}
		twoEngines(t, c, func(a, b *world) {
			id := a.create(task.Spec{QuotaKey: "east"})
			time.Sleep(time.Minute)
			synctest.Wait()
			a.wantRunning(0)
			again := a
			if !here {
				again = b
			}
			again.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
			synctest.Wait()
			again.wantRunning(1)
			made, err := again.Create(t.Context(), task.Spec{Owner: ada}) // of the owner, who has no other
			if err != nil {
				t.Fatalf("here: %v, %v", here, err)
			}
			made.Start()
			again.refused("unfinished tasks per requestor", task.Spec{Owner: ada})
		})
	}
}

func TestTSK28ResultThatDoesNotFitFailsItsTask(t *testing.T) {
	large := strings.Repeat("x", 60_000)
	runner := func(context.Context, *task.Run) task.Outcome { return done(large) }
	in(t, task.Config{Runner: runner, Limits: task.Limits{Bytes: 100_000}}, func(w *world) {
		first := w.create(task.Spec{})
		second := w.create(task.Spec{})
		if got := w.status(first, task.Completed); string(got.Result) != large {
			t.Errorf("the first result has %d bytes", len(got.Result))
		}
		got := w.status(second, task.Failed)
		const want = "the result of 60000 bytes can not be kept: limit reached: at most 100000 bytes of tasks per requestor"
		if got.StatusMessage != want || got.Error == nil || got.Error.Message != want {
			t.Errorf("%q, %v", got.StatusMessage, got.Error)
		}
		w.refused("bytes of tasks per requestor", task.Spec{Owner: ada, Args: []byte(large)})
	})
}

func TestTSK28DiscardStopsTheWork(t *testing.T) {
	ended := make(chan error, 1)
	in(t, task.Config{Runner: causes(ended), Limits: task.Limits{Running: 1}}, func(w *world) {
		id := w.create(task.Spec{})
		waited := make(chan error, 1)
		go func() {
			_, err := w.Wait(w.ctx, ada, id)
			waited <- err
		}()
		synctest.Wait()
		w.Discard(w.ctx, ada)
		if cause := <-ended; source(cause) != inflight.SourceDisconnect || !errors.Is(cause, task.ErrDiscarded) {
			t.Errorf("the work ended with %v", cause)
		}
		if err := <-waited; !errors.Is(err, task.ErrNotFound) {
			t.Errorf("who waited got %v", err)
		}
		synctest.Wait()
		if w.Live() != 0 {
			t.Errorf("%d runs are held", w.Live())
		}
		w.create(task.Spec{})
	})
}
