package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// walks are the beginnings of the statements that look at all tasks, with the reason why they may.
var walks = map[string]string{
	"SELECT status, count(*) FROM mcpkiln_tasks": "operators count all tasks, or those that are over; those that are not have an index",
}

// said notes the statements of a store.
type said struct {
	mu    sync.Mutex
	texts map[string]bool
}

func (s *said) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[text] = true
}

func (s *said) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.note(d.SQL)
	return ctx
}
func (s *said) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (s *said) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (s *said) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.note(d.SQL)
}
func (s *said) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// Whatever the contract makes a store say to its database, it looks up by an index, so that no call takes longer because of tasks that it is not about.
func TestStatementsLookUpByIndex(t *testing.T) {
	all := &said{texts: map[string]bool{}}
	traced := Options{Configure: func(c *pgxpool.Config) { c.ConnConfig.Tracer, c.MaxConnIdleTime = all, time.Second }}
	t.Run("contract", func(t *testing.T) {
		tasktest.RunOnOwnClock(t, func(t *testing.T) task.Store { return openAt(t, newURL(t), traced) })
	})
	url := newURL(t)
	s, open := openAt(t, url, traced), task.Filter{Statuses: []task.Status{task.Working}}
	if _, err := s.ListAll(t.Context(), open, "", 10); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Count(t.Context(), open); err != nil {
		t.Fatal(err)
	}
	stop := s.Offers(func() {})
	s.pollWaiting()
	stop()
	s.Close()
	conn := connect(t, url, "SET plan_cache_mode = force_generic_plan")
	if len(all.texts) < 30 {
		t.Errorf("only %d statements were seen", len(all.texts))
	}
	for n, text := range slices.Sorted(maps.Keys(all.texts)) {
		if !strings.Contains(text, "mcpkiln_tasks") && !strings.Contains(text, "mcpkiln_usage") && !strings.Contains(text, "mcpkiln_journal") {
			continue
		}
		for _, step := range plan(t, conn, fmt.Sprint("statement", n), text) {
			if step.walks() && !mayWalk(text, step.Index) {
				t.Errorf("%s\n\t%+v", text, step)
			}
		}
	}
}

