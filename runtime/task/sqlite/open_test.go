package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// each runs a test with every driver.
func each(t *testing.T, test func(t *testing.T, driver, file string)) {
	for name, driver := range drivers {
		t.Run(name, func(t *testing.T) { test(t, driver, filepath.Join(t.TempDir(), "tasks.db")) })
	}
}

func refused(t *testing.T, db *sql.DB, texts ...string) error {
	t.Helper()
	s, err := Open(t.Context(), db)
	if err == nil {
		s.Close()
		t.Fatal("the file was opened")
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error is %q, which does not say %q", err, text)
		}
	}
	if open := db.Stats().InUse; open != 0 {
		t.Errorf("%d connections are not given back", open)
	}
	return err
}

func TestFilesThatAreNoDatabaseAreRefused(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		text := strings.Repeat("this is a letter to ada. ", 100)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, openDB(t, driver, file), "sqlite: ", "is no SQLite database: name another file")
		if after, err := os.ReadFile(file); err != nil || string(after) != text {
			t.Errorf("the file has changed: %v", err)
		}
	})
}

// A task in a form of a newer version is left alone, and seen in lists by what every version knows of it. It hides no others, and expires.
func TestDUR07TasksInANewerForm(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		s := newStore(t, driver, file)
		reopenedAfter := func(text string) {
			s.Close()
			if _, err := openDB(t, driver, file).Exec(text); err != nil {
				t.Fatal(err)
			}
			s = newStore(t, driver, file)
		}
		for _, id := range []string{"new", "old"} {
			if _, err := s.Create(t.Context(), task.Task{ID: id, Owner: "ada", Tool: "tool", TTL: time.Hour, Machine: tasktest.Machine()}, task.Quota{}); err != nil {
				t.Fatal(err)
			}
		}
		reopenedAfter(`UPDATE mcpkiln_tasks SET head = x'63' WHERE id = 'new'`)
		newer := (*task.FormatError)(nil)
		if _, err := s.Get(t.Context(), "ada", "new"); !errors.As(err, &newer) {
			t.Fatalf("get: %v", err)
		}
		for what, list := range map[string]func() (task.Page, error){
			"list":     func() (task.Page, error) { return s.List(t.Context(), "ada", "", 10) },
			"list all": func() (task.Page, error) { return s.ListAll(t.Context(), task.Filter{}, "", 10) },
		} {
			page, err := list()
			if err != nil || len(page.Tasks) != 2 || page.Tasks[1].ID != "old" {
				t.Fatalf("%s: %+v, %v", what, page, err)
			}
			if l := page.Tasks[0]; l.ID != "new" || l.Owner != "ada" || l.Tool != "tool" || l.Status != task.Working || l.TTL != time.Hour ||
				l.CreatedAt.IsZero() || l.StatusMessage != newer.Error() {
				t.Errorf("%s: %+v", what, l)
			}
		}
		if ids, err := s.Orphans(t.Context(), 10); err != nil || len(ids) != 2 {
			t.Errorf("orphans: %v, %v", ids, err)
		}
		reopenedAfter("UPDATE mcpkiln_tasks SET expires = created")
		if x, err := s.Expire(t.Context(), 10); err != nil || len(x.Removed) != 2 {
			t.Errorf("expiry: %+v, %v", x, err)
		}
	})
}

func TestDUR07TablesOfANewerVersionAreRefused(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		newStore(t, driver, file).Close()
		db := openDB(t, driver, file)
		if _, err := db.Exec("INSERT INTO mcpkiln_migrations VALUES (7, 'tomorrow')"); err != nil {
			t.Fatal(err)
		}
		refused(t, db, file, "version 7", "up to 1", "run the newer program")
	})
}

func TestFilesThatCanNotBeWrittenAreRefused(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		newStore(t, driver, file).Close()
		refused(t, openDB(t, driver, "file:"+file+"?mode=ro"), file, "can not be written")
		refused(t, openDB(t, driver, filepath.Join(file+"-missing", "tasks.db")), "can not be opened", "a folder that exists")
		refused(t, openDB(t, driver, t.TempDir()), "can not be opened", "no folder")
	})
}

// What SQLite says when another program has the file, or the disk fails, tells a person what to do.
func TestErrorsOfFilesSayWhatToDo(t *testing.T) {
	for text, want := range map[string]string{"database is locked (5)": "is locked by another program", "disk I/O error (10)": "can not be read or written"} {
		if err := (&Store{file: "tasks.db"}).explain(errors.New(text)); !strings.HasPrefix(err.Error(), "sqlite: tasks.db "+want) {
			t.Error(err)
		}
	}
}

func TestDatabasesThatDoNotLastAreRefused(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		refused(t, openDB(t, driver, ":memory:"), "does not outlive the process")
		db := openDB(t, driver, file)
		db.SetMaxOpenConns(5)
		refused(t, db, "allows 5 connections", "needs 6")
	})
}

