package task_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

func TestEngineThatTakesOverFromItselfStopsTheOldRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &record{}
		store := &crashing{Store: newDurable()}
		ended := make(chan error, 2)
		store.die() // heartbeats do not arrive
		w := &world{t, newEngine(task.Config{Store: store, Resume: true, Logger: log.logger(), Runner: causes(ended)}), t.Context()}
		w.create(task.Spec{})
		time.Sleep(30 * time.Second) // the lease runs out, and the engine itself finds the orphan
		synctest.Wait()
		if len(ended) != 1 || len(w.Running()) != 1 || w.Running()[0].Epoch != 2 {
			t.Fatalf("%d runs ended, running are %+v", len(ended), w.Running())
		}
		if cause := <-ended; source(cause) != inflight.SourceParent || !errors.Is(cause, task.ErrLease) {
			t.Errorf("the old run ended with %v", cause)
		}
		if n := log.count("level=ERROR", "park"); n != 0 {
			t.Errorf("a run without a lease tried to park: %q", log.lines)
		}
		w.Close(context.Background())
	})
}

func TestCancelledOrphanEndsWithoutRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newDurable()
		if _, err := store.Create(t.Context(), task.Task{ID: "orphan", Machine: tasktest.Machine(), Owner: ada, TTL: time.Hour}, task.Quota{}); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Begin(t.Context(), "orphan", "dead", time.Minute); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Cancel(t.Context(), ada, "orphan", task.Cancel{Reason: "enough"}); err != nil {
			t.Fatal(err)
		}
		w := &world{t, newEngine(task.Config{Store: store, Resume: true, Runner: func(context.Context, *task.Run) task.Outcome {
			t.Error("a task that somebody asked to cancel ran again")
			return done("")
		}}), t.Context()}
		time.Sleep(time.Minute)
		synctest.Wait()
		w.status("orphan", task.Cancelled)
		w.Close(context.Background())
	})
}

// slow is a store whose Begin takes a while.
type slow struct{ task.Store }

func (s slow) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	time.Sleep(time.Second)
	return b, err
}

func TestCloseStopsARunThatIsJustBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newDurable()
		if _, err := store.Create(t.Context(), task.Task{ID: "late", Machine: tasktest.Machine(), Owner: ada, TTL: time.Hour}, task.Quota{}); err != nil {
			t.Fatal(err)
		}
		e := newEngine(task.Config{Store: slow{store}, Runner: func(context.Context, *task.Run) task.Outcome {
			t.Error("a handler was called after Close")
			return done("")
		}})
		go e.Run("late")
		synctest.Wait()
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if ids, err := store.Orphans(t.Context(), 1); err != nil || len(ids) != 1 {
			t.Errorf("the task was not parked: %v, %v", ids, err)
		}
	})
}

func TestDoRefusesTheNameOfAnOpenQuestionBeforeItActs(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		go ask(ctx, r, "q")
		time.Sleep(time.Second)
		_, err := r.Do(ctx, "q", func(context.Context) ([]byte, error) {
			t.Error("the step was done under a question's name")
			return nil, nil
		})
		return done(err.Error())
	}}, func(w *world) {
		id := w.create(task.Spec{})
		time.Sleep(time.Second)
		synctest.Wait()
		if got := w.status(id, task.Completed); string(got.Result) != `journal name "q": is the name of a question, not of a step` {
			t.Errorf("result %q", got.Result)
		}
	})
}
