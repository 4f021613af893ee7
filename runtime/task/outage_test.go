package task_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var errOutage = errors.New("the store is away")

// failing is a durable store of which some calls fail for a while.
type failing struct {
	task.Store
	mu    sync.Mutex
	calls []string // that fail
	until time.Time
	late  bool // they are carried out, and only the answer is lost
	hang  bool // they do not return before their contexts end
}

func newFailing(calls ...string) *failing { return &failing{Store: newDurable(), calls: calls} }

// fail begins an outage.
func (s *failing) fail(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Now().Add(d)
}

func (s *failing) call(ctx context.Context, name string, call func() error) error {
	s.mu.Lock()
	out := slices.Contains(s.calls, name) && time.Now().Before(s.until)
	s.mu.Unlock()
	switch {
	case !out:
		return call()
	case s.hang:
		<-ctx.Done()
	case s.late:
		_ = call() // nobody learns what came of it
	}
	return errOutage
}

func (s *failing) Get(ctx context.Context, owner, id string) (t task.Task, err error) {
	err = s.call(ctx, "get", func() (err error) { t, err = s.Store.Get(ctx, owner, id); return err })
	return t, err
}

func (s *failing) Watch(ctx context.Context, owner, id string) (t task.Task, changed <-chan struct{}, err error) {
	err = s.call(ctx, "watch", func() (err error) { t, changed, err = s.Store.Watch(ctx, owner, id); return err })
	return t, changed, err
}

func (s *failing) Begin(ctx context.Context, id, node string, d time.Duration) (b task.Begun, err error) {
	err = s.call(ctx, "begin", func() (err error) { b, err = s.Store.Begin(ctx, id, node, d); return err })
	return b, err
}

func (s *failing) Record(ctx context.Context, l task.Lease, name string, data []byte) error {
	return s.call(ctx, "record", func() error { return s.Store.Record(ctx, l, name, data) })
}

func (s *failing) Entry(ctx context.Context, l task.Lease, name string) (e task.Entry, err error) {
	err = s.call(ctx, "entry", func() (err error) { e, err = s.Store.Entry(ctx, l, name); return err })
	return e, err
}

func (s *failing) Ask(ctx context.Context, l task.Lease, q task.Question) (t task.Task, err error) {
	err = s.call(ctx, "ask", func() (err error) { t, err = s.Store.Ask(ctx, l, q); return err })
	return t, err
}

func (s *failing) Withdraw(ctx context.Context, l task.Lease, name string) (t task.Task, err error) {
	err = s.call(ctx, "withdraw", func() (err error) { t, err = s.Store.Withdraw(ctx, l, name); return err })
	return t, err
}

func (s *failing) Describe(ctx context.Context, l task.Lease, message string) (t task.Task, err error) {
	err = s.call(ctx, "describe", func() (err error) { t, err = s.Store.Describe(ctx, l, message); return err })
	return t, err
}

func (s *failing) Park(ctx context.Context, l task.Lease) (t task.Task, err error) {
	err = s.call(ctx, "park", func() (err error) { t, err = s.Store.Park(ctx, l); return err })
	return t, err
}

func (s *failing) Finish(ctx context.Context, l task.Lease, o task.Outcome) (t task.Task, err error) {
	err = s.call(ctx, "finish", func() (err error) { t, err = s.Store.Finish(ctx, l, o); return err })
	return t, err
}

func (s *failing) Heartbeat(ctx context.Context, l []task.Lease, d time.Duration) (b task.Beat, err error) {
	err = s.call(ctx, "heartbeat", func() (err error) { b, err = s.Store.Heartbeat(ctx, l, d); return err })
	return b, err
}

// thorough is a handler that writes everything that a run can write.
func thorough(steps *int) task.Runner {
	return func(ctx context.Context, r *task.Run) task.Outcome {
		described := r.Describe(ctx, "working")
		step, err := r.Do(ctx, "step", func(context.Context) ([]byte, error) {
			*steps++
			return []byte("stepped"), nil
		})
		short, stop := context.WithTimeout(ctx, 40*time.Second)
		defer stop()
		_, gone := r.Ask(short, task.Question{Name: "nobody"})
		return done(fmt.Sprint(described, string(step), err, ask(ctx, r, "q"), errors.Is(gone, task.ErrWithdrawn)))
	}
}

