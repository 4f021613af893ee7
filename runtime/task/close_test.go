package task_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func TestCloseEndsWhatRunsAndTellsWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		w := &world{t, newEngine(task.Config{Runner: causes(ended)}), t.Context()}
		running := w.create(task.Spec{})
		fresh, err := w.Create(t.Context(), task.Spec{Owner: ada})
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan task.Task, 1)
		go func() {
			got, _ := w.Wait(t.Context(), ada, running)
			waited <- got
		}()
		synctest.Wait()
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if cause := <-ended; source(cause) != inflight.SourceShutdown {
			t.Errorf("the work ended with %v", cause)
		}
		if got := <-waited; got.Status != task.Failed || got.StatusMessage != "the server was shut down before the task was done" {
			t.Errorf("the waiter got %+v", got)
		}
		fresh.Start() // too late, and harmless
		w.status(fresh.Task.ID, task.Failed)
		if _, err := w.Create(t.Context(), task.Spec{Owner: ada}); !errors.Is(err, task.ErrClosed) {
			t.Errorf("create after close: %v", err)
		}
		if err := w.Engine.Run(running); !errors.Is(err, task.ErrClosed) {
			t.Errorf("run after close: %v", err)
		}
		if err := w.Close(t.Context()); err != nil || w.Live() != 0 {
			t.Errorf("second close: %v, %d tasks held", err, w.Live())
		}
	})
}

func TestCloseOfADurableStoreLetsWaitersGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newDurable()
		w := &world{t, newEngine(task.Config{Store: store, Runner: patient}), t.Context()}
		id := w.create(task.Spec{})
		waited := make(chan error, 1)
		go func() {
			_, err := w.Wait(t.Context(), ada, id)
			waited <- err
		}()
		synctest.Wait()
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; !errors.Is(err, task.ErrClosed) {
			t.Errorf("the waiter got %v", err)
		}
		w.status(id, task.Working)
		if ids, err := store.Orphans(t.Context(), 10); err != nil || len(ids) != 1 {
			t.Errorf("parked tasks: %v, %v", ids, err)
		}
	})
}

func TestCloseGivesUpOnDeafHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := &world{t, newEngine(task.Config{Runner: func(context.Context, *task.Run) task.Outcome {
			<-release
			return done("late")
		}}), t.Context()}
		id := w.create(task.Spec{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := w.Close(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "1 tasks did not stop: context deadline exceeded" {
			t.Errorf("close: %v", err)
		}
		w.status(id, task.Failed)
		close(release)
		synctest.Wait()
		w.status(id, task.Failed)
		if err := w.Close(t.Context()); err != nil {
			t.Errorf("close after the handler returned: %v", err)
		}
	})
}

// Who closes after the time for it has run out hears only of tasks that still run.
func TestCloseWithoutTasksSucceedsAtAnyTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // either of two that are ready may be picked
		if err := newEngine(task.Config{Runner: patient}).Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// Close while tasks are created, cancelled and waited for: nothing hangs, nothing is left.
func TestCloseUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n := range 50 {
			e := newEngine(task.Config{Runner: patient, Lease: time.Minute})
			ended := make(chan struct{})
			for range 8 {
				go func() {
					defer func() { ended <- struct{}{} }()
					for {
						c, err := e.Create(t.Context(), task.Spec{Owner: ada})
						if err != nil {
							return
						}
						c.Start()
						e.Cancel(t.Context(), ada, c.Task.ID, task.Cancel{Force: true})
						if _, err := e.Wait(t.Context(), ada, c.Task.ID); err != nil {
							t.Errorf("wait: %v", err)
						}
						time.Sleep(time.Millisecond)
					}
				}()
			}
			time.Sleep(time.Duration(n%7) * time.Millisecond)
			if err := e.Close(t.Context()); err != nil {
				t.Error(err)
			}
			for range 8 {
				<-ended
			}
		}
	})
}

// A handler that asks while the engine closes takes its question's timer back when there are no timers any more.
func TestCloseWhileAQuestionIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan error, 1)
		asking := make(chan struct{})
		e := newEngine(task.Config{Runner: func(_ context.Context, r *task.Run) task.Outcome {
			close(asking)
			_, err := r.Ask(context.Background(), task.Question{Name: "q", Method: "ask", Deadline: time.Now().Add(time.Hour)})
			asked <- err
			return done("")
		}})
		c, err := e.Create(t.Context(), task.Spec{Owner: ada, Tool: "tool"})
		if err != nil {
			t.Fatal(err)
		}
		c.Start()
		<-asking
		synctest.Wait()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_ = e.Close(gone) // does not wait for the handler
		if err := <-asked; err == nil {
			t.Error("answered by nobody")
		}
		synctest.Wait()
	})
}

// What can not be cancelled has the whole grace period to end by itself, and is kept when it does.
func TestCAN14CloseLetsUncancellableTasksEnd(t *testing.T) {
	for took, want := range map[time.Duration]task.Status{time.Second: task.Completed, time.Hour: task.Failed} {
		synctest.Test(t, func(t *testing.T) {
			var cause error
			w := &world{t, newEngine(task.Config{Runner: func(ctx context.Context, _ *task.Run) task.Outcome {
				select {
				case <-time.After(took):
				case <-ctx.Done():
					cause = context.Cause(ctx)
				}
				return done("posted")
			}}), t.Context()}
			id := w.create(task.Spec{Uncancellable: true})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_ = w.Close(ctx)
			synctest.Wait()
			w.status(id, want)
			if late := source(cause) == inflight.SourceShutdown; late != (want == task.Failed) {
				t.Errorf("cause %v", cause)
			}
		})
	}
}

// CAN21: a task that can not be cancelled, or may not run again, has the grace period to end by itself, and no more, however long Close may take.
func TestCAN21CloseEndsSparedTasksAfterTheGracePeriod(t *testing.T) {
	for name, spec := range map[string]task.Spec{"uncancellable": {Uncancellable: true}, "once": {Reruns: -1}} {
		for grace, want := range map[time.Duration]time.Duration{2 * time.Second: 2 * time.Second, -1: 0, 0: time.Minute, time.Hour: time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				w := &world{t, newEngine(task.Config{Grace: grace, Runner: causes(ended)}), t.Context()}
				w.create(spec)
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begun := time.Now()
				err := w.Close(ctx)
				if took := time.Since(begun); took != want || want < time.Minute && err != nil {
					t.Errorf("%s, grace %v: closed after %v with %v", name, grace, took, err)
				}
				if cause := <-ended; source(cause) != inflight.SourceShutdown {
					t.Errorf("%s: the work ended with %v", name, cause)
				}
			})
		}
	}
}
