package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/keep"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// completeTask completes the words of the commands of one task: first the id of one that this machine keeps, and then what more does.
func (r *remote) completeTask(more cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch {
		case strings.HasPrefix(word, "@"):
			return nil, cobra.ShellCompDirectiveDefault
		case len(args) == 0:
			return keptIDs(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		}
		return more(cmd, args, word)
	}
}

// completeServer completes a server behind that many words.
func (r *remote) completeServer(behind int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) == behind {
			names = r.names()
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTarget completes --target.
func (r *remote) completeTarget(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return r.names(), cobra.ShellCompDirectiveNoFileComp
}

// keptIDs returns the ids of the tasks that this machine keeps, the last one first.
func keptIDs() (ids offered) {
	shelf, err := keep.Open()
	if err != nil {
		return nil
	}
	all, _ := shelf.List(func(client.Ref) bool { return true }) // without a folder there is none
	for _, one := range slices.Backward(all) {
		ids.add(one.Ref.ID, plain.Line(one.Ref.Tool+" at "+one.Ref.Endpoint))
	}
	return ids
}

// completeKey completes --key, by the questions that the task asks.
func (r *remote) completeKey(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var keys offered
	for _, q := range r.asked(cmd, args) {
		keys.add(q.Key, plain.Line(q.Message))
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// completeFields completes the fields of the forms that the task asks for, or of the one that --key names.
func (r *remote) completeFields(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var fields offered
	key := cmd.Flags().Lookup("key")
	for _, q := range r.asked(cmd, args) {
		if !key.Changed || q.Key == key.Value.String() {
			fields = append(fields, completions(q.Schema, word)...)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// asked returns the questions of a task that this command could answer; none if the server is on a pipe or does not answer, and none of a revision in which a task's
// questions have no keys: they are put to one client at a time, and this one would take them away from another.
func (r *remote) asked(cmd *cobra.Command, args []string) (all []*client.Question) {
	if len(args) == 0 || args[0] == "-" || args[0] == "@-" {
		return nil
	}
	var server []string
	if target := cmd.Flags().Lookup("target"); target.Changed {
		if r.unasked(target.Value.String()) {
			return nil
		}
		server = []string{target.Value.String()}
	}
	ref, t, err := r.task(cmd, args[0], server, nil)
	if _, command := t.(*client.Process); err != nil || command || ref.Revision <= firstWithTasks {
		return nil
	}
	defer r.completes(cmd)()
	_ = r.visit(cmd, t, nil, func(v *visit) error {
		state, err := v.session.GetTask(v.ctx, ref)
		if err != nil {
			return err
		}
		questions, err := v.questions(ref, state)
		for _, open := range questions {
			if open.why == nil {
				all = append(all, open.question)
			}
		}
		return err
	})
	return all
}
