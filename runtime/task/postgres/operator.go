package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// operators stands for all owners in cursors. Owners from a header or a token have no zero byte; with such an owner operators' cursors are refused,
// and nothing else goes wrong.
const operators = "\x00operators"

// List implements task.Requestors.
func (s *Store) List(ctx context.Context, owner, cursor string, limit int) (task.Page, error) {
	var c condition
	c.and("owner = $%d", []byte(owner))
	return s.page(ctx, owner, cursor, limit, c)
}

// ListAll implements task.Operators.
func (s *Store) ListAll(ctx context.Context, f task.Filter, cursor string, limit int) (task.Page, error) {
	return s.page(ctx, operators, cursor, limit, conditionOf(&f))
}

// Count implements task.Operators.
func (s *Store) Count(ctx context.Context, f task.Filter) (map[task.Status]int, error) {
	c := conditionOf(&f)
	counts := map[task.Status]int{}
	err := s.exchange(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, "SELECT status, count(*) FROM mcpkiln_tasks WHERE "+c.text()+" GROUP BY status", c.args...)
		if err != nil {
			return err
		}
		var status string
		var n int
		_, err = pgx.ForEachRow(rows, []any{&status, &n}, func() error {
			counts[task.Status(status)] = n
			return nil
		})
		return err
	})
	return counts, err
}

// page lists the tasks after a cursor that a condition selects.
func (s *Store) page(ctx context.Context, owner, cursor string, limit int, c condition) (p task.Page, err error) {
	after, err := s.cursors.Open(owner, cursor)
	if err != nil || limit <= 0 {
		return p, err
	}
	c.and("seq > $%d", int64(after))
	c.args = append(c.args, limit+1)
	text := fmt.Sprintf("SELECT %s FROM mcpkiln_tasks WHERE %s ORDER BY seq LIMIT $%d", listColumns, c.text(), len(c.args))
	err = s.exchange(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, text, c.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var last int64
		for rows.Next() {
			if len(p.Tasks) == limit {
				p.Next = s.cursors.Make(owner, uint64(last))
				break
			}
			l, err := scanListed(rows)
			if err != nil {
				return err
			}
			p.Tasks, last = append(p.Tasks, l.task), l.seq
		}
		rows.Close()
		return rows.Err()
	})
	return p, err
}

// listColumns are the columns for lists.
const listColumns = "seq, id, owner, tool, status, version, created, expires, head"

// listed is a task as lists show it.
type listed struct {
	seq  int64
	task task.Task
}

// scanListed reads a row of listColumns. A task whose form can not be read, such as one of a newer version, is made of the columns.
func scanListed(rows pgx.Rows) (l listed, err error) {
	var id, owner, tool, head []byte
	var status string
	var version uint64
	var created time.Time
	var expires *time.Time
	if err := rows.Scan(&l.seq, &id, &owner, &tool, &status, &version, &created, &expires, &head); err != nil {
		return l, err
	}
	var state task.State
	unread := readHead(&state, head, created)
	if unread == nil {
		l.task = state.Task
		l.task.Error = nil
		return l, nil
	}
	known := task.Task{ID: string(id), Owner: string(owner), Tool: string(tool), Status: task.Status(status), Version: version, CreatedAt: local(created), TTL: task.Unlimited}
	if expires != nil {
		known.TTL = expires.Sub(created)
	}
	l.task = task.Unread(known, unread)
	return l, nil
}

// condition selects tasks, besides that they have not expired.
type condition struct {
	parts []string
	args  []any
}

// and adds a part, in which %d stands for the number of its parameter.
func (c *condition) and(format string, arg any) {
	c.args = append(c.args, arg)
	c.parts = append(c.parts, fmt.Sprintf(format, len(c.args)))
}

func (c *condition) text() string {
	return strings.Join(append(c.parts, "(expires IS NULL OR expires > statement_timestamp())"), " AND ")
}

func conditionOf(f *task.Filter) (c condition) {
	if len(f.Owners) > 0 {
		c.and("owner = ANY($%d)", keys(f.Owners))
	}
	if len(f.Tools) > 0 {
		c.and("tool = ANY($%d)", keys(f.Tools))
	}
	if len(f.Statuses) > 0 {
		statuses := make([]string, len(f.Statuses))
		for i, s := range f.Statuses {
			statuses[i] = string(s)
		}
		c.and("status = ANY($%d)", statuses)
		if !slices.ContainsFunc(f.Statuses, task.Status.Terminal) {
			c.parts = append(c.parts, "NOT over") // which has an index: most tasks are over
		}
	}
	if !f.CreatedFrom.IsZero() {
		c.and("created >= $%d", f.CreatedFrom)
	}
	if !f.CreatedBefore.IsZero() {
		c.and("created < $%d", f.CreatedBefore)
	}
	return c
}
