package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/chaos"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

var (
	kills = flag.Int("kills", 2, "how often a process is killed at each point")
	lease = flag.Duration("lease", 3*time.Second, "the lease of processes that are killed")
)

// openTarget opens the store of a process.
func openTarget(file string) (tasktest.Replica, func() error, error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return tasktest.Replica{}, nil, err
	}
	s, err := Open(context.Background(), db)
	if err != nil {
		return tasktest.Replica{}, nil, errors.Join(err, db.Close())
	}
	return tasktest.Replica{Store: s}, func() error { return errors.Join(s.Close(), db.Close()) }, nil
}

func TestDUR05KillsAtEveryPoint(t *testing.T) {
	plan := chaos.Plan{Target: filepath.Join(t.TempDir(), "tasks.db"), Replicas: 1, Times: *kills, Lease: *lease, Seed: uint64(time.Now().UnixNano())}
	plan.Test(t, func() task.Store { return newStore(t, "sqlite", plan.Target) })
}
