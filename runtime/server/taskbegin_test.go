package server

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// A goroutine that has answered with a task may be late to run it. A shutdown waits for that, and the end of the task is reported before Shutdown returns.
func TestCAN21ShutdownWaitsForATaskThatWasAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Pointer[Event]
		f := newFixture(t, jobs(newHold()), WithObserver(func(e Event) {
			if e.Kind == TaskChanged {
				told.Store(&e)
			}
		}))
		c := f.dial(t.Context())
		c.initialize(`{}`)
		served, late := make(chan struct{}), make(chan struct{})
		w := f.srv.onlyPeer().workers
		w.begin = func() {
			created := w.takeNew().serve()
			close(served)
			<-late
			created.Run()
		}
		id := c.start("1", "quick", "")
		<-served
		var down atomic.Bool
		go func() {
			_ = f.srv.Shutdown(context.Background())
			down.Store(true)
		}()
		synctest.Wait()
		if down.Load() {
			t.Error("Shutdown returned before the task was run")
		}
		if e := told.Load(); e == nil || e.Task != id || e.Status != task.Failed {
			t.Errorf("the end of the task was not reported: %+v", e)
		}
		close(late)
		synctest.Wait()
		if !down.Load() {
			t.Error("Shutdown does not return")
		}
	})
}