func TestFileHasOneOwnerUntilItIsClosed(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		first := newStore(t, driver, file)
		db := openDB(t, driver, file)
		if err := refused(t, db, file, "stop it first"); !errors.Is(err, ErrOwned) {
			t.Errorf("the error is %v", err)
		}
		first.Close()
		second, err := Open(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		second.Close()
		if _, err := second.Get(t.Context(), "ada", "id"); !errors.Is(err, ErrClosed) {
			t.Errorf("get from a closed store: %v", err)
		}
		if _, err := second.Create(t.Context(), task.Task{ID: "id"}, task.Quota{}); !errors.Is(err, ErrClosed) {
			t.Errorf("create in a closed store: %v", err)
		}
	})
}

// Under a second name of the file, a process would not find the owner, nor what a crash left in the log.
func TestDUR01AFileWithASecondNameIsRefused(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		db := openDB(t, driver, file)
		s, err := Open(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Create(t.Context(), aTask("one"), task.Quota{})
		if err := errors.Join(err, s.Close(), db.Close()); err != nil { // SQLite itself notices another name in one process
			t.Fatal(err)
		}
		link := file + "-link"
		if err := os.Link(file, link); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{link, file} {
			db := openDB(t, driver, name)
			refused(t, db, name, "it has 2 names", "remove all but the one that was used last")
			db.Close()
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		if _, err := newStore(t, driver, file).Get(t.Context(), "ada", "one"); err != nil {
			t.Error(err)
		}
	})
}

