package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// Do runs fn and journals what it returns. A later run of the task, or a later call, gets the journaled value and does
// not run fn. A crash before fn's value is journaled runs fn again; nothing is journaled when fn fails.
// Errors: fn's own; *NameError if name is that of a question, or of a step that is being done; *LimitError if the value exceeds the quota; the store's;
// the cause of the run's end, if another run goes on with the task, the handler has returned or the task is gone, so that fn is not run, or if the value
// could not be journaled since the run has ended.
func (r *Run) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	if err := r.whyUnrecorded(); err != nil {
		return nil, err
	}
	done, data, err := r.enterStep(name)
	if done || err != nil {
		return data, err
	}
	defer r.leaveStep(name)
	data, err = fn(ctx)
	if err != nil {
		return nil, err
	}
	// The effect has happened, so it is recorded even if ctx has ended since.
	if err := r.record(context.WithoutCancel(ctx), name, data); err != nil {
		return nil, r.causeOr(err)
	}
	r.mu.Lock()
	r.remember(Entry{Name: name, Kind: Done, Data: data})
	delete(r.doing, name)
	r.mu.Unlock()
	return data, r.parkAfterStep() // with a Replayer only; leaveStep parks a run that was told to park while steps were being done
}

// whyUnrecorded returns why no step of the run can be recorded any more, so that none is begun; nil if that is not known. Until its handler returns, a run
// that is cancelled may do steps to clean up.
func (r *Run) whyUnrecorded() error {
	c := r.cause()
	if c != nil && (c.Source == inflight.SourceCompleted || errors.Is(c, ErrExpired) || errors.Is(c, ErrDiscarded)) {
		return c
	}
	return r.whyHandedOn()
}

func (r *Run) record(ctx context.Context, name string, data []byte) error {
	store, lease := r.engine.store, r.lease()
	return r.retryOutage(ctx, func(ctx context.Context, again bool) error {
		err := store.Record(ctx, lease, name, data)
		if taken := (*NameError)(nil); again && errors.As(err, &taken) {
			_, err = store.Entry(ctx, lease, name) // an earlier try of this call has recorded the name
		}
		return err
	})
}

// enterStep returns the journaled value if the step is done, else it marks the step as being done.
func (r *Run) enterStep(name string) (done bool, data []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := r.journal[name]; {
	case e != nil && e.Kind == Done:
		return true, e.Data, nil
	case e != nil:
		return false, nil, &NameError{name, "is the name of a question, not of a step", "question"}
	case r.doing[name]:
		return false, nil, &NameError{Name: name, Why: "is being done by another goroutine of this run"}
	}
	if r.doing == nil {
		r.doing = map[string]bool{}
	}
	r.doing[name] = true
	return false, nil, nil
}

func (r *Run) leaveStep(name string) {
	r.mu.Lock()
	delete(r.doing, name)
	park := r.parking && len(r.doing) == 0
	r.mu.Unlock()
	if park { // stopToPark waited for this step
		r.stop(inflight.SourceParent, "", ErrParked)
	}
}

// remember keeps an entry that will not change any more, or that of an open question. The caller holds the lock.
func (r *Run) remember(e Entry) {
	if r.journal == nil {
		r.journal = map[string]*Entry{}
	}
	r.journal[e.Name] = &e
}

// Ask asks and blocks until the answer is there; the task is input_required meanwhile. A later run or call gets the
// journaled answer at once. While a question is open for long the run is parked: Ask returns the cause of the run's end, with
// ErrParked. q needs Name, Method and Payload; Deadline, if set, is when to give up.
// Errors: *NameError if the name is that of another question or a step; ErrUnanswered; ErrWithdrawn, with the cause of ctx's end if
// that has just withdrawn the question; the cause of the run's end, which leaves the question open for the next run.
func (r *Run) Ask(ctx context.Context, q Question) ([]byte, error) {
	e, err := r.known(q)
	switch ended := r.ended(ctx); {
	case err != nil || e != nil && e.Kind != Open:
	case ended == nil:
		e, err = r.putAndAwait(ctx, q)
	case e == nil:
		err = ended // before anybody was asked
	default: // an earlier run has asked
		e, err = r.giveUp(ctx, q.Name, ctx.Err())
	}
	return e.outcome(err)
}

// putAndAwait asks the question, which may be open already, and waits until it is closed.
func (r *Run) putAndAwait(ctx context.Context, q Question) (*Entry, error) {
	t, err := r.putQuestion(ctx, q)
	if err != nil {
		return r.giveUp(ctx, q.Name, err) // the try that failed may have been carried out
	}
	r.publish(&t)
	r.mu.Lock()
	r.remember(Entry{Name: q.Name, Kind: Open, Question: q})
	r.mu.Unlock()
	late, disarm := r.deadline(&t, q.Name)
	defer disarm()
	idle, disarmIdle := r.idleAfter(ctx)
	defer disarmIdle()
	r.pause()
	defer r.resume()
	return r.await(ctx, q.Name, late, idle)
}

func (r *Run) putQuestion(ctx context.Context, q Question) (t Task, err error) {
	err = r.retryOutage(ctx, func(ctx context.Context, _ bool) (err error) {
		q.AskedAt = time.Now() // by this process's clock, as Deadline is; the store converts both
		t, err = r.engine.store.Ask(ctx, r.lease(), q)
		return err
	})
	return t, err
}

