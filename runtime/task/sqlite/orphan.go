package sqlite

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// lapse is the time at which a task that is kept in memory becomes an orphan, unless its lease is extended or it changes. Store.lapses has the
// earliest one first.
type lapse struct {
	task     string
	at       time.Time
	position int
}

// Before implements heap.Element.
func (l *lapse) Before(m *lapse) bool { return l.at.Before(m.at) }

// Position implements heap.Element.
func (l *lapse) Position() *int { return &l.position }

// keep keeps the record of a task in memory as long as it lives; r is the current one, nil if the task was removed.
func (s *Store) keep(id string, r *record) {
	var l *lapse
	if before := s.living(id); before != nil {
		l = before.lapse
	}
	if r == nil || !r.lives() {
		s.live.Delete(id)
		if l != nil {
			s.lapses.Remove(l)
		}
		return
	}
	r.lapse = s.lapseOf(l, &r.state)
	s.live.Store(id, r)
}

// lapseOf returns the lapse of a state, in its place in Store.lapses; l is the one that the task had before.
func (s *Store) lapseOf(l *lapse, state *task.State) *lapse {
	at, ok := state.OrphanAt()
	switch {
	case l == nil && ok:
		l = &lapse{task: state.Task.ID, at: at}
		s.lapses.Push(l)
	case l != nil && ok:
		l.at = at
		s.lapses.Fix(l)
	case l != nil:
		s.lapses.Remove(l)
		l = nil
	}
	return l
}

// Orphans implements task.Runners. The writer looks for them, so that no task is missed between the file and the memory. Neither query reads tasks
// that have a run or wait for an answer.
func (s *Store) Orphans(ctx context.Context, limit int) (ids []string, err error) {
	err = s.submit(ctx, func(b *batch) error {
		ids = b.lapsed(limit)
		return b.query(func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			ids = append(ids, id)
			return err
		}, "SELECT id FROM "+unfinishedTasks+" WHERE "+unfinished+" AND due >= 0 AND due <= ? AND (expires IS NULL OR expires > ?) ORDER BY due LIMIT ?",
			b.now.UnixNano(), b.now.UnixNano(), limit-len(ids))
	})
	return ids, err
}

// lapsed returns up to limit tasks that are kept in memory and whose leases have run out, without those that the batch itself changes.
func (b *batch) lapsed(limit int) (ids []string) {
	lapses := &b.store.lapses
	var found []*lapse
	for len(ids) < limit && lapses.Len() > 0 && !b.now.Before(lapses.First().at) {
		l := lapses.Pop()
		found = append(found, l)
		if _, changing := b.changed[l.task]; !changing && !b.store.living(l.task).state.Task.Expired(b.now) {
			ids = append(ids, l.task)
		}
	}
	for _, l := range found {
		lapses.Push(l)
	}
	return ids
}
