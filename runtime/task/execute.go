package task

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Run runs the task id to its end, unless another run has it. A Dispatcher must make sure that Run is called for each id;
// calling it twice or late does nothing. It returns nil when there is nothing left to run, and an error if the store failed or the
// engine is closed: then deliver the id again.
func (e *Engine) Run(id string) error {
	if !e.enter() {
		return ErrClosed
	}
	defer e.leave()
	return e.execute(id)
}

func (e *Engine) execute(id string) error {
	r := e.runOf(id)
	if err := e.begin(r, id); err != nil {
		return e.beginFailed(r, err)
	}
	defer e.forget(r)
	e.perform(r)
	return nil
}

// begin takes the lease. It is a function of its own so that its frame is gone when the handler needs the stack.
func (e *Engine) begin(r *Run, id string) error {
	return e.retryOutage(e.base, retryLimit{most: e.config.Lease}, func(ctx context.Context, _ bool) error {
		from := time.Now()
		b, err := e.store.Begin(ctx, id, e.config.Node, e.config.Lease)
		if err == nil {
			e.fillIn(r, &b, from)
		}
		return err
	})
}

// runOf returns the Run with which a task begins: the one that Create made, or a new one. A Run of the task that has begun is not stopped here: only Begin
// shows whether its lease is over (enlist).
func (e *Engine) runOf(id string) *Run {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.runs[id]; r != nil && r.Epoch() == 0 {
		return r
	}
	r := e.newRun(id)
	e.beginning[id] = append(e.beginning[id], r)
	return r
}

// leaveBeginning notes that the run is no longer about to begin. The caller holds the lock.
func (e *Engine) leaveBeginning(r *Run, id string) {
	if rest := e.beginning[id]; slices.Contains(rest, r) {
		if e.beginning[id] = slices.DeleteFunc(rest, func(other *Run) bool { return other == r }); len(e.beginning[id]) == 0 {
			delete(e.beginning, id)
		}
	}
}

// beginFailed handles a run that did not begin. An id that was delivered twice or late is no failure.
func (e *Engine) beginFailed(r *Run, err error) error {
	e.mu.Lock()
	e.leaveBeginning(r, r.id())
	e.mu.Unlock()
	var over *TerminalError
	switch {
	case errors.Is(err, ErrLease):
		e.forgetLater(r) // another run has the task, and this process may still begin it within a lease
		return nil
	case errors.As(err, &over), errors.Is(err, ErrNotFound):
		e.forgetUnbegun(r)
		return nil
	}
	e.audit.failed("begin", &Task{ID: r.id()}, err)
	e.forgetUnbegun(r)
	return err
}

// fillIn notes in the Run what a call of Begin, made at from, returned, and starts the timeout.
func (e *Engine) fillIn(r *Run, b *Begun, from time.Time) {
	r.mu.Lock()
	e.timers.remove(r.timer)
	if r.task.CancelRequested { // a cancel came after Begin had read the task
		b.Task.CancelRequested, b.Task.CancelReason = true, r.task.CancelReason
	}
	r.timer, r.epoch, r.crashes, r.fenced, r.task = nil, b.Lease.Epoch, int32(min(b.Crashes, math.MaxInt32)), from.Sub(e.began)+e.fenceAfter(), b.Task
	for i := range b.Journal {
		r.remember(b.Journal[i])
	}
	r.clocks = clocks{b.Now, time.Since(e.began)}
	r.handlerMayBeBusy = beginsBusy(b.Journal, b.Now)
	hinted := r.hinted
	left := b.Task.Timeout - b.Task.Ran
	if b.Task.Timeout > 0 && left > 0 {
		r.timer = e.timers.add(time.Now().Add(left), func() { e.timeout(r) })
	}
	r.mu.Unlock()
	e.enlist(r, b.Account, from)
	if b.Task.CancelRequested {
		r.cancelled(&b.Task)
	} else if hinted {
		e.interrupt(b.Task.ID)
	}
	if b.Task.Timeout > 0 && left <= 0 {
		r.stop(inflight.SourceTimeout, "", nil) // earlier runs took all the time there is: the handler is not called
	}
}