func TestDUR06OutagesAreWaitedOut(t *testing.T) {
	for _, call := range []string{"begin", "describe", "record", "ask", "watch", "withdraw", "entry", "finish"} {
		for _, kind := range []string{"refused", "answer lost", "hanging"} {
			if kind != "refused" && call == "watch" || kind == "answer lost" && call == "begin" {
				continue // a watch has no time limit but its caller's; a lost begin is the next test's
			}
			t.Run(call+" "+kind, func(t *testing.T) {
				steps := 0
				var ends []task.Status
				store := newFailing(call)
				store.late, store.hang = kind == "answer lost", kind == "hanging"
				in(t, task.Config{Store: store, Resume: true, Runner: thorough(&steps), OnChange: func(t task.Task) {
					if t.Status.Terminal() {
						ends = append(ends, t.Status)
					}
				}}, func(w *world) {
					store.fail(15 * time.Second)
					id := w.create(task.Spec{})
					time.Sleep(90 * time.Second)
					synctest.Wait()
					if got := w.status(id, task.InputRequired); got.Questions[0].Name != "q" {
						t.Fatalf("questions %+v", got.Questions)
					}
					store.fail(15 * time.Second)
					w.answer(id, task.Answer{Name: "q", Data: []byte(" yes ")})
					got, err := w.Wait(w.ctx, ada, id)
					if err != nil || got.Status != task.Completed || string(got.Result) != "<nil>stepped<nil> yes true" || steps != 1 {
						t.Fatalf("%d steps, result %q, %+v, %v", steps, got.Result, got, err)
					}
					time.Sleep(time.Minute)
					synctest.Wait()
					if len(ends) != 1 || ends[0] != task.Completed || w.Live() != 0 {
						t.Errorf("ends that were told: %v; %d runs are left", ends, w.Live())
					}
				})
			})
		}
	}
}

// Who cancelled the task while the store was away has ended it, and the outcome of the run is dropped.
func TestTSK23AnEndBySomebodyElseIsNotRecordedAsTheRuns(t *testing.T) {
	log := &record{}
	store := newFailing("finish")
	in(t, task.Config{Store: store, Runner: after(time.Second, done("result")), Logger: log.logger()}, func(w *world) {
		id := w.create(task.Spec{})
		store.fail(10 * time.Second)
		time.Sleep(5 * time.Second)
		if _, err := store.Cancel(t.Context(), ada, id, task.Cancel{Force: true}); err != nil { // by another process
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		w.status(id, task.Cancelled)
		if ends, drops := log.count("task ended"), log.count("late task outcome dropped", "outcome=completed"); ends != 0 || drops != 1 {
			t.Errorf("%d ends and %d dropped outcomes are recorded: %q", ends, drops, log.lines)
		}
	})
}

func TestDUR06LostBeginIsTakenUpAfterItsLease(t *testing.T) {
	store := newFailing("begin")
	store.late = true
	in(t, task.Config{Store: store, Resume: true, Runner: func(_ context.Context, r *task.Run) task.Outcome {
		return done(fmt.Sprint(r.Epoch()))
	}}, func(w *world) {
		store.fail(time.Millisecond)
		id := w.create(task.Spec{})
		got, err := w.Wait(w.ctx, ada, id)
		if err != nil || string(got.Result) != "2" || time.Since(got.CreatedAt) > 41*time.Second || w.Live() != 0 {
			t.Errorf("after %v: %+v, %v, %d runs are left", time.Since(got.CreatedAt), got, err, w.Live())
		}
	})
}

// The lost Begin counts as a crash: who may not begin again is told what may have happened.
func TestDUR06LostBeginOfATaskWithoutRerunsFailsIt(t *testing.T) {
	store := newFailing("begin")
	store.late = true
	in(t, task.Config{Store: store, Resume: true, Runner: func(context.Context, *task.Run) task.Outcome {
		t.Error("the handler ran")
		return done("")
	}}, func(w *world) {
		store.fail(time.Millisecond)
		got, err := w.Wait(w.ctx, ada, w.create(task.Spec{Reruns: -1}))
		if err != nil || got.StatusMessage != "the server died or lost its store in a run of the task, and the task may not run again" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// What is done is not done again, however long the store is away, unless somebody else has begun meanwhile.
func TestDUR06FinishedWorkDoesNotRunAgain(t *testing.T) {
	runs := 0
	store := newFailing("finish", "heartbeat", "get")
	in(t, task.Config{Store: store, Resume: true, Runner: func(context.Context, *task.Run) task.Outcome {
		runs++
		time.Sleep(time.Second)
		return done("result")
	}}, func(w *world) {
		id := w.create(task.Spec{})
		store.fail(5 * time.Minute)
		time.Sleep(5*time.Minute + 2*time.Second)
		synctest.Wait()
		if got := w.status(id, task.Completed); runs != 1 || string(got.Result) != "result" || w.Live() != 0 {
			t.Errorf("%d runs, result %q, %d runs are left", runs, got.Result, w.Live())
		}
	})
}

func TestDUR06ParkIsTriedAgain(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			log := &record{}
			store := newFailing("park")
			store.late = late
			w := &world{t, newEngine(task.Config{Store: store, Runner: patient, Logger: log.logger()}), t.Context()}
			id := w.create(task.Spec{})
			store.fail(10 * time.Second)
			if err := w.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ids, err := store.Orphans(t.Context(), 10); err != nil || fmt.Sprint(ids) != "["+id+"]" || log.count("level=ERROR") != 0 {
				t.Errorf("parked tasks: %v, %v, log %q", ids, err, log.lines)
			}
		})
	}
}

func TestDUR02RunStopsItselfBeforeItsLeaseEnds(t *testing.T) {
	for _, hang := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := newFailing("heartbeat")
			store.hang = hang
			ended := make(chan error, 2)
			w := &world{t, newEngine(task.Config{Store: store, Runner: causes(ended)}), t.Context()}
			w.create(task.Spec{})
			store.fail(time.Minute)
			time.Sleep(time.Second)
			later := w.create(task.Spec{}) // each run has its own time
			time.Sleep(24 * time.Second)
			synctest.Wait()
			if len(ended) != 0 {
				t.Fatalf("after 25 seconds of its lease of 30 a run ended with %v", <-ended)
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if cause := <-ended; source(cause) != inflight.SourceParent || !errors.Is(cause, task.ErrLease) {
				t.Errorf("the run ended with %v", cause)
			}
			cause := <-ended
			synctest.Wait()
			if got := w.status(later, task.Working); source(cause) != inflight.SourceParent || time.Since(got.CreatedAt) >= 30*time.Second || w.Live() != 0 {
				t.Errorf("the later run ended with %v, %d runs are left", cause, w.Live())
			}
			w.Close(context.Background())
		})
	}
}

