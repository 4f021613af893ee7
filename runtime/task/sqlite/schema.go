package sqlite

import (
	"context"
	"fmt"
)

// migrations bring a file from one version of the schema to the next; a file without tables has version 0. They only grow: what a release
// has written is never changed.
var migrations = []string{
	// seq orders the tasks by creation. account is the one in which the task counts. expires and due are nanoseconds since 1970: due is the time when
	// the task becomes an orphan, NULL for never, and ~due while the task is kept in memory because of its lease. head and entry are
	// forms of package task.
	`CREATE TABLE mcpkiln_tasks (
		seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, account TEXT NOT NULL, tool TEXT NOT NULL, status TEXT NOT NULL,
		created INTEGER NOT NULL, expires INTEGER, due INTEGER, size INTEGER NOT NULL, head BLOB NOT NULL, args BLOB, meta BLOB, result BLOB);
	CREATE INDEX mcpkiln_tasks_owner ON mcpkiln_tasks (owner);
	CREATE INDEX mcpkiln_tasks_expires ON mcpkiln_tasks (expires) WHERE expires IS NOT NULL;
	CREATE INDEX mcpkiln_tasks_due ON mcpkiln_tasks (due) WHERE due IS NOT NULL;
	CREATE TABLE mcpkiln_journal (
		seq INTEGER NOT NULL, place INTEGER NOT NULL, entry BLOB NOT NULL, PRIMARY KEY (seq, place)) WITHOUT ROWID;
	CREATE TABLE mcpkiln_settings (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
	INSERT INTO mcpkiln_settings VALUES ('cursor key', randomblob(32));`,
}

// unfinished is the condition for tasks that are not over. Few are, so they have an index of their own; SQLite uses it only for a statement with exactly this condition.
const (
	unfinished      = "status IN ('working', 'input_required')"
	unfinishedTasks = "mcpkiln_tasks INDEXED BY mcpkiln_tasks_open"
)

// indexes are made where they are missing. They do not change the version of the schema: a program that does not know one keeps it up to date all the same.
var indexes = []string{
	"CREATE INDEX IF NOT EXISTS mcpkiln_tasks_open ON mcpkiln_tasks (due) WHERE " + unfinished,
	"DROP INDEX IF EXISTS mcpkiln_tasks_due", // of the first release: it is a part of the other one
}

// migrate brings the file up to date, all at once or not at all.
func (c *conn) migrate(ctx context.Context) error {
	if err := c.run(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := c.migrateAll(ctx)
	if err == nil {
		err = c.run(ctx, "COMMIT")
	}
	if err != nil {
		_ = c.run(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

func (c *conn) migrateAll(ctx context.Context) error {
	if err := c.run(ctx, "CREATE TABLE IF NOT EXISTS mcpkiln_migrations (version INTEGER PRIMARY KEY, at TEXT NOT NULL)"); err != nil {
		return err
	}
	var version int
	if err := c.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM mcpkiln_migrations").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("its tables have version %d, and this program knows versions up to %d: run the newer program that wrote it", version, len(migrations))
	}
	for v := version + 1; v <= len(migrations); v++ {
		if err := c.run(ctx, migrations[v-1]); err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, "INSERT INTO mcpkiln_migrations VALUES (?, datetime('now'))", v); err != nil {
			return err
		}
	}
	return c.run(ctx, indexes...)
}
