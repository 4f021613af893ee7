package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

const createTasks = `WITH
	c AS (SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
		$10::bytea[], $11::bytea[], $12::bytea[], $13::text[]) WITH ORDINALITY
		AS c (id, owner, account, tool, room, all_room, ttl, grace, size, head, args, meta, status, place)),
	made AS (INSERT INTO mcpkiln_tasks (id, owner, account, tool, room, all_room, status, over, cancel, version, created, expires, epoch, leased, due, waits, size, head, args, meta)
		SELECT id, owner, account, tool, room, all_room, status, false, false, 1, statement_timestamp(), statement_timestamp() + ttl * interval '1 microsecond',
			0, statement_timestamp() + grace * interval '1 microsecond', statement_timestamp() + grace * interval '1 microsecond', false, size, head, args, meta
		FROM c ORDER BY place ON CONFLICT (id) DO NOTHING RETURNING id, account, size, created),
	counted AS (INSERT INTO mcpkiln_usage (account, kept, running, bytes)
		SELECT account, count(*), count(*), sum(size) FROM made GROUP BY account
		UNION ALL SELECT '', count(*), count(*), sum(size) FROM made HAVING count(*) > 0)
	SELECT id, created FROM made`

// queueCreations stores the tasks that were admitted.
func (b *batch) queueCreations(q *pgx.Batch) {
	if len(b.made) == 0 {
		return
	}
	var ids, owners, accounts, tools, heads, args, metas [][]byte
	var rooms, allRooms, graces, sizes []int64
	var ttls []*int64
	var statuses []string
	for c := range b.admitted() {
		t := &c.state.Task
		ids, owners, accounts, tools = append(ids, []byte(t.ID)), append(owners, []byte(t.Owner)), append(accounts, []byte(c.account)), append(tools, []byte(t.Tool))
		rooms, allRooms = append(rooms, int64(c.quota.Bytes)), append(allRooms, int64(c.quota.AllBytes))
		ttls, graces, sizes = append(ttls, microseconds(t.TTL)), append(graces, c.grace.Microseconds()), append(sizes, c.size)
		heads, args, metas = append(heads, c.state.AppendHead(nil)), append(args, t.Args), append(metas, t.Meta)
		statuses = append(statuses, string(t.Status))
	}
	q.Queue(createTasks, ids, owners, accounts, tools, rooms, allRooms, ttls, graces, sizes, heads, args, metas, statuses).Query(func(rows pgx.Rows) error {
		var id []byte
		var created time.Time
		_, err := pgx.ForEachRow(rows, []any{&id, &created}, func() error {
			b.made[string(id)].created = local(created)
			return nil
		})
		return err
	})
}

// microseconds returns a ttl in microseconds, rounded up; nil for none.
func microseconds(ttl time.Duration) *int64 {
	if ttl == task.Unlimited {
		return nil
	}
	n := int64((ttl + time.Microsecond - 1) / time.Microsecond)
	return &n
}

