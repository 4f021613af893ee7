package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// holders are the rows that extend the leases of this process: one for each node, whatever the number of tasks. A task names the row that
// extends its lease from the first heartbeat on that names the task. A row that has run out is never extended: a node that is late begins a new one and
// attaches its tasks again, so that it notices those that other nodes have begun.
type holders struct {
	mu     sync.Mutex
	byNode map[string]*holder
}

// holder is the row of a node, and the epochs of the tasks that name it.
type holder struct {
	mu    sync.Mutex
	id    int64 // 0 for none
	tasks map[string]uint64
}

func (h *holders) init() { h.byNode = map[string]*holder{} }

func (h *holders) of(node string) *holder {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byNode[node] == nil {
		h.byNode[node] = &holder{}
	}
	return h.byNode[node]
}

// Heartbeat implements task.Runners.
func (s *Store) Heartbeat(ctx context.Context, leases []task.Lease, d time.Duration) (beat task.Beat, err error) {
	byNode := map[string]map[string]uint64{}
	for _, l := range leases {
		if byNode[l.Node] == nil {
			byNode[l.Node] = map[string]uint64{}
		}
		byNode[l.Node][l.Task] = l.Epoch
	}
	err = s.exchange(ctx, func(ctx context.Context) error {
		for node, tasks := range byNode {
			if err := s.holders.of(node).extend(ctx, s, node, tasks, d); err != nil {
				return err
			}
			s.follow.beat(node, tasks)
		}
		beat, err = s.beat(ctx, leases)
		return err
	})
	return beat, err
}

// extend extends the row of a node, and makes exactly the given tasks name it.
func (h *holder) extend(ctx context.Context, s *Store, node string, tasks map[string]uint64, d time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	const extend = "UPDATE mcpkiln_holders SET until = statement_timestamp() + $2 * interval '1 microsecond' WHERE holder = $1 AND until > statement_timestamp()"
	extended, err := s.pool.Exec(ctx, extend, h.id, d.Microseconds())
	if err != nil {
		return err
	}
	if extended.RowsAffected() == 0 {
		const begin = "INSERT INTO mcpkiln_holders (node, until) VALUES ($1, statement_timestamp() + $2 * interval '1 microsecond') RETURNING holder"
		h.tasks = map[string]uint64{}
		if err := s.pool.QueryRow(ctx, begin, []byte(node), d.Microseconds()).Scan(&h.id); err != nil {
			h.id = 0
			return err
		}
	}
	if err := h.attach(ctx, s, node, tasks); err != nil {
		return err
	}
	return h.detach(ctx, s, tasks)
}

