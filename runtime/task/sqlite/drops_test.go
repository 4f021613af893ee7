package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var drops = flag.Int("drops", 1, "how many files, with four kills each, lose what was not synced")

// childDisk tells a child where testdata/drops.c was compiled to, childSync how its writer syncs.
const childDisk, childSync = "SQLITE_TEST_DISK", "SQLITE_TEST_SYNC"

// TestDUR01WhatWasNotSyncedIsLost kills processes on a disk that loses what was not synced. What is acknowledged is there nevertheless. Were it also there
// without syncs, the disk would lose nothing, and the test would prove nothing.
func TestDUR01WhatWasNotSyncedIsLost(t *testing.T) {
	disk := compileDisk(t)
	for _, c := range []struct {
		disk, sync string
		loses      bool
		kills      int // for each file; a torn one may be damaged, so that no second process works on it
	}{{"drops", "FULL", false, 4}, {"tears", "FULL", false, 4}, {"drops", "NORMAL", true, 4}, {"drops", "OFF", true, 4}, {"tears", "OFF", true, 1}} {
		t.Run(c.disk+" "+c.sync, func(t *testing.T) {
			created, lost := 0, 0
			for range *drops {
				file := filepath.Join(t.TempDir(), "tasks.db")
				name := (&url.URL{Scheme: "file", Path: file, RawQuery: "vfs=" + c.disk}).String()
				said := killed(t, c.kills, func(int) int { return 20 + 400/c.kills + rand.IntN(400) }, "sqlite3", name, childDisk+"="+disk, childSync+"="+c.sync)
				created += len(said["created"])
				lost += lostOf(t, file, said["created"])
				if !c.loses {
					takeUp(t, newStore(t, "sqlite", file), said)
				}
			}
			t.Logf("%d kills: %d tasks acknowledged, %d lost", c.kills**drops, created, lost)
			if (lost > 0) != c.loses {
				t.Errorf("%d of %d tasks are lost", lost, created)
			}
		})
	}
}

// lostOf counts the tasks that are not there; of a file that is damaged that is all of them.
func lostOf(t *testing.T, file string, ids map[string]string) (n int) {
	s, err := Open(t.Context(), openDB(t, "sqlite", file))
	if err != nil && strings.Contains(err.Error(), "is damaged") {
		return len(ids)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for id := range ids {
		switch _, err := s.Get(t.Context(), "ada", id); {
		case errors.Is(err, task.ErrNotFound), err != nil && strings.Contains(err.Error(), "is damaged"):
			n++
		case err != nil:
			t.Fatal(err)
		}
	}
	return n
}

// compileDisk compiles the file systems that lose what was not synced.
func compileDisk(t *testing.T) string {
	t.Helper()
	cc, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		t.Fatal(err)
	}
	driver, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/mattn/go-sqlite3").Output() // has SQLite's headers
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(cc))
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Fatalf("this test needs a C compiler, as the race detector and mattn/go-sqlite3 do: install gcc (%v)", err)
	}
	library := filepath.Join(t.TempDir(), "drops.so")
	args := append(words[1:], "-O2", "-Wall", "-shared", "-fPIC", "-I", strings.TrimSpace(string(driver)), "-o", library, filepath.Join("testdata", "drops.c"))
	if out, err := exec.Command(words[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return library
}

// loadDisk makes the file systems known to this process; "" is the library of a child that needs none.
func loadDisk(library string) error {
	if library == "" {
		return nil
	}
	sql.Register("sqlite3 with a disk", &sqlite3.SQLiteDriver{Extensions: []string{library}})
	db, err := sql.Open("sqlite3 with a disk", ":memory:")
	if err != nil {
		return err
	}
	return errors.Join(db.Ping(), db.Close())
}

// setSync has the writer of a child sync less than it should.
func setSync(s *Store) error {
	level := os.Getenv(childSync)
	if level == "" {
		return nil
	}
	if err := s.write.run(context.Background(), "PRAGMA synchronous = "+level); err != nil {
		return err
	}
	var set int
	if err := s.write.QueryRowContext(context.Background(), "PRAGMA synchronous").Scan(&set); err != nil {
		return err
	}
	if want := map[string]int{"OFF": 0, "NORMAL": 1, "FULL": 2}[level]; set != want {
		return errors.New("the writer does not sync as it is told")
	}
	return nil
}
