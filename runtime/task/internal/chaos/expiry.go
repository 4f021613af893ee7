package chaos

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// ExpireAtOnce creates n tasks that all expire when some time has passed, and has an engine remove them while another one is read. It reports a task that is left,
// or one that is gone too early, and logs how long reads took before that moment and after it.
func ExpireAtOnce(t TB, store task.Store, n int, after time.Duration) {
	t.Helper()
	var removed atomic.Int64
	done := make(chan struct{})
	e := task.New(task.Config{
		Store: store, Machine: tasktest.Machine(), Resume: true, Lease: 3 * time.Second, OnRemove: func(string) {
			if removed.Add(1) == int64(n) {
				close(done)
			}
		}, Runner: func(context.Context, *task.Run) task.Outcome { return task.Outcome{Status: task.Completed} },
	})
	defer e.Close(context.WithoutCancel(t.Context()))
	end := time.Now().Add(after)
	fill(t, store, n, end)
	made := time.Until(end)
	before := reads(t, store, time.After(time.Until(end)))
	during := reads(t, store, done)
	took := time.Since(end)
	if page, err := store.ListAll(t.Context(), task.Filter{Owners: []string{owner}}, "", 1); err != nil || len(page.Tasks) > 0 {
		t.Errorf("after all were removed: %v, %v", page.Tasks, err)
	}
	t.Logf("%d tasks, the last made %v before they expired; %d reads before, %d meanwhile", n, made, len(before), len(during))
	Figure(t, "all were gone", took, 30*time.Second)
	Figure(t, "99 % of reads meanwhile took", centile(during), 2*centile(before))
}

const stays = "stays"

// fill creates a task that stays, and n that end.
func fill(t TB, store task.Store, n int, end time.Time) {
	t.Helper()
	put := func(id, owner string, ttl time.Duration) {
		if _, err := store.Create(t.Context(), task.Task{ID: id, Owner: owner, Tool: "tool", TTL: ttl, Machine: tasktest.Machine(), Grace: time.Hour}, task.Quota{}); err != nil {
			t.Errorf("create: %v", err)
		}
	}
	put(stays, stays, time.Hour)
	var next atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				put(fmt.Sprint("ends ", i), owner, max(time.Until(end), time.Millisecond))
			}
		})
	}
	all.Wait()
}

// reads reads the task that stays until something is over, and at least once.
func reads[T any](t TB, store task.Store, over <-chan T) (took []time.Duration) {
	t.Helper()
	for {
		from := time.Now()
		if _, err := store.Get(t.Context(), stays, stays); err != nil {
			t.Errorf("a task that has not expired: %v", err)
		}
		took = append(took, time.Since(from))
		select {
		case <-over:
			return took
		case <-time.After(time.Millisecond):
		}
	}
}

// centile is what 99 of 100 do not exceed.
func centile(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*99/100]
}
