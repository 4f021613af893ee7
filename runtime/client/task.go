package client

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// execution is an Execution without the type of its result.
type execution struct {
	*follower        // of its task; other executions of the session may have the same
	request   rpc.ID // the one that started it; zero: it was resumed
	// leavesOpen: of what was started with LeaveOpen.
	leavesOpen bool
	// givenUp: its task is being cancelled because of it, or was; guarded by Session.mu.
	givenUp bool
	started time.Time
	passing

	ended  chan struct{} // closed when it is over, and result and err are final
	result ToolResult
	err    error
	// For a call that waits for the task: timeLeft is what was left of maxTime when the task began. The time of questions does not count.
	timeLeft, maxTime time.Duration
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

func newExecution(f *follower, request rpc.ID) *execution {
	return &execution{follower: f, request: request, started: time.Now(), ended: make(chan struct{}), passing: passing{calling: make(chan struct{}, 1)}}
}

// answeredAtOnce returns the execution of a call that was no task.
func answeredAtOnce(result ToolResult) *execution {
	x := newExecution(&follower{}, rpc.ID{})
	x.result = result
	close(x.ended)
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

// begin has the task followed: by the follower that the execution has, or by the one that the session has of the task already, since each question is
// to be asked once.
func (x *execution) begin() error {
	s := x.s
	s.mu.Lock()
	first := s.join(x.follower, x)
	s.mu.Unlock()
	x.timeLeft -= x.pausedSoFar()
	if first == nil {
		return nil
	}
	if x.request.IsZero() {
		x.wake() // its state is not known yet
	}
	if !s.spawn(first.follow) {
		first.finish(ToolResult{}, ErrClosed)
		return ErrClosed
	}
	x.askWaiting()
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
	for !isClosed(x.ended) {
		select {
		case <-x.ended:
		case p := <-own:
			x.pass(p)
		case <-ctx.Done():
			return ToolResult{}, causeOf(ctx)
		}
	}
	x.passRest(ctx)
	return x.result, x.err
}

// updates is Execution.Updates.
func (x *execution) updates(ctx context.Context) iter.Seq2[TaskState, error] {
	return func(yield func(TaskState, error) bool) {
		if x.task == "" {
			return
		}
		var last TaskState
		for {
			over := isClosed(x.ended)
			x.mu.Lock()
			state, changed := x.state, x.changed
			x.mu.Unlock()
			if state != last && !yield(state, nil) {
				return
			}
			last = state
			if over {
				if x.err != nil {
					yield(state, x.err)
				}
				return
			}
			select {
			case <-changed:
			case <-x.ended:
			case <-ctx.Done():
				yield(state, causeOf(ctx))
				return
			}
		}
	}
}

// cancel is Execution.Cancel.
func (x *execution) cancel(ctx context.Context, reason string) error {
	if isClosed(x.ended) && x.err == nil || terminal(x.currentState().Status) || x.task == "" {
		return nil
	}
	if err := x.sendCancel(ctx, reason); err != nil {
		return err
	}
	x.silence(ctx)
	return nil
}

// detach is Execution.Detach.
func (x *execution) detach() {
	if x.task != "" {
		x.silent.Store(true)
		x.end(ending{one: x, err: ErrDetached})
		x.silence(context.Background())
	}
}

// giveUp ends the execution at once, for err, and has the task cancelled.
func (x *execution) giveUp(err error) {
	x.silent.Store(true)
	x.abandon(ending{one: x, err: err})
}

func knownStatus(s task.Status) bool {
	return terminal(s) || s == task.Working || s == task.InputRequired
}

func terminal(s task.Status) bool {
	return s == task.Completed || s == task.Failed || s == task.Cancelled
}
