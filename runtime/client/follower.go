package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// follower is what a session knows of a task that it follows, or has followed; the executions of the task share it. It has each question asked once. The
// session keeps it when nobody follows the task any more (see leave): an answer may be on its way, and what the task asks meanwhile is asked when somebody
// follows the task again.
type follower struct {
	s       *Session
	dialect *wire.Dialect
	tool    string
	task    string        // its id; "": there is no task
	hint    chan struct{} // the state may have changed, and is to be read soon

	life    context.Context // ends with the task, or when the follower is forgotten
	endLife context.CancelCauseFunc

	// Guarded by Session.mu.
	executions  map[*execution]struct{} // those that are not over
	following   *following              // nil: nobody follows the task at present
	startedHere bool                    // this session started the task, without LeaveOpen, and did not only resume it
	over        bool                    // the task has ended, or is cancelled: it asks nobody any more

	mu        sync.Mutex
	state     TaskState
	changed   chan struct{}   // closed and made anew with every change
	questions map[string]bool // keys of the questions that were passed to handlers; true: there is an answer
	// undeliveredAnswer is that of a call, for calls that wait for the task.
	undeliveredAnswer error
	stopped           stoppedClock // questions pause the clocks of calls that wait for the task
	// questionKeyBytes is how long the keys in questions are in all.
	questionKeyBytes int
}

// following is the time from the first execution of a task to the end of the last, in which its state is read.
type following struct {
	*follower
	ctx  context.Context // of the goroutine that reads the state
	stop context.CancelCauseFunc

	collecting bool                               // the request for the result is open, or waits to be sent again; guarded by follower.mu
	result     *resultRequest                     // that request while it is open; nil: it is not; guarded by follower.mu
	repeated   int                                // how often it was repeated because nothing came; guarded by follower.mu
	missed     int                                // how often it has failed in a row; guarded by follower.mu
	again      time.Time                          // when it is sent again after it has failed, or goes on after a person was asked; guarded by follower.mu
	dialogs    map[string]context.CancelCauseFunc // end the open dialogs, by the keys of their questions; guarded by follower.mu
	// expecting: the task is known to be over, and its result is due. Only for the goroutine that reads the state.
	expecting bool
	// unlisted is how many readings in a row said that the task waits for input, and listed no question. Only for the same goroutine.
	unlisted int
}

// newFollower returns a follower of the task with that state, which the session does not know yet.
func (s *Session) newFollower(d *wire.Dialect, tool string, state TaskState) *follower {
	return &follower{s: s, dialect: d, tool: tool, task: state.ID, state: state, changed: make(chan struct{}), hint: make(chan struct{}, 1), questions: map[string]bool{}}
}

// join adds an execution of the task to the follower that the session has of it, or to f if it has none. It returns what reads the state from now on; nil:
// the state is being read already.
func (s *state) join(f *follower, x *execution) (first *following) {
	if known := s.followers[f.task]; known != nil && !known.over {
		f = known
	} else {
		f.life, f.endLife = context.WithCancelCause(f.s.ctx)
		f.executions = map[*execution]struct{}{}
		s.remember(f)
	}
	if f.following == nil {
		first = &following{follower: f}
		first.ctx, first.stop = context.WithCancelCause(f.s.ctx)
		f.following = first
		s.left = slices.DeleteFunc(s.left, func(other *follower) bool { return other == f })
		f.forgetUnanswered()
	}
	x.follower = f
	f.executions[x] = struct{}{}
	f.startedHere = f.startedHere || !x.request.IsZero() && !x.leavesOpen
	return first
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

// onlyResumed reports whether the session has only resumed the task.
func (f *follower) onlyResumed() bool {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return !f.startedHere
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

// update records a state that the server has reported. If the task is over, its questions are over, too, though its result may take a while.
func (f *follower) update(state TaskState) {
	if knownStatus(state.Status) && f.record(state) && terminal(state.Status) {
		f.endQuestions(whyGone(taskOver))
	}
}

// record records a state, and reports whether it is a new one of a task that the session knows. The message of a task that was left is dropped, because
// nobody reads it and what is kept of such tasks is limited (VAL07).
func (f *follower) record(state TaskState) bool {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.following == nil {
		state.Message = ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if state == f.state || terminal(f.state.Status) {
		return false
	}
	f.state = state
	f.change()
	return f.s.followers[f.task] == f
}

// change wakes those who wait for a change; the lock is held.
func (f *follower) change() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// ending is how executions of a task end.
type ending struct {
	one    *execution // only this one; nil: all
	by     *following // which ends them: nothing ends if another reads the state by now; nil: they end in any case
	over   bool       // the task has ended, or is cancelled
	result ToolResult
	err    error
}

// finish ends all executions of the task.
func (w *following) finish(result ToolResult, err error) {
	var expired *ExpiredError
	over := err == nil || terminal(w.currentState().Status) || errors.As(err, &expired)
	w.end(ending{by: w, over: over, result: result, err: err})
}

// end ends executions of the task. They leave the session's list before those who wait for their end go on. When the task has no execution any more, its
// questions end if the task is over, even if it was left before; else they wait until somebody follows the task again. false: nothing ended, because of
// e.by.
func (f *follower) end(e ending) bool {
	s, cause := f.s, whyGone(taskLeft)
	switch {
	case s.ctx.Err() != nil:
		e.over, cause = true, s.endCause()
	case e.over:
		cause = whyGone(taskOver)
	}
	s.mu.Lock()
	if e.by != nil && e.by != f.following {
		s.mu.Unlock()
		return false
	}
	for x := range f.executions {
		if e.one == nil || x == e.one {
			delete(f.executions, x)
			x.result, x.err = e.result, e.err
			close(x.ended)
		}
	}
	last := f.following != nil && len(f.executions) == 0
	over := e.over && len(f.executions) == 0 && s.followers[f.task] == f
	f.over = f.over || over
	var forgotten []*follower
	if last {
		f.following.stop(cause) // under the lock: what it reads from now on is for nobody
		f.following = nil
		forgotten = s.leave(f)
	}
	s.mu.Unlock()
	for _, other := range forgotten {
		other.endQuestions(whyGone(taskForgotten))
	}
	switch {
	case over:
		f.endQuestions(cause)
	case last:
		f.leaveQuestions()
	}
	return true
}

func (f *follower) sendCancel(ctx context.Context, reason string) error {
	f.s.cfg.logger.Info("task is to be cancelled", "task", f.task, "tool", f.tool, "reason", reason)
	v, _, err := f.ask(ctx, wire.OpCancelTask, nil)
	if err != nil {
		var refused *Error
		if f.dialect.Task.CancelTerminalRefused && errors.As(err, &refused) && refused.Code == rpc.CodeInvalidParams {
			err = nil // it was over before
		}
		f.wake()
		return err
	}
	if state := readState(v, f.task); f.validateState(v, state.Status) == nil { // the state is read again in any case
		f.update(state)
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
	return f.send(ctx, c, responses)
}

// send sends the request of ask.
func (f *follower) send(ctx context.Context, c *call, responses json.RawMessage) (*wire.Values, []byte, error) {
	c.about = f
	c.cancelsSilently = c.op.Op == wire.OpCancelTask || c.op.Op == wire.OpUpdateTask // what they say still counts when nobody waits for the receipt
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
	if state := readState(v, f.task); !terminal(state.Status) {
		f.update(state)
	}
	f.wake()
}
