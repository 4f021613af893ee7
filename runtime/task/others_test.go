package task_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// DUR01, DUR04: a process that can not run a task leaves it to those that can, also to one that comes within a lease. When no such process has come by
// then, the runner says why the task fails.
func TestDUR01ATaskIsLeftForProcessesThatCanRunIt(t *testing.T) {
	for _, c := range []struct {
		able time.Duration // when the process begins that can run it; 0: never
		want string        // who ended it
	}{{time.Second, "able"}, {20 * time.Second, "able"}, {0, "unable"}} {
		t.Run(fmt.Sprint(c.able), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newDurable()
				first := &world{t, newEngine(task.Config{Store: store, Runner: func(ctx context.Context, _ *task.Run) task.Outcome {
					<-ctx.Done()
					return task.Outcome{}
				}}), t.Context()}
				id := first.create(task.Spec{Reruns: 1})
				synctest.Wait()
				if err := first.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				start := func(name string, able bool) {
					e := newEngine(task.Config{Store: store, CanRun: func(*task.Run) bool { return able }, Runner: func(context.Context, *task.Run) task.Outcome { return done(name) }})
					t.Cleanup(func() { _ = e.Close(context.Background()) })
					e.Resume()
					first.Engine = e
				}
				start("unable", false)
				start("unable", false)
				if c.able > 0 {
					time.Sleep(c.able)
					start("able", true)
				}
				synctest.Wait()
				if c.able == 0 {
					time.Sleep(29 * time.Second)
					first.status(id, task.Working)
					time.Sleep(12 * time.Second) // the lease, and the next look
				} else {
					time.Sleep(15 * time.Second) // one look
				}
				synctest.Wait()
				if got := first.status(id, task.Completed); string(got.Result) != c.want {
					t.Errorf("ended by %q, want %q", got.Result, c.want)
				}
			})
		})
	}
}

// DUR01: a process that can run more than before tries what it gave back at once. That it asks often gives others no more time.
func TestDUR01WhatWasGivenBackIsTriedWhenMoreCanRun(t *testing.T) {
	for _, c := range []struct {
		able bool
		want string
	}{{true, "able"}, {false, "unable"}} {
		synctest.Test(t, func(t *testing.T) {
			store := newDurable()
			w := &world{t, newEngine(task.Config{Store: store, Runner: func(ctx context.Context, _ *task.Run) task.Outcome {
				<-ctx.Done()
				return task.Outcome{}
			}}), t.Context()}
			id := w.create(task.Spec{Reruns: 1})
			synctest.Wait()
			if err := w.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			var able atomic.Bool
			w.Engine = newEngine(task.Config{Store: store, CanRun: func(*task.Run) bool { return able.Load() }, Runner: func(context.Context, *task.Run) task.Outcome {
				return done(map[bool]string{true: "able", false: "unable"}[able.Load()])
			}})
			defer func() { _ = w.Close(context.Background()) }()
			w.Resume()
			synctest.Wait()
			w.status(id, task.Working)
			able.Store(c.able)
			w.CanRunMore()
			synctest.Wait()
			for began := time.Now(); !c.able && time.Since(began) < 31*time.Second; { // a lease, and a second
				if time.Since(began) < 30*time.Second {
					w.status(id, task.Working)
				}
				time.Sleep(time.Second)
				w.CanRunMore()
				synctest.Wait()
			}
			if got := w.status(id, task.Completed); string(got.Result) != c.want {
				t.Errorf("ended by %q, want %q", got.Result, c.want)
			}
		})
	}
}
