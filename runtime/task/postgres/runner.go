package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Epoch returns how often a task has begun, for dispatchers. Error: task.ErrNotFound.
func (s *Store) Epoch(ctx context.Context, id string) (n uint64, err error) {
	const look = "SELECT epoch FROM mcpkiln_tasks WHERE id = $1 AND (expires IS NULL OR expires > statement_timestamp())"
	err = s.exchange(ctx, func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, look, []byte(id)).Scan(&n)
		if errors.Is(err, pgx.ErrNoRows) {
			return &task.NotFoundError{Reason: task.Unknown}
		}
		return err
	})
	return n, err
}

// Record implements task.Runners.
func (s *Store) Record(ctx context.Context, l task.Lease, name string, data []byte) error {
	_, err := s.write(ctx, &op{id: l.Task, more: int64(len(data)), names: []string{name}, change: func(s *task.State, now time.Time) error {
		return s.Record(l, name, data, now)
	}})
	return err
}

// Entry implements task.Runners.
func (s *Store) Entry(ctx context.Context, l task.Lease, name string) (task.Entry, error) {
	after, err := s.write(ctx, &op{id: l.Task, names: []string{name}, change: func(s *task.State, _ time.Time) error {
		_, err := s.Entry(l, name)
		return err
	}})
	if err != nil {
		return task.Entry{}, err
	}
	return after.Entry(l, name)
}

// Ask implements task.Runners.
func (s *Store) Ask(ctx context.Context, l task.Lease, q task.Question) (task.Task, error) {
	return s.change(ctx, &op{id: l.Task, more: int64(len(q.Payload)), names: []string{q.Name}, change: func(s *task.State, now time.Time) error {
		return s.Ask(l, q, now)
	}})
}

// Withdraw implements task.Runners.
func (s *Store) Withdraw(ctx context.Context, l task.Lease, name string) (task.Task, error) {
	return s.change(ctx, &op{id: l.Task, names: []string{name}, change: func(s *task.State, now time.Time) error {
		return s.Withdraw(l, name, now)
	}})
}

// Describe implements task.Runners.
func (s *Store) Describe(ctx context.Context, l task.Lease, message string) (task.Task, error) {
	return s.change(ctx, &op{id: l.Task, more: int64(len(message)), change: func(s *task.State, now time.Time) error {
		return s.Describe(l, message, now)
	}})
}

// Park implements task.Runners.
func (s *Store) Park(ctx context.Context, l task.Lease) (task.Task, error) {
	return s.change(ctx, &op{id: l.Task, change: func(s *task.State, now time.Time) error { return s.Park(l, now) }})
}

// Finish implements task.Runners.
func (s *Store) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	more := int64(len(o.Message) + len(o.Result))
	if o.Error != nil {
		more += int64(len(o.Error.Message) + len(o.Error.Data))
	}
	return s.change(ctx, &op{id: l.Task, more: more, change: func(s *task.State, now time.Time) error { return s.Finish(l, o, now) }})
}

// change is write for callers that want the task alone.
func (s *Store) change(ctx context.Context, o *op) (task.Task, error) {
	after, err := s.write(ctx, o)
	return after.Task, err
}
