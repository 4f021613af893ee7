package task

import (
	"context"
	"math"
	"slices"
	"time"
)

// Operators is the part of a Store for those who run the server. It looks at the tasks of all owners, which never counts as access by an owner.
type Operators interface {
	// ListAll returns the tasks that match f in order of creation, without Args, Result and Error. Pages are as stable as those
	// of List. Error: ErrCursor.
	ListAll(ctx context.Context, f Filter, cursor string, limit int) (Page, error)
	// Count returns how many tasks match f, by status. A status without tasks is left out.
	Count(ctx context.Context, f Filter) (map[Status]int, error)
}

// Filter selects the tasks that match all of its fields; an empty field matches every task.
type Filter struct {
	Owners, Tools []string
	Statuses      []Status
	// CreatedFrom is the earliest time of creation, CreatedBefore the first that is too late.
	CreatedFrom, CreatedBefore time.Time
}

// Match reports whether t matches f.
func (f *Filter) Match(t *Task) bool {
	return among(f.Owners, t.Owner) && among(f.Tools, t.Tool) && among(f.Statuses, t.Status) &&
		!t.CreatedAt.Before(f.CreatedFrom) && (f.CreatedBefore.IsZero() || t.CreatedAt.Before(f.CreatedBefore))
}

func among[T comparable](wanted []T, v T) bool { return len(wanted) == 0 || slices.Contains(wanted, v) }

// ListAll returns a page of the tasks of all owners, for operators: no owner may see it. limit 0 means Limits.Page. Error: ErrCursor.
func (e *Engine) ListAll(ctx context.Context, f Filter, cursor string, limit int) (Page, error) {
	return e.store.ListAll(ctx, f, cursor, e.page(limit))
}

// Count counts the tasks of all owners by status, for operators.
func (e *Engine) Count(ctx context.Context, f Filter) (map[Status]int, error) {
	return e.store.Count(ctx, f)
}

// page returns the size of a page for which limit was asked.
func (e *Engine) page(limit int) int {
	switch {
	case limit > 0:
		return limit
	case e.limits.Page < 0:
		return math.MaxInt32
	}
	return e.limits.Page
}