// Settled reports whether Ask would return at once, without asking, because the journal has the outcome or the name is not the question's.
func (r *Run) Settled(q Question) bool {
	e, err := r.known(q)
	return err != nil || e != nil && e.Kind != Open
}

// pause stops the clock of the run's timeout while a question is open: a person's time is not the task's (CAN28).
func (r *Run) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asking++; r.asking == 1 && r.timer != nil {
		r.timer.left = max(time.Until(r.timer.at), 1) // resume takes 0 for not stopped
		r.engine.timers.remove(r.timer)
	}
}

// resume lets the clock of the timeout go on when the last question is closed.
func (r *Run) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asking--
	if r.asking == 0 {
		r.parking = false
	}
	if r.asking == 0 && r.timer != nil && r.timer.left > 0 {
		r.timer = r.engine.timers.add(time.Now().Add(r.timer.left), r.timer.fire)
	}
}

// known returns the entry of a question, nil if no run has asked it.
func (r *Run) known(q Question) (*Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.journal[q.Name]
	if e == nil && r.doing[q.Name] {
		return nil, &NameError{Name: q.Name, Why: "is the name of a step, not of a question"}
	}
	if e == nil {
		return nil, nil
	}
	return e, e.sameQuestion(q)
}

// outcome is what Ask returns for a closed question.
func (e *Entry) outcome(err error) ([]byte, error) {
	switch {
	case err != nil:
		return nil, err
	case e.Kind == Answered:
		return e.Data, nil
	case e.Kind == Unanswered:
		return nil, ErrUnanswered
	}
	return nil, ErrWithdrawn
}

// deadline arms a timer for the question's deadline, as the first run set it.
func (r *Run) deadline(t *Task, name string) (late <-chan struct{}, disarm func()) {
	for _, q := range t.Questions {
		if q.Name == name && !q.Deadline.IsZero() {
			passed := make(chan struct{})
			timer := r.engine.timers.add(r.localTime(q.Deadline), func() { close(passed) })
			return passed, func() { r.engine.timers.remove(timer) }
		}
	}
	return nil, func() {}
}

// await blocks until the question is closed. late is closed when its deadline has passed, idle when it was open for long enough to park the run.
func (r *Run) await(ctx context.Context, name string, late, idle <-chan struct{}) (*Entry, error) {
	owner, lease := r.Task().Owner, r.lease()
	for {
		var t Task
		changed, err := r.engine.watch(ctx, retryLimit{run: r}, owner, lease.Task, &t)
		if err != nil {
			return r.giveUp(ctx, name, err)
		}
		if !t.open(name) {
			return r.closedQuestion(lease, name)
		}
		select {
		case <-changed:
		case <-late:
			late = nil
			if err := r.withdraw(lease, name); err != nil {
				return nil, err
			}
		case <-idle:
			idle = nil
			r.stopToPark()
		case <-ctx.Done():
			return r.giveUp(ctx, name, ctx.Err())
		case <-r.ctx.Done():
			return nil, context.Cause(&r.ctx)
		}
	}
}

func (t *Task) open(name string) bool {
	for i := range t.Questions {
		if t.Questions[i].Name == name {
			return true
		}
	}
	return false
}

// closedQuestion reads how a question that is not open any more ended, and remembers it. An answer counts even if its caller stops waiting now.
func (r *Run) closedQuestion(l Lease, name string) (*Entry, error) {
	var e Entry
	err := r.retryOutage(&r.ctx, func(ctx context.Context, _ bool) (err error) {
		e, err = r.engine.store.Entry(ctx, l, name)
		return err
	})
	if err != nil {
		return nil, r.causeOr(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remember(e)
	if r.hasOpenQuestion() {
		r.handlerMayBeBusy, r.parking = true, false
	}
	return &e, nil
}

// giveUp withdraws the question of a caller that stopped waiting, in the middle of a store call (then err is that call's) or between two. If the run
// has ended, the question stays open for the next run. An answer that came first counts.
func (r *Run) giveUp(ctx context.Context, name string, err error) (*Entry, error) {
	if ctx.Err() == nil || r.ctx.Err() != nil || !Outage(err) {
		return nil, r.causeOr(err)
	}
	cause, l := context.Cause(ctx), r.lease()
	if err := r.withdraw(l, name); err != nil {
		return nil, errors.Join(cause, err)
	}
	e, err := r.closedQuestion(l, name)
	if unknown := (*NameError)(nil); errors.As(err, &unknown) {
		return nil, cause // nobody was asked
	}
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	if _, err := e.outcome(nil); err != nil {
		return nil, fmt.Errorf("%w: %w", err, cause)
	}
	return e, nil
}

func (r *Run) withdraw(l Lease, name string) error {
	var t Task
	err := r.retryOutage(r.engine.base, func(ctx context.Context, _ bool) (err error) {
		t, err = r.engine.store.Withdraw(ctx, l, name)
		return err
	})
	if err != nil {
		return r.causeOr(err)
	}
	r.publish(&t)
	return nil
}

// ended is why ctx or the run has ended.
func (r *Run) ended(ctx context.Context) error {
	if r.ctx.Err() != nil {
		return context.Cause(&r.ctx)
	}
	return context.Cause(ctx)
}

// causeOr prefers the cause of the run's end to the error that it led to in the store.
func (r *Run) causeOr(err error) error {
	if cause := context.Cause(&r.ctx); cause != nil {
		return cause
	}
	return err
}
