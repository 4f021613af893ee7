package client

import (
	"context"
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// stoppedClock counts how long the clock of a call stood, because persons were asked.
type stoppedClock struct {
	openQuestions int
	since         time.Time
	total         time.Duration
}

// until is how long it stood until now.
func (s *stoppedClock) until() time.Duration {
	if s.openQuestions > 0 {
		return s.total + time.Since(s.since)
	}
	return s.total
}

// countQuestions counts the questions of the task that are with handlers: the clock of a call that waits for the task stands meanwhile (CAN28).
func (x *execution) countQuestions(by int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := &x.stopped
	s.total = s.until()
	s.openQuestions, s.since = s.openQuestions+by, time.Now()
	if !x.over {
		x.change()
	}
}

// awaitInTime is await for a call that the server has made a task of: what is left of the call's maximum holds for the task, too (CAN16). It ends
// the task for whatever ends the wait.
func (x *execution) awaitInTime(ctx context.Context) (ToolResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if x.maxTime > 0 {
		x.s.spawn(func() { x.limit(ctx, cancel) })
	}
	result, err := x.await(ctx)
	if err != nil && ctx.Err() != nil {
		cause := inflightCause(ctx)
		x.giveUp(cause)
		return ToolResult{}, cause
	}
	return result, err
}

// limit ends the wait when the time of the call is over, until ctx ends.
func (x *execution) limit(ctx context.Context, end context.CancelCauseFunc) {
	for {
		x.mu.Lock()
		left, paused, changed := x.left-time.Since(x.started)+x.stopped.until(), x.stopped.openQuestions > 0, x.changed
		x.mu.Unlock()
		switch {
		case paused:
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		case left <= 0:
			end(notDone(x.maxTime, "as task "+strconv.Quote(rpc.Shown(x.task))))
			return
		case !sleep(ctx, left):
			return
		}
	}
}

// notDone is the end of a call whose maximum is over. It was not one request that took so long.
func notDone(after time.Duration, how string) *Cause {
	return &Cause{Source: inflight.SourceTimeout, Reason: "not done after " + after.String() + " " + how}
}
