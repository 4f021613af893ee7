package sqlite

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Expire implements task.Store.
func (s *Store) Expire(ctx context.Context, limit int) (x task.Expiry, err error) {
	err = s.submit(ctx, func(b *batch) (err error) {
		x = task.Expiry{}
		if x.Removed, err = b.removeAll("WHERE expires <= ? ORDER BY expires LIMIT ?", b.now.UnixNano(), limit); err != nil {
			return err
		}
		x.Next, err = b.nextExpiry()
		return err
	})
	return x, err
}

func (b *batch) nextExpiry() (next time.Time, err error) {
	err = b.query(func(scan func(...any) error) error {
		var at *int64
		if err := scan(&at); err != nil || at == nil {
			return err
		}
		next = time.Unix(0, *at)
		return nil
	}, "SELECT min(expires) FROM mcpkiln_tasks WHERE expires IS NOT NULL")
	return next, err
}
