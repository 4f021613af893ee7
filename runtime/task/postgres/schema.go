package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// migration brings the tables from one version to the next. Programs that know the tables up to the version oldest still work with
// them afterwards, so that both can run during a deploy.
type migration struct {
	oldest int
	sql    string
}

// migrations only grow: one that was released is never changed. A database without tables has version 0.
var migrations = []migration{
	// Texts that come from outside are bytea: they are compared byte by byte whatever the collation, and hold any byte. seq orders the tasks by
	// creation, and rev grows with every write to a row. account is the one in which the task counts, room and all_room
	// are the bytes of its quota. The lease ends at leased, or when the holder that held names does, whichever is later. due is the time when the task
	// becomes an orphan if no holder extends its lease, and waits says that it has had no run since it was parked. head and entry are forms of package task.
	// Usage is counted as a sum of changes, since rows that everybody updates would make writers wait for each other; '' is everybody.
	{1, `CREATE TABLE mcpkiln_tasks (
		seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id bytea NOT NULL UNIQUE, rev bigint NOT NULL DEFAULT 1,
		owner bytea NOT NULL, account bytea NOT NULL, room bigint NOT NULL, all_room bigint NOT NULL, tool bytea NOT NULL,
		status text NOT NULL, over boolean NOT NULL, cancel boolean NOT NULL, version bigint NOT NULL,
		created timestamptz NOT NULL, expires timestamptz,
		node bytea, epoch bigint NOT NULL, leased timestamptz, held bigint, due timestamptz, waits boolean NOT NULL,
		size bigint NOT NULL, head bytea NOT NULL, args bytea, meta bytea, result bytea) WITH (fillfactor = 80);
	CREATE INDEX mcpkiln_tasks_owner ON mcpkiln_tasks (owner, seq);
	CREATE INDEX mcpkiln_tasks_expires ON mcpkiln_tasks (expires) WHERE expires IS NOT NULL;
	CREATE INDEX mcpkiln_tasks_open ON mcpkiln_tasks (seq) WHERE NOT over;
	CREATE INDEX mcpkiln_tasks_waits ON mcpkiln_tasks (seq) WHERE waits;
	CREATE TABLE mcpkiln_journal (
		seq bigint NOT NULL REFERENCES mcpkiln_tasks ON DELETE CASCADE, name bytea NOT NULL, place bigint GENERATED ALWAYS AS IDENTITY,
		entry bytea NOT NULL, PRIMARY KEY (seq, name));
	CREATE TABLE mcpkiln_holders (holder bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, node bytea NOT NULL, until timestamptz NOT NULL);
	CREATE TABLE mcpkiln_usage (
		change bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account bytea NOT NULL, kept bigint NOT NULL, running bigint NOT NULL, bytes bigint NOT NULL)
		WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
	CREATE INDEX mcpkiln_usage_account ON mcpkiln_usage (account);
	CREATE TABLE mcpkiln_settings (name text PRIMARY KEY, value bytea NOT NULL)`},
	// The query for orphans reads no other tasks: neither those that are parked for long, nor those whose holder lives. A holder that
	// is removed leaves its tasks without a holder. mcpkiln_tasks_waits is for programs of the version before.
	{1, `CREATE INDEX mcpkiln_tasks_due ON mcpkiln_tasks (due) WHERE due IS NOT NULL AND held IS NULL;
	CREATE INDEX mcpkiln_tasks_held ON mcpkiln_tasks (held, due) WHERE held IS NOT NULL;
	UPDATE mcpkiln_tasks SET held = NULL WHERE held IS NOT NULL AND held NOT IN (SELECT holder FROM mcpkiln_holders);
	ALTER TABLE mcpkiln_tasks ADD FOREIGN KEY (held) REFERENCES mcpkiln_holders ON DELETE SET NULL`},
}

// NewerError refuses tables of a newer program that this one can not use. Nothing was changed.
type NewerError struct {
	// Version is that of the tables, Oldest the oldest version that a program has to know.
	Version, Oldest int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("the tables have version %d, for programs that know version %d or later, and this one knows versions up to %d: run the newer program",
		e.Version, e.Oldest, len(migrations))
}

// migrationPause is how often a process that waits for the migration of another one looks again.
const migrationPause = 200 * time.Millisecond

