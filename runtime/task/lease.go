package task

import (
	"context"
	"errors"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

const (
	beatsPerLease = 3  // heartbeats in the time of a lease
	triesPerLease = 12 // the same, once one has failed
	fenceMargin   = 10 // a fenced run has the last tenth of its lease to end in
)

// fenceAfter is how long a run may write, counted from the beginning of the call that granted or extended its lease. The store counts the
// lease from a later moment; the rest of the lease is for the run to end in.
func (e *Engine) fenceAfter() time.Duration { return e.config.Lease - e.config.Lease/fenceMargin }

// fenceDeadline returns the time until which the run may write, by this process's monotonic clock; zero: for ever, because no other run can follow it.
func (r *Run) fenceDeadline() (at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fenced != 0 {
		at = r.engine.began.Add(r.fenced)
	}
	return at
}

func (r *Run) setFence(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fenced = 0; !at.IsZero() {
		r.fenced = at.Sub(r.engine.began)
	}
}

// mayWrite reports whether the run is not fenced.
func (r *Run) mayWrite() bool {
	at := r.fenceDeadline()
	return at.IsZero() || time.Now().Before(at)
}

// planHeartbeat plans the next heartbeat and the next look at fences for a run whose lease began at from. The caller holds the lock.
func (e *Engine) planHeartbeat(from time.Time) {
	e.planAfter(&e.heartbeat, from, e.config.Lease/beatsPerLease, (*Engine).beat)
	e.planAfter(&e.fence, from, e.fenceAfter(), (*Engine).stopFenced)
}

// beat extends the leases of what runs here, and stops what should no longer run. It plans the next heartbeat unless nothing runs.
func (e *Engine) beat() {
	e.unplan(&e.heartbeat)
	leases, runs := e.leases()
	if len(leases) == 0 {
		return
	}
	from := time.Now()
	ctx, cancel := context.WithTimeout(e.base, e.config.Lease/beatsPerLease)
	b, err := e.store.Heartbeat(ctx, leases, e.config.Lease)
	cancel()
	if err != nil {
		e.audit.failed("heartbeat", &Task{}, err)
		e.plan(&e.heartbeat, time.Now().Add(e.config.Lease/triesPerLease), (*Engine).beat)
		return
	}
	e.plan(&e.heartbeat, from.Add(e.config.Lease/beatsPerLease), (*Engine).beat)
	for _, l := range b.Lost {
		e.reconsider(runs[l.Task], true)
		delete(runs, l.Task)
	}
	for _, r := range runs {
		r.setFence(from.Add(e.fenceAfter()))
	}
	for _, l := range b.Cancel {
		e.reconsider(runs[l.Task], false)
	}
}

// leases returns the leases of what runs here, and the runs by task.
func (e *Engine) leases() ([]Lease, map[string]*Run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var leases []Lease
	runs := map[string]*Run{}
	for id, r := range e.runs {
		if l := r.lease(); l.Epoch > 0 {
			leases = append(leases, l)
			runs[id] = r
		}
	}
	return leases, runs
}

// reconsider reads from the store why a run should stop, and stops it accordingly. If the store can not say, the next heartbeat asks
// again, or the fence stops the run.
func (e *Engine) reconsider(r *Run, lost bool) {
	task := r.Task()
	t, err := e.store.Get(e.base, task.Owner, task.ID)
	switch {
	case errors.Is(err, ErrNotFound) && task.Uncancellable:
		r.setFence(time.Time{}) // expired: its work goes on, for nobody to read the result (CAN14)
	case errors.Is(err, ErrNotFound):
		r.stop(inflight.SourceTimeout, "", ErrExpired)
	case err != nil:
		e.audit.failed("get", &task, err)
	case t.CancelRequested:
		r.cancelled(&t)
	case lost || t.Status.Terminal():
		r.stop(inflight.SourceParent, "", ErrLease)
	}
}

// stopFenced stops the runs whose leases are about to end without a heartbeat, before another process may begin them (DUR02), and plans
// the next look.
func (e *Engine) stopFenced() {
	e.unplan(&e.fence)
	_, runs := e.leases()
	now, next := time.Now(), time.Time{}
	for _, r := range runs {
		at := r.fenceDeadline()
		switch {
		case at.IsZero() || r.ctx.Err() != nil:
		case !now.Before(at):
			r.stop(inflight.SourceParent, "", ErrLease)
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	if !next.IsZero() {
		e.plan(&e.fence, next, (*Engine).stopFenced)
	}
}
