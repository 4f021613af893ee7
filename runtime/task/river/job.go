package river

import (
	"context"
	"errors"
	"time"

	queue "github.com/riverqueue/river"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Job are the arguments of a job: ids, and nothing of what the task is about.
type Job struct {
	Task string `json:"task"`
	// Run is which run of the task the job is meant to begin, 1 for the first. It may begin a later one.
	Run uint64 `json:"run"`
	// Instead is the id of a job for the same run that is being worked at and has not begun it; so the two differ.
	Instead int64 `json:"instead,omitempty"`
}

// Kind implements river.JobArgs.
func (Job) Kind() string { return "mcpkiln_task" }

// Worker returns the worker for river.AddWorker.
func (d *Dispatcher) Worker() queue.Worker[Job] { return &worker{dispatcher: d} }

type worker struct {
	queue.WorkerDefaults[Job]
	dispatcher *Dispatcher
}

const (
	// rescueAfter is the time after which River runs a job again whose process may have died. A run may take longer: then that job finds nothing to do.
	rescueAfter = time.Hour
	// again is the time after which a job is delivered again that no engine could take.
	again = time.Second
)

// Timeout implements river.Worker. It ends no run: a task has a timeout of its own.
func (*worker) Timeout(*queue.Job[Job]) time.Duration { return rescueAfter }

// Work implements river.Worker: it runs the task, and returns when the run has ended.
func (w *worker) Work(ctx context.Context, job *queue.Job[Job]) error {
	d, id := w.dispatcher, job.Args.Task
	_, _, engine := d.parts()
	if engine == nil {
		return queue.JobSnooze(again)
	}
	if d.tooEarly(id) {
		return nil // Start inserts another job
	}
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(id) }() // Close of the engine waits for it
	for done := ctx.Done(); ; {
		select {
		case err := <-ended:
			return outcome(ctx, err)
		case <-done:
			done = nil
			switch cause := context.Cause(ctx); {
			case errors.Is(cause, queue.ErrJobCancelledRemotely):
				cancel(context.WithoutCancel(ctx), engine, id)
			case !errors.Is(cause, context.DeadlineExceeded): // of rescueAfter
				return cause // the client does not wait any more; the engine still does
			}
		}
	}
}

// outcome returns how a job ends whose run has ended. The result itself is kept in the task, not in the job.
func outcome(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, queue.ErrJobCancelledRemotely):
		return cause
	case errors.Is(err, task.ErrClosed):
		return queue.JobSnooze(again) // for another process
	}
	return err
}

// cancel asks the task whose job was cancelled to stop, as its client would.
func cancel(ctx context.Context, engine *task.Engine, id string) {
	for _, r := range engine.Running() {
		if r.ID == id {
			_, _ = engine.Cancel(ctx, r.Owner, id, task.Cancel{Reason: "its job was cancelled"}) // the engine logs what goes wrong
			return
		}
	}
}
