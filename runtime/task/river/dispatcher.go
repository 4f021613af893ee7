package river

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Options say how jobs are inserted. The zero value means River's defaults.
type Options struct {
	// Queue is where the jobs go.
	Queue string
	// Priority is that of the jobs, from 1, the highest, to 4.
	Priority int
	// MaxAttempts is how often River tries a job whose engine can not reach the store.
	MaxAttempts int
}

// Runs returns how often tasks have begun. The store of package postgres does.
type Runs interface {
	// Epoch is how often a task has begun. Error: task.ErrNotFound.
	Epoch(ctx context.Context, id string) (uint64, error)
}

// Dispatcher is a task.Dispatcher whose tasks are run by River's workers. Make one with New, and hand it the client and the store with Use before the
// first task. It is safe for concurrent use.
type Dispatcher struct {
	options Options

	mu      sync.Mutex
	client  *queue.Client[pgx.Tx]
	runs    Runs
	engine  *task.Engine
	unready map[string]*creation // tasks that were created here and not started yet
	oldest  []created            // the keys of unready, and earlier ones, the oldest first
}

// creation is a task that was not started yet.
type creation struct {
	delivered bool // its first job has come, too early
}

type created struct {
	id string
	at time.Time
}

var errUnused = errors.New("river: the dispatcher has no client yet: call Use before the first task")

// New returns a dispatcher.
func New(o Options) *Dispatcher {
	return &Dispatcher{options: o, unready: map[string]*creation{}}
}

// Use hands over the client that inserts jobs, and the store of the tasks.
func (d *Dispatcher) Use(client *queue.Client[pgx.Tx], runs Runs) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.client, d.runs = client, runs
}

// Deliver implements task.Deliverer: the worker's jobs run on this engine.
func (d *Dispatcher) Deliver(to *task.Engine) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.engine = to
}

func (d *Dispatcher) parts() (*queue.Client[pgx.Tx], Runs, *task.Engine) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.client, d.runs, d.engine
}

// unique are the states in which a job keeps another one for the same run from being inserted: those in which it may still begin it.
var unique = []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning,
	rivertype.JobStateScheduled}

func (d *Dispatcher) opts() *queue.InsertOpts {
	return &queue.InsertOpts{Queue: d.options.Queue, Priority: d.options.Priority, MaxAttempts: d.options.MaxAttempts,
		UniqueOpts: queue.UniqueOpts{ByArgs: true, ByState: unique}}
}

// Created is for postgres.Options: it inserts the jobs of tasks in the transaction that creates them.
func (d *Dispatcher) Created(ctx context.Context, tx pgx.Tx, ids []string) error {
	client, _, _ := d.parts()
	if client == nil {
		return errUnused
	}
	jobs := make([]queue.InsertManyParams, len(ids))
	for i, id := range ids {
		jobs[i] = queue.InsertManyParams{Args: Job{Task: id, Run: 1}, InsertOpts: d.opts()}
	}
	d.note(ids)
	_, err := client.InsertManyFastTx(ctx, tx, jobs)
	return err
}

// startWithin is the time after which a task that was created here counts as started: its creation or its creator has failed.
const startWithin = 5 * time.Minute

// note makes the first jobs of tasks wait until these are started, which is after their creator has answered with their ids (TSK04). That holds in
// this process: a worker of another one may run a task as soon as its row is committed.
func (d *Dispatcher) note(ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, over := time.Now(), 0
	for ; over < len(d.oldest); over++ {
		c := d.oldest[over]
		if d.unready[c.id] != nil && now.Sub(c.at) <= startWithin {
			break
		}
		delete(d.unready, c.id)
	}
	d.oldest = slices.Delete(d.oldest, 0, over)
	for _, id := range ids {
		d.unready[id] = &creation{}
		d.oldest = append(d.oldest, created{id, now})
	}
}

// tooEarly notes that a job has come, and reports whether that was before its task was started here.
func (d *Dispatcher) tooEarly(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.unready[id]
	if c != nil {
		c.delivered = true
	}
	return c != nil
}

// started notes that a task may run, and reports whether its first job, which has not come yet, will run it.
func (d *Dispatcher) started(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.unready[id]
	delete(d.unready, id)
	return c != nil && !c.delivered
}

// Dispatch implements task.Dispatcher: it inserts a job for the next run of a task, unless there is one.
func (d *Dispatcher) Dispatch(ctx context.Context, id string) error {
	if d.started(id) {
		return nil
	}
	client, runs, _ := d.parts()
	if client == nil {
		return errUnused
	}
	run, err := runs.Epoch(ctx, id)
	if errors.Is(err, task.ErrNotFound) {
		return nil // there is nothing to run any more
	}
	if err != nil {
		return err
	}
	job := Job{Task: id, Run: run + 1}
	for {
		res, err := client.Insert(ctx, job, d.opts())
		if err != nil || !res.UniqueSkippedAsDuplicate || res.Job.State != rivertype.JobStateRunning {
			return err
		}
		job.Instead = res.Job.ID // it may have come too early, be in a dead process, or begin in this moment
	}
}
