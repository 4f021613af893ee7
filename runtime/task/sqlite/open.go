package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/heap"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/calls"
)

var (
	// ErrOwned: another process has opened the file, or this one has already.
	ErrOwned = errors.New("another process keeps its tasks in this file")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("sqlite: the store of tasks is closed")
)

// readers is how many reads run at once. They do not wait for writes.
const readers = 4

// Store is a task.Store in an SQLite file. Make one with Open; it is safe for concurrent use.
type Store struct {
	file    string
	opened  []openedFile // the file, and its owner's
	start   time.Time    // of the store's clock
	cursors task.Cursors
	owner   *sql.Conn // holds the lock on FILE-owner
	write   *conn     // the writer's
	idle    chan *conn
	ops     *calls.Queue[*op, error]
	end     sync.Once

	// Used by the writer alone.
	accounts map[string]*account
	all      account
	lastSeq  int64
	lapses   heap.Heap[*lapse] // of what is in live

	// live are the unfinished tasks that have a lease or are new, as they are committed: a *record by id. Reads take no lock, since the writer
	// changes hundreds at once.
	live sync.Map

	mu      sync.Mutex
	watched map[string]chan struct{}
}

// Open keeps tasks in the main file of db, which it creates or brings up to date if it has to, and becomes the owner of the file. db stays the
// caller's, to be closed after the store; the store takes six of its connections, so db has no limit or a higher one. Errors say what is wrong
// with the file; ErrOwned if another process has it.
func Open(ctx context.Context, db *sql.DB) (*Store, error) {
	s := &Store{
		start: time.Now(), ops: calls.New[*op](maxBatch, ErrClosed), idle: make(chan *conn, readers),
		accounts: map[string]*account{}, watched: map[string]chan struct{}{},
	}
	if max := db.Stats().MaxOpenConnections; max > 0 && max < readers+2 {
		return nil, fmt.Errorf("sqlite: the database allows %d connections, the store of tasks needs %d: call SetMaxOpenConns(0)", max, readers+2)
	}
	if err := s.open(ctx, db); err != nil {
		s.release()
		return nil, s.explain(err)
	}
	s.ops.Finishes = true
	s.ops.Serve(s.together)
	return s, nil
}

func (s *Store) open(ctx context.Context, db *sql.DB) (err error) {
	if s.write, err = connect(ctx, db, "PRAGMA busy_timeout = 5000"); err != nil {
		return err
	}
	if s.file, err = s.write.file(ctx); err != nil {
		return err
	}
	if err = oneName(s.file, "/proc/self/mountinfo"); err != nil {
		return err
	}
	if err = s.write.shared(ctx); err != nil {
		return err
	}
	if err = s.write.try(ctx); err != nil {
		return err
	}
	if err = s.own(ctx, db); err != nil {
		return err
	}
	if err = s.write.wal(ctx); err != nil {
		return err
	}
	if err = s.write.migrate(ctx); err != nil {
		return err
	}
	if err = s.load(ctx); err != nil {
		return err
	}
	for range readers {
		c, err := connect(ctx, db, "PRAGMA busy_timeout = 5000", "PRAGMA query_only = 1")
		if err != nil {
			return err
		}
		s.idle <- c
	}
	for _, name := range []string{s.file, s.file + ownerSuffix} {
		if info, err := os.Stat(name); err == nil { // else a VFS of the driver keeps it elsewhere
			s.opened = append(s.opened, openedFile{name, info})
		}
	}
	return nil
}

type openedFile struct {
	name string
	info os.FileInfo
}

// present returns task.ErrLost if a file was removed or replaced since it was opened. SQLite goes on with the removed one, in which the next process
// would find nothing; and without the owner's, a second process can open the same file. So neither is read or written any more (DUR01, DUR02). No task
// changes then: whoever waits for one is woken to read that (TSK09).
func (s *Store) present() error {
	for _, f := range s.opened {
		if now, err := os.Stat(f.name); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(f.info, now) {
			s.wakeAll()
			return fmt.Errorf("sqlite: %s was removed or replaced while the server had it open: restart the server: %w", f.name, task.ErrLost)
		}
	}
	return nil
}

