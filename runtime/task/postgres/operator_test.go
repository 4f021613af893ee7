package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Whoever asks for unfinished tasks does not wait until all that are over have been looked at.
func TestUnfinishedTasksAreFoundWithoutTheOthers(t *testing.T) {
	url := newURL(t)
	s := openAt(t, url, Options{})
	do(t, url, `INSERT INTO mcpkiln_tasks (id, owner, account, room, all_room, tool, status, over, cancel, version, created, epoch, waits, size, head)
		SELECT n::text::bytea, 'ada', 'oada', 0, 0, 'tool', CASE WHEN n % 1000 = 0 THEN 'input_required' ELSE 'completed' END, n % 1000 <> 0, false, 1, now(), 1, false, 1, ''
		FROM generate_series(1, 5000) n`)
	for name, f := range map[string]task.Filter{
		"asking":     {Statuses: []task.Status{task.InputRequired}},
		"unfinished": {Statuses: []task.Status{task.Working, task.InputRequired}},
	} {
		t.Run(name, func(t *testing.T) {
			c := conditionOf(&f)
			rows, err := s.pool.Query(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF) SELECT id FROM mcpkiln_tasks WHERE "+c.text()+" AND seq > 0 ORDER BY seq LIMIT 100", c.args...)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); strings.Contains(text, "Rows Removed") {
				t.Error(text)
			}
		})
	}
}
