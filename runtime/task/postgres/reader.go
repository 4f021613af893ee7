package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

const (
	// maxLookups is how many tasks are read in one exchange at most: what they hold is in memory at once.
	maxLookups = 32
	// readers is how many such exchanges of this process there may be at once.
	readers = 2
)

// lookup is a call that reads a task.
type lookup struct {
	ctx       context.Context
	owner, id string
	done      chan looked
}

type looked struct {
	task task.Task
	err  error
}

// Get implements task.Requestors. A task of somebody else costs what one costs that there is not: a row is read in any case.
func (s *Store) Get(ctx context.Context, owner, id string) (task.Task, error) {
	l := &lookup{owner: owner, id: id, done: make(chan looked, 1)}
	limited, cancel := s.limited(ctx) // others may be looked up before
	defer cancel()
	l.ctx = limited
	found, err := submit(limited, s, s.lookups, l, l.done)
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
func (s *Store) lookUp(calls []*lookup) {
	calls = wanted(calls)
	if len(calls) == 0 {
		return
	}
	left := append([]*lookup(nil), calls...)
	err := s.exchange(context.Background(), func(ctx context.Context) error {
		ids, owners := make([][]byte, len(calls)), make([][]byte, len(calls))
		for i, l := range calls {
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
			calls[n-1].done <- found
		}
		return rows.Err()
	})
	for _, l := range left {
		if l != nil {
			l.refuse(err)
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

func (l *lookup) refuse(err error)         { l.done <- looked{err: err} }
func (l *lookup) context() context.Context { return l.ctx }
