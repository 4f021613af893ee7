package tasktest

import (
	"context"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// leaseFaults are faults in who may run a task.
var leaseFaults = []fault{
	{"any epoch may write", []string{"LeaseFencesOldEpochs"},
		func(s task.Store) task.Store { return &fenceless{Store: s, current: map[string]task.Lease{}} }},
	{"a leased task begins again", []string{"LeaseIsExclusive", "LeaseBeginRacesHaveOneWinner"},
		func(s task.Store) task.Store { return &shared{s} }},
	{"heartbeats say that all is well", []string{"LeaseHeartbeatTellsWhatToStop", "LeaseFencesOldEpochs"},
		func(s task.Store) task.Store { return &deaf{s} }},
	{"no orphans are found", []string{"EXT15OrphansAreThoseThatWaitForARun"},
		func(s task.Store) task.Store { return &orphanless{s} }},
	{"nobody is told of cancels", []string{"DUR03InterruptersTellOfCancels"},
		func(s task.Store) task.Store { return &mute{s} }},
	{"creators have all the time in the world", []string{"EXT15OrphansAreThoseThatWaitForARun"},
		func(s task.Store) task.Store { return &graceful{s} }},
	{"crashes are forgotten", []string{"LeaseRunsThatVanishAreCounted"},
		func(s task.Store) task.Store { return &carefree{s} }},
}

type fenceless struct {
	task.Store
	mu      sync.Mutex
	current map[string]task.Lease
}

func (s *fenceless) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.current[id] = b.Lease
	}
	return b, err
}

func (s *fenceless) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Store.Finish(ctx, s.current[l.Task], o)
}

type shared struct{ task.Store }

func (s *shared) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	return s.Store.Begin(ctx, id, node, 0)
}

type deaf struct{ task.Store }

func (s *deaf) Heartbeat(ctx context.Context, leases []task.Lease, d time.Duration) (task.Beat, error) {
	_, err := s.Store.Heartbeat(ctx, leases, d)
	return task.Beat{}, err
}

type orphanless struct{ task.Store }

func (s *orphanless) Orphans(context.Context, int) ([]string, error) { return nil, nil }

type graceful struct{ task.Store }

func (s *graceful) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	t.Grace = 24 * time.Hour
	return s.Store.Create(ctx, t, q)
}

type carefree struct{ task.Store }

func (s *carefree) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	b.Crashes = 0
	return b, err
}

type mute struct{ task.Store }

func (s *mute) Interrupts(func(string)) (stop func()) { return func() {} }

// telling is a store that tells of every cancel.
type telling struct {
	task.Store
	mu   sync.Mutex
	hint func(string)
}

func (s *telling) Interrupts(hint func(string)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hint = hint
	return func() {}
}

func (s *telling) Cancel(ctx context.Context, owner, id string, c task.Cancel) (task.Task, error) {
	t, err := s.Store.Cancel(ctx, owner, id, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hint != nil {
		s.hint(id)
	}
	return t, err
}
