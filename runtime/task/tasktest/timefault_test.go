package tasktest

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// timeFaults are faults in what the clock decides, and in who hears of a change.
var timeFaults = []fault{
	{"watchers are not told", []string{"TSK09EveryChangeIsHinted", "TSK09AllWatchersAreHinted", "TSK09WatchMissesNothing", "TSK15ExpiredTasksAreGone"},
		func(s task.Store) task.Store { return &silent{s} }},
	{"nothing expires", []string{"TSK15ExpiredTasksAreGone", "TSK15ExpiryIsBounded", "TSK22QuotaOfStoredTasks"},
		func(s task.Store) task.Store { return &eternal{s} }},
	{"deadlines are kept by the asker's clock", []string{"TSK19DeadlinesAreOfTheStoresClock"},
		func(s task.Store) task.Store { return &clockless{s} }},
	{"running time is forgotten", []string{"CAN20RunningTimeIsCountedOverAllRuns"},
		func(s task.Store) task.Store { return &timeless{s} }},
}

type eternal struct{ task.Store }

func (s *eternal) Expire(ctx context.Context, _ int) (task.Expiry, error) {
	return s.Store.Expire(ctx, 0)
}

type silent struct{ task.Store }

func (s *silent) Watch(ctx context.Context, owner, id string) (task.Task, <-chan struct{}, error) {
	t, err := s.Get(ctx, owner, id)
	return t, make(chan struct{}), err
}

type clockless struct{ task.Store }

func (s *clockless) Ask(ctx context.Context, l task.Lease, q task.Question) (task.Task, error) {
	q.AskedAt = time.Time{}
	return s.Store.Ask(ctx, l, q)
}

type timeless struct{ task.Store }

func (s *timeless) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	b.Task.Ran = 0
	return b, err
}
