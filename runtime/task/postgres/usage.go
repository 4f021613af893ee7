package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// everybody is the account in which all tasks count. Other accounts have longer names.
const everybody = ""

// compactAfter is how many changes of an account are replaced by their sum.
const compactAfter = 64

const readUsage = `SELECT account, sum(kept)::bigint, sum(running)::bigint, sum(bytes)::bigint, count(*) FROM mcpkiln_usage
	WHERE account = ANY($1::bytea[] || ARRAY(SELECT account FROM mcpkiln_tasks WHERE id = ANY($2))) GROUP BY account`

// compact replaces an account's changes by their sum. Changes that another process compacts at the same time are left to it, so a sum may have any
// sign.
const compact = `WITH gone AS (
		DELETE FROM mcpkiln_usage WHERE change IN (SELECT change FROM mcpkiln_usage WHERE account = $1 FOR UPDATE SKIP LOCKED) RETURNING kept, running, bytes)
	INSERT INTO mcpkiln_usage (account, kept, running, bytes) SELECT $1, sum(kept), sum(running), sum(bytes) FROM gone
	HAVING sum(kept) <> 0 OR sum(running) <> 0 OR sum(bytes) <> 0`

// usage is the usage of an account: the sum of its changes.
type usage struct {
	kept, running, bytes int64
	changes              int
}

func (u *usage) add(kept, running, bytes int64) {
	u.kept += kept
	u.running += running
	u.bytes += bytes
}

// with returns the usage as quotas have it.
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

// queueCompaction compacts accounts with many changes.
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
