package task_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func TestTSK14TTLIsDecidedByTheServer(t *testing.T) {
	limits := task.Limits{DefaultTTL: time.Hour, MaxTTL: 2 * time.Hour}
	for name, c := range map[string]struct {
		limits task.Limits
		spec   task.Spec
		want   time.Duration
		err    error
	}{
		"nothing asked":              {limits, task.Spec{}, time.Hour, nil},
		"less asked":                 {limits, task.Spec{TTL: new(time.Minute)}, time.Minute, nil},
		"more than the maximum":      {limits, task.Spec{TTL: new(9 * time.Hour)}, 2 * time.Hour, nil},
		"unlimited is shortened":     {limits, task.Spec{TTL: new(task.Unlimited)}, 2 * time.Hour, nil},
		"unlimited if allowed":       {task.Limits{MaxTTL: task.Unlimited}, task.Spec{TTL: new(task.Unlimited)}, task.Unlimited, nil},
		"no maximum":                 {task.Limits{MaxTTL: -1}, task.Spec{TTL: new(999 * time.Hour)}, 999 * time.Hour, nil},
		"no default":                 {task.Limits{DefaultTTL: -1, MaxTTL: time.Hour}, task.Spec{}, time.Hour, nil},
		"no limit at all":            {task.Limits{DefaultTTL: -1, MaxTTL: -1}, task.Spec{}, task.Unlimited, nil},
		"the tool's default":         {limits, task.Spec{DefaultTTL: time.Second}, time.Second, nil},
		"the tool's maximum":         {limits, task.Spec{MaxTTL: 5 * time.Hour, TTL: new(9 * time.Hour)}, 5 * time.Hour, nil},
		"default above the maximum":  {limits, task.Spec{DefaultTTL: 9 * time.Hour}, 2 * time.Hour, nil},
		"negative":                   {limits, task.Spec{TTL: new(-time.Second)}, 0, task.ErrTTL},
		"zero":                       {limits, task.Spec{TTL: new(time.Duration(0))}, 0, task.ErrTTL},
		"absurd, seconds as minutes": {limits, task.Spec{TTL: new(101 * 365 * 24 * time.Hour)}, 0, task.ErrTTL},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, task.Config{Runner: quick, Limits: c.limits}, func(w *world) {
				c.spec.Owner = ada
				made, err := w.Create(w.ctx, c.spec)
				if !errors.Is(err, c.err) || made.Task.TTL != c.want {
					t.Fatalf("ttl %v, %v, want %v, %v", made.Task.TTL, err, c.want, c.err)
				}
				if err == nil && w.get(made.Task.ID).TTL != c.want {
					t.Errorf("reported ttl is %v", w.get(made.Task.ID).TTL)
				}
			})
		})
	}
}

func TestTSK15ExpiryStopsWorkAndWaiters(t *testing.T) {
	ended := make(chan error, 1)
	in(t, task.Config{Runner: causes(ended)}, func(w *world) {
		w.create(task.Spec{TTL: new(time.Hour)})              // the next expiry, until the second task
		id := w.create(task.Spec{TTL: new(65 * time.Second)}) // between heartbeats, which would notice too
		waited := make(chan error, 1)
		go func() {
			_, err := w.Wait(w.ctx, ada, id)
			waited <- err
		}()
		time.Sleep(65 * time.Second)
		synctest.Wait()
		if cause := <-ended; source(cause) != inflight.SourceTimeout || !errors.Is(cause, task.ErrExpired) {
			t.Errorf("the work ended with %v", cause)
		}
		var missing *task.NotFoundError
		if err := <-waited; !errors.As(err, &missing) || missing.Reason != task.Expired {
			t.Errorf("the waiter got %v", err)
		}
		if _, err := w.Get(w.ctx, ada, id); !errors.Is(err, task.ErrNotFound) {
			t.Errorf("get after expiry: %v", err)
		}
	})
}

// counted is a store that counts how often it was told to look for expired tasks.
type counted struct {
	task.Store
	looks, removed atomic.Int64
}

func (s *counted) Expire(ctx context.Context, limit int) (task.Expiry, error) {
	x, err := s.Store.Expire(ctx, limit)
	s.looks.Add(1)
	s.removed.Add(int64(len(x.Removed)))
	return x, err
}

