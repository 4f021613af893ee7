package postgres

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Expire implements task.Store. Several processes share the work: a task is removed by one of them, and none waits for another.
func (s *Store) Expire(ctx context.Context, limit int) (x task.Expiry, err error) {
	err = s.exchange(ctx, func(ctx context.Context) error {
		if x.Removed, err = s.remove(ctx, "expires <= statement_timestamp() ORDER BY expires LIMIT $1 FOR UPDATE SKIP LOCKED", limit); err != nil {
			return err
		}
		var next *time.Time
		if err := s.pool.QueryRow(ctx, "SELECT min(expires) FROM mcpkiln_tasks WHERE expires IS NOT NULL").Scan(&next); err != nil {
			return err
		}
		x.Next = orZero(next)
		return s.removeHolders(ctx)
	})
	return x, err
}

// removeHolders removes rows that have run out long ago. For their tasks that changes nothing.
func (s *Store) removeHolders(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "DELETE FROM mcpkiln_holders WHERE until < statement_timestamp() - interval '1 hour'")
	return err
}

// remove removes the tasks that a condition selects, and returns them without Args, Meta and Result.
func (s *Store) remove(ctx context.Context, condition string, args ...any) (gone []task.Task, err error) {
	text := "WITH gone AS (DELETE FROM mcpkiln_tasks WHERE seq IN (SELECT seq FROM mcpkiln_tasks WHERE " + condition + ") RETURNING account, over, size, " + listColumns + `),
		counted AS (INSERT INTO mcpkiln_usage (account, kept, running, bytes)
			SELECT account, -count(*), -count(*) FILTER (WHERE NOT over), -sum(size) FROM gone GROUP BY account
			UNION ALL SELECT '', -count(*), -count(*) FILTER (WHERE NOT over), -sum(size) FROM gone HAVING count(*) > 0)
		SELECT ` + listColumns + " FROM gone ORDER BY seq"
	rows, err := s.pool.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		l, err := scanListed(rows)
		if err != nil {
			return nil, err
		}
		gone = append(gone, l.task)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range gone {
		s.removed(gone[i].ID)
	}
	return gone, nil
}

// removed notifies the followers of a task that it is gone.
func (s *Store) removed(id string) {
	f := &s.follow
	f.mu.Lock()
	delete(f.leased, id)
	f.wake(id)
	f.mu.Unlock()
	s.unsent.add(id, changedHint)
}
