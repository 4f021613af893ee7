package task

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// Run is one run of a task, as its Runner sees it. Its methods are safe for concurrent use.
//
// The engine makes the first Run of a task at Create, so that there is a context to end from then on, and fills it in at Begin. Any other is made for Begin.
type Run struct {
	engine *Engine
	ctx    runContext
	end    context.CancelCauseFunc
	local  any // Spec.Local
	events *events
	first  events // of the task's first run in this process; here, since it costs no allocation

	requestor requestor // in whose limits the slot counts

	slot bool // the run has a slot; guarded by Engine.mu

	// These are used by the goroutine that begins the task (Beginning) only.
	released bool // changes are reported
	entered  bool // Close waits for the run: Engine.leave is to be called

	mu               sync.Mutex
	task             Task   // as it was at Create, then at Begin, and whether somebody has asked to cancel since
	epoch            uint64 // of the lease; 0 before Begin
	clocks           clocks
	fenced           time.Duration     // when the run has to stop unless a heartbeat extends the lease, since the engine began; 0: never
	timer            *timer            // of the timeout; paused while asking > 0
	journal          map[string]*Entry // by name, as far as this run knows it
	doing            map[string]bool   // names of steps that are being done
	crashes          int32             // of earlier runs
	asking           int32             // open questions of this run
	started          bool              // Beginning.Start or Run was called
	parking          bool              // the run ends when no step is being done
	nextAtOnce       bool              // it parks without waiting for an answer: after a step, in tests that replay
	handlerMayBeBusy bool              // the handler was given an answer while another question was open: it may be at work
	parked           bool              // the lease is being given back, or has been
	hinted           bool              // an Interrupter hinted at the task before it had begun
	runnerCalled     bool              // the runner was called, or is about to be
}

// runContext is a run's context. Unlike a plain context with a cause, its Err distinguishes a timeout from a cancel.
type runContext struct{ context.Context }

func (c *runContext) Err() error {
	err := c.Context.Err()
	if err != nil && errors.Is(context.Cause(c.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}

// clocks are the moment of Begin by the store's clock, and as time since the engine began, read after that: a time that is converted is late, at most by
// the call of the store. The two clocks may differ.
type clocks struct {
	store time.Time
	local time.Duration
}

// localTime returns a time of the store's clock by this process's clock, never too early.
func (r *Run) localTime(t time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.engine.began.Add(r.clocks.local).Add(t.Sub(r.clocks.store)) // times do not overflow where durations would
}

// newRun makes a run whose context derives from no request: it outlives requests and connections (TSK06).
func (e *Engine) newRun(id string) *Run {
	r := &Run{engine: e, task: Task{ID: id}}
	r.events = &r.first
	r.ctx.Context, r.end = context.WithCancelCause(context.Background())
	return r
}

// Task is the task as it was when the run began, except that CancelRequested and CancelReason are current.
func (r *Run) Task() Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.task
}

func (r *Run) id() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.task.ID
}

// Context is the run's context, the one that the Runner gets.
func (r *Run) Context() context.Context { return &r.ctx }

// Local is Spec.Local if the task was created by this engine, else nil: after a restart, or in another process.
func (r *Run) Local() any { return r.local }

// Epoch counts the runs of the task, 1 for the first.
func (r *Run) Epoch() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.epoch
}

// CancelRequested reports whether somebody asked to cancel, also for tasks that can not be cancelled.
func (r *Run) CancelRequested() (reason string, asked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.task.CancelReason, r.task.CancelRequested
}

// Describe changes the task's status message.
func (r *Run) Describe(ctx context.Context, message string) error {
	var t Task
	err := r.retryOutage(ctx, func(ctx context.Context, _ bool) (err error) {
		t, err = r.engine.store.Describe(ctx, r.lease(), message)
		return err
	})
	if err != nil {
		return r.causeOr(err)
	}
	r.publish(&t)
	return nil
}

// lease returns the run's lease.
func (r *Run) lease() Lease {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Lease{r.task.ID, r.engine.config.Node, r.epoch}
}

func (r *Run) publish(t *Task) { r.engine.publish(r.events, t) }

// cause is why the run's context ended, nil while it has not.
func (r *Run) cause() *inflight.Cause {
	c, _ := context.Cause(&r.ctx).(*inflight.Cause)
	return c
}

// markRunnerCalled notes that the runner is called, unless the run has ended, and reports whether it is called. At a shutdown, a task without
// reruns is parked only if its runner was not called (endByCause).
func (r *Run) markRunnerCalled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runnerCalled = r.cause() == nil
	return r.runnerCalled
}

func (r *Run) wasRunnerCalled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runnerCalled
}

// stop ends the run's context. If another run goes on with the task, the source is inflight.SourceParent: this engine has given the run up.
func (r *Run) stop(source inflight.Source, reason string, err error) {
	r.end(&inflight.Cause{Source: source, Reason: reason, Err: err})
}

// cancelled notes that a caller asked to cancel, and stops the work unless it can not be cancelled (TSK18, EXT11).
func (r *Run) cancelled(t *Task) {
	r.mu.Lock()
	r.task.CancelRequested, r.task.CancelReason = true, t.CancelReason
	r.mu.Unlock()
	if !t.Uncancellable || t.Status.Terminal() {
		r.stop(inflight.SourcePeer, t.CancelReason, nil)
	}
}
