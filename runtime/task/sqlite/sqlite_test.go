package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	_ "modernc.org/sqlite"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// drivers are those that the contract is tried with.
var drivers = map[string]string{"modernc": "sqlite", "mattn": "sqlite3"}

func openDB(t testing.TB, driver, file string) *sql.DB {
	db, err := sql.Open(driver, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func newStore(t testing.TB, driver, file string) *Store {
	s, err := Open(t.Context(), openDB(t, driver, file))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestDUR08SQLiteKeepsTheContract(t *testing.T) {
	for name, driver := range drivers {
		t.Run(name, func(t *testing.T) {
			tasktest.Run(t, func(t *testing.T) task.Store { return newStore(t, driver, filepath.Join(t.TempDir(), "tasks.db")) })
		})
	}
}

func TestDUR08EnginesShareAFile(t *testing.T) {
	for name, driver := range drivers {
		t.Run(name, func(t *testing.T) {
			tasktest.RunEngines(t, func(t *testing.T, n int) (all []tasktest.Replica) {
				s := newStore(t, driver, filepath.Join(t.TempDir(), "tasks.db"))
				for range n {
					all = append(all, tasktest.Replica{Store: s})
				}
				return all
			})
		})
	}
}