// enlist makes the run known. If the task has another run here, that one has lost its lease.
func (e *Engine) enlist(r *Run, account string, from time.Time) {
	e.mu.Lock()
	id := r.task.ID
	before, closed := e.runs[id], e.closed
	if before != r {
		e.runs[id] = r
		e.leaveBeginning(r, id)
		e.inheritEvents(r, before, id)
	}
	e.dropWakeTimerLocked(id)
	if !r.slot {
		// The slot of Create is not held here: the task was created elsewhere, this is a later run, or the slot was given back early (dispatched, or
		// discarded).
		r.requestor, r.slot = requestorOf(account, r.task.Owner), true
		e.slots.take(r.requestor)
	}
	e.planHeartbeat(from)
	e.mu.Unlock()
	if before != nil && before != r {
		before.stop(inflight.SourceParent, "", ErrLease)
	}
	if closed {
		e.stopForShutdown(r)
	}
}

// forget releases what the engine holds of a run.
func (e *Engine) forget(r *Run) {
	r.mu.Lock()
	e.timers.remove(r.timer)
	r.timer = nil
	id := r.task.ID
	r.mu.Unlock()
	r.end(e.over) // with the cause "completed": what the handler left running ends
	e.mu.Lock()
	defer e.mu.Unlock()
	e.freeSlot(r)
	if e.runs[id] == r {
		delete(e.runs, id)
		e.bequeathEvents(r, id)
	}
}

// forgetUnbegun is forget for a run that has not begun: execute forgets others when they are over.
func (e *Engine) forgetUnbegun(r *Run) {
	if r.Epoch() == 0 {
		e.forget(r)
	}
}

// perform calls the runner. A panic or runtime.Goexit fails the task and nothing else (TSK25).
func (e *Engine) perform(r *Run) {
	var out Outcome
	returned := false
	defer func() {
		if p := recover(); p != nil || !returned {
			e.failDefective(r, p, &out)
		}
		e.mu.Lock()
		e.freeSlot(r) // a caller that reads the result can create the next task
		e.mu.Unlock()
		e.endTask(r, &out)
	}()
	switch {
	case r.cause() != nil:
	case int(r.crashes) > r.task.Reruns:
		out = crashed(int(r.crashes))
	case e.leaveToOthers(r):
		r.stop(inflight.SourceParent, "", errForOthers)
	case e.alwaysReplays && r.Epoch() > maxReplays: // a test's store (Replayer): the handler runs again after each step
		out = internal(fmt.Sprintf("the handler was run again %d times and is not done: are the names of its steps and questions the same in every run?", maxReplays))
	case r.markRunnerCalled(): // false: the run has ended, its cause decides
		out = e.config.Runner(&r.ctx, r)
	}
	returned = true
}

// failDefective sets the outcome of a defective handler. Its error stays "internal error", as without a task (TSK10); only the status message says
// more.
func (e *Engine) failDefective(r *Run, panicked any, o *Outcome) {
	*o = internal("internal error")
	if o.Message = "the handler ended without a result"; panicked != nil {
		o.Message = "the handler panicked"
		e.audit.panicked(&r.task, panicked)
		return
	}
	e.audit.exited(&r.task)
}

// endTask ends the task as its run ended. Once the run's context has ended, its cause decides, whatever the
// handler returned. Unusual ends have functions of their own, here and in finish, so that the stacks of usual runs stay small.
func (e *Engine) endTask(r *Run, o *Outcome) {
	if c := r.cause(); c != nil {
		e.endByCause(r, c)
		return
	}
	e.limitResult(o)
	e.finish(r, o)
}

func (e *Engine) endByCause(r *Run, c *inflight.Cause) {
	var o Outcome
	switch {
	case errors.Is(c, ErrExpired), errors.Is(c, ErrDiscarded), errors.Is(c, ErrLease), c.Source == inflight.SourceCompleted:
		// The task is gone, belongs to another run, or has ended already.
		return
	case c.Source == inflight.SourcePeer:
		o = cancelled(c.Reason)
	case c.Source == inflight.SourceTimeout:
		o = e.timedOut(r.Task())
	case errors.Is(c, ErrParked):
		e.parkForAnswer(r)
		return
	case errors.Is(c, errForOthers):
		_, _ = e.park(r) // if that fails, the lease ends by itself
		return
	case e.store.Durable() && (!r.wasRunnerCalled() || r.mayRunAgain()):
		e.park(r)
		return
	default:
		o = shutDown()
	}
	e.finish(r, &o)
}

