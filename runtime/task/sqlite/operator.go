package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// everybody stands for all owners in cursors. Owners from a header or a token have no zero byte; with such an owner operators' cursors are refused,
// and nothing else goes wrong.
const everybody = "\x00everybody"

// ListAll implements task.Operators.
func (s *Store) ListAll(ctx context.Context, f task.Filter, cursor string, limit int) (task.Page, error) {
	seq, err := s.cursors.Open(everybody, cursor)
	if err != nil {
		return task.Page{}, err
	}
	from, where, args := condition(&f)
	return s.page(ctx, everybody, int64(seq), limit, from+" WHERE "+where, args...)
}

// page lists the tasks after a place that a condition selects.
func (s *Store) page(ctx context.Context, owner string, after int64, limit int, condition string, args ...any) (p task.Page, err error) {
	if limit <= 0 {
		return p, nil
	}
	var last int64
	more := false
	args = append(args, after, s.now().UnixNano(), limit+1)
	err = s.read(ctx, func(c *conn) error {
		return c.query(ctx, func(scan func(...any) error) error {
			if more = len(p.Tasks) == limit; more {
				return nil
			}
			r, err := scanListed(scan)
			if err != nil {
				return err
			}
			last = r.seq
			r.state.Task.Error = nil
			p.Tasks = append(p.Tasks, r.state.Task)
			return nil
		}, "SELECT "+listColumns+" FROM "+condition+" AND seq > ? AND (expires IS NULL OR expires > ?) ORDER BY seq LIMIT ?", args...)
	})
	if more {
		p.Next = s.cursors.Make(owner, uint64(last))
	}
	return p, err
}

// Count implements task.Operators.
func (s *Store) Count(ctx context.Context, f task.Filter) (map[task.Status]int, error) {
	counts := map[task.Status]int{}
	from, where, args := condition(&f)
	err := s.read(ctx, func(c *conn) error {
		return c.query(ctx, func(scan func(...any) error) error {
			var status string
			var n int
			err := scan(&status, &n)
			counts[task.Status(status)] = n
			return err
		}, "SELECT status, count(*) FROM "+from+" WHERE "+where+" AND (expires IS NULL OR expires > ?) GROUP BY status", append(args, s.now().UnixNano())...)
	})
	return counts, err
}

// condition returns a filter in SQL, and the table that it applies to.
func condition(f *task.Filter) (from, where string, args []any) {
	from = "mcpkiln_tasks"
	parts := []string{"1"}
	parts, args = among(parts, args, "owner", f.Owners)
	parts, args = among(parts, args, "tool", f.Tools)
	parts, args = among(parts, args, "status", f.Statuses)
	if len(f.Statuses) > 0 && !slices.ContainsFunc(f.Statuses, task.Status.Terminal) {
		from, parts = unfinishedTasks, append(parts, unfinished)
	}
	if !f.CreatedFrom.IsZero() {
		parts, args = append(parts, "created >= ?"), append(args, f.CreatedFrom.UnixNano())
	}
	if !f.CreatedBefore.IsZero() {
		parts, args = append(parts, "created < ?"), append(args, f.CreatedBefore.UnixNano())
	}
	return from, strings.Join(parts, " AND "), args
}

func among[T ~string](parts []string, args []any, column string, wanted []T) ([]string, []any) {
	if len(wanted) == 0 {
		return parts, args
	}
	for _, w := range wanted {
		args = append(args, string(w))
	}
	return append(parts, column+" IN (?"+strings.Repeat(", ?", len(wanted)-1)+")"), args
}
