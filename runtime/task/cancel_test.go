package task_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// A cancel that was acknowledged is carried out, although a run that ends to be parked does not hear it.
func TestEXT11ACancelThatComesWhileTheRunEndsIsCarriedOut(t *testing.T) {
	var slow chan struct{}
	log := &record{}
	twoEngines(t, task.Config{Logger: log.logger(), Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		data, err := r.Ask(ctx, task.Question{Name: "q"})
		if errors.Is(err, task.ErrParked) {
			<-slow
		}
		return done(string(data))
	}}, func(a, b *world) {
		for i, cancelling := range []*world{a, b} {
			slow = make(chan struct{})
			id := a.create(task.Spec{})
			time.Sleep(31 * time.Second)
			synctest.Wait()
			a.wantRunning(1) // the handler has not returned
			if _, err := cancelling.Cancel(t.Context(), ada, id, task.Cancel{Reason: "enough"}); err != nil {
				t.Fatal(err)
			}
			close(slow)
			synctest.Wait()
			if got := a.status(id, task.Cancelled); got.CancelReason != "enough" {
				t.Errorf("%d: cancelled for %q", i, got.CancelReason)
			}
			if n := log.count("task ended", id, "status=cancelled"); n != 1 {
				t.Errorf("%d: %d ends are in the audit log", i, n)
			}
		}
	})
}

// The same for a run whose process dies, whatever it has asked.
func TestEXT11ACancelIsCarriedOutWhenTheProcessThatWasToHearItDies(t *testing.T) {
	for _, recorded := range []bool{true, false} { // before the process dies, or when its lease has run out
		synctest.Test(t, func(t *testing.T) {
			store, ended := newDurable(), make(chan struct{})
			dying := &crashing{Store: store}
			first := &world{t, newEngine(task.Config{Store: dying, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
				out := asking(ctx, r)
				<-ended
				return out
			}}), t.Context()}
			id := first.create(task.Spec{})
			synctest.Wait()
			first.status(id, task.InputRequired)
			cancel := func() {
				t.Helper()
				if _, err := store.Cancel(t.Context(), ada, id, task.Cancel{}); err != nil {
					t.Fatal(err)
				}
			}
			if recorded {
				cancel()
			}
			dying.die()
			time.Sleep(time.Minute)
			if !recorded {
				cancel()
			}
			heir := &world{t, newEngine(task.Config{Store: store, Resume: true, Runner: func(context.Context, *task.Run) task.Outcome {
				t.Error("the handler is called")
				return done("")
			}}), t.Context()}
			synctest.Wait()
			heir.status(id, task.Cancelled)
			heir.Close(context.Background())
			close(ended)
			first.Close(context.Background())
		})
	}
}

// slowBegin is a store whose answers to Begin take five seconds, and which hints at cancels.
type slowBegin struct {
	task.Store
	hint func(id string)
}

func (s *slowBegin) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	time.Sleep(5 * time.Second)
	return b, err
}

func (s *slowBegin) Interrupts(hint func(id string)) (stop func()) {
	s.hint = hint
	return func() {}
}

// A cancel that comes while a run begins again reaches it, also from another process, and not with the next heartbeat only.
func TestDUR03ACancelReachesARunThatIsBeginning(t *testing.T) {
	for _, here := range []bool{true, false} {
		store := &slowBegin{Store: newDurable()}
		in(t, task.Config{Store: store, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
			if ask(ctx, r, "q") == "yes" {
				<-ctx.Done()
			}
			return done("")
		}}, func(w *world) {
			id := w.create(task.Spec{})
			time.Sleep(time.Minute)
			w.wantRunning(0)
			w.answer(id, task.Answer{Name: "q", Data: []byte("yes")})
			synctest.Wait() // the store has begun the run, and has not answered
			var err error
			if here {
				_, err = w.Cancel(w.ctx, ada, id, task.Cancel{})
			} else if _, err = store.Cancel(w.ctx, ada, id, task.Cancel{}); err == nil {
				store.hint(id)
			}
			if err != nil {
				t.Fatal(err)
			}
			w.status(id, task.Working)
			time.Sleep(6 * time.Second)
			synctest.Wait()
			w.status(id, task.Cancelled)
		})
	}
}

// slowAnswer is a store whose answers to Answer take five seconds.
type slowAnswer struct{ task.Store }

func (s slowAnswer) Answer(ctx context.Context, owner, id string, answers []task.Answer) (task.Task, error) {
	t, err := s.Store.Answer(ctx, owner, id, answers)
	time.Sleep(5 * time.Second)
	return t, err
}

// Changes are told in order, whichever run or call makes them.
func TestTSK20ChangesAreToldInOrderAcrossRuns(t *testing.T) {
	for name, c := range map[string]struct {
		parked bool // when the answer comes; else the run is ending
		last   task.Status
	}{
		"a cancel of a parked task":   {true, task.Cancelled},
		"a run that begins meanwhile": {false, task.Completed},
	} {
		var slow chan struct{}
		var mu sync.Mutex
		var told []task.Status
		in(t, task.Config{Store: slowAnswer{newDurable()}, OnChange: func(t task.Task) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, t.Status)
		}, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
			data, err := r.Ask(ctx, task.Question{Name: "q"})
			if errors.Is(err, task.ErrParked) {
				<-slow
			}
			return done(string(data))
		}}, func(w *world) {
			slow = make(chan struct{})
			if c.parked {
				close(slow)
			}
			id := w.create(task.Spec{})
			time.Sleep(time.Minute)
			var answering sync.WaitGroup
			answering.Go(func() { w.answer(id, task.Answer{Name: "q", Data: []byte("yes")}) })
			synctest.Wait() // the store has the answer
			if !c.parked {
				close(slow)
			} else if _, err := w.Cancel(w.ctx, ada, id, task.Cancel{}); err != nil {
				t.Fatal(err)
			}
			answering.Wait()
			synctest.Wait()
			w.status(id, c.last)
		})
		if want := []task.Status{task.InputRequired, c.last}; !slices.Equal(told, want) {
			t.Errorf("%s: told %v, want %v", name, told, want)
		}
	}
}
