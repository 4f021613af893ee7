package task

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// Close accepts no more tasks, ends the running ones with cause shutdown, and waits for them until ctx ends; then it returns an error
// that wraps ctx's cause. Tasks that can not be cancelled (CAN14), and those that may not run again, are ended only after Config.Grace, or when ctx ends.
// Others of a durable store are parked for another run when their handlers return. A task that can not go on elsewhere fails, at once or when it is
// ended, with a message that says why. Remaining waiters get ErrClosed. A second call of Close waits, too.
func (e *Engine) Close(ctx context.Context) error { return e.CloseFor(ctx, "") }

// CloseFor is Close for a reason, which is that of the cause with which tasks end (CAN13).
func (e *Engine) CloseFor(ctx context.Context, reason string) error {
	e.mu.Lock()
	first := !e.closed
	if first {
		e.closed, e.closedFor = true, reason
	}
	runs := slices.Collect(maps.Values(e.runs))
	if first {
		e.wakeIdle()
	}
	e.mu.Unlock()
	var spared []*Run
	for _, r := range runs {
		if r.spared() {
			spared = append(spared, r)
		} else if first {
			e.endForShutdown(r)
		}
	}
	err := e.waitSpared(ctx)
	if err != nil {
		var ending sync.WaitGroup
		for _, r := range spared {
			ending.Go(func() { e.endForShutdown(r) })
		}
		ending.Wait()
		if ctx.Err() == nil { // only the grace period is over
			err = e.waitIdle(ctx)
		}
	}
	e.end.Do(func() {
		e.mu.Lock()
		e.stopped = true
		e.mu.Unlock()
		for _, stop := range e.stopHints {
			stop()
		}
		e.timers.close()
		close(e.done)
		e.cancel()
	})
	return err
}

// waitSpared is waitIdle for the time in which spared runs go on.
func (e *Engine) waitSpared(ctx context.Context) error {
	if e.config.Grace != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.config.Grace)
		defer cancel()
	}
	return e.waitIdle(ctx)
}

// waitIdle waits until no task runs. If none does, it returns nil even when ctx has ended.
func (e *Engine) waitIdle(ctx context.Context) error {
	select {
	case <-e.idle:
		return nil
	default:
	}
	select {
	case <-e.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d tasks did not stop: %w", len(e.Running()), context.Cause(ctx))
	}
}

// spared reports whether the run may go on while the engine closes: it has begun, and can not be cancelled or may not run again.
func (r *Run) spared() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return (r.task.Uncancellable || r.task.Reruns == 0) && r.epoch > 0 && r.cause() == nil
}

// endForShutdown ends a run because the engine closes.
func (e *Engine) endForShutdown(r *Run) {
	e.stopForShutdown(r)
	begun := r.lease().Epoch > 0
	switch {
	case e.store.Durable() && (!begun || r.mayRunAgain()):
	case begun:
		e.endTask(r, new(Outcome))
	default:
		e.endUnbegun(r, shutDown())
	}
}

// stopForShutdown ends the context of a run. The engine is closed.
func (e *Engine) stopForShutdown(r *Run) {
	e.mu.Lock()
	reason := e.closedFor
	e.mu.Unlock()
	r.stop(inflight.SourceShutdown, reason, nil)
}

// endUnbegun ends a task that has not begun.
func (e *Engine) endUnbegun(r *Run, o Outcome) {
	b, err := e.store.Begin(e.base, r.Task().ID, e.config.Node, e.config.Lease)
	if err != nil {
		return // it has begun, or is over
	}
	r.mu.Lock()
	r.epoch = b.Lease.Epoch
	r.mu.Unlock()
	e.finish(r, &o)
	e.forget(r)
}

// Snapshot is a run in this process, for operators.
type Snapshot struct {
	ID, Owner, Tool string
	CreatedAt       time.Time
	Epoch           uint64
	// Ending: the run's context has ended, and its handler has not returned.
	Ending bool
}

// Running lists the runs in this process, oldest task first.
func (e *Engine) Running() []Snapshot {
	e.mu.Lock()
	runs := slices.Collect(maps.Values(e.runs))
	e.mu.Unlock()
	list := make([]Snapshot, 0, len(runs))
	for _, r := range runs {
		if l, t := r.lease(), r.Task(); l.Epoch > 0 {
			list = append(list, Snapshot{t.ID, t.Owner, t.Tool, t.CreatedAt, l.Epoch, r.ctx.Err() != nil})
		}
	}
	slices.SortFunc(list, func(a, b Snapshot) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list
}
