package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/keep"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

func newTaskList() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use:   "list (TARGET | -- COMMAND…)",
		Short: "List the tasks of a server",
		Long: `list prints the tasks that a server has of you, as it says. Where the protocol's revision has no such list it prints those that this
machine has left running there.`,
		Example: "  mcpkiln task list https://example.com/mcp",
		Args:    cobra.ArbitraryArgs,
	}
	r.register(cmd)
	cmd.ValidArgsFunction = r.completeServer(0)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, rest, err := r.named(cmd, args)
		switch {
		case err != nil:
			return err
		case len(rest) > 0:
			return refused(fmt.Errorf("%s: tasks of one server are listed at a time", rest[0]))
		}
		return r.visit(cmd, t, nil, (*visit).list)
	}
	return cmd
}

// list prints the tasks that the server lists, or those that are kept on this machine.
func (v *visit) list() error {
	var none *client.NotOfferedError
	var all []json.RawMessage
	for item, err := range v.session.ListTasks(v.ctx) {
		switch {
		case errors.As(err, &none):
			return v.listKept()
		case err != nil:
			return err
		}
		all = append(all, item)
	}
	if len(all) == 0 {
		v.noTasks("the server lists none of yours")
	}
	w := newTable(v.cmd.OutOrStdout())
	for _, item := range all {
		if v.json {
			if err := printJSON(v.cmd.OutOrStdout(), item); err != nil {
				return err
			}
			continue
		}
		var t struct{ TaskID, Status, StatusMessage, CreatedAt string }
		if json.Unmarshal(item, &t) != nil {
			return &statusError{exitProtocol, fmt.Errorf("a task of the list can not be read: its id and status are texts, and this is %s", excerpt(item))}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", plain.Line(t.TaskID), plain.Line(t.Status), plain.Line(t.CreatedAt), plain.Line(t.StatusMessage))
	}
	return w.Flush()
}

// listKept prints the server's tasks that are kept on this machine, and forgets those that the server does not know.
func (v *visit) listKept() error {
	shelf, err := keep.Open()
	if err != nil {
		return err
	}
	all, err := shelf.List(func(r client.Ref) bool {
		return r.Endpoint == v.session.Endpoint() && r.Revision == v.session.Revision()
	})
	if err != nil {
		return err
	}
	shown := 0
	w := newTable(v.cmd.OutOrStdout())
	for _, kept := range all {
		state, err := v.state(kept.Ref)
		var unknown *statusError
		switch {
		case errors.As(err, &unknown):
		case err != nil:
			return err
		case v.json:
			err = v.printState(kept.Ref, state)
		default:
			_, err = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", plain.Line(kept.Ref.ID), plain.Line(kept.Ref.Tool), state.Status, plain.Line(state.Message))
		}
		if err != nil && unknown == nil {
			return err
		}
		if unknown == nil {
			shown++
		}
	}
	if shown == 0 {
		v.noTasks("revision " + v.session.Revision() + " has no list of them, and this machine keeps none that the server at " + v.session.Endpoint() + " knows")
	}
	return w.Flush()
}

// noTasks says why a list is empty, on stderr: stdout has only tasks.
func (v *visit) noTasks(why string) { fmt.Fprintln(v.cmd.ErrOrStderr(), "no tasks:", why) }
