package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/pgtest"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// BenchmarkTask is create, begin and finish, each durable before it returns, by 64 callers, on a server that syncs.
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
	for name, o := range map[string]Options{"listening": {}, "behind a pooler": {Bouncer: true}} {
		b.Run(name, func(b *testing.B) {
			s := openAt(b, schemaOf(b, durable), o)
			var n atomic.Int64
			var callers sync.WaitGroup
			b.ResetTimer()
			for range 64 {
				callers.Go(func() {
					for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
						if err := finishOne(b.Context(), s, fmt.Sprint("task ", i)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			callers.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}

func finishOne(ctx context.Context, s *Store, id string) error {
	if _, err := s.Create(ctx, aTask(id), task.Quota{Bytes: 1 << 40, AllBytes: 1 << 40}); err != nil {
		return err
	}
	b, err := s.Begin(ctx, id, "node", time.Minute)
	if err != nil {
		return err
	}
	_, err = s.Finish(ctx, b.Lease, task.Outcome{Status: task.Completed, Result: []byte(`{"content":[]}`)})
	return err
}

func aTask(id string) task.Task {
	return task.Task{ID: id, Owner: "ada", Tool: "tool", Machine: tasktest.Machine(), TTL: time.Hour, Args: []byte("{}")}
}
