package postgres

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/pgtest"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

var pgbouncer = flag.String("pgbouncer", "", "the program pgbouncer, through which the contract is tried as well")

// route is how tests come to a database.
type route struct {
	options Options
	newURL  func(t testing.TB) string
}

// routes are those that the contract is tried on. Tests for every day have a pooler in name only: what a store may do behind one. `make stores` has
// a real one.
func routes(t *testing.T) map[string]route {
	t.Helper()
	all := map[string]route{"listening": {Options{}, newURL}, "behind a pooler": {Options{Bouncer: true}, newURL}}
	if *pgbouncer != "" {
		b := startBouncer(t)
		all["behind pgbouncer"] = route{Options{Bouncer: true}, func(t testing.TB) string { return newDatabase(t, b) }}
	}
	return all
}

func startBouncer(t *testing.T) *pgtest.Bouncer {
	t.Helper()
	program, err := exec.LookPath(*pgbouncer)
	if err != nil {
		t.Fatal(err)
	}
	b, err := pgtest.StartBouncer(program, server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// newDatabase is the URL of a database of its own: pgbouncer passes no search_path on.
func newDatabase(t testing.TB, b *pgtest.Bouncer) string {
	t.Helper()
	name := fmt.Sprint("pooled_", schemas.Add(1))
	do(t, server.URL(""), "CREATE DATABASE "+name)
	return b.URL(name)
}

// A pooler that refuses what stores set when they connect is not waited for: it would never become another one.
func TestDUR06APoolerThatNobodyNamedIsRefused(t *testing.T) {
	fake, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() { refuseSettings(fake) })
	t.Cleanup(func() {
		fake.Close()
		served.Wait()
	})
	for _, url := range unnamed(t, "postgres://postgres@"+fake.Addr().String()+"/postgres?sslmode=disable") {
		ctx, leave := context.WithTimeout(t.Context(), 30*time.Second)
		defer leave()
		_, err := Open(ctx, url, Options{})
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "set Options.Bouncer") || !strings.Contains(err.Error(), "unsupported startup parameter") {
			t.Errorf("open: %v", err)
		}
	}
}

// unnamed are the poolers that tests have.
func unnamed(t *testing.T, fake string) []string {
	if *pgbouncer == "" {
		return []string{fake}
	}
	return []string{fake, startBouncer(t).URL("postgres")}
}

// refuseSettings answers as pgbouncer does to settings that it does not know.
func refuseSettings(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		b := pgproto3.NewBackend(c, c)
		if _, err := b.ReceiveStartupMessage(); err == nil {
			b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: "unsupported startup parameter: enable_seqscan"})
			_ = b.Flush()
		}
		c.Close()
	}
}

func TestDUR08PostgresKeepsTheContract(t *testing.T) {
	for name, r := range routes(t) {
		t.Run(name, func(t *testing.T) {
			tasktest.RunOnOwnClock(t, func(t *testing.T) task.Store { return openAt(t, r.newURL(t), r.options) })
		})
	}
}

func TestDUR08EnginesShareADatabase(t *testing.T) {
	for name, r := range routes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tasktest.RunEngines(t, func(t *testing.T, n int) (all []tasktest.Replica) {
				url := r.newURL(t)
				for range n {
					all = append(all, tasktest.Replica{Store: openAt(t, url, r.options)})
				}
				return all
			})
		})
	}
}
