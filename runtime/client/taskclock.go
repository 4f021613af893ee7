package client

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// stoppedClock counts how long a task's questions have paused the clocks of the calls that wait for it.
type stoppedClock struct {
	openQuestions int
	since         time.Time
	total         time.Duration
}

// sum returns how long they were paused until now.
func (s *stoppedClock) sum() time.Duration {
	if s.openQuestions > 0 {
		return s.total + time.Since(s.since)
	}
	return s.total
}

// add changes the number of open questions.
func (s *stoppedClock) add(by int) {
	s.total = s.sum()
	s.openQuestions, s.since = s.openQuestions+by, time.Now()
}

// countQuestions counts the task's open questions: the clocks of calls that wait for the task are paused meanwhile (CAN28).
func (f *follower) countQuestions(by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped.add(by)
	f.change()
}

// waitsForAnswers reports whether the task has open questions.
func (f *follower) waitsForAnswers() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopped.openQuestions > 0
}

func (f *follower) pausedSoFar() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopped.sum()
}

// awaitInTime is await for a call that has become a task: the task may take what is left of the call's maximum (CAN16). If ctx or the maximum
// ends the wait, the task is given up; so is one that goes on and can not be followed, because nobody else knows of it. Close gives it up, too.
func (x *execution) awaitInTime(ctx context.Context) (ToolResult, error) {
	x.s.mu.Lock()
	x.awaited = true
	closing := x.s.closing
	x.s.mu.Unlock()
	if closing {
		x.giveUp(&Cause{Source: inflight.SourceShutdown, Reason: sessionClosed})
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if x.maxTime > 0 {
		x.s.spawn(func() { x.limit(ctx, cancel) })
	}
	result, err := x.await(ctx)
	if err != nil && ctx.Err() != nil {
		cause := causeOf(ctx)
		x.giveUp(cause)
		return ToolResult{}, cause
	}
	if err != nil && x.goesOn() {
		var failed *TaskError
		if errors.As(err, &failed) {
			err = &RemedyError{failed, ResumeUnlessCancelled}
		}
		x.giveUp(err)
	}
	return result, err
}

// limit calls end when the call's maximum has passed, unless ctx ends before.
func (x *execution) limit(ctx context.Context, end context.CancelCauseFunc) {
	for {
		x.mu.Lock()
		left, paused, changed := x.timeLeft-time.Since(x.started)+x.stopped.sum(), x.stopped.openQuestions > 0, x.changed
		x.mu.Unlock()
		switch {
		case paused:
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		case left <= 0:
			end(notDone(x.maxTime, "as task "+strconv.Quote(rpc.Printable(x.task))))
			return
		case !sleep(ctx, left):
			return
		}
	}
}

// notDone returns the cause of a call that several requests together have not finished within its maximum; how says which requests.
func notDone(after time.Duration, how string) *Cause {
	return &Cause{Source: inflight.SourceTimeout, Reason: "not done after " + after.String() + " " + how}
}
