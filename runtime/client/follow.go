package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
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
func (x *execution) follow() {
	misses, last := 0, time.Time{}
	for x.wait(misses, last) {
		last = time.Now()
		v, _, err := x.ask(x.ctx, wire.OpGetTask, nil)
		switch wait, transient := x.transient(err); {
		case x.ctx.Err() != nil:
		case err == nil:
			misses = 0
			x.takeState(v)
			continue
		case transient && misses < maxMisses:
			if misses++; misses == 1 {
				x.s.cfg.logger.Warn("the state of a task was not read, and will be again", "task", x.task, "error", err)
			}
			if sleep(x.ctx, wait) {
				continue
			}
		default:
			x.finish(ToolResult{}, taskError(x.currentState(), err))
			return
		}
		break
	}
	x.finish(ToolResult{}, x.s.ended(x.s.endCause()))
}

func (x *execution) currentState() TaskState {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state
}

// wait waits until the state is to be read again, because of the interval or a hint. After failures it waits longer.
func (x *execution) wait(misses int, last time.Time) bool {
	every := x.currentState().PollInterval
	if every <= 0 {
		every = defaultPoll
	}
	if every = min(every, maxPoll); every < maxBackoff {
		every = min(every<<misses, maxBackoff)
	}
	every += rand.N(every/10 + 1) // many clients must not come at once
	timer := time.NewTimer(every)
	defer timer.Stop()
	select {
	case <-x.ctx.Done():
		return false
	case <-timer.C:
		return true
	case <-x.hint:
		return sleep(x.ctx, hintPause-time.Since(last))
	}
}

// transient reports whether a failure may be over the next time, and how long to wait at least.
func (x *execution) transient(err error) (wait time.Duration, ok bool) {
	var status *StatusError
	var cause *Cause
	var lost *TransportError
	switch {
	case errors.As(err, &status):
		return status.RetryAfter, status.transient()
	case errors.As(err, &lost):
		return 0, x.s.usable() == nil
	case errors.As(err, &cause):
		return 0, cause.Source == inflight.SourceTimeout
	}
	return 0, false
}

// takeState takes an answer with the task's state.
func (x *execution) takeState(v *wire.Values) {
	state := readState(v, x.task)
	if err := x.validateState(v, state.Status); err != nil {
		x.finish(ToolResult{}, err)
		return
	}
	x.update(state)
	if terminal(state.Status) && !x.dialect.Task.QuestionsInline {
		x.expectResult()
	}
	switch {
	case x.dialect.Task.QuestionsInline && state.Status == task.InputRequired:
		x.answer(v[wire.SlotInputRequests])
	case x.dialect.Task.QuestionsInline && terminal(state.Status):
		x.finish(x.outcome(state, v))
	case state.Status == task.InputRequired || terminal(state.Status):
		x.collect()
	}
}

// validateState returns an error for a state that can not be this task's.
func (x *execution) validateState(v *wire.Values, status task.Status) error {
	method := x.dialect.Call(wire.OpGetTask).Name
	switch id := v.Text(wire.SlotTaskID); {
	case id != x.task:
		return broken(method, "it tells of task %q, not of %q", id, x.task)
	case !terminal(status) && status != task.Working && status != task.InputRequired:
		return broken(method, "unknown status %q", status)
	}
	return nil
}

// expectResult ends the execution of a task that is over if its result does not come within the timeout of a request.
func (x *execution) expectResult() {
	most := x.s.cfg.timeout
	if x.expecting || most <= 0 {
		return
	}
	x.expecting = true
	x.s.spawn(func() {
		if sleep(x.ctx, most) {
			x.finish(ToolResult{}, broken(x.dialect.Call(wire.OpTaskResult).Name, "no result came within %v of the end of the task", most))
		}
	})
}

