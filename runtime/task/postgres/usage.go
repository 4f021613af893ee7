package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// everybody is the account that counts all tasks. Other accounts have longer names.
const everybody = ""

// compactAfter is how many changes of an account are summed up into one.
const compactAfter = 64

const readUsage = `SELECT account, sum(kept)::bigint, sum(running)::bigint, sum(bytes)::bigint, count(*) FROM mcpkiln_usage
	WHERE account = ANY($1::bytea[] || ARRAY(SELECT account FROM mcpkiln_tasks WHERE id = ANY($2))) GROUP BY account`

// compact sums up an account's changes. Those that another process sums up at the same time are left to it, so the sums of the others may have
// any sign.
const compact = `WITH gone AS (
		DELETE FROM mcpkiln_usage WHERE change IN (SELECT change FROM mcpkiln_usage WHERE account = $1 FOR UPDATE SKIP LOCKED) RETURNING kept, running, bytes)
	INSERT INTO mcpkiln_usage (account, kept, running, bytes) SELECT $1, sum(kept), sum(running), sum(bytes) FROM gone
	HAVING sum(kept) <> 0 OR sum(running) <> 0 OR sum(bytes) <> 0`

// usage is what an account has: the sum of its changes.
type usage struct {
	kept, running, bytes int64
	changes              int
}

func (u *usage) add(kept, running, bytes int64) {
	u.kept += kept
	u.running += running
	u.bytes += bytes
}

// with is the usage as quotas look at it.
func (u *usage) with(all *usage) task.Usage {
	return task.Usage{Running: u.running, Kept: u.kept, Bytes: u.bytes, AllBytes: all.bytes}
}

func (b *batch) account(name string) *usage {
	u := b.usage[name]
	if u == nil {
		u = &usage{}
		b.usage[name] = u
	}
	return u
}

func (b *batch) scanUsage(rows pgx.Rows) error {
	for rows.Next() {
		var name []byte
		var u usage
		if err := rows.Scan(&name, &u.kept, &u.running, &u.bytes, &u.changes); err != nil {
			return err
		}
		if string(name) == everybody {
			b.all = u
		} else {
			b.usage[string(name)] = &u
		}
	}
	return rows.Err()
}

// queueCompaction sums up accounts with many changes.
func (b *batch) queueCompaction(q *pgx.Batch) {
	if b.all.changes > compactAfter {
		q.Queue(compact, []byte(everybody))
	}
	for name, u := range b.usage {
		if u.changes > compactAfter {
			q.Queue(compact, []byte(name))
		}
	}
}
