package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
		Long: `list prints the tasks that a server has of you, as it says. Where the server has no such list it prints those that this
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
	shelf, kept, others, err := v.keptHere()
	if err == nil {
		defer v.noteOthers(others)
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", refWord(shelf, v.refTo(t.TaskID, kept)), plain.Line(t.Status), plain.Line(t.CreatedAt), plain.Line(t.StatusMessage))
	}
	return w.Flush()
}

// keptHere returns the server's tasks that are kept on this machine, those of the session's revision, and the other revisions that it has some of.
func (v *visit) keptHere() (shelf *keep.Shelf, all []keep.Task, others []string, err error) {
	shelf, err = keep.Open()
	if err != nil {
		return shelf, nil, nil, refused(err)
	}
	kept, err := shelf.List(func(r client.Ref) bool { return r.Endpoint == v.session.Endpoint() })
	for _, one := range kept {
		if one.Ref.Revision == v.session.Revision() {
			all = append(all, one)
		} else {
			others = append(others, one.Ref.Revision)
		}
	}
	slices.Sort(others)
	return shelf, all, slices.Compact(others), refused(err)
}

// refTo returns a reference to a task of the server: the kept one, if there is one, which also says the tool.
func (v *visit) refTo(id string, kept []keep.Task) client.Ref {
	if at := slices.IndexFunc(kept, func(one keep.Task) bool { return one.Ref.ID == id }); at >= 0 {
		return kept[at].Ref
	}
	return client.Ref{Version: 1, Endpoint: v.session.Endpoint(), Revision: v.session.Revision(), ID: id}
}

// noteOthers says which revisions the server has more tasks of.
func (v *visit) noteOthers(others []string) {
	for _, revision := range others {
		fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: this machine keeps tasks of revision %s there, too: --revision %s lists them\n", plain.Line(revision), plain.Line(shellWord(revision)))
	}
}

// listKept prints the server's tasks that are kept on this machine, without those that the server does not know. One that can not be read keeps no
// other from being listed.
func (v *visit) listKept() error {
	shelf, all, others, err := v.keptHere()
	if err != nil {
		return err
	}
	defer v.noteOthers(others)
	shown, missing := 0, 0
	w := newTable(v.cmd.OutOrStdout())
	var unread error
	for _, kept := range all {
		state, err := v.state(kept.Ref)
		var unknown *statusError
		switch {
		case errors.As(err, &unknown):
			missing++
			continue
		case err != nil && v.ctx.Err() != nil, errors.As(err, new(*client.TransportError)):
			return err
		case err != nil:
			status, _ := statusOf(err)
			unread = &statusError{status, nil}
			fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: %s can not be read: %s\n", plain.Line(kept.Ref.ID), plain.Line(describe(err)))
			continue
		case v.json:
			err = v.printState(kept.Ref, state)
		default:
			_, err = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", refWord(shelf, kept.Ref), plain.Line(kept.Ref.Tool), state.Status, plain.Line(state.Message))
		}
		if err != nil {
			return err
		}
		shown++
	}
	if shown == 0 && unread == nil {
		v.noTasks("the server has no list of them in " + v.session.Revision() + ", and this machine keeps none that the server at " + v.session.Endpoint() + " knows")
	}
	if missing > 0 {
		fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: tasks kept here that the server does not know, or not as yours, are left out: %d\n", missing)
	}
	return cmp.Or(w.Flush(), unread)
}

// noTasks says why a list is empty, on stderr: stdout has only tasks.
func (v *visit) noTasks(why string) { fmt.Fprintln(v.cmd.ErrOrStderr(), "no tasks:", why) }
