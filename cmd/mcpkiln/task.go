package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/target"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func newTask() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "task",
		Short: "Follow, answer and cancel tasks that were left running",
		Long: strings.TrimSpace(`
task is for tasks that mcpkiln call --detach, or another client, has left running. REF is what that printed, a line of JSON; @file or -
for one in a file; or the id of a task that this machine keeps. It says which server has the task. For a server on a pipe, and for one
whose address has more than a path, name the server behind it as for mcpkiln call.

A token for a server on HTTP comes from ` + target.TokenVariable + ` in the environment, or from --header: it is sent to the server that REF names.`),
		Example: "  mcpkiln task wait @ref.json",
	}
	cmd.AddCommand(newTaskGet(), newTaskWait(), newTaskResult(), newTaskCancel(), newTaskAnswer(), newTaskList())
	return cmd
}

// taskCommand makes a command that does something with one task.
func taskCommand(use, short, example string, do func(r *remote, cmd *cobra.Command, ref client.Ref, t client.Transport) error) *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use: use + " REF [TARGET | -- COMMAND…]", Short: short, Example: "  " + example, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			before, _ := words(cmd, args)
			switch {
			case len(before) == 0:
				return refused(errors.New("no task is named\n  " + whatRef))
			case len(before) > 2:
				return refused(errors.New("write one reference, and no more than one target"))
			}
			ref, t, err := r.task(cmd, before[0], before[1:], args[len(before):])
			if err != nil {
				return err
			}
			return do(&r, cmd, ref, t)
		},
	}
	r.register(cmd)
	cmd.ValidArgsFunction = r.completeTask(r.completeServer(1))
	return cmd
}

func newTaskGet() *cobra.Command {
	return taskCommand("get", "Print the state of a task", "mcpkiln task get @ref.json",
		func(r *remote, cmd *cobra.Command, ref client.Ref, t client.Transport) error {
			return r.visit(cmd, t, nil, func(v *visit) error {
				state, err := v.state(ref)
				if err != nil {
					return err
				}
				questions, err := v.questions(ref, state)
				if err != nil {
					return err
				}
				if state.Status == task.Failed && !v.json {
					state.Message = v.whyFailed(ref, state.Message)
				}
				return v.printState(ref, state, questions...)
			})
		})
}

func newTaskWait() *cobra.Command {
	return taskCommand("wait", "Wait for the result of a task, and print it", "mcpkiln task wait @ref.json",
		func(r *remote, cmd *cobra.Command, ref client.Ref, t client.Transport) error {
			return r.visit(cmd, t, nil, func(v *visit) error { return v.result(ref) })
		})
}

func newTaskResult() *cobra.Command {
	return taskCommand("result", "Print the result of a task that is over", "mcpkiln task result @ref.json",
		func(r *remote, cmd *cobra.Command, ref client.Ref, t client.Transport) error {
			return r.visit(cmd, t, nil, func(v *visit) error {
				state, err := v.state(ref)
				switch {
				case err != nil:
					return err
				case !over(state):
					return refused(fmt.Errorf("the task is %s: mcpkiln task wait waits for its result", state.Status))
				}
				return v.result(ref)
			})
		})
}

func newTaskCancel() *cobra.Command {
	return taskCommand("cancel", "Ask the server to cancel a task", "mcpkiln task cancel @ref.json",
		func(r *remote, cmd *cobra.Command, ref client.Ref, t client.Transport) error {
			return r.visit(cmd, t, nil, func(v *visit) error {
				before, err := v.state(ref)
				switch {
				case err != nil:
					return err
				case over(before):
					return refused(fmt.Errorf("there is nothing to cancel: the task is %s", before.Status))
				}
				v.show() // what it asks is nobody's business any more
				x, err := v.session.Resume(v.ctx, ref)
				if err != nil {
					return err
				}
				defer x.Detach()
				if err := x.Cancel(v.ctx, "cancelled by the user"); err != nil {
					return v.unknown(ref, err)
				}
				state, err := v.state(ref)
				if err != nil {
					return err
				}
				if state.Status == task.Cancelled {
					drop(ref)
				}
				return v.printState(ref, state)
			})
		})
}

// result waits for the result of a task and prints it. The task goes on if the wait ends early.
func (v *visit) result(ref client.Ref) error {
	all, err := v.tools()
	if err != nil {
		return err
	}
	one, err := find(all, ref.Tool)
	if err != nil { // it may have expired since
		one = &tool{Name: ref.Tool}
	} else if ref.Schema != "" && ref.Schema != client.SchemaHash(one.raw) {
		fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: the schemas of %s have changed since the task was made: its result is not held against the outputSchema\n", plain.Line(ref.Tool))
		one = &tool{Name: ref.Tool}
	}
	waits, waited := context.WithCancel(v.ctx)
	defer waited()
	v.mu.Lock()
	v.ref, v.waits = &ref, waits
	v.mu.Unlock()
	x, err := v.session.Resume(v.ctx, ref)
	if err != nil {
		return err
	}
	defer x.Detach()
	result, err := v.await(x)
	if v.ctx.Err() != nil {
		v.noteOutcome("the task goes on" + v.followHint("wait"))
	}
	if err != nil {
		return v.resultless(ref, err)
	}
	v.terminal.Done()
	err = v.print(one, result)
	if failed := (*statusError)(nil); err == nil || errors.As(err, &failed) && failed.err == nil {
		drop(ref)
	}
	return err
}

// resultless returns the error of a task that gives no result, and forgets the reference if that is how it has ended.
func (v *visit) resultless(ref client.Ref, err error) error {
	var expired *client.ExpiredError
	if errors.As(err, &expired) {
		return &statusError{exitTool, errors.New(describe(err) + "\n  " + whyUnknown + unknownHere(ref))}
	}
	if ended := (*client.TaskError)(nil); errors.As(err, &ended) && final(ended) && ended.State.Status != task.Completed {
		drop(ref)
	}
	return v.withRef(err)
}
