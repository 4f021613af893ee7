package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// cancel cancels the task of a call if the visit has ended, and notes the outcome. It leaves a task running whose question another command
// can answer.
func (v *visit) cancel(x *execution) {
	var asked *questionError
	if v.ctx.Err() == nil || v.ref != nil && errors.As(context.Cause(v.ctx), &asked) {
		x.Detach()
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx), patience)
	defer cancel()
	if _, ok := x.Ref(); !ok {
		v.noteOutcome("the call was answered before it could be cancelled")
		return
	}
	v.noteLeft("the task may go on")
	if x.Cancel(ctx, context.Cause(v.ctx).Error()) != nil {
		return
	}
	v.noteLeft("the server was asked to cancel the task, and may still do")
	_, err := x.Result(ctx)
	var over *client.TaskError
	switch {
	case errors.As(err, &over) && over.State.Status == task.Cancelled:
		v.noteOutcome("the task is cancelled")
		if v.ref != nil {
			drop(*v.ref)
		}
	case err == nil || over != nil && over.State.Status == task.Failed:
		v.noteOutcome("the task was over before it could be cancelled" + v.followHint("result"))
	}
}

// noteLeft notes the outcome of a task whose end was not seen, unless the server, and so the task, ends with this command.
func (v *visit) noteLeft(outcome string) {
	if v.endsServer() {
		v.noteOutcome("the server was asked to cancel the task, and ends with this command")
		return
	}
	v.noteOutcome(outcome + v.followHint("get"))
}

// endsServer reports whether the server ends with this command, and its tasks with it.
func (v *visit) endsServer() bool { return v.child && !v.durable }

// start starts a call, and notes its outcome if the visit ends before there is a result or a task. asksForTask: in the one revision
// where clients ask for tasks, the session will ask for one, as it does without Inline, and with it if the tool requires one.
func (v *visit) start(one *tool, in json.RawMessage, asksForTask bool, opts ...client.CallOption) (*execution, error) {
	if asksForTask && v.session.Revision() == firstWithTasks {
		return v.startTask(one, in, opts...)
	}
	x, err := v.session.Start(v.ctx, one.Name, in, opts...)
	if err != nil && v.ctx.Err() != nil {
		v.noteOutcome(v.abandoned(one.Name))
		v.awaitLateTask(one.Name)
	}
	return x, err
}

// lateTime is how long the session with a server on a pipe goes on for the name of a task whose call was cancelled: the session then cancels the task.
const lateTime = time.Second

// awaitLateTask waits for lateTime, if the server keeps its tasks in a store. Otherwise they end with it, and over HTTP the session waits by itself.
func (v *visit) awaitLateTask(tool string) {
	if !v.child || !v.durable || !v.mayBeTask(tool) {
		return
	}
	select {
	case <-v.session.Done():
	case <-time.After(lateTime):
	}
}

// mayBeTask reports whether the server decides that a call of the tool becomes a task.
func (v *visit) mayBeTask(tool string) bool {
	return v.session.Revision() > firstWithTasks && v.session.Resumable(v.ctx, tool, true) == nil
}

// startTask starts a call that asks for a task. Such a call is cancelled by the name of its task only (CAN11), so an interrupt waits up to patience for that;
// then the execution is returned, to be cancelled.
func (v *visit) startTask(one *tool, in json.RawMessage, opts ...client.CallOption) (x *execution, err error) {
	ctx, giveUp := context.WithCancelCause(context.WithoutCancel(v.ctx))
	defer giveUp(nil)
	started := make(chan struct{})
	go func() {
		defer close(started)
		x, err = v.session.Start(ctx, one.Name, in, opts...)
	}()
	select {
	case <-started:
		return x, err
	case <-v.ctx.Done():
	}
	if v.endsServer() {
		v.noteOutcome("the server had not named the task of the call yet, and ends with this command")
	} else {
		v.noteOutcome("the server had not named the task of the call yet, so it was not asked to cancel it: if there is one, it may go on; mcpkiln task list shows the tasks of a server")
	}
	if v.interrupts.Err() != nil {
		select {
		case <-started:
		case <-time.After(patience):
		}
	}
	giveUp(context.Cause(v.ctx))
	<-started
	if refused := (*client.Error)(nil); err == nil || errors.As(err, &refused) {
		v.noteOutcome("")
	}
	return x, err
}

// abandoned says what became of a call that no task is known of: servers do not say which tools can be cancelled, nor the session which tasks were named
// after the call was given up. It has those cancelled, and warns if that fails.
func (v *visit) abandoned(tool string) string {
	const asked = "the server was asked to cancel the call"
	switch {
	case v.endsServer():
		return asked + ", and ends with this command"
	case v.mayBeTask(tool):
		return asked + ", and any task that it has named since; a tool that can not be cancelled goes on\n  so may a task that the server has begun and not named: no command finds that, since " +
			v.session.Revision() + " has no list of tasks"
	}
	return asked + "; a tool that can not be cancelled goes on"
}