func TestTSK15OneTimerPurges100000Tasks(t *testing.T) {
	const n = 100_000
	store := &counted{Store: task.NewMemory()}
	in(t, task.Config{Runner: quick, Store: store, Limits: task.Limits{Running: -1, AllRunning: -1, Kept: -1}}, func(w *world) {
		for i := range n {
			ttl := time.Minute + time.Duration(i%1000)*time.Microsecond
			if _, err := w.Create(w.ctx, task.Spec{Owner: ada, TTL: &ttl}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if timers := w.Timers(); timers != 1 {
			t.Errorf("%d expiring tasks have %d timers, want 1", n, timers)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := store.removed.Load(); got != n {
			t.Errorf("%d of %d tasks were purged", got, n)
		}
		// The last ends a millisecond after the first: a few looks, of at most 128 tasks each.
		if looks := store.looks.Load(); looks > n/128+10 {
			t.Errorf("%d looks for %d tasks", looks, n)
		}
		if p, err := w.List(w.ctx, ada, "", 0); err != nil || len(p.Tasks) > 0 || w.Live() > 0 {
			t.Errorf("left over: %d in the engine, page %v, %v", w.Live(), p, err)
		}
	})
}

func TestTSK22LimitsRefuseClearly(t *testing.T) {
	in(t, task.Config{Runner: patient, Limits: task.Limits{Running: 2, Kept: 3, PollsPerSecond: 5}}, func(w *world) {
		first := w.create(task.Spec{})
		w.create(task.Spec{})
		w.refused("unfinished tasks per requestor", task.Spec{Owner: ada})
		if _, err := w.Create(w.ctx, task.Spec{Owner: "bob"}); err != nil {
			t.Errorf("another owner is refused: %v", err)
		}
		if _, err := w.Cancel(w.ctx, ada, first, task.Cancel{Force: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // its handler has returned
		w.create(task.Spec{})
		w.refused("unfinished tasks per requestor", task.Spec{Owner: ada})
		for range 10 {
			w.get(first)
		}
		var limit *task.LimitError
		if _, err := w.Get(w.ctx, ada, first); !errors.As(err, &limit) || limit.Wait <= 0 {
			t.Fatalf("the eleventh read at once: %v", err)
		}
		time.Sleep(limit.Wait)
		w.get(first)
	})
}

func (w *world) refused(what string, s task.Spec) {
	w.Helper()
	var limit *task.LimitError
	if _, err := w.Create(w.ctx, s); !errors.As(err, &limit) || limit.What != what {
		w.Errorf("create: %v, want a limit of %s", err, what)
	}
}

func TestTSK22StoredTasksAndResultsAreBounded(t *testing.T) {
	in(t, task.Config{Limits: task.Limits{Kept: 2, ResultBytes: 10}, Runner: func(_ context.Context, r *task.Run) task.Outcome {
		return done(string(make([]byte, len(r.Task().Args))))
	}}, func(w *world) {
		w.status(w.create(task.Spec{Args: make([]byte, 10)}), task.Completed)
		got := w.status(w.create(task.Spec{Args: make([]byte, 11)}), task.Failed)
		if got.Result != nil || got.Error == nil || got.StatusMessage != "the result of 11 bytes is larger than the limit of 10" {
			t.Errorf("task with too large a result: %+v", got)
		}
		w.refused("stored tasks per requestor", task.Spec{Owner: ada})
	})
}

func TestTSK23EachEventIsOneRecord(t *testing.T) {
	log := &record{}
	in(t, task.Config{Logger: log.logger(), Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		if r.Task().Tool == "slow" {
			return patient(ctx, r)
		}
		return done("")
	}}, func(w *world) {
		id := w.create(task.Spec{})
		slow := w.create(task.Spec{Tool: "slow"})
		w.Wait(w.ctx, ada, id)
		w.Cancel(w.ctx, ada, slow, task.Cancel{Force: true, Reason: "enough"})
		w.Wait(w.ctx, "eve", id)
		synctest.Wait()
		for _, want := range [][]string{
			{`msg="task created"`, id, "tool=tool", "requestor=ada"},
			{`msg="task created"`, slow, "tool=slow", "requestor=ada"},
			{`msg="task ended"`, id, "tool=tool", "requestor=ada", "status=completed"},
			{`msg="task retrieved"`, id, "tool=tool", "requestor=ada"},
			{`msg="task cancelled"`, slow, "tool=slow", "requestor=ada", "reason=enough"},
			{`msg="task access refused"`, id, "tool=tool", "requestor=eve", "reason=foreign"},
		} {
			if n := log.count(append(want, "level=")...); n != 1 {
				t.Errorf("%d records %v, want 1, in %q", n, want, log.lines)
			}
		}
	})
}

// TestTSK23TheEndOfACallerIsNoRefusal: who stops waiting was refused nothing. What the store answers is recorded all the same.
func TestTSK23TheEndOfACallerIsNoRefusal(t *testing.T) {
	log, store := &record{}, newFailing("get", "watch")
	in(t, task.Config{Store: store, Logger: log.logger(), Runner: patient}, func(w *world) {
		id := w.create(task.Spec{})
		ended, cancel := context.WithCancelCause(w.ctx)
		cancel(errors.New("gone"))
		store.fail(time.Minute)
		for name, call := range map[string]func(ctx context.Context, owner string) error{
			"get":   func(ctx context.Context, owner string) error { _, err := w.Get(ctx, owner, id); return err },
			"look":  func(ctx context.Context, owner string) error { _, err := w.Look(ctx, owner, id); return err },
			"watch": func(ctx context.Context, owner string) error { _, _, err := w.Watch(ctx, owner, id); return err },
			"wait":  func(ctx context.Context, owner string) error { _, err := w.Wait(ctx, owner, id); return err },
		} {
			if err := call(ended, ada); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if n := log.count("task access refused") + log.count(" failed"); n != 0 {
			t.Errorf("%d records of refusals or failures: %q", n, log.lines)
		}
		time.Sleep(time.Minute)
		if _, err := w.Look(ended, "eve", id); !errors.Is(err, task.ErrNotFound) || log.count("task access refused", "requestor=eve") != 1 {
			t.Errorf("%v: %q", err, log.lines)
		}
	})
}

func TestTaskTimeoutIsCountedApartFromTheTTL(t *testing.T) {
	ended := make(chan error, 1)
	in(t, task.Config{Runner: causes(ended)}, func(w *world) {
		id := w.create(task.Spec{Timeout: time.Minute, TTL: new(time.Hour)})
		time.Sleep(time.Minute)
		cause := <-ended
		if source(cause) != inflight.SourceTimeout || !errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, task.ErrExpired) {
			t.Errorf("the work ended with %v", cause)
		}
		synctest.Wait()
		got := w.status(id, task.Failed)
		if got.StatusMessage != "timed out after 1m0s" || got.Error == nil || got.Result != nil {
			t.Errorf("task: %+v", got)
		}
	})
}

func TestTaskTimeoutNeedsNoListeningHandler(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, _ *task.Run) task.Outcome {
		time.Sleep(time.Hour)
		return done(fmt.Sprint(ctx.Err()))
	}}, func(w *world) {
		id := w.create(task.Spec{Timeout: time.Minute, TTL: new(2 * time.Hour)})
		got, err := w.Wait(w.ctx, ada, id)
		if err != nil || got.Status != task.Failed || time.Since(got.CreatedAt) != time.Minute {
			t.Errorf("wait: %+v, %v", got, err)
		}
		if runs := w.Running(); len(runs) != 1 || !runs[0].Ending {
			t.Errorf("the handler is still there, but runs are %+v", runs)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if w.status(id, task.Failed).Version != got.Version || len(w.Running()) != 0 {
			t.Errorf("the late handler changed something")
		}
	})
}

// The record of a task that can not be cancelled expires like any other; its work does not end in the middle.
func TestCAN14ExpiryLetsUncancellableWorkEnd(t *testing.T) {
	end := make(chan error, 1)
	ttl := time.Second
	in(t, task.Config{Runner: func(ctx context.Context, _ *task.Run) task.Outcome {
		time.Sleep(time.Minute)
		end <- ctx.Err()
		return done("")
	}}, func(w *world) {
		id := w.create(task.Spec{Uncancellable: true, TTL: &ttl})
		time.Sleep(2 * time.Minute)
		_, err := w.Get(w.ctx, ada, id)
		if ended := <-end; !errors.Is(err, task.ErrNotFound) || ended != nil || len(w.Running()) != 0 {
			t.Errorf("task: %v, work: %v, %d run", err, ended, len(w.Running()))
		}
	})
}

// A negative limit of a page is none.
func TestTSK16PagesMayHaveNoLimit(t *testing.T) {
	in(t, task.Config{Runner: quick, Limits: task.Limits{Page: -1}}, func(w *world) {
		for range 60 {
			w.create(task.Spec{})
		}
		page, err := w.List(w.ctx, ada, "", 0)
		if err != nil || len(page.Tasks) != 60 || page.Next != "" {
			t.Errorf("%d tasks, next %q, %v", len(page.Tasks), page.Next, err)
		}
	})
}
