package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/rate"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Call is one run of a tool: what a handler may know and do besides its input. It is valid until the handler returns;
// later uses do nothing. Its methods are safe for concurrent use. Only a server makes one: to test a handler, call its tool with
// package servertest.
type Call struct {
	s        *Server
	tool     *Tool
	revision *revision
	peer     *peer // that the call came from; nil for a task that outlived it
	progress callProgress

	// One of the two is set.
	entry   *inflight.Entry // of an inline call
	taskRun *task.Run       // of a call that runs as a task

	mu     sync.Mutex
	r      *request              // the client's, or that of the task's run (newRun): what is decoded counts in it; nil when the handler has returned
	record *callRecord           // nil: nothing was asked or done
	added  atomic.Pointer[added] // by the handler to the tool's result; nil: nothing
	slot   *slot                 // of a tool with MaxConcurrent; nil: the run needs none

	can            ability
	level          logLevel    // of log messages that the client wants
	canNotAsk      bool        // in the revision, a result of the method can carry no question
	discardsResult bool        // nobody gets what the handler returns (runWatcher)
	messages       rate.Bucket // of its log messages
	withheld       *withheld   // nil: its messages are sent at once
	local          *taskLocal  // what a task's run has of the request that created the task
}

// ID is the id of the request; the zero ID when the call runs as a task.
func (c *Call) ID() rpc.ID {
	if c.entry == nil {
		return rpc.ID{}
	}
	return c.entry.ID()
}

// Tool is the name of the tool, "" when another method is served.
func (c *Call) Tool() string {
	if c.tool == nil {
		return ""
	}
	return c.tool.Name
}

// TaskID is the id of the task that the call runs as, "" when it is inline.
func (c *Call) TaskID() string {
	if c.taskRun == nil {
		return ""
	}
	return c.taskRun.Task().ID
}

// Principal is who called, "" without an identity.
func (c *Call) Principal() string {
	if c.entry != nil {
		return c.entry.Info().Principal
	}
	return principalOf(c.taskRun.Task().Owner)
}

// Log is the server's logger with the tool and the request's or task's id.
func (c *Call) Log() *slog.Logger {
	if c.taskRun != nil {
		return c.s.log.With("task", c.TaskID(), "tool", c.Tool())
	}
	return c.s.log.With("id", c.ID().String(), "tool", c.Tool())
}

// CancelRequested reports whether somebody asked to cancel a call that can not be cancelled (CAN14), and why.
func (c *Call) CancelRequested() (reason string, asked bool) {
	if c.taskRun != nil {
		return c.taskRun.CancelRequested()
	}
	return c.entry.CancelRequested()
}

// Progress tells the client how far the call is: value of total (0: unknown). The report is dropped when the client did not
// ask for progress, when value does not increase (PRO02) or is no number, when the call is over (PRO01), and in a task of 2026-07-28, whose request
// was answered when the task began: use SetStatus there. A total below value is left out. A loop may report every
// step: the server's rate decides what is sent, and the last value always is (PRO05).
func (c *Call) Progress(ctx context.Context, value, total float64, message string) {
	if ctx.Err() != nil {
		return
	}
	if pr := c.progress.of(c); pr != nil {
		pr.report(wire.Progress{Progress: value, Total: total, Message: message})
	}
}

// SetStatus changes the message that a task shows while it works. Inline calls have none and ignore it.
func (c *Call) SetStatus(ctx context.Context, message string) error {
	if c.taskRun == nil {
		return nil
	}
	return c.taskRun.Describe(ctx, message)
}

// Do runs fn, records its result under name, and returns it. When the handler runs again, after a crash or with an answer, the recorded result is
// returned and fn is not run; after a crash before the recording fn runs again. Each step of a run has a name of its own, else *task.NameError;
// nothing is recorded when fn fails, so the step may be tried again. Inline, no step begins once the call has ended. See the function Do.
func (c *Call) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	return c.reserve(name, func() ([]byte, error) {
		if c.entry != nil && !c.discardsResult { // an unsubscribe handler runs when the request for its subscription has ended
			if cause := c.entry.Cause(); cause != nil && cause.Source != inflight.SourceCompleted { // else the journal says why no step begins
				return nil, cause
			}
		}
		return c.openJournal().Do(ctx, name, fn)
	})
}

// put asks the client on the stream of the request. The call's timeout is paused meanwhile: only the question's own timeout counts
// (CAN28).
func (c *Call) put(ctx context.Context, q task.Question, _ answerCheck) ([]byte, error) {
	began := time.Now()
	c.observeQuestion(QuestionAsked, q.Name, began, nil)
	data, err := c.lendSlot(ctx, func() ([]byte, error) {
		return (&asking{about: c.subject(), from: c, parent: c.entry, waiter: ctx, clock: c.entry}).send(q)
	})
	c.observeQuestion(QuestionEnded, q.Name, began, err)
	if err != nil && ctx.Err() != nil && c.entry.Err() == nil {
		return nil, fmt.Errorf("%w: %w", task.ErrWithdrawn, context.Cause(ctx))
	}
	if err == nil {
		err = c.keepAnswer(q.Name, int64(len(data)))
	}
	return data, err
}

// write writes a message of the handler, unless the handler has returned. close waits for write, so that the answer comes later (PRO01, CAN29).
func (c *Call) write(about *subject, m outgoing) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r == nil && c.taskRun == nil {
		return errCallOver
	}
	return about.write(m)
}

// keepAnswer counts an answer of n bytes, which is kept until the handler has returned (TSK28).
func (c *Call) keepAnswer(name string, n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r == nil {
		return errCallOver
	}
	if err := c.r.keepAnswer(n); err != nil {
		return fmt.Errorf("the answer to %q is not kept: %w", name, err)
	}
	return nil
}

// reportPartial passes the result of a cancelled handler to the hook of WithPartialResults and the log, never to the client (CAN25). A result
// that may have sensitive values goes to the hook alone.
func (c *Call) reportPartial(result any, err error, sensitive bool) {
	shown := result
	if sensitive {
		shown = "not shown: the tool has sensitive values"
	}
	c.Log().Info("partial result of a cancelled call", "result", shown, "error", err)
	if c.s.cfg.partial != nil {
		c.s.cfg.partial(Partial{Tool: c.Tool(), Result: result, Err: err})
	}
}
