package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// follower follows a task for all its executions in the session: it reads the state, has each question asked once, and ends with the last execution.
type follower struct {
	s       *Session
	dialect *wire.Dialect
	tool    string
	task    string // its id; "": there is no task

	// Guarded by Session.mu.
	executions map[*execution]struct{} // those that are not over
	made       bool                    // this session started the task, and did not only resume it

	ctx  context.Context // of the goroutine that follows it
	stop context.CancelCauseFunc
	hint chan struct{} // the state may have changed, and is to be read soon

	mu         sync.Mutex
	state      TaskState
	changed    chan struct{}   // closed and made anew with every change
	questions  map[string]bool // keys of those that were passed to handlers
	keyBytes   int             // of them; only for the goroutine that follows the task
	stopped    stoppedClock    // questions pause the clocks of calls that wait for the task
	collecting bool            // the request for the result is open, or waits to be sent again
	missed     int             // how often it has failed in a row
	// expecting: the task is known to be over, and its result is due. Only for the goroutine that follows it.
	expecting bool
	// unlisted is how many readings in a row said that the task waits for input, and listed no question. Only for the same goroutine.
	unlisted int
}

// newFollower returns a follower of the task with that state, which does not follow it yet.
func (s *Session) newFollower(d *wire.Dialect, tool string, state TaskState) *follower {
	return &follower{s: s, dialect: d, tool: tool, task: state.ID, state: state, changed: make(chan struct{}), hint: make(chan struct{}, 1), questions: map[string]bool{}}
}

// executions are those of all tasks that are followed; the lock is held.
func (s *state) executions() iter.Seq[*execution] {
	return func(yield func(*execution) bool) {
		for _, f := range s.followers {
			for x := range f.executions {
				if !yield(x) {
					return
				}
			}
		}
	}
}

// guest reports whether the session has only resumed the task.
func (f *follower) guest() bool {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return !f.made
}

// wake has the task's state read soon.
func (f *follower) wake() {
	select {
	case f.hint <- struct{}{}:
	default:
	}
}

func (f *follower) currentState() TaskState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// update records a state that the server has reported.
func (f *follower) update(state TaskState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state == f.state || terminal(f.state.Status) {
		return
	}
	f.state = state
	f.change()
}

// change wakes those who wait for a change; the lock is held.
func (f *follower) change() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// finish ends all executions of the task.
func (f *follower) finish(result ToolResult, err error) { f.end(nil, result, err) }

// end ends an execution of the task, or all if it is nil. The session forgets it before those who wait for the end go on. With the last, the task's
// questions end.
func (f *follower) end(one *execution, result ToolResult, err error) {
	s := f.s
	s.mu.Lock()
	for x := range f.executions {
		if one == nil || x == one {
			delete(f.executions, x)
			x.result, x.err = result, err
			close(x.ended)
		}
	}
	last := len(f.executions) == 0 && s.followers[f.task] == f
	if last {
		delete(s.followers, f.task)
		if len(f.task) <= maxLeftID {
			s.left = append(s.left[max(0, len(s.left)-maxLeft+1):len(s.left):len(s.left)], f.task)
		}
	}
	s.mu.Unlock()
	if last {
		f.stop(&Cause{Source: inflight.SourceParent, Reason: "the task that asked is over"})
		s.endQuestions(f.task)
	}
}

// A session remembers the last maxLeft tasks that it does not follow any more, whose ids have up to maxLeftID bytes.
const (
	maxLeft   = 256
	maxLeftID = 512
)

// hasLeft reports whether the session has followed the task and does not any more. Its questions are not for this session: the task is over, or whoever
// follows it elsewhere answers (TSK27).
func (s *Session) hasLeft(task string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.followers[task] == nil && slices.Contains(s.left, task)
}

func (f *follower) sendCancel(ctx context.Context, reason string) error {
	f.s.cfg.logger.Info("task is cancelled", "task", f.task, "tool", f.tool, "reason", reason)
	v, _, err := f.ask(ctx, wire.OpCancelTask, nil)
	if err != nil {
		var refused *Error
		if f.dialect.Task.CancelTerminalRefused && errors.As(err, &refused) && refused.Code == rpc.CodeInvalidParams {
			err = nil // it was over before
		}
		f.wake()
		return err
	}
	if v.Has(wire.SlotStatus) {
		f.update(readState(v, f.task))
	}
	f.wake()
	return nil
}

// ask sends a request about the task. Session.Requests does not list the request, because callers wait for the task. It returns the values of the
// result, and the result.
func (f *follower) ask(ctx context.Context, op wire.Op, responses json.RawMessage, opts ...CallOption) (*wire.Values, []byte, error) {
	c, err := f.s.newCall(op, opts)
	if err != nil {
		return nil, nil, err
	}
	v := c.values()
	v.SetText(wire.SlotTaskID, f.task)
	v[wire.SlotInputResponses] = responses
	result, _, err := c.rounds(ctx, v, nil)
	if err != nil {
		return nil, nil, err
	}
	said, err := c.read(c.op.Result, result)
	return said, result, err
}

// receiveTaskStatus handles a notification about a task. It is a hint: whether the task is over is only decided by reading its state.
func (s *Session) receiveTaskStatus(v *wire.Values) {
	s.mu.Lock()
	f := s.followers[v.Text(wire.SlotTaskID)]
	s.mu.Unlock()
	if f == nil {
		return
	}
	if state := readState(v, f.task); state.Status == task.Working || state.Status == task.InputRequired {
		f.update(state)
	}
	f.wake()
}
