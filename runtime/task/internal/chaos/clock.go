package chaos

import (
	"context"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Skewed is a store whose clock is ahead of this process's by some time, or behind it, as a replica with a wrong clock of its own sees its store.
type Skewed struct {
	task.Store
	By time.Duration
}

// Interrupts and Offers are passed on, if the store has them.
func (s Skewed) Interrupts(hint func(id string)) (stop func()) { return interrupts(s.Store, hint) }

func (s Skewed) Offers(hint func()) (stop func()) { return offers(s.Store, hint) }

// shown returns a task with the times of the skewed clock.
func (s Skewed) shown(t task.Task) task.Task {
	t.CreatedAt, t.UpdatedAt, t.Questions = t.CreatedAt.Add(s.By), t.UpdatedAt.Add(s.By), slices.Clone(t.Questions)
	for i := range t.Questions {
		s.question(&t.Questions[i])
	}
	return t
}

func (s Skewed) question(q *task.Question) {
	if q.AskedAt = q.AskedAt.Add(s.By); !q.Deadline.IsZero() {
		q.Deadline = q.Deadline.Add(s.By).Round(0)
	}
}

// Create implements task.Store.
func (s Skewed) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	t, err := s.Store.Create(ctx, t, q)
	return s.shown(t), err
}

// Get implements task.Store.
func (s Skewed) Get(ctx context.Context, owner, id string) (task.Task, error) {
	t, err := s.Store.Get(ctx, owner, id)
	return s.shown(t), err
}

// Watch implements task.Store.
func (s Skewed) Watch(ctx context.Context, owner, id string) (task.Task, <-chan struct{}, error) {
	t, changed, err := s.Store.Watch(ctx, owner, id)
	return s.shown(t), changed, err
}

// Begin implements task.Store.
func (s Skewed) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	b.Task, b.Now, b.Journal = s.shown(b.Task), b.Now.Add(s.By).Round(0), slices.Clone(b.Journal)
	for i := range b.Journal {
		s.question(&b.Journal[i].Question)
	}
	return b, err
}

// Ask implements task.Store. A deadline without AskedAt is by the skewed clock.
func (s Skewed) Ask(ctx context.Context, l task.Lease, q task.Question) (task.Task, error) {
	if q.AskedAt.IsZero() && !q.Deadline.IsZero() {
		q.Deadline = q.Deadline.Add(-s.By)
	}
	t, err := s.Store.Ask(ctx, l, q)
	return s.shown(t), err
}

// Park implements task.Store.
func (s Skewed) Park(ctx context.Context, l task.Lease) (task.Task, error) {
	t, err := s.Store.Park(ctx, l)
	return s.shown(t), err
}

// Expire implements task.Store.
func (s Skewed) Expire(ctx context.Context, limit int) (task.Expiry, error) {
	x, err := s.Store.Expire(ctx, limit)
	if !x.Next.IsZero() {
		x.Next = x.Next.Add(s.By).Round(0)
	}
	return x, err
}
