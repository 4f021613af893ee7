package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// execution is an Execution without the type of its result.
type execution struct {
	s       *Session
	dialect *wire.Dialect
	tool    string
	request rpc.ID // the one that started it; zero: it was resumed
	started time.Time
	task    string // its id; "": it is no task
	made    bool   // this session started it, and did not only resume it; final when it is followed

	ctx  context.Context // of the goroutine that follows it
	stop context.CancelCauseFunc
	hint chan struct{} // the state may have changed, and is to be read soon
	passing

	mu        sync.Mutex
	state     TaskState
	changed   chan struct{} // closed and made anew with every change
	over      bool
	result    ToolResult
	err       error
	askedKeys map[string]bool // keys of questions that were passed to handlers
	open      int             // how many of them handlers are answering
	taken     map[string]bool // keys of those that the server has the answers to
	// For a call that waits for the task: left is what was left of maxTime when the task began, stopped the time of questions, which does not count.
	stopped       stoppedClock
	left, maxTime time.Duration
	// collecting: the request for the result is open.
	collecting bool
	// expecting: the task is known to be over, and its result is due. Only for the goroutine that follows it.
	expecting bool
}

// TaskState is the state of a task, as the server reports it.
type TaskState struct {
	ID           string
	Status       task.Status
	Message      string
	TTL          time.Duration // how long the server keeps it; negative: unlimited or unknown
	PollInterval time.Duration // how often the server wants to be asked; 0: unknown
}

// ErrDetached is the error of an execution that is not followed any more, see Execution.Detach.
var ErrDetached = errors.New("client: the task is not followed any more")

func (s *Session) newExecution(d *wire.Dialect, tool, id string, request rpc.ID) *execution {
	x := &execution{s: s, dialect: d, tool: tool, task: id, request: request, made: request != rpc.ID{}, started: time.Now(), changed: make(chan struct{}), hint: make(chan struct{}, 1), passing: passing{calling: make(chan struct{}, 1)}, askedKeys: map[string]bool{}}
	x.ctx, x.stop = context.WithCancelCause(s.ctx)
	return x
}

// readState returns the state that a message reports of the task with the id.
func readState(v *wire.Values, id string) TaskState {
	s := TaskState{ID: id, Status: task.Status(v.Text(wire.SlotStatus)), Message: v.Text(wire.SlotStatusMessage), TTL: -1}
	if ttl, ok := v.Millis(wire.SlotTTL); ok {
		s.TTL = ttl
	}
	s.PollInterval, _ = v.Millis(wire.SlotPollInterval)
	return s
}

// begin begins to follow the task.
func (x *execution) begin() error {
	s := x.s
	s.mu.Lock()
	if s.executions == nil {
		s.executions = map[string]*execution{}
	}
	if followed := s.executions[x.task]; followed != nil {
		x.made = x.made || followed.made
	}
	s.executions[x.task] = x
	s.mu.Unlock()
	if !s.spawn(func() { x.follow() }) {
		return ErrClosed
	}
	return nil
}

// TTL asks the server to keep a task that long, in revisions whose requests can.
func TTL(d time.Duration) CallOption { return func(c *callConfig) { c.ttl = d } }

// await is Execution.Result. The goroutine of a call that waits for its task passes progress on meanwhile.
func (x *execution) await(ctx context.Context) (ToolResult, error) {
	own := x.reports.c
	if x.passed != nil {
		own = nil
	}
	for {
		x.mu.Lock()
		over, changed := x.over, x.changed
		x.mu.Unlock()
		if over {
			x.passRest(ctx)
			return x.result, x.err
		}
		select {
		case <-changed:
		case p := <-own:
			x.pass(p)
		case <-ctx.Done():
			return ToolResult{}, causeOf(ctx)
		}
	}
}

