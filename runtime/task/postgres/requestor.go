package postgres

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Create implements task.Requestors. The server's clock says when the task was created, and when it expires.
func (s *Store) Create(ctx context.Context, t task.Task, quota task.Quota) (task.Task, error) {
	c := &creation{state: task.NewState(t, time.Time{}), quota: quota, account: quota.Account(t.Owner)}
	c.grace, c.state.Leased = c.state.Leased.Sub(time.Time{}), time.Time{}
	c.size = c.state.Size()
	after, err := s.submit(ctx, &op{create: c})
	return after.Task, err
}

// Get implements task.Requestors. A task of somebody else costs what one costs that there is not: a row is read in any case.
func (s *Store) Get(ctx context.Context, owner, id string) (t task.Task, err error) {
	const get = `SELECT owner = $2, tool, coalesce(expires <= statement_timestamp(), false), created, CASE WHEN owner = $2 THEN head END,
		CASE WHEN owner = $2 THEN args END, CASE WHEN owner = $2 THEN meta END, CASE WHEN owner = $2 THEN result END
		FROM (SELECT) AS one LEFT JOIN mcpkiln_tasks ON id = $1`
	err = s.exchange(ctx, func(ctx context.Context) error {
		var own *bool // NULL if there is no such task
		var expired bool
		var tool, head, args, meta, result []byte
		var created *time.Time
		err := s.pool.QueryRow(ctx, get, []byte(id), []byte(owner)).Scan(&own, &tool, &expired, &created, &head, &args, &meta, &result)
		switch {
		case err != nil:
			return err
		case own == nil:
			return &task.NotFoundError{Reason: task.Unknown}
		case !*own:
			return &task.NotFoundError{Reason: task.Foreign, Tool: string(tool)}
		case expired:
			return &task.NotFoundError{Reason: task.Expired, Tool: string(tool)}
		}
		var state task.State
		if err := readHead(&state, head, *created); err != nil {
			return err
		}
		t = state.Task
		t.Args, t.Meta, t.Result = args, meta, result
		return nil
	})
	return t, err
}

// Cancel implements task.Requestors. Other processes are told in the same transaction.
func (s *Store) Cancel(ctx context.Context, owner, id string, c task.Cancel) (task.Task, error) {
	return s.change(ctx, &op{id: id, owner: &owner, cancel: true, change: func(s *task.State, now time.Time) error { return s.Cancel(c, now) }})
}

// Answer implements task.Requestors.
func (s *Store) Answer(ctx context.Context, owner, id string, answers []task.Answer) (task.Task, error) {
	o := &op{id: id, owner: &owner, change: func(s *task.State, now time.Time) error {
		_, err := s.Answer(answers, now)
		return err
	}}
	for _, a := range answers {
		o.more, o.names = o.more+int64(len(a.Data)), append(o.names, a.Name)
	}
	return s.change(ctx, o)
}

// Discard implements task.Requestors.
func (s *Store) Discard(ctx context.Context, owner string) (gone []task.Task, err error) {
	err = s.exchange(ctx, func(ctx context.Context) (err error) {
		gone, err = s.remove(ctx, "owner = $1 ORDER BY seq FOR UPDATE", []byte(owner))
		return err
	})
	return gone, err
}
