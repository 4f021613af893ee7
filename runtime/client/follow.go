package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// How often a task's state is read: never more often than the server wants, except after a notification.
const (
	defaultPoll = time.Second
	hintPause   = 100 * time.Millisecond // between two readings at least, also because of notifications
	maxMisses   = 8                      // failures in a row that may be transient
	maxBackoff  = 15 * time.Second       // upper bound on the back-off; the server may want longer
	maxPoll     = 24 * time.Hour         // upper bound on the server's interval
)

// follow reads the task's state until it is over, and answers its questions.
func (w *following) follow() {
	misses, last := 0, time.Time{}
	for w.wait(misses, last) {
		last = time.Now()
		err := w.readOnce()
		switch wait, most := w.readsAgain(err); {
		case w.ctx.Err() != nil:
		case err == nil:
			misses = 0
			continue
		case misses < most:
			if misses++; misses == 1 {
				w.s.cfg.logger.Warn("the state of a task was not read, and will be again", "task", w.task, "error", err)
			}
			if sleep(w.ctx, wait) {
				continue
			}
		default:
			w.unreadable(err)
			return
		}
		break
	}
	w.finish(ToolResult{}, w.s.ended(w.s.endCause()))
}

// readOnce reads the task's state once, and does what follows from it.
func (w *following) readOnce() error {
	state, v, err := w.read(w.ctx)
	if err != nil {
		return err
	}
	return w.takeState(state, v)
}

// read reads the task's state. The values are those of the answer, with what comes with the state. A state that can not be the task's is an error.
func (f *follower) read(ctx context.Context, opts ...CallOption) (TaskState, *wire.Values, error) {
	v, _, err := f.ask(ctx, wire.OpGetTask, nil, opts...)
	if err != nil {
		return TaskState{}, nil, err
	}
	state := readState(v, f.task)
	return state, v, f.validateState(v, state.Status)
}

// readsAgain is Session.transient for errors of reading the task's state or result. What is no answer about the task, such as the page of a gateway, may be
// one the next time.
func (w *following) readsAgain(err error) (wait time.Duration, most int) {
	var refused *Error
	var bad *ProtocolError
	wait, most = w.s.transient(err)
	switch {
	case most > 0:
	case errors.As(err, &refused) && (refused.Code == rpc.CodeInvalidParams || refused.Code == rpc.CodeMethodNotFound):
	case refused != nil, errors.As(err, &bad):
		most = maxInternal
	}
	return wait, most
}

// unreadable ends the executions of a task whose state or result is not read any more because of err. Unless err says that there is no such task, it may go
// on, and can be followed again.
func (w *following) unreadable(err error) {
	failed := taskError(w.currentState(), err)
	err = failed
	switch _, expired := failed.Err.(*ExpiredError); {
	case expired:
	case terminal(failed.State.Status):
		err = &RemedyError{failed, ResumeResult}
	default:
		err = &RemedyError{failed, ResumeTask}
	}
	w.finish(ToolResult{}, err)
}

// wait waits until the state is to be read again, because of the interval or a hint. After failures it waits longer.
func (w *following) wait(misses int, last time.Time) bool {
	every := w.currentState().PollInterval
	if every <= 0 {
		every = defaultPoll
	}
	if ttl := w.currentState().TTL; ttl > 0 {
		every = min(every, ttl/2) // later there is nothing to read
	}
	every = max(every, hintPause)
	if every = min(every, maxPoll); every < maxBackoff {
		every = backOff(every, misses)
	}
	every += rand.N(every/10 + 1) // many clients must not come at once
	timer := time.NewTimer(every)
	defer timer.Stop()
	select {
	case <-w.ctx.Done():
		return false
	case <-timer.C:
		return true
	case <-w.hint:
		if w.ctx.Err() != nil {
			w.wake() // it is for whoever follows the task by now
			return false
		}
		return sleep(w.ctx, hintPause-time.Since(last))
	}
}

// takeState takes the task's state, from an answer with those values.
func (w *following) takeState(state TaskState, v *wire.Values) error {
	w.update(state)
	if state.Status != task.InputRequired {
		w.unlisted = 0
	}
	if state.Status == task.Working {
		w.endUnlisted(nil)
	}
	switch {
	case w.dialect.Task.QuestionsInline && state.Status == task.InputRequired:
		return w.answer(v[wire.SlotInputRequests])
	case w.dialect.Task.QuestionsInline && state.Status == task.Completed && !v.Has(wire.SlotResult): // it may come with the next reading
		return broken(w.dialect.Call(wire.OpGetTask).Name, "a completed task has no result")
	case w.dialect.Task.QuestionsInline && terminal(state.Status):
		w.finish(w.outcome(state, v))
	case state.Status == task.Cancelled: // it has no result, and some servers never answer the request for one
		w.finish(ToolResult{}, taskError(state, nil))
	case terminal(state.Status):
		w.expectResult()
		w.collect()
	case state.Status == task.InputRequired:
		w.collect()
	}
	return nil
}

