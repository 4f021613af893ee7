package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// record is one task. Those in Store.live are never changed: a batch changes copies.
type record struct {
	seq     int64
	account string
	size    int64
	stored  []task.EntryKind // of the journal as it is in the file
	lapse   *lapse           // of a record in Store.live; the writer's own
	state   task.State
}

// clone returns a copy to be changed.
func (r *record) clone() *record {
	c := *r
	c.state.Journal = slices.Clone(r.state.Journal)
	return &c
}

// lives reports whether the record is kept in memory: leases, and the time that creators have, are stored nowhere else.
func (r *record) lives() bool { return !r.state.Task.Status.Terminal() && !r.state.Leased.IsZero() }

const (
	recordColumns = "seq, account, size, head, args, args IS NULL, meta, meta IS NULL, result, result IS NULL"
	listColumns   = "seq, account, size, head, id, owner, tool, status, created, expires"
)

// scanListed reads a row of listColumns: a record without Args, Meta, Result and journal. A task whose form can not be read, such as one of a newer
// version, is made of the columns.
func scanListed(scan func(...any) error) (*record, error) {
	r := &record{}
	var known task.Task
	var head []byte
	var created int64
	var expires *int64
	if err := scan(&r.seq, &r.account, &r.size, &head, &known.ID, &known.Owner, &known.Tool, &known.Status, &created, &expires); err != nil {
		return nil, err
	}
	unread := r.state.ReadHead(head)
	if unread == nil {
		return r, nil
	}
	known.CreatedAt, known.TTL = time.Unix(0, created), task.Unlimited
	if expires != nil {
		known.TTL = time.Duration(*expires - created)
	}
	r.state = task.State{Task: task.Unread(known, unread)}
	return r, nil
}

// scanRecord reads a row of recordColumns. No run has the task, or the record would be in memory.
func scanRecord(scan func(...any) error) (*record, error) {
	r := &record{}
	t := &r.state.Task
	var head []byte
	var noArgs, noMeta, noResult bool
	if err := scan(&r.seq, &r.account, &r.size, &head, &t.Args, &noArgs, &t.Meta, &noMeta, &t.Result, &noResult); err != nil {
		return nil, err
	}
	if err := r.state.ReadHead(head); err != nil {
		return nil, err
	}
	present(&t.Args, noArgs)
	present(&t.Meta, noMeta)
	present(&t.Result, noResult)
	r.state.Leased = time.Time{} // the node stays: that it did not give its lease back is a crash
	return r, nil
}

// present distinguishes an empty value from NULL, which not every driver does.
func present(b *[]byte, none bool) {
	if *b == nil && !none {
		*b = []byte{}
	}
}

// record reads the one record for which a condition on its id holds, without its journal; nil if there is none.
func (c *conn) record(ctx context.Context, condition string, args ...any) (r *record, err error) {
	err = c.query(ctx, func(scan func(...any) error) (err error) {
		r, err = scanRecord(scan)
		return err
	}, "SELECT "+recordColumns+" FROM mcpkiln_tasks WHERE "+condition, args...)
	return r, err
}

func (c *conn) journal(ctx context.Context, r *record) error {
	return c.query(ctx, func(scan func(...any) error) error {
		var form []byte
		var e task.Entry
		if err := scan(&form); err != nil {
			return err
		}
		if err := e.Read(form); err != nil {
			return err
		}
		r.state.Journal, r.stored = append(r.state.Journal, e), append(r.stored, e.Kind)
		return nil
	}, "SELECT entry FROM mcpkiln_journal WHERE seq = ? ORDER BY place", r.seq)
}

// expires returns the value of the column expires.
func expires(t *task.Task) any {
	if at, ok := t.ExpiresAt(); ok {
		return at.UnixNano()
	}
	return nil
}

// due returns the value of the column due. Leases do not count: a row is read for them only when they are over.
func (r *record) due() any {
	s := r.state
	s.Leased = time.Time{}
	at, ok := s.OrphanAt()
	if !ok {
		return nil
	}
	due := int64(0)
	if !at.IsZero() {
		due = at.UnixNano()
	}
	if r.lives() {
		return ^due
	}
	return due
}

// seen returns the record's task if its owner may see it, else the error.
func (r *record) seen(owner string, now time.Time) (task.Task, error) {
	switch t := &r.state.Task; {
	case t.Owner != owner:
		return task.Task{}, &task.NotFoundError{Reason: task.Foreign, Tool: t.Tool}
	case t.Expired(now):
		return task.Task{}, &task.NotFoundError{Reason: task.Expired, Tool: t.Tool}
	}
	return r.state.Task, nil
}
