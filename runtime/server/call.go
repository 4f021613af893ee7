package server

import (
	"context"
	"log/slog"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Call is one run of a tool: what a handler may know and do besides its input. It is valid until the handler returns;
// later uses do nothing. Its methods are safe for concurrent use.
type Call struct {
	s        *Server
	tool     *Tool
	wire     *wire
	peer     *peer  // the connection it came on; nil for a task that outlived its own
	asks     bool   // the client shows questions
	since    uint64 // of the request
	progress *progress

	// One of the two.
	entry *inflight.Entry // inline
	run   *task.Run       // as a task

	mu    sync.Mutex
	notes *notes // inline: what Do and Ask gave
}

func (r *request) newCall() *Call {
	c := &Call{s: r.p.s, tool: r.tool, wire: r.wire, peer: r.p, asks: r.p.asks, entry: r.entry}
	c.progress = r.p.newProgress(r.entry, r.wire, r.params.ProgressToken, "")
	if c.progress != nil {
		c.progress.since = r.since
	}
	c.since = r.since
	return c
}

// ID is the id of the request; the zero ID when the call runs as a task.
func (c *Call) ID() rpc.ID {
	if c.entry == nil {
		return rpc.ID{}
	}
	return c.entry.Key().ID
}

// Tool is the name of the tool.
func (c *Call) Tool() string { return c.tool.Name }

// TaskID is the id of the task that the call runs as, "" when it is inline.
func (c *Call) TaskID() string {
	if c.run == nil {
		return ""
	}
	return c.run.Task().ID
}

// Principal is who called, "" without an identity.
func (c *Call) Principal() string {
	if c.entry != nil {
		return c.entry.Info().Principal
	}
	return principalOf(c.run.Task().Owner)
}

// Log is the server's logger with the tool and the request's or task's id.
func (c *Call) Log() *slog.Logger {
	if c.run != nil {
		return c.s.log.With("task", c.TaskID(), "tool", c.tool.Name)
	}
	return c.s.log.With("id", c.ID().String(), "tool", c.tool.Name)
}

// CancelRequested reports whether somebody asked to cancel a call that can not be cancelled (CAN14), and why.
func (c *Call) CancelRequested() (reason string, asked bool) {
	if c.run != nil {
		return c.run.CancelRequested()
	}
	return c.entry.CancelRequested()
}

// Progress tells the client how far the call is: value of total (0: unknown). It is dropped when the client did not
// ask for progress, when value does not increase (PRO02), and when the call is over (PRO01). A loop may report every
// step: the server's rate decides what is sent, and the last value always is (PRO05).
func (c *Call) Progress(ctx context.Context, value, total float64, message string) {
	if c.progress != nil && ctx.Err() == nil {
		c.progress.report(Progress{Progress: value, Total: total, Message: message})
	}
}

// SetStatus changes the message that a task shows while it works. Inline calls have none and ignore it.
func (c *Call) SetStatus(ctx context.Context, message string) error {
	if c.run == nil {
		return nil
	}
	return c.run.Describe(ctx, message)
}

// Do runs fn once per name and call, and returns what it gave. When a task runs again after a crash, names that are
// recorded are not run again: at least once until recorded. Nothing is recorded when fn fails.
func (c *Call) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	return c.journal().Do(ctx, name, fn)
}

// journal is what answers and steps of a call are recorded in.
type journal interface {
	Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error)
	Ask(ctx context.Context, q task.Question) ([]byte, error)
}

func (c *Call) journal() journal {
	if c.run != nil {
		return c.run
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notes == nil {
		c.notes = newNotes(c)
	}
	return c.notes
}

// partial hands what a cancelled handler returned to the hook and the log, never to the wire (CAN25).
func (c *Call) partial(result any, err error) {
	c.Log().Info("partial result of a cancelled call", "result", result, "error", err)
	if c.s.cfg.partial != nil {
		c.s.cfg.partial(Partial{Tool: c.tool.Name, Result: result, Err: err})
	}
}

// close ends what the call may still send.
func (c *Call) close() {
	if c.progress != nil {
		c.progress.close()
	}
}
