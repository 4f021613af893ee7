package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/keep"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/target"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
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
				return refused(errors.New("no task is named: write its reference or id; mcpkiln task list has those of a server"))
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
				x, err := v.session.Resume(v.ctx, ref)
				if err != nil {
					return err
				}
				defer x.Detach()
				if err := x.Cancel(v.ctx, "cancelled by the user"); err != nil {
					return err
				}
				state, err := v.state(ref)
				if err != nil {
					return err
				}
				return v.printState(ref, state)
			})
		})
}

// task finds a task and the server that has it.
func (r *remote) task(cmd *cobra.Command, text string, name, command []string) (client.Ref, client.Transport, error) {
	ref, err := readRef(text, cmd.InOrStdin())
	if err != nil {
		return ref, nil, refused(err)
	}
	spec := r.spec()
	spec.Command = command
	switch {
	case len(name) > 0:
		spec.Name = name[0]
	case len(command) == 0 && isAddress(ref.Endpoint):
		spec.Name = ref.Endpoint
	case len(command) == 0: // a reference may come from anybody: what it says is not run
		return ref, nil, refused(fmt.Errorf("the task is at a server on a pipe: write -- and its command behind the reference, which says %q", ref.Endpoint))
	}
	if r.revision == "" {
		r.revision = ref.Revision
	}
	t, err := spec.Transport()
	return ref, t, refused(err)
}

// readRef reads a reference: JSON, the file that has it, or the id of a task that this machine keeps.
func readRef(text string, stdin io.Reader) (ref client.Ref, err error) {
	raw := []byte(text)
	switch {
	case text == "-":
		raw, err = io.ReadAll(io.LimitReader(stdin, 1<<20))
	case strings.HasPrefix(text, "@"):
		if raw, err = os.ReadFile(text[1:]); err != nil {
			err = fmt.Errorf("%s: %w", text, errors.Unwrap(err))
		}
	case !strings.HasPrefix(text, "{"):
		return keptRef(text)
	}
	if err != nil {
		return ref, err
	}
	if err := json.Unmarshal(bytes.TrimSpace(raw), &ref); err != nil || ref.ID == "" {
		return ref, errors.New("this is no reference: it is the line that mcpkiln call --detach prints")
	}
	return ref, nil
}

func keptRef(id string) (client.Ref, error) {
	shelf, err := keep.Open()
	if err != nil {
		return client.Ref{}, err
	}
	all, err := shelf.List(func(r client.Ref) bool { return r.ID == id })
	switch {
	case err != nil:
		return client.Ref{}, err
	case len(all) == 0:
		return client.Ref{}, fmt.Errorf("%q is neither a reference nor the id of a task kept here", id)
	case len(all) > 1:
		return client.Ref{}, fmt.Errorf("%q is the id of %d tasks kept here: write the reference of one", id, len(all))
	}
	return all[0].Ref, nil
}

func over(s client.TaskState) bool {
	return s.Status == task.Completed || s.Status == task.Failed || s.Status == task.Cancelled
}

// state reads the state of a task once. One that the server does not know is kept no longer.
func (v *visit) state(ref client.Ref) (client.TaskState, error) {
	state, err := v.session.GetTask(v.ctx, ref)
	var answered *client.Error
	if errors.As(err, &answered) && answered.Code == rpc.CodeInvalidParams {
		v.forget(ref)
		return state, &statusError{exitTool, fmt.Errorf("%s\n  %s", answered.Message, whyUnknown)}
	}
	return state, err
}

// forget drops a reference that is of no use any more.
func (v *visit) forget(ref client.Ref) {
	if shelf, err := keep.Open(); err == nil {
		_ = shelf.Drop(ref) // it would be dropped the next time
	}
}

// asked is a question as JSON.
type asked struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Key    string          `json:"key,omitempty"`
}

// printState prints the state of a task, and what it asks.
func (v *visit) printState(ref client.Ref, s client.TaskState, questions ...*client.Question) error {
	out := v.cmd.OutOrStdout()
	if v.json {
		var all []asked
		for _, q := range questions {
			all = append(all, asked{q.Method, q.Params, q.Key})
		}
		text, err := json.Marshal(struct {
			Ref       client.Ref `json:"ref"`
			Status    string     `json:"status"`
			Message   string     `json:"statusMessage,omitempty"`
			Questions []asked    `json:"questions,omitempty"`
		}{ref, string(s.Status), s.Message, all})
		if err != nil {
			return err
		}
		return printJSON(out, text)
	}
	text := strings.TrimSpace(string(s.Status)+"  "+s.Message) + "\n"
	for _, q := range questions {
		text += "  it asks: " + plain.Line(q.Message+" "+q.URL) + "\n  " + answerLine(q, ref) + "\n"
	}
	_, err := io.WriteString(out, text)
	return err
}

// lookTime is how long a question of a task may take to come, and quiet how long no other does when all have.
const (
	lookTime = 30 * time.Second
	quiet    = 100 * time.Millisecond
)

// questions are what a task asks. They stay open.
func (v *visit) questions(ref client.Ref, s client.TaskState) (all []*client.Question, err error) {
	if s.Status != task.InputRequired {
		return nil, nil
	}
	shown := make(chan *client.Question)
	v.mu.Lock()
	v.shown = shown
	v.mu.Unlock()
	x, err := v.session.Resume(v.ctx, ref)
	if err != nil {
		return nil, err
	}
	defer x.Detach()
	over := make(chan struct{})
	go func() { defer close(over); _, _ = x.Result(v.ctx) }()
	for wait := lookTime; ; wait = quiet {
		select {
		case q := <-shown:
			all = append(all, q)
		case <-over: // it was answered, or can not be followed: its state was read all the same
			return all, nil
		case <-time.After(wait):
			return all, nil
		}
	}
}

// result waits for the result of a task and prints it. Nothing that ends the wait ends the task.
func (v *visit) result(ref client.Ref) error {
	all, err := tools(v.ctx, v.session)
	if err != nil {
		return err
	}
	one, err := find(all, ref.Tool)
	if err != nil { // it may have gone since
		one = &tool{Name: ref.Tool}
	}
	x, err := v.session.Resume(v.ctx, ref)
	if err != nil {
		return err
	}
	defer x.Detach()
	v.mu.Lock()
	v.ref = &ref
	v.mu.Unlock()
	result, err := v.await(x)
	if v.ctx.Err() != nil {
		v.became("the task goes on" + v.followed("wait"))
	}
	var expired *client.ExpiredError
	if errors.As(err, &expired) {
		v.forget(ref)
	}
	if err != nil {
		return err
	}
	v.terminal.Done()
	return v.print(one, result)
}
