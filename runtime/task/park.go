package task

import (
	"context"
	"errors"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// defaultParkAfter is the default of Config.ParkAfter.
const defaultParkAfter = 30 * time.Second

// Replayer is a Store of tests: with it, runs are parked at each question and after each step that was done, so that handlers run again wherever
// they may have to. See tasktest.AlwaysReplay.
type Replayer interface{ Replays() bool }

// maxReplays is how often one task may run with a Replayer: more often than any handler has steps, and few enough for a test.
const maxReplays = 1000

func replays(s Store) bool {
	r, ok := s.(Replayer)
	return ok && r.Replays()
}

// mayRunAgain reports whether another run may follow this one.
func (r *Run) mayRunAgain() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.task.Reruns > 0 && r.engine.store.Durable()
}

// mayPark reports whether the run may end while it waits for an answer. The context of one that can not be cancelled must not end (CAN14).
func (r *Run) mayPark() bool {
	return r.engine.config.ParkAfter >= 0 && r.mayRunAgain() && !r.Task().Uncancellable
}

// idleAfter returns a channel that is closed when a question has been open for long enough to park the run that asked it. It is nil if the run may not be
// parked, or ctx has a deadline: then the handler itself goes on without the answer.
func (r *Run) idleAfter(ctx context.Context) (idle <-chan struct{}, disarm func()) {
	if _, limited := ctx.Deadline(); limited || !r.mayPark() {
		return nil, func() {}
	}
	passed := make(chan struct{})
	if r.engine.alwaysReplays {
		close(passed)
		return passed, func() {}
	}
	timer := r.engine.timers.add(time.Now().Add(r.engine.config.ParkAfter), func() { close(passed) })
	return passed, func() { r.engine.timers.remove(timer) }
}

// hasOpenQuestion reports whether the run knows of a question that is open. The caller holds the lock.
func (r *Run) hasOpenQuestion() bool {
	for _, e := range r.journal {
		if e.Kind == Open {
			return true
		}
	}
	return false
}

// beginsBusy reports whether a run begins with an open question and a closed one: the goroutine that asked the closed one may be at
// work while the other waits.
func beginsBusy(journal []Entry, now time.Time) bool {
	open, closed := false, false
	for i := range journal {
		switch e := &journal[i]; e.Kind {
		case Open:
			open = open || !e.Question.overdue(now)
		case Answered, Unanswered, Withdrawn:
			closed = true
		}
	}
	return open && closed
}

// stopToPark ends the run as soon as no step is being done, to begin again with the answer, or with nextAtOnce without it. A run whose handler may
// be at work beside the question goes on instead: work that was cut short would wait for an answer that it does not need.
func (r *Run) stopToPark() {
	r.mu.Lock()
	if r.handlerMayBeBusy && !r.nextAtOnce {
		r.mu.Unlock()
		return
	}
	r.parking = true
	busy := len(r.doing) > 0
	r.mu.Unlock()
	if !busy {
		r.stop(inflight.SourceParent, "", ErrParked)
	}
}

// parkAfterStep ends a run after a step that was done, if the store is a Replayer.
func (r *Run) parkAfterStep() error {
	if !r.engine.alwaysReplays || !r.mayPark() {
		return nil
	}
	r.mu.Lock()
	r.nextAtOnce = true
	r.mu.Unlock()
	r.stopToPark()
	return context.Cause(&r.ctx)
}

// whyHandedOn returns why another run goes on with the task, nil while this one does.
func (r *Run) whyHandedOn() error {
	if c := r.cause(); c != nil && (errors.Is(c, ErrParked) || errors.Is(c, ErrLease)) {
		return c
	}
	return nil
}

// parkForAnswer parks a run that waits for an answer. If the answer came before the lease was given back, only parkForAnswer can dispatch the
// task again.
func (e *Engine) parkForAnswer(r *Run) {
	t, err := e.park(r)
	if err != nil || t.Status.Terminal() {
		return
	}
	if r.mayGoOn(&t) {
		e.dispatch(t.ID)
		return
	}
	e.wakeAtDeadline(r, &t)
}

// wakeAtDeadline has the engine look for orphans when the earliest deadline of a parked task's questions passes. A store
// that is an Offerer hints then (interrupt.go), and without Resume an engine does not look for orphans.
func (e *Engine) wakeAtDeadline(r *Run, t *Task) {
	at, ok := earliestDeadline(t.Questions)
	if _, offers := e.store.(Offerer); !ok || offers {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.resumes || e.runs[t.ID] != r { // r: else it has begun again meanwhile
		return
	}
	e.parked[t.ID] = e.timers.add(r.localTime(at), func() {
		e.dropWakeTimer(t.ID)
		e.lookForOrphans()
	})
}

// dropWakeTimer drops the timer of a task that has begun, is over, or is about to begin.
func (e *Engine) dropWakeTimer(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropWakeTimerLocked(id)
}

func (e *Engine) dropWakeTimerLocked(id string) {
	if t := e.parked[id]; t != nil {
		e.timers.remove(t)
		delete(e.parked, id)
	}
}

// mayGoOn reports whether a parked task may begin again at once: without an answer (nextAtOnce), because its handler may have been busy and work was cut
// short, because no question is open, or because one that its run knew as open is closed.
func (r *Run) mayGoOn(t *Task) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nextAtOnce || r.handlerMayBeBusy || len(t.Questions) == 0 {
		return true
	}
	for name, e := range r.journal {
		if e.Kind == Open && !t.open(name) {
			return true
		}
	}
	return false
}

// closedBy reports whether one of the answers names a question that is not open now: this call has closed it, or an earlier try of Keep that
// failed afterwards. If neither has, a parked task gets one run too many, which is parked again.
func (t *Task) closedBy(answers []Answer) bool {
	for _, a := range answers {
		if !t.open(a.Name) {
			return true
		}
	}
	return false
}
