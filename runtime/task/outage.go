package task

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// The pauses between two tries of a store call double from the first to the last. Each is shortened at random, by up to a half, so that
// callers that wait for a store do not all come back at once.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// retryOutage retries a store call until the store answers (DUR06). again says that an earlier try failed, which may have been carried out
// nevertheless. retryOutage gives up, with the last error, when ctx or the limit ends, or the engine is closed.
func (e *Engine) retryOutage(ctx context.Context, p retryLimit, call func(ctx context.Context, again bool) error) error {
	err := e.try(ctx, false, call)
	if !Outage(err) {
		return err
	}
	began := time.Now()
	for pause := firstPause; Outage(err) && p.lasts(began) && e.pauseFor(ctx, pause); pause = min(2*pause, lastPause) {
		err = e.try(ctx, true, call)
	}
	if r := p.run; r != nil && Outage(err) && !r.mayWrite() {
		r.stop(inflight.SourceParent, "", ErrLease) // as stopFenced will: the handler is not to see the outage, because another run may go on with the task
	}
	return err
}

// retryLimit is how long an outage is waited out: until the run is fenced (run), for most, or, as the zero value, for as long as the engine lives.
type retryLimit struct {
	run  *Run
	most time.Duration
}

func (p retryLimit) lasts(began time.Time) bool {
	return (p.run == nil || p.run.mayWrite()) && (p.most == 0 || time.Since(began) < p.most)
}

// try makes one call. Durable stores may be behind a connection and never answer, so a call to one has a time limit.
func (e *Engine) try(ctx context.Context, again bool, call func(ctx context.Context, again bool) error) error {
	if !e.store.Durable() {
		return call(ctx, again)
	}
	limited, cancel := context.WithTimeout(ctx, e.config.Lease/beatsPerLease)
	defer cancel()
	return call(limited, again)
}

// pauseFor pauses; false means that there is no reason to go on.
func (e *Engine) pauseFor(ctx context.Context, pause time.Duration) bool {
	t := time.NewTimer(pause - rand.N(pause/2))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-e.base.Done():
	}
	return false
}

// Outage reports whether an error of a Store or an Engine says nothing about the task, because it is not the store's answer, nor the engine's own. What
// no later call can change, ErrLost, is no outage.
func Outage(err error) bool {
	if err == nil {
		return false
	}
	for _, answer := range []error{ErrNotFound, ErrLease, ErrExists, ErrCursor, ErrDamaged, ErrTTL, ErrClosed, ErrLost} {
		if errors.Is(err, answer) {
			return false
		}
	}
	var (
		over   *TerminalError
		edge   *EdgeError
		name   *NameError
		limit  *LimitError
		format *FormatError
	)
	return !errors.As(err, &over) && !errors.As(err, &edge) && !errors.As(err, &name) && !errors.As(err, &limit) && !errors.As(err, &format)
}

// retryOutage is Engine.retryOutage, for as long as the run may write.
func (r *Run) retryOutage(ctx context.Context, call func(ctx context.Context, again bool) error) error {
	return r.engine.retryOutage(ctx, retryLimit{run: r}, call)
}