// changeTasks writes those of the given tasks whose rev is still the given one. Rows are locked in one order, so that no two writers wait
// for each other.
const changeTasks = `WITH
	u AS (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::boolean[], $5::boolean[], $6::bigint[], $7::bytea[], $8::bigint[],
		$9::timestamptz[], $10::boolean[], $11::timestamptz[], $12::boolean[], $13::bigint[], $14::bigint[], $15::bytea[], $16::bytea[])
		AS u (seq, rev, status, over, cancel, version, node, epoch, leased, released, due, waits, grown, ended, head, result)),
	mine AS MATERIALIZED (SELECT u.* FROM mcpkiln_tasks t JOIN u ON u.seq = t.seq AND u.rev = t.rev ORDER BY t.seq FOR UPDATE OF t),
	changed AS (UPDATE mcpkiln_tasks t SET rev = t.rev + 1, status = u.status, over = u.over, cancel = u.cancel, version = u.version, node = u.node, epoch = u.epoch,
			leased = u.leased, held = CASE WHEN u.released THEN NULL ELSE t.held END, due = u.due, waits = u.waits, size = t.size + u.grown, head = u.head,
			args = CASE WHEN u.over THEN NULL ELSE t.args END, result = CASE WHEN u.over THEN u.result END
		FROM mine u WHERE t.seq = u.seq AND t.rev = u.rev RETURNING t.seq, t.account, u.grown, u.ended),
	noted AS (INSERT INTO mcpkiln_journal (seq, name, entry)
		SELECT seq, name, entry FROM unnest($17::bigint[], $18::bytea[], $19::bytea[]) WITH ORDINALITY AS n (seq, name, entry, place)
		WHERE seq IN (SELECT seq FROM changed) ORDER BY place ON CONFLICT (seq, name) DO UPDATE SET entry = excluded.entry),
	cleared AS (DELETE FROM mcpkiln_journal WHERE seq IN (SELECT seq FROM changed WHERE ended > 0)),
	counted AS (INSERT INTO mcpkiln_usage (account, kept, running, bytes)
		SELECT account, 0, -sum(ended), sum(grown) FROM changed GROUP BY account HAVING sum(ended) > 0 OR sum(grown) <> 0
		UNION ALL SELECT '', 0, -sum(ended), sum(grown) FROM changed HAVING sum(ended) > 0 OR sum(grown) <> 0)
	SELECT seq FROM changed`

// queueChanges stores the tasks that were changed.
func (b *batch) queueChanges(q *pgx.Batch) {
	var seqs, revs, versions, epochs, grown, ended, noteSeqs []int64
	var statuses []string
	var over, cancels, released, waits []bool
	var nodes, heads, results, noteNames, notes [][]byte
	var leased, due []*time.Time
	var cancelled []string
	for id, f := range b.records {
		r := f.record
		if r == nil || !r.touched {
			continue
		}
		t := &r.state.Task
		l, d, w := r.columns()
		seqs, revs, versions, epochs = append(seqs, r.seq), append(revs, r.rev), append(versions, int64(t.Version)), append(epochs, int64(r.state.Epoch))
		statuses, over, cancels = append(statuses, string(t.Status)), append(over, t.Status.Terminal()), append(cancels, t.CancelRequested)
		nodes, leased, released = append(nodes, nodeColumn(r.state.Node)), append(leased, l), append(released, r.released())
		due, waits = append(due, d), append(waits, w)
		grown, ended = append(grown, r.grown), append(ended, r.ended())
		heads, results = append(heads, r.state.AppendHead(nil)), append(results, t.Result)
		for i, e := range r.state.Journal {
			if i >= len(r.stored) || r.stored[i] != e.Kind {
				noteSeqs, noteNames, notes = append(noteSeqs, r.seq), append(noteNames, []byte(e.Name)), append(notes, e.Append(nil))
			}
		}
		if r.cancels {
			cancelled = append(cancelled, id)
		}
	}
	if len(seqs) == 0 {
		return
	}
	q.Queue(changeTasks, seqs, revs, statuses, over, cancels, versions, nodes, epochs, leased, released, due, waits, grown, ended, heads, results,
		noteSeqs, noteNames, notes).Query(func(rows pgx.Rows) error {
		var seq int64
		_, err := pgx.ForEachRow(rows, []any{&seq}, func() error {
			b.written[seq] = true
			return nil
		})
		return err
	})
	for _, text := range b.store.payloads(cancelled, changedHint) {
		q.Queue(notify, b.store.channel, text)
	}
}

// nodeColumn returns the value of the column node: NULL for none.
func nodeColumn(node string) []byte {
	if node == "" {
		return nil
	}
	return []byte(node)
}

// ended is 1 if the task has ended since it was read.
func (r *record) ended() int64 {
	if r.state.Task.Status.Terminal() && !r.over {
		return 1
	}
	return 0
}
