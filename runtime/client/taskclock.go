package client

import (
	"context"
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// standing counts how long a clock stood, because persons were asked.
type standing struct {
	open  int
	since time.Time
	total time.Duration
}

// stood is how long it stood until now.
func (s *standing) stood() time.Duration {
	if s.open > 0 {
		return s.total + time.Since(s.since)
	}
	return s.total
}

// asks counts the questions of the task that are with handlers: the clock of a call that waits for the task stands meanwhile (CAN28).
func (x *execution) asks(by int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := &x.standing
	s.total = s.stood()
	s.open, s.since = s.open+by, time.Now()
	if !x.over {
		x.change()
	}
}

// within is await for a call that the server has made a task of: what is left of the call's maximum holds for the task, too (CAN16). It ends
// the task for whatever ends the wait.
func (x *execution) within(ctx context.Context) (ToolResult, error) {
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
		left, stands, changed := x.left-time.Since(x.started)+x.standing.stood(), x.standing.open > 0, x.changed
		x.mu.Unlock()
		switch {
		case stands:
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