func TestDUR01AFileThatIsMountedByItselfIsRefused(t *testing.T) {
	folder := filepath.Join(t.TempDir(), `a \b`)
	file, list := filepath.Join(folder, "tasks.db"), filepath.Join(folder, "mountinfo")
	written := os.Mkdir(folder, 0o700)
	for _, name := range []string{file, list} {
		written = errors.Join(written, os.WriteFile(name, nil, 0o600))
	}
	real, err := filepath.EvalSymlinks(file)
	if err := errors.Join(written, err); err != nil {
		t.Fatal(err)
	}
	real = strings.NewReplacer(`\`, `\134`, " ", `\040`).Replace(real)
	for point, mounted := range map[string]bool{real: true, real + "2": false, filepath.Dir(real): false} {
		mounts := "22 27 0:21 / /proc rw - proc proc rw\n41 27 254:0 " + real + " " + point + " rw,relatime - ext4 /dev/vda rw\n"
		if err := os.WriteFile(list, []byte(mounts), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := oneName(file, list); (err != nil) != mounted || mounted && !strings.Contains(err.Error(), "mount the folder") {
			t.Errorf("with %q mounted: %v", point, err)
		}
	}
	if err := oneName(file, list+"-missing"); err != nil {
		t.Errorf("without a list of mounts: %v", err)
	}
}

// A pragma of the data source that locks the store's own connections out is named: there is no other program to end.
func TestPragmasThatLockTheFileAreNamed(t *testing.T) {
	for driver, pragmas := range map[string]map[string]string{
		"sqlite":  {"journal_mode": "_pragma=journal_mode(DELETE)", "locking_mode": "_pragma=locking_mode(EXCLUSIVE)", "": "_pragma=journal_mode(WAL)"},
		"sqlite3": {"journal_mode": "_journal_mode=DELETE", "locking_mode": "_locking_mode=EXCLUSIVE", "": "_journal_mode=WAL"},
	} {
		for named, pragma := range pragmas {
			t.Run(driver+" "+pragma, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "tasks.db")
				name := "file:" + file + "?_busy_timeout=1&" + pragma
				if named == "" {
					newStore(t, driver, name).Close()
					return
				}
				db := openDB(t, driver, name)
				refused(t, db, "a pragma of the data source", named, "remove it") // a new file
				db.Close()
				newStore(t, driver, file)
				refused(t, openDB(t, driver, name), "a pragma of the data source", named, "remove it") // and one that another process has
			})
		}
	}
}

func aTask(id string) task.Task {
	return task.Task{ID: id, Owner: "ada", Tool: "tool", Machine: tasktest.Machine(), TTL: time.Hour, Args: []byte("{}")}
}

// What other programs keep in the file stays, and the tables are made once.
func TestFileIsSharedWithOtherTables(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		db := openDB(t, driver, file)
		if _, err := db.Exec("CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (42)"); err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			s := newStore(t, driver, file)
			if n == 0 {
				if _, err := s.Create(t.Context(), aTask("one"), task.Quota{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Get(t.Context(), "ada", "one"); err != nil {
				t.Error(err)
			}
			s.Close()
		}
		var id, versions int
		if err := db.QueryRow("SELECT (SELECT id FROM orders), (SELECT count(*) FROM mcpkiln_migrations)").Scan(&id, &versions); err != nil || id != 42 || versions != 1 {
			t.Errorf("order %d, %d migrations, %v", id, versions, err)
		}
	})
}

// limit makes the file as full as it is plus some pages; SQLite says the same as on a full disk.
func (s *Store) limit(t *testing.T, pages string) {
	t.Helper()
	err := s.submit(t.Context(), func(b *batch) error {
		_, err := b.store.write.ExecContext(b.ctx, "PRAGMA max_page_count = "+pages)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFullDiskLosesNothingThatWasAcknowledged(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		s := newStore(t, driver, file)
		if _, err := s.Create(t.Context(), aTask("kept"), task.Quota{}); err != nil {
			t.Fatal(err)
		}
		b, err := s.Begin(t.Context(), "kept", "node", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		before := s.all
		s.limit(t, "1") // no fewer than there are
		large := aTask("large")
		large.Args = make([]byte, 1<<20)
		if _, err := s.Create(t.Context(), large, task.Quota{}); err == nil || !strings.Contains(err.Error(), "the disk is full: nothing was changed") {
			t.Errorf("create on a full disk: %v", err)
		}
		if _, err := s.Finish(t.Context(), b.Lease, task.Outcome{Status: task.Completed, Result: make([]byte, 1<<20)}); err == nil {
			t.Error("a result was kept on a full disk")
		}
		if got, err := s.Get(t.Context(), "ada", "kept"); err != nil || got.Status != task.Working {
			t.Errorf("get on a full disk: %+v, %v", got, err)
		}
		if beat, err := s.Heartbeat(t.Context(), []task.Lease{b.Lease}, time.Minute); err != nil || len(beat.Lost) != 0 {
			t.Errorf("heartbeat on a full disk: %+v, %v", beat, err)
		}
		if _, err := s.Get(t.Context(), "ada", "large"); !errors.Is(err, task.ErrNotFound) {
			t.Errorf("get of what was refused: %v", err)
		}
		s.limit(t, "1000000")
		if s.all != before {
			t.Errorf("counted %+v before, %+v after", before, s.all)
		}
		if _, err := s.Finish(t.Context(), b.Lease, task.Outcome{Status: task.Completed, Result: make([]byte, 1<<20)}); err != nil {
			t.Errorf("finish when there is room again: %v", err)
		}
		s.Close()
		again := newStore(t, driver, file)
		if got, err := again.Get(t.Context(), "ada", "kept"); err != nil || len(got.Result) != 1<<20 || again.all.bytes != s.all.bytes {
			t.Errorf("after opening again: %d bytes, %v; counted %d, want %d", len(got.Result), err, again.all.bytes, s.all.bytes)
		}
	})
}

// What is written to a file that is removed or replaced can not be found after a restart, and another process may have the tasks: all is refused, for
// good, so that clients do not try again and runs end with their leases (DUR02).
func TestDUR01NothingIsKeptInAFileThatIsGone(t *testing.T) {
	for what, change := range map[string]func(file string) error{
		"removed":       os.Remove,
		"renamed":       func(file string) error { return os.Rename(file, file+"-old") },
		"owner removed": func(file string) error { return os.Remove(file + "-owner") },
		"replaced": func(file string) error {
			if err := os.WriteFile(file+"-new", nil, 0o600); err != nil {
				return err
			}
			return os.Rename(file+"-new", file)
		},
	} {
		t.Run(what, func(t *testing.T) {
			each(t, func(t *testing.T, driver, file string) {
				s := newStore(t, driver, file)
				if _, err := s.Create(t.Context(), aTask("one"), task.Quota{}); err != nil {
					t.Fatal(err)
				}
				begun, err := s.Begin(t.Context(), "one", "node", time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				if err := change(file); err != nil {
					t.Fatal(err)
				}
				errs := map[string]error{}
				_, errs["create"] = s.Create(t.Context(), aTask("two"), task.Quota{})
				_, errs["get"] = s.Get(t.Context(), "ada", "one")
				_, errs["list"] = s.List(t.Context(), "ada", "", 10)
				_, errs["heartbeat"] = s.Heartbeat(t.Context(), []task.Lease{begun.Lease}, time.Minute)
				errs["step"] = s.Record(t.Context(), begun.Lease, "step", nil)
				_, errs["finish"] = s.Finish(t.Context(), begun.Lease, task.Outcome{Status: task.Completed})
				for call, err := range errs {
					if !errors.Is(err, task.ErrLost) || task.Outage(err) || !strings.Contains(err.Error(), file) ||
						!strings.Contains(err.Error(), "removed or replaced while the server had it open: restart the server") {
						t.Errorf("%s: the error is %v", call, err)
					}
				}
			})
		})
	}
}

func TestDevicesKeepNoTasks(t *testing.T) {
	for name, driver := range drivers {
		t.Run(name, func(t *testing.T) {
			_ = refused(t, openDB(t, driver, os.DevNull), "can keep a database", "name another file")
		})
	}
}