// validateState returns an error for a state that can not be this task's.
func (f *follower) validateState(v *wire.Values, status task.Status) error {
	method := f.dialect.Call(wire.OpGetTask).Name
	switch id := v.Text(wire.SlotTaskID); {
	case id != f.task:
		return broken(method, "it tells of task %q, not of %q", id, f.task)
	case !knownStatus(status):
		return broken(method, "unknown status %q", status)
	}
	return nil
}

// expectResult ends the executions of a task that is over if its result does not come within the timeout of a request, which begins again when the request
// for the result has failed and is sent again, or a person was asked before it could be sent. Meanwhile that request is repeated.
func (w *following) expectResult() {
	most := w.s.cfg.timeout
	if w.expecting || most <= 0 {
		return
	}
	w.expecting = true
	over := time.Now()
	w.s.spawn(func() {
		for {
			left := most - min(time.Since(over), time.Since(w.collectsAt()))
			if left <= 0 {
				break
			}
			if !sleep(w.ctx, min(left, w.patience())) {
				return
			}
			w.repeatSilent()
		}
		w.unreadable(broken(w.dialect.Call(wire.OpTaskResult).Name, "no result came within %v of the end of the task", most))
	})
}

// outcome returns the result or error of a task that is over, from a state that has it.
func (w *following) outcome(state TaskState, v *wire.Values) (result ToolResult, err error) {
	if state.Status == task.Completed {
		c := &call{s: w.s, dialect: w.dialect, op: w.dialect.Call(wire.OpCallTool)}
		switch kind, err := c.kind(v[wire.SlotResult]); {
		case err != nil:
			return result, err
		case kind != complete:
			return result, broken(c.op.Name, "the result of a completed task asks for input")
		}
		return c.toolResult(v[wire.SlotResult])
	}
	if v.Has(wire.SlotError) {
		if wireErr, err := rpc.ReadError(v[wire.SlotError]); err == nil {
			return result, taskError(state, wireErr)
		}
	}
	return result, taskError(state, nil)
}

// collect sends the request for the result, which blocks until there is one, or repeats it if it is open in vain. The questions of the task come on its
// stream, or on that of the session.
func (w *following) collect() {
	w.mu.Lock()
	begun := w.collecting
	w.collecting = true
	w.mu.Unlock()
	if begun {
		w.repeatSilent()
		return
	}
	w.s.spawn(func() {
		began := time.Now()
		raw, err := w.askResult()
		wait, most := w.readsAgain(err)
		if most == 0 || w.ctx.Err() != nil || w.failedWith(err) || !w.collectsAgain(time.Since(began), wait, most) {
			w.collected(raw, err)
		}
	})
}

// failedWith reports whether err is the error with which the task has failed, and not one of the request for its result.
func (w *following) failedWith(err error) bool {
	var refused *Error
	if !errors.As(err, &refused) {
		return false
	}
	state := w.currentState()
	w.readLastState(&state)
	return state.Status == task.Failed || state.Status == task.Cancelled
}

// collectsAgain has the request for the result, which has failed after lasted, sent again at the first reading of the state after wait, or after a longer
// time if it has failed before. It returns false after more than most failures in a row.
func (w *following) collectsAgain(lasted, wait time.Duration, most int) bool {
	w.mu.Lock()
	if lasted > maxBackoff {
		w.missed = 0
	}
	w.missed++
	misses := w.missed
	w.mu.Unlock()
	if misses > most {
		return false
	}
	if misses > 1 {
		wait = max(wait, backOff(defaultPoll, misses-2))
	}
	w.mu.Lock()
	w.again = time.Now().Add(wait)
	w.mu.Unlock()
	if sleep(w.ctx, wait) {
		w.mu.Lock()
		w.collecting = false
		w.mu.Unlock()
	}
	return true
}

// collectsAt returns when the request for the result is, or was, sent again, or goes on after a person was asked; the zero time if neither has happened.
func (w *following) collectsAt() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.result != nil && w.result.persons.Load() > 0 {
		return time.Now()
	}
	return w.again
}

// collected ends the executions of the task with the answer to the request for the result.
func (w *following) collected(raw []byte, err error) {
	var refused *Error
	state := w.currentState()
	switch {
	case w.ctx.Err() != nil:
	case errors.As(err, &refused):
		if w.readLastState(&state); !terminal(state.Status) {
			w.unreadable(refused)
			return
		}
		w.finish(ToolResult{}, taskError(state, refused))
	case err != nil:
		w.unreadable(err)
	default:
		c := &call{s: w.s, dialect: w.dialect, op: w.dialect.Call(wire.OpCallTool)}
		result, err := c.toolResult(raw)
		w.readLastState(&state)
		if state.Status == task.Cancelled {
			result, err = ToolResult{}, taskError(state, nil)
		}
		w.finish(result, err)
	}
}

// readLastState reads the last state of a task that was not known to be over when its result came.
func (w *following) readLastState(state *TaskState) {
	if terminal(state.Status) {
		return
	}
	if read, _, err := w.read(w.ctx); err == nil {
		*state = read
		w.update(read)
	}
}
