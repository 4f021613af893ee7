package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// batch is a transaction: its own calls see its changes at once, others when it is committed.
type batch struct {
	store   *Store
	ctx     context.Context
	now     time.Time
	begun   bool
	changed map[string]*record // nil for what was removed
	touched []string           // ids whose watchers are woken
	charges []charge
	err     error // of the file, which ends the batch
}

// fail notes an error of the file. A stored form that can not be read is an error of that task alone.
func (b *batch) fail(err error) error {
	var format *task.FormatError
	if err != nil && !errors.As(err, &format) && !errors.Is(err, task.ErrDamaged) {
		b.err = err
	}
	return err
}

func (b *batch) exec(text string, args ...any) (sql.Result, error) {
	if !b.begun {
		if err := b.store.write.run(b.ctx, "BEGIN IMMEDIATE"); err != nil {
			return nil, b.fail(err)
		}
		b.begun = true
		if err := b.store.present(); err != nil { // from here on no other process begins to write
			return nil, b.fail(err)
		}
	}
	r, err := b.store.write.exec(b.ctx, text, args...)
	return r, b.fail(err)
}

func (b *batch) query(row func(scan func(...any) error) error, text string, args ...any) error {
	return b.fail(b.store.write.query(b.ctx, row, text, args...))
}

// find returns a copy of a task's record to be changed. Error: ErrNotFound, also when the task has expired.
func (b *batch) find(id string) (*record, error) {
	r, err := b.look(id)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, &task.NotFoundError{Reason: task.Unknown}
	case r.state.Task.Expired(b.now):
		return nil, &task.NotFoundError{Reason: task.Expired, Tool: r.state.Task.Tool}
	}
	return r.clone(), nil
}

// owned is find for an owner.
func (b *batch) owned(owner, id string) (*record, error) {
	r, err := b.find(id)
	if err == nil {
		_, err = r.seen(owner, b.now)
	}
	return r, err
}

func (b *batch) look(id string) (*record, error) {
	if r, ok := b.changed[id]; ok {
		return r, nil
	}
	if r := b.store.living(id); r != nil {
		return r, nil
	}
	r, err := b.store.write.record(b.ctx, "id = ?", id)
	if err == nil && r != nil && !r.state.Task.Status.Terminal() {
		err = b.store.write.journal(b.ctx, r)
	}
	return r, b.fail(err)
}

// transition is the compare-and-set: it changes a record and writes the changes. The state may grow by more bytes at most.
func (b *batch) transition(r *record, more int64, transition func(s *task.State) error) error {
	if more > task.SmallGrowth {
		if err := b.store.room(b.store.account(r.account), more); err != nil {
			return err
		}
	}
	version, epoch, over := r.state.Task.Version, r.state.Epoch, r.state.Task.Status.Terminal()
	if err := transition(&r.state); err != nil {
		return err
	}
	ended := !over && r.state.Task.Status.Terminal()
	c := charge{account: r.account}
	if ended {
		r.state.Journal, c.running = nil, -1
	}
	size := r.state.Size()
	c.bytes, r.size = size-r.size, size
	b.charge(c)
	b.changed[r.state.Task.ID] = r
	if version != r.state.Task.Version {
		b.touched = append(b.touched, r.state.Task.ID)
	}
	if version == r.state.Task.Version && epoch == r.state.Epoch && len(r.state.Journal) == len(r.stored) {
		return nil // a heartbeat, or nothing
	}
	return b.write(r, ended)
}

// write stores the changes of a record.
func (b *batch) write(r *record, ended bool) error {
	t := &r.state.Task
	head := r.state.AppendHead(nil)
	if !ended {
		if _, err := b.exec("UPDATE mcpkiln_tasks SET status = ?, due = ?, size = ?, head = ? WHERE seq = ?", string(t.Status), r.due(), r.size, head, r.seq); err != nil {
			return err
		}
		return b.writeJournal(r)
	}
	const end = "UPDATE mcpkiln_tasks SET status = ?, due = NULL, size = ?, head = ?, args = NULL, result = ? WHERE seq = ?"
	if _, err := b.exec(end, string(t.Status), r.size, head, t.Result, r.seq); err != nil || len(r.stored) == 0 {
		return err
	}
	r.stored = nil
	_, err := b.exec("DELETE FROM mcpkiln_journal WHERE seq = ?", r.seq)
	return err
}

// writeJournal stores the entries that are new or were settled.
func (b *batch) writeJournal(r *record) error {
	kinds := make([]task.EntryKind, len(r.state.Journal))
	for i := range r.state.Journal {
		e := &r.state.Journal[i]
		if kinds[i] = e.Kind; i < len(r.stored) && r.stored[i] == e.Kind {
			continue
		}
		if _, err := b.exec("INSERT OR REPLACE INTO mcpkiln_journal VALUES (?, ?, ?)", r.seq, i, e.Append(nil)); err != nil {
			return err
		}
	}
	r.stored = kinds
	return nil
}

func (b *batch) remove(r *record) error {
	t := &r.state.Task
	c := charge{account: r.account, bytes: -r.size, kept: -1}
	if !t.Status.Terminal() {
		c.running = -1
		if _, err := b.exec("DELETE FROM mcpkiln_journal WHERE seq = ?", r.seq); err != nil {
			return err
		}
	}
	b.charge(c)
	b.changed[t.ID] = nil
	b.touched = append(b.touched, t.ID)
	_, err := b.exec("DELETE FROM mcpkiln_tasks WHERE seq = ?", r.seq)
	return err
}

func (b *batch) charge(c charge) {
	b.charges = append(b.charges, c)
	b.store.charge(c)
}

func (b *batch) commit() error {
	if !b.begun {
		return nil
	}
	if err := b.store.write.run(b.ctx, "COMMIT"); err != nil {
		return err
	}
	b.begun = false
	return nil
}

// rollback undoes everything. SQLite may have done so itself.
func (b *batch) rollback() {
	if b.begun {
		_ = b.store.write.run(b.ctx, "ROLLBACK")
	}
	for _, c := range b.charges {
		b.store.charge(c.undone())
	}
}

// publish makes committed changes visible to others, and then wakes the watchers.
func (b *batch) publish() {
	s := b.store
	for id, r := range b.changed {
		s.keep(id, r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range b.touched {
		if changed := s.watched[id]; changed != nil {
			close(changed)
			delete(s.watched, id)
		}
	}
}

// wakeAll wakes the watchers of all tasks.
func (s *Store) wakeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, changed := range s.watched {
		close(changed)
	}
	clear(s.watched)
}

// living returns the committed record of a task that is kept in memory, nil for others.
func (s *Store) living(id string) *record {
	r, _ := s.live.Load(id)
	found, _ := r.(*record)
	return found
}