// outcome returns the result or error of a task that is over, from a state that has it.
func (x *execution) outcome(state TaskState, v *wire.Values) (result ToolResult, err error) {
	switch {
	case state.Status == task.Completed && v.Has(wire.SlotResult):
		c := &call{s: x.s, dialect: x.dialect, op: x.dialect.Call(wire.OpCallTool)}
		return c.toolResult(v[wire.SlotResult])
	case state.Status == task.Completed:
		return result, broken(x.dialect.Call(wire.OpGetTask).Name, "a completed task has no result")
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
func (x *execution) collect() {
	x.mu.Lock()
	begun := x.collecting
	x.collecting = true
	x.mu.Unlock()
	if begun {
		return
	}
	x.s.spawn(func() {
		_, raw, err := x.ask(x.ctx, wire.OpTaskResult, nil, Timeout(0, 0))
		if _, transient := x.transient(err); err != nil && transient && x.ctx.Err() == nil {
			x.mu.Lock()
			x.collecting = false // the next reading of the state begins anew
			x.mu.Unlock()
			return
		}
		x.collected(raw, err)
	})
}

func (x *execution) collected(raw []byte, err error) {
	var refused *Error
	state := x.currentState()
	switch {
	case x.ctx.Err() != nil:
	case errors.As(err, &refused):
		x.readLastState(&state)
		x.finish(ToolResult{}, taskError(state, refused))
	case err != nil:
		x.finish(ToolResult{}, err)
	default:
		c := &call{s: x.s, dialect: x.dialect, op: x.dialect.Call(wire.OpCallTool)}
		result, err := c.toolResult(raw)
		x.readLastState(&state)
		if state.Status == task.Cancelled && err == nil {
			result, err = ToolResult{}, taskError(state, nil)
		}
		x.finish(result, err)
	}
}

// readLastState reads the last state of a task that was not known to be over when its result came.
func (x *execution) readLastState(state *TaskState) {
	if terminal(state.Status) {
		return
	}
	if v, _, err := x.ask(x.ctx, wire.OpGetTask, nil); err == nil {
		*state = readState(v, x.task)
		x.update(*state)
	}
}

// answer has each question answered that was not before, and sends each answer when it is there. Questions beyond maxQuestions at once wait for
// the next reading of the state. A state with more than that ends the task.
func (x *execution) answer(requests []byte) {
	var questions map[string]inputRequest
	if err := json.Unmarshal(requests, &questions); err != nil {
		x.s.cfg.logger.Warn("the questions of a task can not be read", "task", x.task, "error", err)
		return
	}
	if err := tooMany(x.dialect.Call(wire.OpGetTask).Name, len(questions)); err != nil {
		x.fail(err)
		return
	}
	for key, asked := range questions {
		x.mu.Lock()
		skip := x.askedKeys[key] || x.open >= maxQuestions
		if !skip {
			x.askedKeys[key] = true
			x.open++
		}
		x.mu.Unlock()
		if !skip {
			x.s.spawn(func() { x.answerOne(key, asked) })
		}
	}
}

func (x *execution) answerOne(key string, asked inputRequest) {
	x.countQuestions(1)
	answers, err := x.s.answerAll(x.ctx, x.dialect, map[string]inputRequest{key: asked}, x.task)
	x.countQuestions(-1)
	x.mu.Lock()
	x.open--
	x.mu.Unlock()
	switch {
	case x.ctx.Err() != nil:
	case err == nil:
		x.deliver(key, answers)
	case x.made: // without its answer the task waits for ever
		x.fail(fmt.Errorf("its question, %s, was not answered: %w", asked.Method, err))
	default:
		q, _, _ := x.s.inputQuestion(x.dialect, key, asked, x.task)
		x.s.leaveOpen(q, err)
	}
}

// deliver sends an answer, again after failures that may be over the next time: the server ignores what it was told before (EXT10).
func (x *execution) deliver(key string, answers []byte) {
	for misses := 0; ; misses++ {
		_, _, err := x.ask(x.ctx, wire.OpUpdateTask, answers)
		wait, transient := x.transient(err)
		switch {
		case x.ctx.Err() != nil:
			return
		case err == nil:
			x.delivered(key)
			return
		case !transient || misses == maxMisses:
			x.fail(fmt.Errorf("an answer to it was not taken: %w", err))
			return
		case misses == 0:
			x.s.cfg.logger.Warn("an answer to a task was not delivered, and will be sent again", "task", x.task, "error", err)
		}
		if !sleep(x.ctx, max(wait, min(defaultPoll<<misses, maxBackoff))) {
			return
		}
	}
}

// delivered counts a question that the server has the answer to, though its state may list it for a while, and has that read soon.
func (x *execution) delivered(key string) {
	x.mu.Lock()
	if x.taken == nil {
		x.taken = map[string]bool{}
	}
	x.taken[key] = true
	x.change()
	x.mu.Unlock()
	x.wake()
}

// fail ends the execution of a task that can not be followed to its result. The task is cancelled if this session started it; else it goes on,
// because it is another host's.
func (x *execution) fail(err error) {
	if x.made {
		x.giveUp(&TaskError{State: x.currentState(), Err: fmt.Errorf("it is cancelled: %w", err)})
		return
	}
	x.finish(ToolResult{}, fmt.Errorf("client: task %s goes on, but is not followed: %w", rpc.Printable(x.task), err))
}

// resumed reports whether this session follows the task with the id and has not started it.
func (s *Session) resumed(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.executions[id]
	return x != nil && !x.made
}

// leaveOpen leaves a question that this session can not answer open if it is one of a task that was only resumed.
func (s *Session) leaveOpen(q *Question, why error) bool {
	if !s.resumed(q.Task) {
		return false
	}
	s.spawn(func() {
		if f := s.cfg.handlers.LeftOpen; f != nil {
			f(q, why)
			return
		}
		s.cfg.logger.Warn("a question of a task that was resumed stays open", "task", q.Task, "method", q.Method, "error", why)
	})
	return true
}

// endQuestions ends the questions of a task that came as requests.
func (s *Session) endQuestions(id string) {
	for _, open := range s.tracker.List() {
		if q, ok := open.Values.(*question); ok && q.Task == id {
			if e := s.tracker.Find(open.Key); e != nil {
				e.Cancel(&Cause{Source: inflight.SourceParent, Reason: "the task that asked is over"})
			}
		}
	}
}

// receiveTaskStatus handles a notification about a task. It is a hint: whether the task is over is only decided by reading its state.
func (s *Session) receiveTaskStatus(v *wire.Values) {
	s.mu.Lock()
	x := s.executions[v.Text(wire.SlotTaskID)]
	s.mu.Unlock()
	if x == nil {
		return
	}
	if state := readState(v, x.task); state.Status == task.Working || state.Status == task.InputRequired {
		x.update(state)
	}
	x.wake()
}

// receiveTaskProgress passes on progress of a request that has become a task, in revisions where its token stays valid.
func (s *Session) receiveTaskProgress(token rpc.ID, p Progress) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.executions {
		if x.request != token || x.reports.c == nil || !x.dialect.Task.Progress {
			continue
		}
		x.reports.add(p)
		return true
	}
	for c := range s.calls {
		if c.tasks && c.dialect.Task.Progress && c.reportLate(token, p) {
			return true
		}
	}
	return false
}

// reportLate takes progress of a request that was answered, perhaps with a task that its caller does not follow yet; false: it is another's.
func (c *call) reportLate(token rpc.ID, p Progress) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.round == nil || c.round.entry.Key().ID != token {
		return false
	}
	c.round.reports.add(p)
	return true
}
