package sqlite

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/chaos"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

var (
	many    = flag.Int("tasks", 4000, "how many tasks pass through a file, in ten waves")
	expire  = flag.Int("expire", 300, "how many tasks expire in one moment")
	longest = flag.Duration("expire-after", 2*time.Second, "how long these may take to be made")
)

// Tasks that come and go leave a file and a process as large as the first of them did.
func TestTSK28AFileDoesNotGrowWithWhatIsGone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tasks.db")
	passThrough(t, newStore(t, "sqlite", file), file)
}

// The same on a disk whose syncs take 2 ms, which shows what is left of the speed.
func TestTSK28AFileDoesNotGrowOnASlowDisk(t *testing.T) {
	if err := loadDisk(compileDisk(t)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tasks.db")
	passThrough(t, newStore(t, "sqlite3", (&url.URL{Scheme: "file", Path: file, RawQuery: "vfs=slow"}).String()), file)
}

func passThrough(t *testing.T, s *Store, file string) {
	t.Helper()
	var removed atomic.Int64
	gone := make(chan struct{})
	wave := int64(*many / 10)
	e := task.New(task.Config{
		Store: s, Machine: tasktest.Machine(), Runner: stepping, Lease: time.Hour, Resume: true,
		Limits: task.Limits{Running: -1, AllRunning: -1, Kept: -1, Bytes: -1, AllBytes: -1}, OnRemove: func(string) {
			if removed.Add(1)%wave == 0 {
				gone <- struct{}{}
			}
		},
	})
	defer e.Close(t.Context())
	var sizes, heaps []int64
	for range 10 {
		from := time.Now()
		createAll(t, e, wave)
		made := time.Since(from)
		<-gone
		size, heap := sizeOf(t, file), heapSize()
		sizes, heaps = append(sizes, size), append(heaps, heap)
		t.Logf("%d tasks in %v (%.0f/s): the file has %d bytes, the heap %d", wave, made, float64(wave)/made.Seconds(), size, heap)
	}
	if first, last := sizes[1], sizes[9]; last > 2*first+8<<20 { // the log has up to 4 MiB
		t.Errorf("after two waves the file had %d bytes, after ten %d", first, last)
	}
	if first, last := heaps[1], heaps[9]; last > 2*first+8<<20 {
		t.Errorf("after two waves the heap had %d bytes, after ten %d", first, last)
	}
}

func stepping(ctx context.Context, r *task.Run) task.Outcome {
	step, err := r.Do(ctx, "step", func(context.Context) ([]byte, error) { return make([]byte, 100), nil })
	if err != nil {
		return task.Outcome{Status: task.Failed, Message: err.Error()}
	}
	return task.Outcome{Status: task.Completed, Result: step}
}

// createAll creates tasks by 64 callers.
func createAll(t *testing.T, e *task.Engine, n int64) {
	t.Helper()
	ttl := 5 * time.Second
	if n < 10_000 {
		ttl = 200 * time.Millisecond
	}
	var next atomic.Int64
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for next.Add(1) <= n {
				c, err := e.Create(t.Context(), task.Spec{Owner: "ada", Tool: "tool", TTL: &ttl, Args: []byte("{}")})
				if err != nil {
					t.Error(err)
					return
				}
				c.Start()
			}
		})
	}
	callers.Wait()
}

// sizeOf is what a file and its log take.
func sizeOf(t *testing.T, file string) (n int64) {
	t.Helper()
	for _, name := range []string{file, file + "-wal"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

func heapSize() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestTSK15ManyTasksExpireAtOnce(t *testing.T) {
	for name, driver := range drivers {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, driver, filepath.Join(t.TempDir(), fmt.Sprint(name, ".db")))
			chaos.ExpireAtOnce(t, s, *expire, *longest)
		})
	}
}
