package task

import (
	"context"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/rate"
)

// Get returns the task. Errors: ErrNotFound, *LimitError when it is polled too fast (TSK22).
func (e *Engine) Get(ctx context.Context, owner, id string) (Task, error) {
	t, err := e.store.Get(ctx, owner, id)
	if err != nil {
		e.audit.refused(ctx, "get", owner, id, err)
		return Task{}, err
	}
	if n := e.limits.PollsPerSecond; n > 0 {
		if wait := e.polls.Take(id, rate.Limit{PerSecond: n, Burst: 2 * n}, 1); wait > 0 {
			err := &LimitError{What: "reads of one task per second", Max: int64(n), Wait: wait}
			e.audit.refused(ctx, "get", owner, id, err)
			return Task{}, err
		}
	}
	e.audit.read(ctx, &t)
	return t, nil
}

// Look is Get for the server itself: it counts as no poll, and the audit does not record it as a retrieval. Unlike Watch it leaves nothing in the
// store.
func (e *Engine) Look(ctx context.Context, owner, id string) (Task, error) {
	t, err := e.store.Get(ctx, owner, id)
	if err != nil {
		e.audit.refused(ctx, "look", owner, id, err)
	}
	return t, err
}

// LookForResult is Look for a caller that returns the result if the task is over: then the audit records a retrieval (TSK23), as Wait does.
func (e *Engine) LookForResult(ctx context.Context, owner, id string) (Task, error) {
	t, err := e.Look(ctx, owner, id)
	if err == nil && t.Status.Terminal() {
		e.audit.read(ctx, &t)
	}
	return t, err
}

// List returns a page of the owner's tasks in order of creation (TSK16); limit 0 means Limits.Page. Error: ErrCursor.
func (e *Engine) List(ctx context.Context, owner, cursor string, limit int) (Page, error) {
	p, err := e.store.List(ctx, owner, cursor, e.page(limit))
	if err != nil {
		e.audit.refused(ctx, "list", owner, "", err)
	}
	return p, err
}

// Cancel cancels the task at once (Force: on return it is cancelled, TSK18) or asks the work to stop (EXT11). A late
// result is dropped. Errors: ErrNotFound; *TerminalError, with the task, if it is over.
func (e *Engine) Cancel(ctx context.Context, owner, id string, c Cancel) (Task, error) {
	ev := e.enterEvents(id)
	defer e.leaveEvents(id, ev)
	t, err := e.store.Cancel(ctx, owner, id, c)
	if err != nil {
		e.audit.refused(ctx, "cancel", owner, id, err)
		return t, err
	}
	e.audit.cancelled(ctx, &t, c)
	if t.Status.Terminal() {
		e.dropWakeTimer(id)
	}
	for _, r := range e.reach(id) {
		r.cancelled(&t)
	}
	e.publish(ev, &t)
	return t, nil
}

// Answer answers open questions; names that are not open are ignored (EXT10). The first answer counts.
func (e *Engine) Answer(ctx context.Context, owner, id string, answers ...Answer) (Task, error) {
	t, err := e.answer(ctx, owner, id, answers)
	if err != nil {
		e.audit.refused(ctx, "answer", owner, id, err)
	}
	return t, err
}

func (e *Engine) answer(ctx context.Context, owner, id string, answers []Answer) (Task, error) {
	r, ev := e.run(id), e.enterEvents(id)
	defer e.leaveEvents(id, ev)
	t, err := e.store.Answer(ctx, owner, id, answers)
	if err != nil {
		return t, err
	}
	if t.Status.Terminal() {
		return t, nil // nothing was open
	}
	e.publish(ev, &t)
	if (r == nil || r.whyHandedOn() != nil) && t.closedBy(answers) {
		e.dropWakeTimer(id)
		e.dispatch(id) // the task was parked until now, or runs elsewhere: Begin finds out
	}
	return t, nil
}