func TestDUR02HeartbeatsThatComeInTimeKeepTheRun(t *testing.T) {
	ended := make(chan error, 100)
	store := newFailing("heartbeat")
	in(t, task.Config{Store: store, Resume: true, Runner: causes(ended)}, func(w *world) {
		id := w.create(task.Spec{})
		for range 10 {
			store.fail(15 * time.Second) // at most 10 after a heartbeat; the fence is at 27
			time.Sleep(40 * time.Second)
			synctest.Wait()
		}
		if len(ended) != 0 || len(w.Running()) != 1 || w.Running()[0].Epoch != 1 {
			t.Errorf("%d runs ended, running are %+v", len(ended), w.Running())
		}
		w.status(id, task.Working)
	})
}

// Only what the store says of a task counts: an outage is no expiry.
func TestDUR06OutageIsNoExpiry(t *testing.T) {
	ended := make(chan error, 1)
	store := newFailing("get")
	in(t, task.Config{Store: store, Runner: causes(ended)}, func(w *world) {
		id := w.create(task.Spec{})
		if _, err := store.Cancel(t.Context(), ada, id, task.Cancel{Reason: "enough"}); err != nil { // by another process
			t.Fatal(err)
		}
		store.fail(15 * time.Second)
		time.Sleep(14 * time.Second)
		synctest.Wait()
		if len(ended) != 0 {
			t.Fatalf("the run ended with %v", <-ended)
		}
		time.Sleep(6 * time.Second)
		if cause := <-ended; source(cause) != inflight.SourcePeer {
			t.Errorf("the run ended with %v", cause)
		}
		synctest.Wait()
		w.status(id, task.Cancelled)
	})
}

func TestDUR06WaitersWaitAnOutageOut(t *testing.T) {
	for _, call := range []string{"get", "watch"} {
		store := newFailing(call)
		in(t, task.Config{Store: store, Runner: after(10*time.Second, done("result"))}, func(w *world) {
			id := w.create(task.Spec{})
			store.fail(15 * time.Second)
			if got, err := w.Wait(w.ctx, ada, id); err != nil || string(got.Result) != "result" {
				t.Errorf("%s: %+v, %v", call, got, err)
			}
			store.fail(time.Hour)
			short, stop := context.WithTimeout(w.ctx, time.Second)
			defer stop()
			_, err := w.Wait(short, ada, id)
			if call == "get" && !errors.Is(err, errOutage) {
				t.Errorf("a wait that has no time for an outage ended with %v", err)
			}
		})
	}
}
