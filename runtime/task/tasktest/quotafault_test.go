package tasktest

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// quotaFaults are faults in what is counted and given back.
var quotaFaults = []fault{
	{"quotas are ignored", []string{"TSK22QuotaOfUnfinishedTasks", "TSK22QuotaOfStoredTasks"},
		func(s task.Store) task.Store { return &generous{s} }},
	{"bytes are not counted", []string{"TSK28QuotaOfBytes", "TSK28EveryEndGivesBytesBack", "TSK28SmallGrowthIsNeverRefused", "TSK28QuotaOfEverybodysBytes", "TSK28KeysTellRequestorsApart", "TSK28DiscardRemovesAnOwnersTasks"},
		func(s task.Store) task.Store { return &weightless{s} }},
	{"keys are ignored", []string{"TSK28KeysTellRequestorsApart"},
		func(s task.Store) task.Store { return &keyless{s} }},
	{"runs do not learn their accounts", []string{"TSK28KeysTellRequestorsApart"},
		func(s task.Store) task.Store { return &anonymous{s} }},
	{"nothing is discarded", []string{"TSK28DiscardRemovesAnOwnersTasks"},
		func(s task.Store) task.Store { return &hoarding{s} }},
}

type generous struct{ task.Store }

func (s *generous) Create(ctx context.Context, t task.Task, _ task.Quota) (task.Task, error) {
	return s.Store.Create(ctx, t, task.Quota{})
}

type weightless struct{ task.Store }

func (s *weightless) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	q.Bytes, q.AllBytes = 0, 0
	return s.Store.Create(ctx, t, q)
}

type keyless struct{ task.Store }

func (s *keyless) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	q.Key = ""
	return s.Store.Create(ctx, t, q)
}

type anonymous struct{ task.Store }

func (s *anonymous) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	b.Account = ""
	return b, err
}

type hoarding struct{ task.Store }

func (s *hoarding) Discard(context.Context, string) ([]task.Task, error) { return nil, nil }
