package client

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// How often a task's state is read: never more often than the server wants, except after a notification.
const (
	defaultPoll = time.Second
	hintPause   = 100 * time.Millisecond // between two readings because of notifications
	maxMisses   = 8                      // failures in a row that may be transient
	maxBackoff  = 15 * time.Second       // upper bound on the back-off; the server may want longer
	maxPoll     = 24 * time.Hour         // upper bound on the server's interval
)

// follow reads the task's state until it is over, and answers its questions.
func (f *follower) follow() {
	misses, last := 0, time.Time{}
	for f.wait(misses, last) {
		last = time.Now()
		v, _, err := f.ask(f.ctx, wire.OpGetTask, nil)
		switch wait, transient := f.s.transient(err); {
		case f.ctx.Err() != nil:
		case err == nil:
			misses = 0
			f.takeState(v)
			continue
		case transient && misses < maxMisses:
			if misses++; misses == 1 {
				f.s.cfg.logger.Warn("the state of a task was not read, and will be again", "task", f.task, "error", err)
			}
			if sleep(f.ctx, wait) {
				continue
			}
		default:
			f.finish(ToolResult{}, taskError(f.currentState(), err))
			return
		}
		break
	}
	f.finish(ToolResult{}, f.s.ended(f.s.endCause()))
}

// wait waits until the state is to be read again, because of the interval or a hint. After failures it waits longer.
func (f *follower) wait(misses int, last time.Time) bool {
	every := f.currentState().PollInterval
	if every <= 0 {
		every = defaultPoll
	}
	if every = min(every, maxPoll); every < maxBackoff {
		every = backOff(every, misses)
	}
	every += rand.N(every/10 + 1) // many clients must not come at once
	timer := time.NewTimer(every)
	defer timer.Stop()
	select {
	case <-f.ctx.Done():
		return false
	case <-timer.C:
		return true
	case <-f.hint:
		return sleep(f.ctx, hintPause-time.Since(last))
	}
}

// takeState takes an answer with the task's state.
func (f *follower) takeState(v *wire.Values) {
	state := readState(v, f.task)
	if err := f.validateState(v, state.Status); err != nil {
		f.finish(ToolResult{}, err)
		return
	}
	f.update(state)
	if state.Status != task.InputRequired {
		f.unlisted = 0
	}
	if terminal(state.Status) && !f.dialect.Task.QuestionsInline {
		f.expectResult()
	}
	switch {
	case f.dialect.Task.QuestionsInline && state.Status == task.InputRequired:
		f.answer(v[wire.SlotInputRequests])
	case f.dialect.Task.QuestionsInline && terminal(state.Status):
		f.finish(f.outcome(state, v))
	case state.Status == task.InputRequired || terminal(state.Status):
		f.collect()
	}
}

// validateState returns an error for a state that can not be this task's.
func (f *follower) validateState(v *wire.Values, status task.Status) error {
	method := f.dialect.Call(wire.OpGetTask).Name
	switch id := v.Text(wire.SlotTaskID); {
	case id != f.task:
		return broken(method, "it tells of task %q, not of %q", id, f.task)
	case !terminal(status) && status != task.Working && status != task.InputRequired:
		return broken(method, "unknown status %q", status)
	}
	return nil
}

// expectResult ends the execution of a task that is over if its result does not come within the timeout of a request.
func (f *follower) expectResult() {
	most := f.s.cfg.timeout
	if f.expecting || most <= 0 {
		return
	}
	f.expecting = true
	f.s.spawn(func() {
		if sleep(f.ctx, most) {
			f.finish(ToolResult{}, broken(f.dialect.Call(wire.OpTaskResult).Name, "no result came within %v of the end of the task", most))
		}
	})
}

// outcome returns the result or error of a task that is over, from a state that has it.
func (f *follower) outcome(state TaskState, v *wire.Values) (result ToolResult, err error) {
	switch {
	case state.Status == task.Completed && v.Has(wire.SlotResult):
		c := &call{s: f.s, dialect: f.dialect, op: f.dialect.Call(wire.OpCallTool)}
		switch kind, err := c.kind(v[wire.SlotResult]); {
		case err != nil:
			return result, err
		case kind != complete:
			return result, broken(c.op.Name, "the result of a completed task asks for input")
		}
		return c.toolResult(v[wire.SlotResult])
	case state.Status == task.Completed:
		return result, broken(f.dialect.Call(wire.OpGetTask).Name, "a completed task has no result")
	}
	if v.Has(wire.SlotError) {
		var wireErr Error
		if json.Unmarshal(v[wire.SlotError], &wireErr) == nil {
			return result, taskError(state, &wireErr)
		}
	}
	return result, taskError(state, nil)
}

// collect sends the request for the result, which blocks until there is one. The questions of the task come on its stream, or on that of the session.
func (f *follower) collect() {
	f.mu.Lock()
	begun := f.collecting
	f.collecting = true
	f.mu.Unlock()
	if begun {
		return
	}
	f.s.spawn(func() {
		began := time.Now()
		_, raw, err := f.ask(f.ctx, wire.OpTaskResult, nil, Timeout(0, 0))
		wait, transient := f.s.transient(err)
		if err == nil || !transient || f.ctx.Err() != nil || !f.collectsAgain(time.Since(began), wait) {
			f.collected(raw, err)
		}
	})
}

// collectsAgain has the next reading of the state send the request for the result again, which has failed after a while, when the server wants that, and
// later each time. It returns false after too many failures.
func (f *follower) collectsAgain(lasted, wait time.Duration) bool {
	f.mu.Lock()
	if lasted > maxBackoff {
		f.missed = 0
	}
	f.missed++
	misses := f.missed
	f.mu.Unlock()
	if misses > maxMisses {
		return false
	}
	if misses > 1 {
		wait = max(wait, backOff(defaultPoll, misses-2))
	}
	if sleep(f.ctx, wait) {
		f.mu.Lock()
		f.collecting = false
		f.mu.Unlock()
	}
	return true
}

func (f *follower) collected(raw []byte, err error) {
	var refused *Error
	state := f.currentState()
	switch {
	case f.ctx.Err() != nil:
	case errors.As(err, &refused):
		f.readLastState(&state)
		f.finish(ToolResult{}, taskError(state, refused))
	case err != nil:
		f.finish(ToolResult{}, err)
	default:
		c := &call{s: f.s, dialect: f.dialect, op: f.dialect.Call(wire.OpCallTool)}
		result, err := c.toolResult(raw)
		f.readLastState(&state)
		if state.Status == task.Cancelled && err == nil {
			result, err = ToolResult{}, taskError(state, nil)
		}
		f.finish(result, err)
	}
}

// readLastState reads the last state of a task that was not known to be over when its result came.
func (f *follower) readLastState(state *TaskState) {
	if terminal(state.Status) {
		return
	}
	if v, _, err := f.ask(f.ctx, wire.OpGetTask, nil); err == nil {
		*state = readState(v, f.task)
		f.update(*state)
	}
}
