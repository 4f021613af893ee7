package task_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var unbounded = task.Limits{Running: -1, AllRunning: -1, Kept: -1, Bytes: -1, AllBytes: -1, PollsPerSecond: -1}

// BenchmarkCreateToResult is the whole life of a task: create, start, run, wait for the result.
func BenchmarkCreateToResult(b *testing.B) {
	for _, at := range []int{1, 64} {
		b.Run(strconv.Itoa(at), func(b *testing.B) {
			e := newEngine(task.Config{Runner: quick, Limits: unbounded})
			defer e.Close(context.Background())
			b.ReportAllocs()
			each(at, b.N, func() { life(b, e) })
		})
	}
}

// each calls fn n times, so many at once.
func each(at, n int, fn func()) {
	var all sync.WaitGroup
	for i := range at {
		all.Go(func() {
			for range (n + i) / at {
				fn()
			}
		})
	}
	all.Wait()
}

func life(b *testing.B, e *task.Engine) {
	ctx := context.Background()
	c, err := e.Create(ctx, task.Spec{Owner: ada, Tool: "tool"})
	if err != nil {
		b.Fatal(err)
	}
	c.Start()
	if t, err := e.Wait(ctx, ada, c.Task.ID); err != nil || t.Status != task.Completed {
		b.Fatal(t.Status, err)
	}
}

// crowded is an engine with 100,000 tasks of one owner that have not begun.
func crowded(b *testing.B, l task.Limits) (*task.Engine, []string) {
	e := newEngine(task.Config{Runner: quick, Limits: l})
	ids := make([]string, 100_000)
	for i := range ids {
		c, err := e.Create(context.Background(), task.Spec{Owner: ada, Tool: "tool"})
		if err != nil {
			b.Fatal(err)
		}
		ids[i] = c.Task.ID
	}
	b.Cleanup(func() { e.Close(context.Background()) })
	runtime.GC() // what creating left is not to be measured
	return e, ids
}

func BenchmarkGetAt100000(b *testing.B) {
	for name, rate := range map[string]int{"unpaced": -1, "paced": 1 << 30} {
		limits := unbounded
		limits.PollsPerSecond = rate
		b.Run(name, func(b *testing.B) {
			e, ids := crowded(b, limits)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := e.Get(context.Background(), ada, ids[i*7919%len(ids)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkListPageAt100000(b *testing.B) {
	e, _ := crowded(b, unbounded)
	b.ReportAllocs()
	cursor := ""
	for b.Loop() {
		p, err := e.List(context.Background(), ada, cursor, 0)
		if err != nil {
			b.Fatal(err)
		}
		cursor = p.Next
	}
}

// BenchmarkExpire100000 is one removal of 100,000 tasks that expire together.
func BenchmarkExpire100000(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := task.NewMemory()
		for i := range 100_000 {
			if _, err := s.Create(context.Background(), task.Task{ID: strconv.Itoa(i), Owner: ada, TTL: time.Nanosecond}, task.Quota{}); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		for n := 1; n > 0; {
			x, err := s.Expire(context.Background(), 1024)
			if err != nil {
				b.Fatal(err)
			}
			n = len(x.Removed)
		}
	}
}