// updates is Execution.Updates.
func (x *execution) updates(ctx context.Context) iter.Seq2[TaskState, error] {
	return func(yield func(TaskState, error) bool) {
		if x.task == "" {
			return
		}
		var last TaskState
		for {
			x.mu.Lock()
			state, over, changed, err := x.state, x.over, x.changed, x.err
			x.mu.Unlock()
			if state != last && !yield(state, nil) {
				return
			}
			last = state
			if over {
				if err != nil {
					yield(state, err)
				}
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(state, causeOf(ctx))
				return
			}
		}
	}
}

// awaitTaken is Execution.AwaitAnswered.
func (x *execution) awaitTaken(ctx context.Context, key string) error {
	for {
		x.mu.Lock()
		taken, over, changed, err := x.taken[key], x.over, x.changed, x.err
		x.mu.Unlock()
		if taken || over {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return causeOf(ctx)
		}
	}
}

// cancel is Execution.Cancel.
func (x *execution) cancel(ctx context.Context, reason string) error {
	x.mu.Lock()
	over := x.over && x.err == nil || terminal(x.state.Status)
	x.mu.Unlock()
	if over || x.task == "" {
		return nil
	}
	if err := x.sendCancel(ctx, reason); err != nil {
		return err
	}
	x.silence(ctx)
	return nil
}

func (x *execution) sendCancel(ctx context.Context, reason string) error {
	x.s.cfg.logger.Info("task is cancelled", "task", x.task, "tool", x.tool, "reason", reason)
	v, _, err := x.ask(ctx, wire.OpCancelTask, nil)
	if err != nil {
		var refused *Error
		if x.dialect.Task.CancelTerminalRefused && errors.As(err, &refused) && refused.Code == rpc.CodeInvalidParams {
			err = nil // it was over before
		}
		x.wake()
		return err
	}
	if v.Has(wire.SlotStatus) {
		x.update(readState(v, x.task))
	}
	x.wake()
	return nil
}

// detach is Execution.Detach.
func (x *execution) detach() {
	if x.task != "" {
		x.silent.Store(true)
		x.finish(ToolResult{}, ErrDetached)
		x.silence(context.Background())
	}
}

// wake has the task's state read soon.
func (x *execution) wake() {
	select {
	case x.hint <- struct{}{}:
	default:
	}
}

// update records a state that the server has reported.
func (x *execution) update(state TaskState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || state == x.state || terminal(x.state.Status) {
		return
	}
	x.state = state
	x.change()
}

// change wakes those that wait for a change; the lock is held.
func (x *execution) change() {
	close(x.changed)
	x.changed = make(chan struct{})
}

// finish ends the execution; the first call counts. The session forgets the execution before those who wait for the end go on.
func (x *execution) finish(result ToolResult, err error) {
	x.s.mu.Lock()
	x.mu.Lock()
	if x.over {
		x.mu.Unlock()
		x.s.mu.Unlock()
		return
	}
	x.over, x.result, x.err = true, result, err
	last := x.s.executions[x.task] == x // a task may be resumed twice
	if last {
		delete(x.s.executions, x.task)
	}
	close(x.changed)
	x.mu.Unlock()
	x.s.mu.Unlock()
	x.stop(&Cause{Source: inflight.SourceParent, Reason: "the task that asked is over"})
	if last {
		x.s.endQuestions(x.task)
	}
}

func terminal(s task.Status) bool {
	return s == task.Completed || s == task.Failed || s == task.Cancelled
}

// ask sends a request about the task. Session.Requests does not list the request, because callers wait for the task. It returns the values of the
// result, and the result.
func (x *execution) ask(ctx context.Context, op wire.Op, responses json.RawMessage, opts ...CallOption) (*wire.Values, []byte, error) {
	c, err := x.s.newCall(op, opts)
	if err != nil {
		return nil, nil, err
	}
	v := c.values()
	v.SetText(wire.SlotTaskID, x.task)
	v[wire.SlotInputResponses] = responses
	result, _, err := c.rounds(ctx, v, nil)
	if err != nil {
		return nil, nil, err
	}
	said, err := c.read(c.op.Result, result)
	return said, result, err
}
