package sqlite

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// BenchmarkTask is create, begin and finish, each durable before it returns, by 64 callers.
func BenchmarkTask(b *testing.B) {
	for name, driver := range drivers {
		b.Run(name, func(b *testing.B) {
			s := newStore(b, driver, filepath.Join(b.TempDir(), "tasks.db"))
			var n atomic.Int64
			var callers sync.WaitGroup
			b.ResetTimer()
			for range 64 {
				callers.Go(func() {
					for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
						if err := finishOne(b, s, fmt.Sprint("task ", i)); err != nil {
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

func finishOne(t testing.TB, s *Store, id string) error {
	if _, err := s.Create(t.Context(), task.Task{ID: id, Owner: "ada", Tool: "tool", Machine: tasktest.Machine(), TTL: time.Hour, Args: []byte("{}")}, task.Quota{}); err != nil {
		return err
	}
	b, err := s.Begin(t.Context(), id, "node", time.Minute)
	if err != nil {
		return err
	}
	_, err = s.Finish(t.Context(), b.Lease, task.Outcome{Status: task.Completed, Result: []byte(`{"content":[]}`)})
	return err
}
