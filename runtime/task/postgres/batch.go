package postgres

import (
	"context"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// batch makes calls in one transaction. It is a compare-and-set of many tasks: it reads them, changes them in memory, and writes those that no other
// call has changed since, in two exchanges with the database. No lock is held between the two.
type batch struct {
	store   *Store
	ops     []*op
	records map[string]found
	usage   map[string]*usage
	all     usage
	made    map[string]*creation // that were admitted
	written map[int64]bool       // the records that no other call had changed, by seq
}

type creation struct {
	state   task.State
	quota   task.Quota
	account string
	size    int64
	grace   time.Duration
	created time.Time // of the server; zero while the task is not stored
}

func newBatch(s *Store, ops []*op) *batch {
	return &batch{store: s, ops: ops, records: map[string]found{}, usage: map[string]*usage{}, made: map[string]*creation{}, written: map[int64]bool{}}
}

func (b *batch) run() error {
	ctx, cancel := b.store.limited(context.Background())
	defer cancel()
	if err := b.read(ctx); err != nil {
		return err
	}
	for _, o := range b.ops {
		o.answer = answer{}
		o.answer.err = b.apply(o)
	}
	return b.write(ctx)
}

// read reads the tasks that the calls are about, and the usage of their accounts if a quota is checked.
func (b *batch) read(ctx context.Context) error {
	var ids, whole, names, accounts, growing [][]byte
	for _, o := range b.ops {
		if o.create != nil {
			accounts = append(accounts, []byte(o.create.account))
			continue
		}
		ids = append(ids, []byte(o.id))
		if o.whole {
			whole = append(whole, []byte(o.id))
		}
		names = append(names, keys(o.names)...)
		if o.more > task.SmallGrowth {
			growing = append(growing, []byte(o.id))
		}
	}
	var q pgx.Batch
	if len(ids) > 0 {
		q.Queue(readRecords, ids, whole, names).Query(b.scanRecords)
	}
	if len(accounts)+len(growing) > 0 {
		q.Queue(readUsage, append(accounts, []byte(everybody)), growing).Query(b.scanUsage)
	}
	return b.store.pool.SendBatch(ctx, &q).Close()
}

func (b *batch) scanRecords(rows pgx.Rows) error {
	for rows.Next() {
		id, f, err := scanRecord(rows)
		if err != nil {
			return err
		}
		b.records[id] = f
	}
	return rows.Err()
}

// apply makes a call in memory.
func (b *batch) apply(o *op) error {
	if o.create != nil {
		return b.admit(o)
	}
	f, ok := b.records[o.id]
	if !ok {
		return &task.NotFoundError{Reason: task.Unknown}
	}
	if f.err != nil {
		return f.err
	}
	o.record = f.record
	return b.change(o, f.record)
}

// admit refuses a task that exceeds the quota, or whose id an earlier one of this batch has.
func (b *batch) admit(o *op) error {
	c, id := o.create, o.create.state.Task.ID
	c.created = time.Time{}
	if b.made[id] != nil {
		return task.ErrExists
	}
	u := b.account(c.account)
	if err := c.quota.Admit(u.with(&b.all), c.size); err != nil {
		return err
	}
	u.add(1, 1, c.size)
	b.all.add(1, 1, c.size)
	b.made[id] = c
	return nil
}

func (b *batch) change(o *op, r *record) error {
	t := &r.state.Task
	owner := t.Owner
	if o.owner != nil {
		owner = *o.owner
	}
	if err := r.seen(owner); err != nil {
		return err
	}
	u := b.account(r.account)
	if o.more > task.SmallGrowth {
		if err := r.quota.Room(u.with(&b.all), o.more); err != nil {
			return err
		}
	}
	before := r.grown
	err := r.change(func(s *task.State) error { return o.change(s, r.now) })
	u.add(0, 0, r.grown-before)
	b.all.add(0, 0, r.grown-before)
	r.cancels = r.cancels || err == nil && o.cancel
	o.answer.after = r.state
	return err
}

// write stores what was created and changed, and notifies other processes of cancels in the same transaction.
func (b *batch) write(ctx context.Context) error {
	var q pgx.Batch
	b.queueCreations(&q)
	b.queueChanges(&q)
	if q.Len() == 0 {
		return nil
	}
	b.queueCompaction(&q)
	if err := b.send(ctx, &q); err != nil {
		return err
	}
	b.publish()
	return nil
}

// admitted are the creations in made, in the order in which they were asked for.
func (b *batch) admitted() iter.Seq[*creation] {
	return func(yield func(*creation) bool) {
		for _, o := range b.ops {
			if c := o.create; c != nil && b.made[c.state.Task.ID] == c && !yield(c) {
				return
			}
		}
	}
}

// send runs statements in one transaction, together with what Options.Created writes about new tasks.
func (b *batch) send(ctx context.Context, q *pgx.Batch) error {
	if b.store.options.Created == nil || len(b.made) == 0 {
		return b.store.pool.SendBatch(ctx, q).Close()
	}
	return pgx.BeginFunc(ctx, b.store.pool, func(tx pgx.Tx) error {
		if err := tx.SendBatch(ctx, q).Close(); err != nil {
			return err
		}
		var ids []string
		for c := range b.admitted() {
			if !c.created.IsZero() { // else the id was taken
				ids = append(ids, c.state.Task.ID)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		return b.store.options.Created(ctx, tx, ids)
	})
}

// answer answers the calls, and returns those to make again because another call has changed their tasks.
func (b *batch) answer() (again []*op) {
	for _, o := range b.ops {
		switch c := o.create; {
		case c == nil && o.record != nil && o.record.touched && !b.written[o.record.seq]:
			again = append(again, o)
			continue
		case c != nil && o.answer.err == nil && c.created.IsZero():
			o.answer.err = task.ErrExists
		case c != nil && o.answer.err == nil:
			c.state.Task.CreatedAt, c.state.Task.UpdatedAt = c.created, c.created
			o.answer.after = c.state
		}
		o.Answer(o.answer)
	}
	return again
}

// publish notifies followers of changes, here and, soon, in other processes.
func (b *batch) publish() {
	for id, f := range b.records {
		if r := f.record; r != nil && r.touched && b.written[r.seq] {
			b.store.changed(id, r)
		}
	}
}
