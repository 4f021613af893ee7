package river

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"go.uber.org/goleak"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/chaos"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/pgtest"
	"github.com/mcpkiln/mcpkiln/runtime/task/postgres"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

var (
	kills = flag.Int("kills", 1, "how often a replica is killed at each point")
	lease = flag.Duration("lease", 3*time.Second, "the lease of replicas that are killed")
)

// server is the one that tests share. Each test has a schema of its own in it.
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
	if err := errors.Join(server.Close(), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// openTarget opens what a replica works with.
func openTarget(url string) (tasktest.Replica, func() error, error) {
	n, err := openNode(context.Background(), url)
	if err != nil {
		return tasktest.Replica{}, nil, err
	}
	return tasktest.Replica{Store: n.store, Dispatcher: n.jobs, Started: func(*task.Engine) {
		if err := n.client.Start(context.Background()); err != nil {
			panic(err)
		}
	}}, n.close, nil
}

// node is what one process has of River and of tasks.
type node struct {
	store  *postgres.Store
	jobs   *Dispatcher
	pool   *pgxpool.Pool
	client *queue.Client[pgx.Tx]
}

const tasks = "tasks"

func openNode(ctx context.Context, url string) (*node, error) {
	n := &node{jobs: New(Options{Queue: tasks})}
	var err error
	if n.pool, err = pgxpool.New(ctx, url); err != nil {
		return nil, err
	}
	if n.store, err = postgres.Open(ctx, url, postgres.Options{Created: n.jobs.Created}); err != nil {
		return nil, err
	}
	workers := queue.NewWorkers()
	queue.AddWorker(workers, n.jobs.Worker())
	n.client, err = queue.NewClient(riverpgxv5.New(n.pool), &queue.Config{
		Queues: map[string]queue.QueueConfig{tasks: {MaxWorkers: 100}}, Workers: workers,
		FetchCooldown: 5 * time.Millisecond, FetchPollInterval: 100 * time.Millisecond,
	})
	n.jobs.Use(n.client, n.store)
	return n, err
}

func (n *node) close() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	err := errors.Join(n.client.Stop(ctx), n.store.Close())
	n.pool.Close()
	return err
}

var schemas atomic.Int64

// newURL is that of a schema that has River's tables.
func newURL(t testing.TB, s *pgtest.Server) string {
	t.Helper()
	name := fmt.Sprint("test_", schemas.Add(1))
	do(t, s.URL(""), "CREATE SCHEMA "+name)
	pool, err := pgxpool.New(t.Context(), s.URL(name))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
		t.Fatal(err)
	}
	return s.URL(name)
}

