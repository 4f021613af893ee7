package client

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// stoppedClock counts how long people have paused the clocks of the calls that wait for a task: by its questions, and by what Asking is for.
type stoppedClock struct {
	openQuestions int
	persons       int       // how many are being asked before a request about the task can be sent, see Asking
	lastQuestion  time.Time // when openQuestions has changed last
	since         time.Time // when either has
	total         time.Duration
}

func (s *stoppedClock) paused() bool { return s.openQuestions+s.persons > 0 }

// sum returns how long they were paused until now.
func (s *stoppedClock) sum() time.Duration {
	if s.paused() {
		return s.total + time.Since(s.since)
	}
	return s.total
}

// add changes the number of open questions.
func (s *stoppedClock) add(by int) {
	s.total = s.sum()
	s.openQuestions, s.since = s.openQuestions+by, time.Now()
	s.lastQuestion = s.since
}

// addPerson changes the number of persons.
func (s *stoppedClock) addPerson(by int) {
	s.total = s.sum()
	s.persons, s.since = s.persons+by, time.Now()
}

// countQuestions counts the task's open questions: the clocks of calls that wait for the task are paused meanwhile (CAN28).
func (f *follower) countQuestions(by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped.add(by)
	f.change()
}

// askPerson pauses these clocks, too, until answered is called. f is nil for a request that is about no task, and askPerson does nothing then.
func (f *follower) askPerson() (answered func()) {
	if f == nil {
		return func() {}
	}
	count := func(by int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.stopped.addPerson(by)
		f.change()
	}
	count(1)
	return func() { count(-1) }
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
	defer x.s.removeAwaited(x)
	outer := ctx
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	if x.maxTime > 0 {
		x.s.spawn(func() { x.limit(ctx, cancel) })
	}
	result, err := x.await(ctx)
	if err != nil && ctx.Err() != nil {
		cause := causeOf(ctx)
		x.giveUp(cause)
		if outer.Err() == nil { // only limit can have ended it
			return ToolResult{}, &RemedyError{cause, RaiseMaximum}
		}
		return ToolResult{}, cause
	}
	if err != nil && x.goesOn() {
		var failed *TaskError
		if errors.As(err, &failed) {
			err = &RemedyError{failed, ResumeUnlessCancelled} // giveUp asks for that
		}
		x.giveUp(err)
	}
	return result, err
}

// limit calls end when the call's maximum has passed, unless ctx ends before. The cause says so if the server has no answer to what it has asked.
func (x *execution) limit(ctx context.Context, end context.CancelCauseFunc) {
	for f := x.follower; ; {
		f.mu.Lock()
		missing := f.undeliveredAnswer
		left, paused, changed := x.timeLeft-time.Since(x.started)+f.stopped.sum(), f.stopped.paused(), f.changed
		f.mu.Unlock()
		switch {
		case paused:
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		case left <= 0:
			end(lacksAnswer(notDone(x.maxTime, "as task "+strconv.Quote(rpc.Printable(x.task))), missing))
			return
		case !sleep(ctx, left):
			return
		}
	}
}

// notDone returns the cause of a call that is not done within its maximum; how says what the call was then: several requests, or a task.
func notDone(after time.Duration, how string) *Cause {
	return &Cause{Source: inflight.SourceTimeout, Reason: "not done after " + after.String() + " " + how}
}
