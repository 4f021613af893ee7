package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// leased makes a transition for the runner of a task, and returns the state after it, which may be larger by up to more bytes.
func (s *Store) leased(ctx context.Context, id string, more int64, transition func(s *task.State, now time.Time) error) (after task.State, err error) {
	err = s.submit(ctx, func(b *batch) error {
		r, err := b.find(id)
		if err != nil {
			return err
		}
		err = b.transition(r, more, func(s *task.State) error { return transition(s, b.now) })
		after = r.state
		return err
	})
	return after, err
}

// Begin implements task.Runners.
func (s *Store) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	var begun task.Begun
	err := s.submit(ctx, func(b *batch) error {
		r, err := b.find(id)
		if err != nil {
			return err
		}
		var l task.Lease
		err = b.transition(r, 0, func(s *task.State) (err error) {
			l, err = s.Begin(node, d, b.now)
			return err
		})
		after := &r.state
		begun = task.Begun{Lease: l, Task: after.Task, Journal: slices.Clone(after.Journal), Account: r.account, Crashes: after.Crashes, Now: b.now}
		return err
	})
	if err != nil {
		return task.Begun{}, err
	}
	return begun, nil
}

// Record implements task.Runners.
func (s *Store) Record(ctx context.Context, l task.Lease, name string, data []byte) error {
	_, err := s.leased(ctx, l.Task, int64(len(data)), func(s *task.State, now time.Time) error { return s.Record(l, name, data, now) })
	return err
}

// Entry implements task.Runners.
func (s *Store) Entry(ctx context.Context, l task.Lease, name string) (e task.Entry, err error) {
	_, err = s.leased(ctx, l.Task, 0, func(s *task.State, _ time.Time) (err error) {
		e, err = s.Entry(l, name)
		return err
	})
	return e, err
}

// Ask implements task.Runners.
func (s *Store) Ask(ctx context.Context, l task.Lease, q task.Question) (task.Task, error) {
	after, err := s.leased(ctx, l.Task, int64(len(q.Payload)), func(s *task.State, now time.Time) error { return s.Ask(l, q, now) })
	return after.Task, err
}

// Withdraw implements task.Runners.
func (s *Store) Withdraw(ctx context.Context, l task.Lease, name string) (task.Task, error) {
	after, err := s.leased(ctx, l.Task, 0, func(s *task.State, now time.Time) error { return s.Withdraw(l, name, now) })
	return after.Task, err
}

// Describe implements task.Runners.
func (s *Store) Describe(ctx context.Context, l task.Lease, message string) (task.Task, error) {
	after, err := s.leased(ctx, l.Task, int64(len(message)), func(s *task.State, now time.Time) error { return s.Describe(l, message, now) })
	return after.Task, err
}

// Park implements task.Runners.
func (s *Store) Park(ctx context.Context, l task.Lease) (task.Task, error) {
	after, err := s.leased(ctx, l.Task, 0, func(s *task.State, now time.Time) error { return s.Park(l, now) })
	return after.Task, err
}

// Finish implements task.Runners.
func (s *Store) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	more := int64(len(o.Message) + len(o.Result))
	if o.Error != nil {
		more += int64(len(o.Error.Message) + len(o.Error.Data))
	}
	after, err := s.leased(ctx, l.Task, more, func(s *task.State, now time.Time) error { return s.Finish(l, o, now) })
	return after.Task, err
}

// Heartbeat implements task.Runners. Leases are in memory: it writes nothing.
func (s *Store) Heartbeat(ctx context.Context, leases []task.Lease, d time.Duration) (beat task.Beat, err error) {
	err = s.submit(ctx, func(b *batch) error {
		beat = task.Beat{}
		for _, l := range leases {
			r, err := b.find(l.Task)
			if b.err != nil {
				return err
			}
			switch {
			case err != nil || !r.state.Heartbeat(l, d, b.now):
				beat.Lost = append(beat.Lost, l)
				continue
			case r.state.Task.CancelRequested:
				beat.Cancel = append(beat.Cancel, l)
			}
			b.changed[l.Task] = r
		}
		return nil
	})
	return beat, err
}
