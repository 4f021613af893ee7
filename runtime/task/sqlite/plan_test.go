package sqlite

import (
	"database/sql"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// walks are the statements that look at all tasks, with the reason why they may.
var walks = map[string]string{
	"SELECT account, count(*)":                         "what quotas count, once when a file is opened",
	"SELECT status, count(*) FROM mcpkiln_tasks WHERE": "operators count all tasks, or those that are over",
}

// Whatever the contract makes a store say to its file, it looks up by an index, so that no call takes longer because of tasks that it is not about.
func TestStatementsLookUpByIndex(t *testing.T) {
	each(t, func(t *testing.T, driver, _ string) {
		said := map[string]bool{}
		t.Run("contract", func(t *testing.T) {
			tasktest.Run(t, func(t *testing.T) task.Store {
				s := newStore(t, driver, filepath.Join(t.TempDir(), "tasks.db"))
				t.Cleanup(func() { maps.Copy(said, s.statements()) })
				return s
			})
		})
		file := filepath.Join(t.TempDir(), "tasks.db")
		s, open := newStore(t, driver, file), task.Filter{Statuses: []task.Status{task.Working}}
		if _, err := s.ListAll(t.Context(), open, "", 10); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Count(t.Context(), open); err != nil {
			t.Fatal(err)
		}
		maps.Copy(said, s.statements())
		if len(said) < 30 {
			t.Errorf("only %d statements were seen", len(said))
		}
		db := openDB(t, driver, file)
		for _, text := range slices.Sorted(maps.Keys(said)) {
			if strings.Contains(text, "status IN (?)") && !strings.Contains(text, unfinishedTasks) {
				t.Errorf("%s\n\twalks over tasks that are over", text)
			}
			for _, step := range plan(t, db, text) {
				if strings.HasPrefix(step, "SCAN mcpkiln_") && !strings.Contains(step, "mcpkiln_tasks_open") && !mayWalk(text) {
					t.Errorf("%s\n\t%s", text, step)
				}
			}
		}
	})
}

func mayWalk(text string) bool {
	for start := range walks {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// statements are the texts that the store has prepared.
func (s *Store) statements() map[string]bool {
	all := map[string]bool{}
	note := func(c *conn) {
		for text := range c.prepared {
			all[text] = true
		}
	}
	note(s.write)
	for range len(s.idle) {
		c := <-s.idle
		note(c)
		s.idle <- c
	}
	return all
}

var parameter = regexp.MustCompile(`\?\d*`)

// plan is how SQLite carries a statement out.
func plan(t testing.TB, db *sql.DB, text string) (steps []string) {
	t.Helper()
	if strings.HasPrefix(text, "PRAGMA") {
		return nil
	}
	distinct := map[string]bool{}
	var args []any
	for _, p := range parameter.FindAllString(text, -1) {
		if p == "?" || !distinct[p] {
			args = append(args, nil)
		}
		distinct[p] = true
	}
	rows, err := db.Query("EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}

// populate adds n tasks of every kind that is no orphan: in a run, parked with a question that waits for long or for ever, and over.
func populate(t testing.TB, s *Store, n int) {
	t.Helper()
	err := s.submit(t.Context(), func(b *batch) error {
		for i := range n {
			for kind := range 4 {
				if err := populateOne(b, kind, string(rune('a'+kind))+" "+strconv.Itoa(i)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func populateOne(b *batch, kind int, id string) error {
	r := &record{account: "o", state: task.NewState(aTask(id), b.now)}
	if err := b.create(r, task.Quota{}); err != nil {
		return err
	}
	r, err := b.find(id)
	if err != nil {
		return err
	}
	return b.transition(r, 0, func(s *task.State) error {
		l, err := s.Begin("node", time.Hour, b.now)
		q := task.Question{Name: "q", AskedAt: b.now}
		switch {
		case err != nil || kind == 0:
			return err
		case kind == 1:
			return s.Finish(l, task.Outcome{Status: task.Completed}, b.now)
		case kind == 2:
			q.Deadline = b.now.Add(time.Hour)
		}
		if err := s.Ask(l, q, b.now); err != nil {
			return err
		}
		return s.Park(l, b.now)
	})
}

// A look for tasks that wait for somebody does not cost more when there are more of others.
func TestDUR04OrphansAreLookedUp(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		cost := func(file string, n int) float64 {
			s := newStore(t, driver, file)
			populate(t, s, n)
			return testing.AllocsPerRun(20, func() {
				if ids, err := s.Orphans(t.Context(), 100); err != nil || len(ids) != 0 {
					t.Fatal(ids, err)
				}
			})
		}
		if few, many := cost(file, 5), cost(file+"-many", 1000); many > few+5 {
			t.Errorf("a look among 20 tasks allocates %.0f times, among 4,000 %.0f", few, many)
		}
	})
}

// When a process has died, its tasks wait for somebody at once, except those that wait for an answer.
func TestDUR04LeasesDieWithTheProcess(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		s := newStore(t, driver, file)
		for _, id := range []string{"asks", "runs"} {
			if _, err := s.Create(t.Context(), aTask(id), task.Quota{}); err != nil {
				t.Fatal(err)
			}
			b, err := s.Begin(t.Context(), id, "node", time.Hour)
			if err == nil && id == "asks" {
				_, err = s.Ask(t.Context(), b.Lease, task.Question{Name: "q", Deadline: time.Now().Add(time.Hour)})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if ids, err := s.Orphans(t.Context(), 10); err != nil || len(ids) != 0 {
			t.Errorf("while the process lives: %v, %v", ids, err)
		}
		s.Close()
		if ids, err := newStore(t, driver, file).Orphans(t.Context(), 10); err != nil || !slices.Equal(ids, []string{"runs"}) {
			t.Errorf("after it: %v, %v", ids, err)
		}
	})
}

// BenchmarkOrphans looks for tasks that wait for somebody where there are none, among many that somebody runs, that are parked, or that are over.
func BenchmarkOrphans(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := newStore(b, "sqlite", filepath.Join(b.TempDir(), "tasks.db"))
			populate(b, s, n/4)
			for b.Loop() {
				if ids, err := s.Orphans(b.Context(), 256); err != nil || len(ids) != 0 {
					b.Fatal(ids, err)
				}
			}
		})
	}
}
