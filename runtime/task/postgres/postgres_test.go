package postgres

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/mcpkiln/mcpkiln/runtime/task/internal/chaos"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/pgtest"
)

// server is the one that tests share. Each test has schemas of its own in it.
var server *pgtest.Server

func TestMain(m *testing.M) {
	if chaos.Main(openTarget) {
		return
	}
	var err error
	if server, err = pgtest.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var schemas atomic.Int64

// newURL is that of an empty schema.
func newURL(t testing.TB) string {
	t.Helper()
	return schemaOf(t, server)
}

func schemaOf(t testing.TB, s *pgtest.Server) string {
	t.Helper()
	name := fmt.Sprint("test_", schemas.Add(1))
	do(t, s.URL(""), "CREATE SCHEMA "+name)
	return s.URL(name)
}

func openAt(t testing.TB, url string, o Options) *Store {
	t.Helper()
	if o.Configure == nil {
		o.Configure = func(c *pgxpool.Config) { c.MaxConnIdleTime, c.HealthCheckPeriod = time.Second, time.Second } // tests open many stores
	}
	s, err := Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
