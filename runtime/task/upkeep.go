package task

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

const (
	// sweepBatch bounds the tasks that are removed at once, since other calls wait for that. After a batch that took long the sweep pauses for as
	// long.
	sweepBatch = 128
	// sweepGap is the least time between two sweeps, so that tasks that expire one after the other share one. A task past its ttl is not
	// found anyway; only its work stops that much later.
	sweepGap = 5 * time.Millisecond
	// orphanBatch bounds how many orphans are dispatched at once.
	orphanBatch = 256
)

// plan has fn called at a time, in a goroutine of its own, unless a call is planned for an earlier time. next holds the planned call, until fn
// unplans it.
func (e *Engine) plan(next **timer, at time.Time, fn func(*Engine)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.planLocked(next, at, fn)
}

func (e *Engine) planLocked(next **timer, at time.Time, fn func(*Engine)) {
	if *next != nil && !at.Before((*next).at) {
		return
	}
	e.timers.remove(*next)
	*next = e.timers.add(at, func() { e.spawn(func() { fn(e) }) })
}

// planAfter is planLocked for d after from: mostly the call is planned already, and there is nothing to add.
func (e *Engine) planAfter(next **timer, from time.Time, d time.Duration, fn func(*Engine)) {
	if *next == nil || (*next).at.Sub(from) > d {
		e.planLocked(next, from.Add(d), fn)
	}
}

func (e *Engine) unplan(next **timer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	*next = nil
}

// expireAt plans a look for expired tasks.
func (e *Engine) expireAt(at time.Time) { e.plan(&e.sweep, at, (*Engine).expire) }

// expire removes what has expired, stops its work, and plans the next sweep (TSK15).
func (e *Engine) expire() {
	e.unplan(&e.sweep)
	for {
		from := time.Now()
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
			if took := time.Since(from); took > time.Millisecond && !e.pauseFor(e.base, took) {
				return
			}
			continue
		}
		e.sweepAgain(x.Next, len(x.Removed))
		return
	}
}

// sweepAgain plans the next sweep, after one that has removed so many tasks, for the time at which the next task expires by the store's clock. If that time
// has passed by this process's clock and not by the store's, sweeps become rarer, down to the rate of heartbeats.
func (e *Engine) sweepAgain(next time.Time, removed int) {
	if next.IsZero() {
		return
	}
	now := time.Now()
	e.mu.Lock()
	if removed > 0 || next.After(now) {
		e.sweepPause = sweepGap
	}
	soonest := now.Add(e.sweepPause)
	e.sweepPause = min(2*e.sweepPause, e.config.Lease/beatsPerLease)
	e.mu.Unlock()
	if next.Before(soonest) {
		next = soonest
	}
	e.expireAt(next)
}

// expired reports that a task has expired, and stops its work.
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
	e.dropWakeTimer(t.ID)
	if onRemove := e.config.OnRemove; onRemove != nil {
		onRemove(t.ID)
	}
}

// dispatchOrphans dispatches tasks that nobody runs. It is called as often as heartbeats are sent, when the store says that there are some, and sooner
// again when there are more of them than one call takes.
func (e *Engine) dispatchOrphans() {
	e.unplan(&e.orphanScan)
	e.forgetGivenBack()
	again := e.config.Lease / beatsPerLease
	e.expireAt(time.Now()) // for tasks of other creators, too: nothing else here plans a sweep for them
	ids, err := e.store.Orphans(e.base, orphanBatch)
	if err != nil {
		e.audit.failed("resume", &Task{}, err)
	}
	for _, id := range ids {
		if e.wanted(id) {
			e.dispatch(id)
		}
	}
	if len(ids) == orphanBatch {
		again = min(again, time.Second)
	}
	e.plan(&e.orphanScan, time.Now().Add(again), (*Engine).dispatchOrphans)
}

// wanted reports whether an orphan should run: not when the engine is closed, nor while it is left for others, nor when the handler of an earlier run has
// returned here, and the store does not know that only because it was away (DUR06).
func (e *Engine) wanted(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, b := e.runs[id], e.givenBack[id]
	return !e.closed && (b.again || !time.Now().Before(b.until)) && (r == nil || r.slot || r.lease().Epoch == 0)
}
