package postgres

import "testing"

// TestCompactionKeepsTheSums, also where another process holds the creations of an account, and what is left to sum up are the ends of its tasks.
func TestCompactionKeepsTheSums(t *testing.T) {
	s := openAt(t, newURL(t), Options{})
	ctx := t.Context()
	account := []byte("account of a test")
	const insert = `INSERT INTO mcpkiln_usage (account, kept, running, bytes) VALUES ($1, $2, $3, $4)`
	for _, change := range [][3]int{{1, 1, 100}, {1, 1, 50}, {0, -1, 7}, {0, -1, -20}} {
		if _, err := s.pool.Exec(ctx, insert, account, change[0], change[1], change[2]); err != nil {
			t.Fatal(err)
		}
	}
	other, err := s.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Rollback(ctx) }()
	if _, err := other.Exec(ctx, `SELECT FROM mcpkiln_usage WHERE account = $1 AND kept <> 0 FOR UPDATE`, account); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(ctx, compact, account); err != nil {
		t.Fatal(err)
	}
	if err := other.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	var kept, running, bytes, rows int
	err = s.pool.QueryRow(ctx, `SELECT sum(kept), sum(running), sum(bytes), count(*) FROM mcpkiln_usage WHERE account = $1`, account).Scan(&kept, &running, &bytes, &rows)
	if err != nil || kept != 2 || running != 0 || bytes != 137 || rows != 3 {
		t.Errorf("kept %d, running %d, bytes %d in %d rows; want 2, 0, 137 in 3 (%v)", kept, running, bytes, rows, err)
	}
}