// do runs a statement.
func do(t testing.TB, url, text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// count is the number that a query gives.
func (n *node) count(t *testing.T, query string) (c int) {
	t.Helper()
	if err := n.pool.QueryRow(t.Context(), query).Scan(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

// until waits for what has to happen, however slow the machine is.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick, deadline := time.NewTicker(10*time.Millisecond), time.Now().Add(time.Minute)
	defer tick.Stop()
	for !happened() {
		if <-tick.C; time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// open opens a node that is closed at the end.
func open(t testing.TB, url string) *node {
	t.Helper()
	n, err := openNode(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// engine is an engine whose tasks River runs, once the client has started.
func (n *node) engine(t testing.TB, c task.Config) *task.Engine {
	t.Helper()
	c.Store, c.Dispatcher = n.store, n.jobs
	return engineOn(t, c)
}

func engineOn(t testing.TB, c task.Config) *task.Engine {
	t.Helper()
	c.Machine, c.Resume = tasktest.Machine(), true
	c.Limits = task.Limits{Running: -1, AllRunning: -1, Kept: -1, Bytes: -1, AllBytes: -1, PollsPerSecond: -1}
	e := task.New(c)
	t.Cleanup(func() {
		if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return e
}

// start has River run jobs.
func (n *node) start(t testing.TB) {
	t.Helper()
	if err := n.client.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func create(t testing.TB, e *task.Engine) task.Created {
	t.Helper()
	c, err := e.Create(t.Context(), task.Spec{Owner: "ada", Tool: "tool"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func result(t testing.TB, e *task.Engine, id string) task.Task {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	got, err := e.Wait(ctx, "ada", id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// quick counts its runs.
func quick(runs *atomic.Int64) task.Runner {
	return func(_ context.Context, r *task.Run) task.Outcome {
		runs.Add(1)
		return task.Outcome{Status: task.Completed, Result: fmt.Append(nil, "run ", r.Epoch())}
	}
}

func TestDUR08EnginesShareADatabaseAndRiver(t *testing.T) {
	tasktest.RunEngines(t, func(t *testing.T, n int) (all []tasktest.Replica) {
		url := newURL(t, server)
		for range n {
			n := open(t, url)
			all = append(all, tasktest.Replica{Store: n.store, Dispatcher: n.jobs, Started: func(*task.Engine) { n.start(t) }})
		}
		return all
	})
}

func TestDUR05KillsAtEveryPoint(t *testing.T) {
	plan := chaos.Plan{Target: newURL(t, server), Replicas: 3, Times: *kills, Lease: *lease, Seed: uint64(time.Now().UnixNano())}
	plan.Test(t, func() task.Store { return open(t, plan.Target).store })
}

// The job of a task is there if and only if the task is.
func TestDUR01TheJobIsInTheTransactionOfTheTask(t *testing.T) {
	url := newURL(t, server)
	n := open(t, url)
	e := n.engine(t, task.Config{Runner: quick(new(atomic.Int64)), Lease: time.Hour})
	const both = "SELECT count(*) FROM mcpkiln_tasks JOIN river_job ON river_job.args->>'task' = convert_from(mcpkiln_tasks.id, 'UTF8') AND river_job.state = 'available' AND river_job.queue = 'tasks'"
	for range 10 {
		create(t, e)
	}
	if got := n.count(t, both); got != 10 {
		t.Errorf("%d of 10 tasks have a job", got)
	}
	do(t, url, "ALTER TABLE river_job RENAME TO gone")
	if _, err := e.Create(t.Context(), task.Spec{Owner: "ada"}); err == nil || !strings.Contains(err.Error(), "river_job") {
		t.Errorf("without River's tables: %v", err)
	}
	do(t, url, "ALTER TABLE gone RENAME TO river_job")
	if got := n.count(t, "SELECT count(*) FROM mcpkiln_tasks"); got != 10 {
		t.Errorf("%d tasks are left of 10, one of them without a job", got)
	}
}

// A job that comes before Start runs nothing; the task runs after it.
func TestTSK04NothingRunsBeforeStart(t *testing.T) {
	runs := &atomic.Int64{}
	n := open(t, newURL(t, server))
	e := n.engine(t, task.Config{Runner: quick(runs), Lease: time.Hour})
	n.start(t)
	for i := range 10 {
		c := create(t, e)
		until(t, "the first job has come", func() bool {
			n.jobs.mu.Lock()
			defer n.jobs.mu.Unlock()
			return n.jobs.unready[c.Task.ID].delivered
		})
		if runs.Load() != int64(i) {
			t.Error("the task runs before Start")
		}
		c.Start()
		if got := result(t, e, c.Task.ID); string(got.Result) != "run 1" || runs.Load() != int64(i+1) {
			t.Errorf("%s after %d runs", got.Result, runs.Load())
		}
	}
}

// River may deliver jobs twice and late.
func TestDUR05RiverMayDuplicate(t *testing.T) {
	runs := &atomic.Int64{}
	n := open(t, newURL(t, server))
	e := n.engine(t, task.Config{Runner: quick(runs), Lease: time.Hour})
	ids := many(t, e)
	for _, id := range ids {
		if _, err := n.client.Insert(t.Context(), Job{Task: id, Run: 7}, &queue.InsertOpts{Queue: tasks}); err != nil {
			t.Fatal(err)
		}
	}
	n.start(t)
	for _, id := range ids {
		if got := result(t, e, id); string(got.Result) != "run 1" {
			t.Errorf("%s", got.Result)
		}
	}
	until(t, "all jobs are over", func() bool { return n.count(t, "SELECT count(*) FROM river_job WHERE state <> 'completed'") == 0 })
	if runs.Load() != int64(len(ids)) {
		t.Errorf("%d runs of %d tasks", runs.Load(), len(ids))
	}
}

// River may lose jobs.
func TestDUR05RiverMayForget(t *testing.T) {
	url := newURL(t, server)
	n := open(t, url)
	e := n.engine(t, task.Config{Runner: quick(new(atomic.Int64)), Lease: time.Second})
	ids := many(t, e)
	do(t, url, "DELETE FROM river_job WHERE id % 3 = 0")
	n.start(t)
	for _, id := range ids {
		if got := result(t, e, id); got.Status != task.Completed {
			t.Errorf("%+v", got)
		}
	}
}

// many creates some tasks and starts them.
func many(t *testing.T, e *task.Engine) (ids []string) {
	t.Helper()
	for range 20 {
		c := create(t, e)
		c.Start()
		ids = append(ids, c.Task.ID)
	}
	return ids
}

// Engines look for orphans all the time. While River is late that adds no jobs, and one that a dead process was at is replaced once.
func TestDUR05ALongQueueDoesNotGrowByItself(t *testing.T) {
	runs := &atomic.Int64{}
	url := newURL(t, server)
	n := open(t, url)
	e := n.engine(t, task.Config{Runner: quick(runs), Lease: 100 * time.Millisecond})
	ids := many(t, e)
	dispatchAll := func(times int) {
		for i := range times * len(ids) {
			if err := n.jobs.Dispatch(t.Context(), ids[i%len(ids)]); err != nil {
				t.Fatal(err)
			}
		}
	}
	until(t, "the tasks are orphans", func() bool {
		orphans, err := n.store.Orphans(t.Context(), 100)
		return err == nil && len(orphans) == len(ids)
	})
	dispatchAll(3)
	if got := n.count(t, "SELECT count(*) FROM river_job"); got != len(ids) {
		t.Errorf("%d jobs for %d tasks", got, len(ids))
	}
	do(t, url, "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '10 minutes', attempted_by = '{dead}'")
	dispatchAll(3)
	if got := n.count(t, "SELECT count(*) FROM river_job WHERE state = 'available'"); got != len(ids) {
		t.Errorf("%d jobs instead of %d that a dead process has", got, len(ids))
	}
	n.start(t)
	for _, id := range ids {
		result(t, e, id)
	}
}

// Who cancels a job that runs, in River's UI for example, cancels its task.
func TestCAN11ACancelledJobCancelsItsTask(t *testing.T) {
	n := open(t, newURL(t, server))
	began := make(chan struct{})
	e := n.engine(t, task.Config{Lease: time.Hour, Runner: func(ctx context.Context, _ *task.Run) task.Outcome {
		close(began)
		<-ctx.Done()
		return task.Outcome{Status: task.Completed}
	}})
	n.start(t)
	c := create(t, e)
	c.Start()
	<-began
	var job int64 // the last one: one that came too early may count as running a little longer
	if err := n.pool.QueryRow(t.Context(), "SELECT max(id) FROM river_job WHERE state = 'running'").Scan(&job); err != nil {
		t.Fatal(err)
	}
	if _, err := n.client.JobCancel(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if got := result(t, e, c.Task.ID); got.Status != task.Cancelled || got.CancelReason != "its job was cancelled" {
		t.Errorf("the task is %s: %s", got.Status, got.CancelReason)
	}
	is := func(state string) func() bool {
		return func() bool {
			return n.count(t, fmt.Sprintf("SELECT count(*) FROM river_job WHERE id = %d AND state = '%s'", job, state)) == 1
		}
	}
	until(t, "the job is cancelled", is("cancelled"))
	if _, err := n.client.JobRetry(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	until(t, "the job was tried again for nothing", is("completed"))
}

// Without a client nothing is created.
func TestDUR08WithoutAClientNothingIsCreated(t *testing.T) {
	jobs := New(Options{})
	s, err := postgres.Open(t.Context(), newURL(t, server), postgres.Options{Created: jobs.Created})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(t.Context(), task.Task{ID: "id", TTL: time.Hour, Machine: tasktest.Machine()}, task.Quota{}); !errors.Is(err, errUnused) {
		t.Error(err)
	}
	if err := jobs.Dispatch(t.Context(), "id"); !errors.Is(err, errUnused) {
		t.Error(err)
	}
}
