package task

import (
	"context"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

const (
	sweepBatch = 1024
	// sweepGap is the least time between two sweeps, so that tasks that expire one after the other share one. A task past its ttl is not
	// found anyway; only its work stops that much later.
	sweepGap = 5 * time.Millisecond
	// orphanBatch bounds how many orphans are dispatched at once.
	orphanBatch = 256
)

// expireAt plans a sweep at that time, unless an earlier one is planned.
func (e *Engine) expireAt(at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sweep != nil && !at.Before(e.sweep.at) {
		return
	}
	e.timers.remove(e.sweep)
	e.sweep = e.timers.add(at, func() { e.spawn(e.expire) })
}

// expire removes what has expired, stops its work, and plans the next sweep (TSK15).
func (e *Engine) expire() {
	e.mu.Lock()
	e.sweep = nil
	e.mu.Unlock()
	for {
		x, err := e.store.Expire(e.base, sweepBatch)
		if err != nil {
			e.audit.failed("expiry", &Task{}, err)
			e.expireAt(time.Now().Add(time.Second))
			return
		}
		for i := range x.Removed {
			e.expired(&x.Removed[i])
		}
		if len(x.Removed) == sweepBatch {
			continue
		}
		if soonest := time.Now().Add(sweepGap); !x.Next.IsZero() && x.Next.Before(soonest) {
			e.expireAt(soonest)
		} else if !x.Next.IsZero() {
			e.expireAt(x.Next)
		}
		return
	}
}

func (e *Engine) expired(t *Task) {
	e.removed(e.base, "task expired", t)
	r := e.run(t.ID)
	if r == nil {
		return
	}
	if !t.Uncancellable { // its work goes on, for nobody to read the result (CAN14)
		r.stop(inflight.SourceTimeout, "", ErrExpired)
	}
	e.forgetUnbegun(r)
}

// removed reports that a task is gone.
func (e *Engine) removed(ctx context.Context, why string, t *Task) {
	e.audit.removed(ctx, why, t)
	if onRemove := e.config.OnRemove; onRemove != nil {
		onRemove(t.ID)
	}
}

// beatLater plans the next heartbeat. There is one at a time, and none while nothing runs.
func (e *Engine) beatLater() {
	e.timers.add(time.Now().Add(e.config.Lease/3), func() { e.spawn(e.beat) })
}

// beat extends the leases of what runs here, and stops what should no longer run.
func (e *Engine) beat() {
	leases, runs := e.leases()
	if len(leases) == 0 {
		return
	}
	defer e.beatLater()
	b, err := e.store.Heartbeat(e.base, leases, e.config.Lease)
	if err != nil {
		e.audit.failed("heartbeat", &Task{}, err)
		return
	}
	for _, l := range slices.Concat(b.Lost, b.Cancel) {
		e.reconsider(runs[l.Task])
	}
}

// leases lists what runs here. If nothing does, the next run starts the heartbeat again.
func (e *Engine) leases() ([]Lease, map[string]*Run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var leases []Lease
	runs := map[string]*Run{}
	for id, r := range e.runs {
		if l := r.held(); l.Epoch > 0 {
			leases = append(leases, l)
			runs[id] = r
		}
	}
	e.beating = len(leases) > 0
	return leases, runs
}

// reconsider reads from the store why a run should stop, and stops it accordingly.
func (e *Engine) reconsider(r *Run) {
	task := r.Task()
	t, err := e.store.Get(e.base, task.Owner, task.ID)
	switch {
	case err != nil && task.Uncancellable: // expired, as above
	case err != nil:
		r.stop(inflight.SourceTimeout, "", ErrExpired)
	case t.CancelRequested:
		r.cancelled(&t)
	default:
		r.stop(inflight.SourceParent, "", ErrLease)
	}
}

// resume dispatches tasks that nobody runs, now and once per lease.
func (e *Engine) resume() {
	e.spawn(func() {
		e.expireAt(time.Now()) // of tasks whose creators are gone
		ids, err := e.store.Orphans(e.base, orphanBatch)
		if err != nil {
			e.audit.failed("resume", &Task{}, err)
		}
		for _, id := range ids {
			if e.isClosed() {
				return
			}
			e.dispatch(id)
		}
	})
	e.timers.add(time.Now().Add(e.config.Lease), e.resume)
}

func (e *Engine) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}
