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
	after, err := s.write(ctx, &op{create: c})
	return after.Task, err
}

// Cancel implements task.Requestors. Other processes are notified in the same transaction.
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
