package sqlite

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Create implements task.Requestors.
func (s *Store) Create(ctx context.Context, t task.Task, quota task.Quota) (task.Task, error) {
	var made task.Task
	err := s.submit(ctx, func(b *batch) error {
		r := &record{account: quota.Account(t.Owner), state: task.NewState(t, b.now)}
		made = r.state.Task
		return b.create(r, quota)
	})
	if err != nil {
		return task.Task{}, err
	}
	return made, nil
}

func (b *batch) create(r *record, quota task.Quota) error {
	t := &r.state.Task
	r.size = r.state.Size()
	r.seq = max(b.store.lastSeq+1, b.now.UnixMicro()) // never that of a task that was removed
	if err := b.store.admit(b.store.account(r.account), r.size, quota); err != nil {
		return err
	}
	const insert = `INSERT INTO mcpkiln_tasks (seq, id, owner, account, tool, status, created, expires, due, size, head, args, meta)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
	made, err := b.exec(insert, r.seq, t.ID, t.Owner, r.account, t.Tool, string(t.Status), t.CreatedAt.UnixNano(), expires(t), r.due(), r.size,
		r.state.AppendHead(nil), t.Args, t.Meta)
	if err != nil {
		return err
	}
	if n, err := made.RowsAffected(); err != nil || n == 0 {
		return task.ErrExists
	}
	b.store.lastSeq = r.seq
	b.charge(charge{account: r.account, bytes: r.size, running: 1, kept: 1})
	b.changed[t.ID] = r
	return nil
}

// nearestRow selects the row of a task or, if there is none, that of the next id, so that a lookup of an unknown id takes as long as any other.
const nearestRow = "seq = (SELECT seq FROM mcpkiln_tasks WHERE id >= ?1 ORDER BY id LIMIT 1)"

// Get implements task.Requestors. It reads what was committed, and waits for no write. For a stranger a lookup takes as long whether there is a task
// or not: two statements, of which the first one finds nothing, and the second one is for the audit log.
func (s *Store) Get(ctx context.Context, owner, id string) (task.Task, error) {
	if r := s.living(id); r != nil && r.state.Task.Owner == owner {
		if err := s.present(); err != nil {
			return task.Task{}, err
		}
		return r.seen(owner, s.now())
	}
	var r *record
	missing := &task.NotFoundError{Reason: task.Unknown}
	err := s.read(ctx, func(c *conn) (err error) {
		if r, err = c.record(ctx, nearestRow+" AND id = ?1 AND owner = ?2", id, owner); err != nil || r != nil {
			return err
		}
		return c.query(ctx, func(scan func(...any) error) error {
			var found bool
			var tool string
			err := scan(&found, &tool)
			if found {
				missing.Reason, missing.Tool = task.Foreign, tool
			}
			return err
		}, "SELECT id = ?1, tool FROM mcpkiln_tasks WHERE "+nearestRow, id)
	})
	switch {
	case err != nil:
		return task.Task{}, err
	case r == nil:
		return task.Task{}, missing
	}
	return r.seen(owner, s.now())
}

// Watch implements task.Requestors. All watchers of a task share one channel until its next change or its end.
func (s *Store) Watch(ctx context.Context, owner, id string) (task.Task, <-chan struct{}, error) {
	if t, err := s.Get(ctx, owner, id); err != nil {
		return t, nil, err
	}
	s.mu.Lock()
	changed := s.watched[id]
	if changed == nil {
		changed = make(chan struct{})
		s.watched[id] = changed
	}
	s.mu.Unlock()
	t, err := s.Get(ctx, owner, id) // again: what changes from now on closes the channel
	return t, changed, err
}

// List implements task.Requestors.
func (s *Store) List(ctx context.Context, owner, cursor string, limit int) (task.Page, error) {
	seq, err := s.cursors.Open(owner, cursor)
	if err != nil {
		return task.Page{}, err
	}
	return s.page(ctx, owner, int64(seq), limit, "mcpkiln_tasks WHERE owner = ?", owner)
}

// Cancel implements task.Requestors.
func (s *Store) Cancel(ctx context.Context, owner, id string, c task.Cancel) (t task.Task, err error) {
	err = s.submit(ctx, func(b *batch) error {
		r, err := b.owned(owner, id)
		if err != nil {
			return err
		}
		err = b.transition(r, 0, func(s *task.State) error { return s.Cancel(c, b.now) })
		t = r.state.Task
		return err
	})
	return t, err
}

// Answer implements task.Requestors.
func (s *Store) Answer(ctx context.Context, owner, id string, answers []task.Answer) (t task.Task, err error) {
	more := int64(0)
	for _, a := range answers {
		more += int64(len(a.Data))
	}
	err = s.submit(ctx, func(b *batch) error {
		r, err := b.owned(owner, id)
		if err != nil {
			return err
		}
		err = b.transition(r, more, func(s *task.State) error {
			_, err := s.Answer(answers, b.now)
			return err
		})
		t = r.state.Task
		return err
	})
	return t, err
}

// Discard implements task.Requestors.
func (s *Store) Discard(ctx context.Context, owner string) (gone []task.Task, err error) {
	err = s.submit(ctx, func(b *batch) (err error) {
		gone, err = b.removeAll("WHERE owner = ?", owner)
		return err
	})
	return gone, err
}

// removeAll removes the tasks that a condition selects, and returns them without Args, Meta and Result.
func (b *batch) removeAll(where string, args ...any) (gone []task.Task, err error) {
	var found []*record
	err = b.query(func(scan func(...any) error) error {
		r, err := scanListed(scan)
		if err == nil {
			found = append(found, r)
		}
		return err
	}, "SELECT "+listColumns+" FROM mcpkiln_tasks "+where, args...)
	for _, r := range found {
		if err == nil {
			err = b.remove(r)
			gone = append(gone, r.state.Task)
		}
	}
	return gone, err
}