// attach makes those of the tasks name the row that do not yet.
func (h *holder) attach(ctx context.Context, s *Store, node string, tasks map[string]uint64) error {
	var ids [][]byte
	var epochs []int64
	for id, epoch := range tasks {
		if h.tasks[id] != epoch {
			ids, epochs = append(ids, []byte(id)), append(epochs, int64(epoch))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	const attach = `WITH mine AS MATERIALIZED (
			SELECT t.seq FROM mcpkiln_tasks t JOIN unnest($1::bytea[], $2::bigint[]) AS u (id, epoch) ON t.id = u.id AND t.epoch = u.epoch
			WHERE t.node = $3 AND NOT t.over ORDER BY t.seq FOR UPDATE OF t)
		UPDATE mcpkiln_tasks t SET held = $4, rev = t.rev + 1 FROM mine WHERE t.seq = mine.seq RETURNING t.id, t.epoch`
	rows, err := s.pool.Query(ctx, attach, ids, epochs, []byte(node), h.id)
	if err != nil {
		return err
	}
	var id []byte
	var epoch uint64
	_, err = pgx.ForEachRow(rows, []any{&id, &epoch}, func() error {
		h.tasks[string(id)] = epoch
		return nil
	})
	return err
}

// detach ends the extension of leases that the heartbeat does not name.
func (h *holder) detach(ctx context.Context, s *Store, tasks map[string]uint64) error {
	var gone [][]byte
	for id := range h.tasks {
		if tasks[id] == 0 {
			gone = append(gone, []byte(id))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	const detach = `WITH mine AS MATERIALIZED (SELECT seq FROM mcpkiln_tasks WHERE id = ANY($1) AND held = $2 ORDER BY seq FOR UPDATE)
		UPDATE mcpkiln_tasks t SET held = NULL, rev = t.rev + 1 FROM mine WHERE t.seq = mine.seq`
	if _, err := s.pool.Exec(ctx, detach, gone, h.id); err != nil {
		return err
	}
	for _, id := range gone {
		delete(h.tasks, string(id))
	}
	return nil
}

// beat reads which of the leases are lost, and which of their runs should stop.
func (s *Store) beat(ctx context.Context, leases []task.Lease) (beat task.Beat, err error) {
	ids := make([][]byte, len(leases))
	for i, l := range leases {
		ids[i] = []byte(l.Task)
	}
	const look = `SELECT id, node, epoch, cancel FROM mcpkiln_tasks
		WHERE id = ANY($1) AND NOT over AND node IS NOT NULL AND (expires IS NULL OR expires > statement_timestamp())`
	rows, err := s.pool.Query(ctx, look, ids)
	if err != nil {
		return beat, err
	}
	var id, node []byte
	var epoch uint64
	var cancel bool
	held := map[task.Lease]bool{} // whether its run should stop
	_, err = pgx.ForEachRow(rows, []any{&id, &node, &epoch, &cancel}, func() error {
		held[task.Lease{Task: string(id), Node: string(node), Epoch: epoch}] = cancel
		return nil
	})
	if err != nil {
		return beat, err // the result is incomplete
	}
	for _, l := range leases {
		if stop, ok := held[l]; !ok {
			beat.Lost = append(beat.Lost, l)
		} else if stop {
			beat.Cancel = append(beat.Cancel, l)
		}
	}
	return beat, nil
}

// lookOrphans reads only tasks that are due: those whose lease no holder extends, and those of each holder that is dead. A task that is over is never
// due.
const lookOrphans = `(SELECT id, due FROM mcpkiln_tasks WHERE held IS NULL AND due <= statement_timestamp()
		AND (expires IS NULL OR expires > statement_timestamp()) ORDER BY due LIMIT $1)
	UNION ALL (SELECT t.id, t.due FROM mcpkiln_holders h, LATERAL (SELECT id, due FROM mcpkiln_tasks WHERE held = h.holder AND due <= statement_timestamp()
			AND (expires IS NULL OR expires > statement_timestamp()) ORDER BY due LIMIT $1) t
		WHERE h.until <= statement_timestamp())
	ORDER BY due LIMIT $1`

// Orphans implements task.Runners.
func (s *Store) Orphans(ctx context.Context, limit int) (ids []string, err error) {
	err = s.exchange(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, lookOrphans, limit)
		if err != nil {
			return err
		}
		var id []byte
		_, err = pgx.ForEachRow(rows, []any{&id, nil}, func() error {
			ids = append(ids, string(id))
			return nil
		})
		return err
	})
	return ids, err
}

// Begin implements task.Runners.
func (s *Store) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	if node == "" {
		return task.Begun{}, errors.New("postgres: a lease needs the name of a node")
	}
	var l task.Lease
	var began time.Time
	o := &op{id: id, whole: true, change: func(s *task.State, now time.Time) (err error) {
		began = now
		l, err = s.Begin(node, d, now)
		return err
	}}
	after, err := s.write(ctx, o)
	if err != nil {
		return task.Begun{}, err
	}
	return task.Begun{Lease: l, Task: after.Task, Journal: after.Journal, Account: o.record.account, Crashes: after.Crashes, Now: began}, nil
}
