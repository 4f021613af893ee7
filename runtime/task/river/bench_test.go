package river

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/pgtest"
	"github.com/mcpkiln/mcpkiln/runtime/task/postgres"
)

// BenchmarkTask is a task from its creation to its end by 64 callers, on a server that syncs: run by River's workers, and, beside it, where it was created,
// and a job that does nothing with River alone.
func BenchmarkTask(b *testing.B) {
	durable, err := pgtest.Start("fsync=on", "shared_buffers=256MB")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := durable.Close(); err != nil {
			b.Error(err)
		}
	})
	b.Run("by River", func(b *testing.B) {
		n := open(b, newURL(b, durable))
		e := n.engine(b, task.Config{Runner: quick(new(atomic.Int64))})
		n.start(b)
		callers(b, func() { endOne(b, e) })
	})
	b.Run("where it was created", func(b *testing.B) {
		s, err := postgres.Open(b.Context(), newURL(b, durable), postgres.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		e := engineOn(b, task.Config{Store: s, Runner: quick(new(atomic.Int64))})
		callers(b, func() { endOne(b, e) })
		if err := e.Close(b.Context()); err != nil {
			b.Error(err)
		}
	})
	b.Run("River alone", func(b *testing.B) { riverAlone(b, newURL(b, durable)) })
}

// callers has 64 callers call fn b.N times.
func callers(b *testing.B, fn func()) {
	var n atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for range 64 {
		all.Go(func() {
			for n.Add(1) <= int64(b.N) {
				fn()
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
	b.StopTimer()
}

func endOne(b *testing.B, e *task.Engine) {
	c, err := e.Create(b.Context(), task.Spec{Owner: "ada", Tool: "tool", Args: []byte("{}")})
	if err != nil {
		b.Error(err)
		return
	}
	c.Start()
	if got, err := e.Wait(b.Context(), "ada", c.Task.ID); err != nil || got.Status != task.Completed {
		b.Errorf("%s, %v", got.Status, err)
	}
}

// alone is a job that does nothing but say so.
type alone struct {
	ID int64 `json:"id"`
}

func (alone) Kind() string { return "alone" }

func riverAlone(b *testing.B, url string) {
	pool, err := pgxpool.New(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	var waiting sync.Map
	workers := queue.NewWorkers()
	queue.AddWorker(workers, queue.WorkFunc(func(_ context.Context, job *queue.Job[alone]) error {
		done, _ := waiting.LoadAndDelete(job.Args.ID)
		close(done.(chan struct{}))
		return nil
	}))
	client, err := queue.NewClient(riverpgxv5.New(pool), &queue.Config{
		Queues: map[string]queue.QueueConfig{queue.QueueDefault: {MaxWorkers: 100}}, Workers: workers,
		FetchCooldown: 5 * time.Millisecond, FetchPollInterval: 100 * time.Millisecond,
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := client.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	var ids atomic.Int64
	callers(b, func() {
		id, done := ids.Add(1), make(chan struct{})
		waiting.Store(id, done)
		if _, err := client.Insert(b.Context(), alone{id}, nil); err != nil {
			b.Error(err)
			return
		}
		<-done
	})
	if err := client.Stop(context.WithoutCancel(b.Context())); err != nil {
		b.Error(err)
	}
}
