package client

import (
	"context"
	"iter"
)

// Execution is a call of a tool that may run as a task on the server, with a result of type T. Its methods are safe for concurrent use. While
// it is followed, its state is read no more often than the server wants, and the session's handlers answer the task's questions.
type Execution[T any] struct {
	x    *execution
	read func(r ToolResult) (*T, error)
	ref  Ref // zero: it was no task
}

// Result waits for the result, and until all progress was passed on, see OnProgress. The end of ctx only ends the wait; the task goes on. The errors
// are those of a call, and *TaskError for a task that ended without a result, or that is not followed any more and may go on.
func (x *Execution[T]) Result(ctx context.Context) (*T, error) {
	r, err := x.x.await(ctx)
	if err != nil {
		return nil, err
	}
	return x.read(r)
}

// Updates returns the states of a task, the current one first, until it is over; then the last state again with the error
// of Result, if there is one, or when ctx has ended, with its cause. A call that was no task has none.
func (x *Execution[T]) Updates(ctx context.Context) iter.Seq2[TaskState, error] {
	return x.x.updates(ctx)
}

// Cancel asks the server to cancel the task, for all who follow it, by tasks/cancel (CAN11), also when it is not followed any more. The server
// decides whether the work stops: see Result. Progress is not passed on any more. For a task that is over, and a call that was no task, Cancel does
// nothing.
func (x *Execution[T]) Cancel(ctx context.Context, reason string) error {
	return x.x.cancel(ctx, reason)
}

// Detach stops following the task, which goes on: Ref names it. Result and Updates end with ErrDetached. For a call that was no task it does nothing.
// Other executions of the task in this session go on, too. When the last of them has detached, the task's questions are taken back from their handlers
// (Handlers.QuestionGone): these and later ones wait until Resume has them asked. The task may still end with the session, or be one that no other session
// can see: Session.Resumable says so before the call.
func (x *Execution[T]) Detach() { x.x.detach() }

// Ref names the task for Resume, in this process or another; false: the call was no task. A Ref does not say that another session can follow the task. None
// can if the server is a process on a pipe that keeps its tasks in memory, or on a connection within the process, or if in revision 2025-11-25 nothing
// identifies the caller over HTTP: see Session.Resumable.
func (x *Execution[T]) Ref() (Ref, bool) { return x.ref, x.ref != Ref{} }

// untyped returns an Execution whose result is as the server sent it.
func untyped(x *execution) *Execution[ToolResult] {
	return &Execution[ToolResult]{x: x, ref: x.ref(), read: func(r ToolResult) (*ToolResult, error) { return &r, nil }}
}
