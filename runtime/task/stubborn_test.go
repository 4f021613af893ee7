package task_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// However tasks are cancelled, no more handlers run than there are places: one that ignores its context keeps its own, and one that was
// cancelled before its handler began gives it back. So more tasks than places are accepted only where handlers did not run.
func TestTSK28NoMoreHandlersRunThanThereArePlaces(t *testing.T) {
	const places = 20
	for range 20 {
		var running, most atomic.Int64
		release := make(chan struct{})
		e := newEngine(task.Config{Limits: task.Limits{Running: places}, Runner: func(context.Context, *task.Run) task.Outcome {
			for n, was := running.Add(1), most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
			}
			<-release
			running.Add(-1)
			return task.Outcome{}
		}})
		var accepted atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				before := ""
				for range 100 {
					created, err := e.Create(t.Context(), task.Spec{Owner: "mallory", Tool: "stubborn"})
					if limit := (*task.LimitError)(nil); errors.As(err, &limit) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					accepted.Add(1)
					created.Start()
					runtime.Gosched() // some begin, and some do not
					if before != "" {
						if _, err := e.Cancel(t.Context(), "mallory", before, task.Cancel{Force: true}); err != nil {
							t.Error(err)
						}
					}
					before = created.Task.ID
				}
			})
		}
		all.Wait()
		if n := most.Load(); n > places || most.Load() == 0 {
			t.Errorf("%d handlers run at once, of %d tasks", n, accepted.Load())
		}
		close(release)
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