// Keep is Answer for an answer that comes only once: an outage of the store that is no longer than a lease is waited out (DUR06).
func (e *Engine) Keep(ctx context.Context, owner, id string, answer Answer) (t Task, err error) {
	err = e.retryOutage(ctx, retryLimit{most: e.config.Lease}, func(ctx context.Context, _ bool) (err error) {
		t, err = e.answer(ctx, owner, id, []Answer{answer})
		return err
	})
	if err != nil {
		e.audit.refused(ctx, "answer", owner, id, err)
	}
	return t, err
}

// Discard removes the tasks of an owner that no longer exists, and stops their work with cause disconnect.
func (e *Engine) Discard(ctx context.Context, owner string) {
	tasks, err := e.store.Discard(ctx, owner)
	if err != nil {
		e.audit.failed("discard", &Task{Owner: owner}, err)
	}
	for i := range tasks {
		t := &tasks[i]
		e.removed(ctx, "task discarded", t)
		if r := e.run(t.ID); r != nil {
			r.stop(inflight.SourceDisconnect, "", ErrDiscarded)
			e.forgetUnbegun(r)
		}
	}
}

// publish reports a change of a task.
func (e *Engine) publish(ev *events, t *Task) {
	if onChange := e.config.OnChange; onChange != nil {
		ev.publish(t, onChange)
	}
}

// Wait blocks until the task is over and returns it (TSK09). Outages of the store that are no longer than a lease are waited out (DUR06).
// Errors: ErrNotFound, also when the task expires meanwhile (TSK15); the cause of ctx's end; ErrClosed.
func (e *Engine) Wait(ctx context.Context, owner, id string) (Task, error) {
	var t Task
	err := e.read(ctx, owner, id, &t) // most tasks are over by then, and need no channel
	for err == nil && !t.Status.Terminal() {
		err = e.waitOnce(ctx, owner, id, &t)
	}
	if err == nil {
		e.audit.read(ctx, &t)
		return t, nil
	}
	if !errors.Is(err, ErrClosed) && ctx.Err() == nil {
		e.audit.refused(ctx, "wait", owner, id, err)
	}
	return Task{}, err
}

// waitOnce reads the task into t after it may have changed, or at once if it is over. waitOnce, read and watch take a pointer because a Task is
// large: copying it at every return was a tenth of the time of a short task.
func (e *Engine) waitOnce(ctx context.Context, owner, id string, t *Task) error {
	changed, err := e.watch(ctx, retryLimit{most: e.config.Lease}, owner, id, t)
	if err != nil || t.Status.Terminal() {
		return err
	}
	select {
	case <-changed:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.done:
		return ErrClosed
	}
	tool := t.Tool
	err = e.read(ctx, owner, id, t)
	if errors.Is(err, ErrNotFound) {
		return &NotFoundError{Expired, tool} // only expiry removes a task while its owner exists
	}
	return err
}

// read is the store's Get, which is tried again during an outage of at most a lease.
func (e *Engine) read(ctx context.Context, owner, id string, t *Task) error {
	return e.retryOutage(ctx, retryLimit{most: e.config.Lease}, func(ctx context.Context, _ bool) (err error) {
		*t, err = e.store.Get(ctx, owner, id)
		return err
	})
}

// watch is the store's Watch, which is tried again during an outage. No try has a context of its own: what the channel holds is released when its context
// ends.
func (e *Engine) watch(ctx context.Context, p retryLimit, owner, id string, t *Task) (changed <-chan struct{}, err error) {
	err = e.retryOutage(ctx, p, func(context.Context, bool) (err error) {
		*t, changed, err = e.store.Watch(ctx, owner, id)
		return err
	})
	return changed, err
}

// Watch returns the task and a channel that is closed when it may have changed since: then read it again. Whoever serves
// tasks/result calls it in a loop to deliver Task.Questions. A closing engine closes Done, not the channel. An outage of the store is waited out for as
// long as ctx lasts (DUR06): questions that were asked are still to be delivered.
func (e *Engine) Watch(ctx context.Context, owner, id string) (t Task, changed <-chan struct{}, err error) {
	if changed, err = e.watch(ctx, retryLimit{}, owner, id, &t); err != nil {
		e.audit.refused(ctx, "watch", owner, id, err)
	}
	return t, changed, err
}

// Done is closed when the engine is closed: waiters should stop.
func (e *Engine) Done() <-chan struct{} { return e.done }