// migrate brings the tables up to date, all at once or not at all. One process does so at a time; others wait for it until ctx ends.
func (s *Store) migrate(ctx context.Context) error {
	said := false
	for {
		version, err := currentVersion(ctx, s.pool)
		if err != nil || version >= len(migrations) {
			return err
		}
		mine, err := s.migrateAlone(ctx)
		if mine || err != nil {
			return err
		}
		if !said {
			s.log.InfoContext(ctx, "postgres: another process is bringing the tables up to date; waiting for it")
			said = true
		}
		if err := rest(ctx, migrationPause); err != nil {
			return fmt.Errorf("waiting for another process that is bringing the tables up to date: %w", err)
		}
	}
}

// rest pauses; an error means that ctx has ended.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// querier is a connection, a pool, or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// currentVersion returns the version of the tables. Error: *NewerError.
func currentVersion(ctx context.Context, q querier) (version int, err error) {
	var exists bool
	if err := q.QueryRow(ctx, "SELECT to_regclass('mcpkiln_migrations') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return 0, err
	}
	var oldest int
	if err := q.QueryRow(ctx, "SELECT coalesce(max(version), 0), coalesce(max(oldest), 0) FROM mcpkiln_migrations").Scan(&version, &oldest); err != nil {
		return 0, err
	}
	if oldest > len(migrations) {
		return 0, &NewerError{version, oldest}
	}
	return version, nil
}

// migrateAlone migrates if no other process does.
func (s *Store) migrateAlone(ctx context.Context) (mine bool, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		const lock = "SELECT pg_try_advisory_xact_lock(hashtext('mcpkiln migrations'), coalesce(hashtext(current_schema()), 0))"
		if err := tx.QueryRow(ctx, lock).Scan(&mine); err != nil || !mine {
			return err
		}
		return migrateAll(ctx, tx)
	})
	return mine, err
}

func migrateAll(ctx context.Context, tx pgx.Tx) error {
	const table = "CREATE TABLE IF NOT EXISTS mcpkiln_migrations (version int PRIMARY KEY, oldest int NOT NULL, at timestamptz NOT NULL DEFAULT now())"
	if err := runAll(ctx, tx, table); err != nil {
		return err
	}
	version, err := currentVersion(ctx, tx) // another process may just have finished
	if err != nil {
		return err
	}
	for v := version + 1; v <= len(migrations); v++ {
		m := migrations[v-1]
		if err := runAll(ctx, tx, m.sql, fmt.Sprintf("INSERT INTO mcpkiln_migrations VALUES (%d, %d)", v, m.oldest)); err != nil {
			return fmt.Errorf("migration %d: %w", v, err)
		}
	}
	var key [task.CursorKey]byte
	rand.Read(key[:])
	_, err = tx.Exec(ctx, "INSERT INTO mcpkiln_settings VALUES ('cursor key', $1) ON CONFLICT DO NOTHING", key[:])
	return err
}

// runAll runs statements without parameters; a text may hold several.
func runAll(ctx context.Context, tx pgx.Tx, texts ...string) error {
	for _, text := range texts {
		if _, err := tx.Conn().PgConn().Exec(ctx, text).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

// load reads the settings that all processes share, and checks the rights of this one.
func (s *Store) load(ctx context.Context) error {
	var readOnly, may bool
	const check = `SELECT current_setting('transaction_read_only') = 'on', bool_and(has_table_privilege(name, p))
		FROM unnest(ARRAY['mcpkiln_tasks', 'mcpkiln_journal', 'mcpkiln_holders', 'mcpkiln_usage']) name,
			unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p`
	if err := s.pool.QueryRow(ctx, check).Scan(&readOnly, &may); err != nil {
		return err
	}
	if readOnly {
		return errors.New("the database is read-only: name the primary server, not a standby")
	}
	if !may {
		return fmt.Errorf("the tables belong to another role, and %s may not use them: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO %[1]s",
			s.pool.Config().ConnConfig.User)
	}
	var key []byte
	if err := s.pool.QueryRow(ctx, "SELECT value FROM mcpkiln_settings WHERE name = 'cursor key'").Scan(&key); err != nil {
		return err
	}
	if len(key) != task.CursorKey {
		return task.ErrDamaged
	}
	s.cursors = task.NewCursors([task.CursorKey]byte(key))
	s.channel = channelOf(key)
	return nil
}
