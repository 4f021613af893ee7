package client

import (
	"cmp"
	"errors"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// TaskError says that a task ended without a result, or is not followed any more. Err is why: a *Cause of source peer if it was cancelled, an
// *ExpiredError if the server does not know it any more, an *Error if it failed with one, or the error of reading its state or of answering its questions:
// then State is not terminal, the task may go on, and a *RemedyError around this one says how to follow it.
type TaskError struct {
	State TaskState // the last one that was read
	Err   error     // nil: it failed without saying why, which breaks the protocol since 2026-07-28, but leaves no doubt that it failed
}

// Error implements error.
func (e *TaskError) Error() string {
	return rpc.Printable("client: task " + e.State.ID + ": " + e.why())
}

func (e *TaskError) why() string {
	switch cause := (*Cause)(nil); {
	case errors.As(e.Err, &cause) && cause.Source == inflight.SourcePeer:
		return joined(string(task.Cancelled), cause.Reason)
	case e.Err != nil && !terminal(e.State.Status):
		return e.Err.Error()
	case e.Err != nil:
		return joined(string(e.State.Status), e.Err.Error())
	}
	return joined(string(e.State.Status), e.State.Message)
}

// joined returns what happened, and why; why alone if that begins with what.
func joined(what, why string) string {
	switch {
	case why == "":
		return what
	case strings.HasPrefix(why, what):
		return why
	}
	return what + ": " + why
}

// Unwrap returns Err.
func (e *TaskError) Unwrap() error { return e.Err }

// ExpiredError says that the server does not know a task: it has expired, never existed, or belongs to another caller.
type ExpiredError struct {
	Task   string
	Reason string // in the server's words
}

// Error implements error.
func (e *ExpiredError) Error() string {
	return "the server does not know the task, which may have expired: " + rpc.Printable(e.Reason)
}

// taskError returns the error of a task that ended in that state. err is the server's error about it, or nil.
func taskError(state TaskState, err error) *TaskError {
	var refused *Error
	said := ""
	if errors.As(err, &refused) {
		said = refused.Message
	}
	switch {
	case state.Status == task.Cancelled:
		err = &Cause{Source: inflight.SourcePeer, Reason: rpc.Printable(cmp.Or(state.Message, said))}
	case refused != nil && refused.Code == rpc.CodeInvalidParams && state.Status != task.Failed:
		err = &ExpiredError{Task: state.ID, Reason: said}
	}
	return &TaskError{State: state, Err: err}
}