// connect is a connection with the settings of stores.
func connect(t testing.TB, url string, statements ...string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	for _, setting := range offForLookups {
		statements = append(statements, "SET "+setting+" = off")
	}
	for _, text := range statements {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

func mayWalk(text, index string) bool {
	for start := range walks {
		if strings.HasPrefix(text, start) && (!strings.Contains(text, "NOT over") || index == "mcpkiln_tasks_open") {
			return true
		}
	}
	return false
}

// step is what a plan does with one table.
type step struct {
	Kind    string  `json:"Node Type"`
	Table   string  `json:"Relation Name"`
	Index   string  `json:"Index Name"`
	Cond    string  `json:"Index Cond"`
	Filter  string  `json:"Filter"`
	Loops   float64 `json:"Actual Loops"`
	Rows    float64 `json:"Actual Rows"`
	Dropped float64 `json:"Rows Removed by Filter"`
	Steps   []step  `json:"Plans"`
	first   bool    // only the first rows are wanted
}

// walks reports whether the step goes over a whole table, or an index of it. Holders are as many as there are processes.
func (s *step) walks() bool {
	if s.Table == "" && s.Index == "" || s.Table == "mcpkiln_holders" {
		return false
	}
	return strings.Contains(s.Kind, "Scan") && s.Kind != "Bitmap Heap Scan" && s.Cond == "" && (!s.first || s.Filter != "")
}

func (s *step) all() []step {
	all := []step{*s}
	for i := range s.Steps {
		s.Steps[i].first = s.Kind == "Limit"
		all = append(all, s.Steps[i].all()...)
	}
	return all
}

// plan is how Postgres carries a statement out, whatever its parameters.
func plan(t testing.TB, conn *pgx.Conn, name, text string) []step {
	t.Helper()
	d, err := conn.Prepare(t.Context(), name, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	explain := "EXPLAIN (FORMAT JSON) EXECUTE " + name
	if n := len(d.ParamOIDs); n > 0 {
		explain += "(NULL" + strings.Repeat(", NULL", n-1) + ")"
	}
	return explained(t, conn, explain)
}

func explained(t testing.TB, conn *pgx.Conn, text string) []step {
	t.Helper()
	var form []byte
	if err := conn.QueryRow(t.Context(), text, pgx.QueryExecModeSimpleProtocol).Scan(&form); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var plans []struct{ Plan step }
	if err := json.Unmarshal(form, &plans); err != nil || len(plans) != 1 {
		t.Fatalf("%s: %s: %v", text, form, err)
	}
	return plans[0].Plan.all()
}

// crowd adds n tasks of each kind that nobody has to look at: held by a process that lives, parked with a question that waits for long or for ever, and over;
// and three that wait for somebody: one that is parked, and one each whose holder is dead or gone.
func crowd(t testing.TB, url string, n int) {
	t.Helper()
	s := openAt(t, url, Options{})
	if _, err := s.Create(t.Context(), aTask("like this"), task.Quota{}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	do(t, url, "DELETE FROM mcpkiln_usage", "INSERT INTO mcpkiln_holders (node, until) VALUES ('lives', now() + interval '1 hour'), ('dead', now() - interval '1 minute')",
		fmt.Sprintf(`INSERT INTO mcpkiln_tasks (id, owner, account, tool, room, all_room, status, over, cancel, version, created, epoch, node, leased, held, due, waits, size, head)
			SELECT convert_to(kind || i, 'UTF8'), owner, account, tool, 0, 0, CASE WHEN kind = 'over' THEN 'completed' ELSE 'working' END, kind = 'over', false, 1, created, 1,
				CASE WHEN kind IN ('held', 'dead', 'gone') THEN 'node'::bytea END, NULL,
				CASE WHEN kind = 'held' THEN (SELECT holder FROM mcpkiln_holders WHERE node = 'lives') WHEN kind = 'dead' THEN (SELECT holder FROM mcpkiln_holders WHERE node = 'dead') END,
				CASE WHEN kind = 'asks' THEN now() + interval '1 day' WHEN kind IN ('held', 'dead', 'gone', 'waits') THEN now() - interval '1 minute' END,
				kind IN ('asks', 'forever', 'waits'), size, head
			FROM mcpkiln_tasks, (SELECT kind, i FROM unnest(ARRAY['held', 'asks', 'forever', 'over']) kind, generate_series(1, %d) i
				UNION ALL SELECT unnest(ARRAY['dead', 'gone', 'waits']), 0) AS kinds`, n),
		"DELETE FROM mcpkiln_tasks WHERE id = 'like this'", "ANALYZE mcpkiln_tasks")
}

// A look for tasks that wait for somebody reads these, and no others.
func TestDUR04OrphansAreLookedUp(t *testing.T) {
	url := newURL(t)
	crowd(t, url, 500)
	conn := connect(t, url)
	for what, text := range map[string]string{"orphans": strings.ReplaceAll(lookOrphans, "$1", "256"), "parked tasks": lookWaiting} {
		read := 0.0
		for _, s := range explained(t, conn, "EXPLAIN (ANALYZE, FORMAT JSON) "+text) {
			if s.Table == "mcpkiln_tasks" {
				read += (s.Rows + s.Dropped) * s.Loops
			}
		}
		if read < 1 || read > 3 {
			t.Errorf("a look for %s reads %.0f tasks", what, read)
		}
	}
	s := openAt(t, url, Options{})
	if ids, err := s.Orphans(t.Context(), 256); err != nil || !slices.Equal(slices.Sorted(slices.Values(ids)), []string{"dead0", "gone0", "waits0"}) {
		t.Errorf("orphans: %v, %v", ids, err)
	}
}

// Tables of the version before are brought up to date while a program of that version works with them, and no task is lost whose holder is gone.
func TestDUR07TablesOfTheVersionBefore(t *testing.T) {
	url, all := newURL(t), migrations
	migrations = all[:1]
	before := openAt(t, url, Options{})
	migrations = all
	if _, err := before.Create(t.Context(), aTask("held"), task.Quota{}); err != nil {
		t.Fatal(err)
	}
	if _, err := before.Begin(t.Context(), "held", "node", time.Minute); err != nil {
		t.Fatal(err)
	}
	do(t, url, "UPDATE mcpkiln_tasks SET held = 99, due = now() - interval '1 minute', leased = now() - interval '1 minute'")
	now := openAt(t, url, Options{})
	for range 2 {
		if ids, err := now.Orphans(t.Context(), 10); err != nil || !slices.Equal(ids, []string{"held"}) {
			t.Errorf("orphans: %v, %v", ids, err)
		}
		do(t, url, "INSERT INTO mcpkiln_holders (node, until) VALUES ('node', now())", "UPDATE mcpkiln_tasks SET held = (SELECT max(holder) FROM mcpkiln_holders)",
			"DELETE FROM mcpkiln_holders") // as programs of either version do
	}
	if err := finishOne(t.Context(), before, "while the tables change"); err != nil {
		t.Error(err)
	}
}

// BenchmarkOrphans looks for tasks that wait for somebody among many that do not.
func BenchmarkOrphans(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			url := newURL(b)
			crowd(b, url, n/4)
			s := openAt(b, url, Options{})
			for b.Loop() {
				if ids, err := s.Orphans(b.Context(), 256); err != nil || len(ids) != 3 {
					b.Fatal(ids, err)
				}
			}
		})
	}
}
