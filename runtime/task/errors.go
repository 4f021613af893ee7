package task

import (
	"errors"
	"fmt"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Sentinels. Callers use errors.Is.
var (
	// ErrNotFound: there is no such task for this caller. See NotFoundError.
	ErrNotFound = errors.New("unknown task: there is none with this id, or it has expired")
	// ErrCursor: the cursor was not made by this store for this owner (TSK17).
	ErrCursor = errors.New("invalid cursor: not one that this server gave to this requestor")
	// ErrLease: another run has the task, or the lease is an old one. Nothing was changed.
	ErrLease = errors.New("the task is leased to another run")
	// ErrExists: the id is taken.
	ErrExists = errors.New("a task with this id exists")
	// ErrTTL: the requested ttl is not a positive duration of at most a hundred years (TSK14).
	ErrTTL = errors.New("invalid ttl: must be a positive number of milliseconds of at most 100 years")
	// ErrExpired is in the cause of a run that was stopped because its task's ttl passed (TSK15).
	ErrExpired = errors.New("the task has expired")
	// ErrDiscarded is in the cause of a run that was stopped because nobody can ask for its task any more.
	ErrDiscarded = errors.New("the session that the task belonged to has ended")
	// ErrParked is in the cause of a run that waited for an answer for so long that it was ended, to begin again with the answer. Nothing has
	// failed: a handler returns it as it is.
	ErrParked = errors.New("the task waits for an answer: its handler runs again from the top when that is there")
	// ErrLost: the store does not have what it kept any more, or another process may have it, and no later call will succeed. Restart the process.
	// A store that returns it closes the channels of its Watch, because no change will do so any more.
	ErrLost = errors.New("the store has lost its tasks")
	// ErrClosed: the engine is shutting down or closed.
	ErrClosed = errors.New("the task engine is closed")
	// ErrUnanswered: the deadline of a question passed without an answer.
	ErrUnanswered = errors.New("nobody answered the question in time")
	// ErrWithdrawn: the handler stopped waiting for the answer before it came.
	ErrWithdrawn = errors.New("the question was withdrawn")
)

// Reason says why a task was not found. It is for the audit log: callers see one error for all of them, so that nobody
// learns which ids exist (TSK17, TSK21).
type Reason string

// Why a task was not found.
const (
	Unknown Reason = "unknown"
	Expired Reason = "expired"
	Foreign Reason = "foreign"
)

// NotFoundError is ErrNotFound with the reason and, where there is a task, its tool. Both are for the audit log.
type NotFoundError struct {
	Reason Reason
	Tool   string
}

func (e *NotFoundError) Error() string        { return ErrNotFound.Error() }
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// TerminalError refuses to change a task that is over (TSK07, TSK18).
type TerminalError struct{ Status Status }

func (e *TerminalError) Error() string {
	return fmt.Sprintf("the task is already %s", e.Status)
}

// EdgeError refuses a transition that the state machine does not have.
type EdgeError struct{ From, To Status }

func (e *EdgeError) Error() string {
	return fmt.Sprintf("a task can not go from %s to %s", e.From, e.To)
}

// NameError refuses a journal name: it is in use already, or not in the journal. Names of Do and Ask are one namespace.
type NameError struct {
	Name, Why string
	// Recorded is what an earlier asking or step has recorded under the name, "question" or "step", if it is something else than what is asked or done now.
	// Each run of a handler of package server uses a name once: there, an earlier run has recorded it.
	Recorded string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("journal name %q: %s", e.Name, e.Why)
}

// LimitError says that a limit is reached (TSK22). Wait is after how long another try makes sense, 0 when unknown.
type LimitError struct {
	// What names the limit, e.g. "unfinished tasks per requestor".
	What string
	Max  int64
	Wait time.Duration
}

func (e *LimitError) Error() string {
	if e.Wait > 0 {
		return fmt.Sprintf("limit reached: at most %d %s; try again in %v", e.Max, e.What, e.Wait)
	}
	return fmt.Sprintf("limit reached: at most %d %s", e.Max, e.What)
}

// Code is the JSON-RPC error code for what an Engine refuses; rpc.CodeInternalError for anything else.
func Code(err error) int {
	var limit *LimitError
	var over *TerminalError
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrCursor), errors.Is(err, ErrTTL), errors.As(err, &over):
		return rpc.CodeInvalidParams
	case errors.As(err, &limit), errors.Is(err, ErrClosed):
		return rpc.CodeInvalidRequest
	}
	return rpc.CodeInternalError
}
