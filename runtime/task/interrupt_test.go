package task_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// telling is a store that tells every process of a cancel.
type telling struct {
	task.Store
	mu    sync.Mutex
	hints map[int]func(string)
	made  int
}

func newTelling() *telling { return &telling{Store: newDurable(), hints: map[int]func(string){}} }

func (s *telling) Interrupts(hint func(string)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	n := s.made
	s.hints[n] = hint
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hints, n)
	}
}

func (s *telling) tell(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, hint := range s.hints {
		hint(id)
	}
}

func (s *telling) Cancel(ctx context.Context, owner, id string, c task.Cancel) (task.Task, error) {
	defer s.tell(id)
	return s.Store.Cancel(ctx, owner, id, c)
}

func TestDUR03InterrupterTellsOfACancelAtOnce(t *testing.T) {
	for _, force := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := newTelling()
			ended := make(chan error, 1)
			runs := &world{t, newEngine(task.Config{Store: store, Runner: causes(ended)}), t.Context()}
			other := &world{t, newEngine(task.Config{Store: store, Runner: quick}), t.Context()}
			id := runs.create(task.Spec{})
			store.tell(id) // for nothing
			store.tell("unknown")
			synctest.Wait()
			if len(ended) != 0 {
				t.Fatalf("a hint without a reason ended the run with %v", <-ended)
			}
			start := time.Now()
			if _, err := other.Cancel(t.Context(), ada, id, task.Cancel{Force: force, Reason: "enough"}); err != nil {
				t.Fatal(err)
			}
			if cause := <-ended; source(cause) != inflight.SourcePeer || time.Since(start) != 0 {
				t.Errorf("after %v the run ended with %v", time.Since(start), cause)
			}
			synctest.Wait()
			other.status(id, task.Cancelled)
			for _, w := range []*world{runs, other} {
				if err := w.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
			if len(store.hints) != 0 {
				t.Errorf("%d closed engines still listen", len(store.hints))
			}
		})
	}
}

// A dispatcher may be the one who hears of it.
func TestDUR03DispatchersMayInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		d := &hearing{telling: newTelling()}
		w := &world{t, newEngine(task.Config{Store: d.Store, Dispatcher: d, Runner: causes(ended)}), t.Context()}
		d.engine = w.Engine
		id := w.create(task.Spec{})
		if _, err := d.Cancel(t.Context(), ada, id, task.Cancel{}); err != nil { // past the engine
			t.Fatal(err)
		}
		synctest.Wait()
		if len(ended) != 1 || source(<-ended) != inflight.SourcePeer {
			t.Error("the run was not told")
		}
		d.all.Wait()
		w.Close(context.Background())
	})
}

// hearing is a dispatcher that runs tasks here and is told of cancels.
type hearing struct {
	*telling
	engine *task.Engine
	all    sync.WaitGroup
}

func (d *hearing) Dispatch(_ context.Context, id string) error {
	d.all.Go(func() { _ = d.engine.Run(id) })
	return nil
}

func TestOperatorsSeeAllTasks(t *testing.T) {
	in(t, task.Config{Runner: quick, Limits: task.Limits{Page: 3}}, func(w *world) {
		for _, owner := range []string{ada, "bob", "", ada} {
			w.create(task.Spec{Owner: owner})
			time.Sleep(time.Second)
		}
		first, err := w.ListAll(w.ctx, task.Filter{}, "", 0)
		if err != nil || len(first.Tasks) != 3 || first.Next == "" {
			t.Fatalf("first page: %+v, %v", first, err)
		}
		rest, err := w.ListAll(w.ctx, task.Filter{}, first.Next, 0)
		if err != nil || len(rest.Tasks) != 1 || rest.Next != "" || rest.Tasks[0].Owner != ada {
			t.Errorf("second page: %+v, %v", rest, err)
		}
		n, err := w.Count(w.ctx, task.Filter{Owners: []string{ada}})
		if err != nil || len(n) != 1 || n[task.Completed] != 3 { // without an owner, create makes tasks of ada
			t.Errorf("counts of ada's: %v, %v", n, err)
		}
	})
}

// offering is a store that tells every process of tasks that wait for somebody to run them.
type offering struct {
	task.Store
	offers chan func() // the hint of the engine that resumes
}

func (s *offering) Offers(hint func()) (stop func()) {
	s.offers <- hint
	return func() { <-s.offers }
}

// A task that another process has parked begins when the store says so, not when the engine looks the next time.
func TestDUR04OffererTellsOfWaitingTasksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &offering{newDurable(), make(chan func(), 1)}
		quits := &world{t, newEngine(task.Config{Store: store, Runner: causes(make(chan error, 1))}), t.Context()}
		id := quits.create(task.Spec{})
		resumes := &world{t, newEngine(task.Config{Store: store, Runner: quick, Resume: true}), t.Context()}
		synctest.Wait()
		start := time.Now()
		if err := quits.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		hint := <-store.offers
		store.offers <- hint
		for range 3 { // twice for nothing
			hint()
		}
		if _, err := resumes.Wait(t.Context(), ada, id); err != nil || time.Since(start) != 0 {
			t.Errorf("the parked task ended after %v, %v", time.Since(start), err)
		}
		if err := resumes.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if len(store.offers) != 0 {
			t.Error("a closed engine still listens")
		}
		hint() // too late, and harmless
	})
}
