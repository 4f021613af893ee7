package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/calls"
)

const (
	// maxLookups is how many tasks are read in one exchange at most: all of them are in memory at once.
	maxLookups = 32
	// readers is how many such exchanges of this process there may be at once.
	readers = 2
)

// lookup is a call that reads a task.
type lookup struct {
	calls.Call[looked]
	owner, id string
}

type looked struct {
	task task.Task
	err  error
}

// Get implements task.Requestors. A lookup by a stranger takes as long whether there is a task or not: a row is read in any case.
func (s *Store) Get(ctx context.Context, owner, id string) (task.Task, error) {
	limited, cancel := s.limited(ctx) // other lookups may come first
	defer cancel()
	found, err := s.lookups.Do(limited, &lookup{owner: owner, id: id})
	if err != nil {
		return task.Task{}, explain(err)
	}
	return found.task, found.err
}

// readLookups reads the tasks of several calls in one exchange.
const readLookups = `SELECT asked.n, t.owner = asked.owner, tool, coalesce(expires <= statement_timestamp(), false), created,
	CASE WHEN t.owner = asked.owner THEN head END, CASE WHEN t.owner = asked.owner THEN args END,
	CASE WHEN t.owner = asked.owner THEN meta END, CASE WHEN t.owner = asked.owner THEN result END
	FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS asked (id, owner, n) LEFT JOIN mcpkiln_tasks AS t ON t.id = asked.id`

// lookUp answers calls. Each is answered as soon as its row is here.
func (s *Store) lookUp(all []*lookup) {
	left := slices.Clone(all)
	err := s.exchange(context.Background(), func(ctx context.Context) error {
		ids, owners := make([][]byte, len(all)), make([][]byte, len(all))
		for i, l := range all {
			ids[i], owners[i] = []byte(l.id), []byte(l.owner)
		}
		rows, err := s.pool.Query(ctx, readLookups, ids, owners)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			n, found, err := scanLookup(rows)
			if err != nil {
				return err
			}
			left[n-1] = nil
			all[n-1].Answer(found)
		}
		return rows.Err()
	})
	for _, l := range left {
		if l != nil {
			l.Answer(looked{err: err})
		}
	}
}

// scanLookup reads the row that answers call n, from 1. err is about the exchange.
func scanLookup(rows pgx.Rows) (n int, found looked, err error) {
	var own *bool // NULL if there is no such task
	var expired bool
	var tool, head, args, meta, result []byte
	var created *time.Time
	if err := rows.Scan(&n, &own, &tool, &expired, &created, &head, &args, &meta, &result); err != nil {
		return 0, found, err
	}
	switch {
	case own == nil:
		found.err = &task.NotFoundError{Reason: task.Unknown}
	case !*own:
		found.err = &task.NotFoundError{Reason: task.Foreign, Tool: string(tool)}
	case expired:
		found.err = &task.NotFoundError{Reason: task.Expired, Tool: string(tool)}
	default:
		var state task.State
		if found.err = explain(readHead(&state, head, *created)); found.err == nil {
			found.task = state.Task
			found.task.Args, found.task.Meta, found.task.Result = args, meta, result
		}
	}
	return n, found, nil
}