// finish ends the task unless somebody else has: one compare-and-set decides (TSK07). It waits for the store for as long as the engine
// lives, even past the lease: until another run begins, finished work need not be done again (DUR06).
func (e *Engine) finish(r *Run, o *Outcome) {
	p := retryLimit{}
	if c := r.cause(); c != nil && c.Source == inflight.SourceShutdown {
		p.most = lastPause // a shutdown does not wait for a store that is away
	}
	err := e.retryOutage(e.base, p, func(ctx context.Context, again bool) error {
		t, err := e.store.Finish(ctx, r.lease(), *o)
		if again && isOver(err) {
			t, err = e.endedAs(ctx, r, o.Status)
		}
		if err == nil {
			e.audit.ended(e.base, &t)
			r.publish(&t)
		}
		return err
	})
	if err != nil {
		e.unfinished(r, o, err)
	}
}

// endedAs returns the task if it is over with that status: then an earlier try of finish has ended it. With another status somebody else has:
// *TerminalError.
func (e *Engine) endedAs(ctx context.Context, r *Run, status Status) (Task, error) {
	t, err := e.store.Get(ctx, r.task.Owner, r.task.ID)
	if err == nil && t.Status != status {
		err = &TerminalError{Status: t.Status}
	}
	return t, err
}

func isOver(err error) bool {
	var over *TerminalError
	return errors.As(err, &over)
}

// unfinished handles an outcome that the store did not take.
func (e *Engine) unfinished(r *Run, o *Outcome, err error) {
	var over *TerminalError
	var limit *LimitError
	if errors.As(err, &limit) && o.size() > SmallGrowth { // an outcome up to that size is never refused
		small := internal(fmt.Sprintf("the result of %d bytes can not be kept: %v", o.size(), limit))
		e.finish(r, &small)
		return
	}
	if errors.As(err, &over) || errors.Is(err, ErrLease) || errors.Is(err, ErrNotFound) {
		e.audit.dropped(&r.task, *o, err)
		return
	}
	// The store was away until the engine closed or the shutdown stopped waiting, or it has lost the task: another run may follow after a restart. Those
	// who wait for this one get ErrClosed, or are woken by the store (ErrLost).
	e.audit.failed("finish", &r.task, err)
}

// park gives the lease back, at most once. It may be called twice: by Engine.timeout, while a handler that was told to park has not returned, and when
// it returns.
func (e *Engine) park(r *Run) (t Task, err error) {
	if !r.markParked() {
		return t, ErrLease // it has no lease any more
	}
	err = r.retryOutage(e.base, func(ctx context.Context, again bool) (err error) {
		t, err = e.store.Park(ctx, r.lease())
		if again && (errors.Is(err, ErrLease) || isOver(err)) {
			t, err = e.store.Get(ctx, r.task.Owner, r.task.ID) // an earlier try has given it back, or ended the task
		}
		return err
	})
	switch {
	case err == nil && t.Status.Terminal(): // a cancel came first
		e.audit.ended(e.base, &t)
		r.publish(&t)
	case err != nil && !isOver(err):
		e.audit.failed("park", &r.task, err)
	}
	return t, err
}

// markParked notes that the run parks, and reports whether that was not noted before.
func (r *Run) markParked() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := !r.parked
	r.parked = true
	return first
}

// timeout ends a run that took too long, also one whose handler does not listen.
func (e *Engine) timeout(r *Run) {
	r.stop(inflight.SourceTimeout, "", nil)
	if r.cause().Source != inflight.SourceShutdown { // else the return of the handler decides, or the end of Close's wait
		e.spawn(func() { e.endTask(r, new(Outcome)) })
	}
}

// limitResult refuses results that are too large to store (TSK22).
func (e *Engine) limitResult(o *Outcome) {
	if limit := e.limits.ResultBytes; limit > 0 && len(o.Result) > limit {
		*o = internal(fmt.Sprintf("the result of %d bytes is larger than the limit of %d", len(o.Result), limit))
	}
}

func internal(message string) Outcome {
	return Outcome{Status: Failed, Message: message, Error: &rpc.Error{Code: rpc.CodeInternalError, Message: message}}
}

func (e *Engine) timedOut(t Task) Outcome {
	if e.config.TimedOut != nil {
		return e.config.TimedOut(t)
	}
	return internal(fmt.Sprintf("timed out after %v", t.Timeout))
}

// crashed is the end of a task that may not begin again.
func crashed(times int) Outcome {
	if times == 1 {
		return internal("the server died or lost its store in a run of the task, and the task may not run again")
	}
	return internal(fmt.Sprintf("the server died or lost its store in %d runs of the task", times))
}

func shutDown() Outcome { return internal("the server was shut down before the task was done") }
