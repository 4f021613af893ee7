package task_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/internal/stack"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// created is a task of ada that has not begun.
func (w *world) created() task.Created {
	w.Helper()
	c, err := w.Create(w.ctx, task.Spec{Owner: ada})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// Run runs the task in the goroutine that calls it, once.
func TestTSK04RunRunsTheTaskInItsGoroutine(t *testing.T) {
	var ran []uint64
	in(t, task.Config{Runner: func(context.Context, *task.Run) task.Outcome {
		ran = append(ran, stack.Goroutine())
		return done("result")
	}}, func(w *world) {
		c := w.created()
		c.Run()
		w.status(c.Task.ID, task.Completed) // when Run returns
		c.Run()
		c.Start()
		synctest.Wait()
		if len(ran) != 1 || ran[0] != stack.Goroutine() {
			t.Errorf("the task ran in %v, want once in %d", ran, stack.Goroutine())
		}
		task.Beginning{}.Run() // of no task
	})
}

// With a Dispatcher, Run leaves the task to it.
func TestTSK04RunLeavesTheTaskToTheDispatcher(t *testing.T) {
	d := here{make(chan string, 2)}
	in(t, task.Config{Dispatcher: d, Runner: quick}, func(w *world) {
		c := w.created()
		c.Run()
		c.Run()
		if len(d.ids) != 1 {
			t.Fatalf("the task was dispatched %d times", len(d.ids))
		}
		w.status(c.Task.ID, task.Working)
		if err := w.Engine.Run(<-d.ids); err != nil {
			t.Fatal(err)
		}
		w.status(c.Task.ID, task.Completed)
	})
}

// Once the engine is closed, Run runs nothing, but reports how the task ended.
func TestTSK04RunOnAClosedEngineOnlyReports(t *testing.T) {
	var changes []task.Status
	in(t, task.Config{OnChange: func(t task.Task) { changes = append(changes, t.Status) }, Runner: func(context.Context, *task.Run) task.Outcome {
		t.Error("the task ran")
		return done("result")
	}}, func(w *world) {
		c := w.created()
		if err := w.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		c.Run()
		if len(changes) != 1 || changes[0] != task.Failed {
			t.Errorf("changes: %v", changes)
		}
	})
}

// From Enter on, Close waits until Start or Run has run the task, whoever decides where it runs.
func TestTSK04CloseWaitsFromEnterOn(t *testing.T) {
	for name, dispatcher := range map[string]task.Dispatcher{"here": nil, "elsewhere": nowhere{}} {
		for how, begin := range map[string]func(task.Beginning){"Start": task.Beginning.Start, "Run": task.Beginning.Run} {
			t.Run(name+" "+how, func(t *testing.T) {
				var changes []task.Status
				in(t, task.Config{Dispatcher: dispatcher, OnChange: func(t task.Task) { changes = append(changes, t.Status) }, Runner: quick}, func(w *world) {
					c := w.created()
					c.Enter()
					c.Enter()
					closed := make(chan error, 1)
					go func() { closed <- w.Close(w.ctx) }()
					synctest.Wait()
					if len(closed) > 0 {
						t.Error("Close returned before the task was to run")
					}
					if len(changes) != 1 || changes[0] != task.Failed {
						t.Errorf("changes reported after Enter: %v", changes)
					}
					begin(c.Beginning)
					synctest.Wait()
					if len(closed) == 0 {
						t.Fatal("Close does not return")
					}
				})
			})
		}
	}
}