// file is the main file of the connection.
func (c *conn) file(ctx context.Context) (file string, err error) {
	err = c.query(ctx, func(scan func(...any) error) error {
		var n int
		var name, path string
		err := scan(&n, &name, &path)
		if name == "main" {
			file = path
		}
		return err
	}, "PRAGMA database_list")
	if err == nil && file == "" {
		err = errors.New("a database in memory or a temporary one does not outlive the process: name a file")
	}
	if info, missing := os.Stat(file); err == nil && missing == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is no file that can keep a database, but a device or the like (%v): name another file, or a new one", info.Mode())
	}
	return file, err
}

// shared refuses a connection that would lock out the others.
func (c *conn) shared(ctx context.Context) error {
	var mode string
	err := c.QueryRowContext(ctx, "PRAGMA main.locking_mode").Scan(&mode)
	if err == nil && mode == "exclusive" {
		err = errors.New("a pragma of the data source, locking_mode, keeps the other connections of the store out of the file: remove it")
	}
	return err
}

// try writes to the file and rolls back: an error says that it is no database, or can not be written.
func (c *conn) try(ctx context.Context) error {
	err := c.run(ctx, "BEGIN IMMEDIATE", "CREATE TABLE mcpkiln_try (one INTEGER)")
	_ = c.run(context.WithoutCancel(ctx), "ROLLBACK")
	return err
}

// wal makes commits durable.
func (c *conn) wal(ctx context.Context) error {
	var mode string
	if err := c.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file can not have a write-ahead log: its journal mode stays %q", mode)
	}
	return c.run(ctx, "PRAGMA synchronous = FULL", "PRAGMA journal_size_limit = 67108864")
}

// load reads the part of the file that the store keeps in memory.
func (s *Store) load(ctx context.Context) error {
	var key []byte
	if err := s.write.QueryRowContext(ctx, "SELECT value FROM mcpkiln_settings WHERE name = 'cursor key'").Scan(&key); err != nil {
		return err
	}
	if len(key) != task.CursorKey {
		return task.ErrDamaged
	}
	s.cursors = task.NewCursors([task.CursorKey]byte(key))
	if err := s.write.run(ctx, "UPDATE "+unfinishedTasks+" SET due = ~due WHERE "+unfinished+" AND due < 0"); err != nil { // their runs died with the process
		return err
	}
	if err := s.write.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM mcpkiln_tasks").Scan(&s.lastSeq); err != nil {
		return err
	}
	return s.count(ctx)
}

// Close waits for the calls that were made, gives up the file, and returns the connections. Later calls get ErrClosed.
func (s *Store) Close() error {
	s.end.Do(func() {
		s.ops.Close()
		for range readers {
			s.returnConn(<-s.idle)
		}
		s.release()
	})
	return nil
}

// release returns the connections that open has taken.
func (s *Store) release() {
	s.returnConn(s.write)
	for len(s.idle) > 0 {
		s.returnConn(<-s.idle)
	}
	if s.owner != nil {
		_, _ = s.owner.ExecContext(context.Background(), "DETACH mcpkiln_owner") // what is not attached holds no lock
		s.owner.Close()
	}
}

func (s *Store) returnConn(c *conn) {
	if c != nil {
		c.Close()
	}
}

// Durable is true.
func (s *Store) Durable() bool { return true }

// now is the time of the store's clock, as it is stored.
func (s *Store) now() time.Time {
	return time.Unix(0, s.start.UnixNano()+int64(time.Since(s.start)))
}

// explain adds to an error of SQLite what is wrong with the file. SQLite's texts are the same with every driver.
func (s *Store) explain(err error) error {
	file := s.file
	if file == "" {
		file = "the file"
	}
	for text, why := range map[string]string{
		"file is not a database": "is no SQLite database: name another file, or a new one",
		"readonly database":      "can not be written: tasks need a file and a folder that this process may write to",
		"disk is full":           "can not grow, because the disk is full: nothing was changed",
		"unable to open":         "can not be opened: it has to be a file that this process may read and write, no folder, in a folder that exists and that it may write to",
		"disk I/O error":         "can not be read or written: it has to be a file, on a disk that works and has room, also by quotas and limits of the process",
		"database is locked":     "is locked by another program that writes to it: end that one first",
		"malformed":              "is damaged: restore it from a backup, or name a new file",
	} {
		if strings.Contains(err.Error(), text) {
			return fmt.Errorf("sqlite: %s %s: %w", file, why, err)
		}
	}
	return fmt.Errorf("sqlite: %s: %w", file, err)
}
