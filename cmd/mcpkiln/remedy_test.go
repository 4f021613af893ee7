package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// TestARemedyIsSaidInWordsOfThisCommand, whatever error package client says it of.
func TestARemedyIsSaidInWordsOfThisCommand(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	gone := &client.TaskError{State: client.TaskState{ID: "t1", Status: task.Working}, Err: &client.TransportError{Err: errors.New("gone")}}
	kept := &client.TaskError{State: client.TaskState{ID: "t1", Status: task.Completed}, Err: &client.ProtocolError{Err: errors.New("no result")}}
	slow := &client.Cause{Source: inflight.SourceTimeout, Reason: "not done after 1s"}
	for _, c := range []struct {
		err    error
		status int
		says   string
		ref    string // is added where another command can follow the task
	}{
		{&client.RemedyError{Err: gone, Remedy: client.ResumeTask}, exitNetwork, "gone\n  the task may go on", ": mcpkiln task wait t1 -- COMMAND"},
		{&client.RemedyError{Err: gone, Remedy: client.ResumeUnlessCancelled}, exitNetwork, "gone\n  the server is asked to cancel the task, and if it does not, the task goes on", ": mcpkiln task get t1 -- COMMAND"},
		{&client.RemedyError{Err: kept, Remedy: client.ResumeResult}, exitProtocol, "task t1: completed: client: the server broke the protocol: no result\n  the task is over, and its result may still be there", ": mcpkiln task result t1 -- COMMAND"},
		{&client.RemedyError{Err: slow, Remedy: client.NameRevision}, exitTimeout, "the request was not done after 1s\n  --timeout sets how long it may take\n  server/discover was not answered, either: --revision names the revision that the server speaks, if you know it", ""},
		{&client.RemedyError{Err: &client.ProtocolError{Err: errors.New("large")}, Remedy: client.RaiseMaxFrame}, exitProtocol, "the server broke the protocol: large", ""},
		{&client.TransportError{Err: &client.RemedyError{Err: slow, Remedy: client.NameRevision}}, exitTimeout, "the request was not done after 1s\n  --timeout sets how long it may take\n  server/discover was not answered, either: --revision names the revision that the server speaks, if you know it", ""},
	} {
		for _, ref := range []*client.Ref{nil, {Version: 1, ID: "t1"}} {
			v, want := &visit{remote: &remote{}, ctx: t.Context(), ref: ref}, c.says
			if ref != nil {
				want += c.ref
			}
			var own *statusError
			if err := v.status(c.err); !errors.As(err, &own) || own.status != c.status || own.Error() != want {
				t.Errorf("%v: %+v, want status %d: %s", c.err, own, c.status, want)
			}
		}
	}
}

// TestARemedyOffersNoTaskThatEndsWithItsServer: the remedy is to say that it does not.
func TestARemedyOffersNoTaskThatEndsWithItsServer(t *testing.T) {
	for _, r := range []client.Remedy{client.ResumeTask, client.ResumeUnlessCancelled, client.ResumeResult} {
		for _, durable := range []bool{false, true} {
			v := &visit{remote: &remote{}, ctx: t.Context(), child: true, durable: durable}
			if got := v.remedy(r); got == "" || strings.Contains(got, "no other command can follow the task: it ends with the server") == durable {
				t.Errorf("%s, durable %v: %s", r, durable, got)
			}
		}
	}
}

// TestNoNameOfALibraryIsShown of what a user of the command can not know.
func TestNoNameOfALibraryIsShown(t *testing.T) {
	for name, args := range map[string][]string{
		"a question that is none": {"call", strange(t, plainTool, `{"resultType":"input_required","inputRequests":{"a":{"method":5}}}`), "t"},
		"it never answers":        {"tools", "--timeout=2500ms", "--", "sleep", "60"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, stderr := runs(t, args...)
			for _, of := range []string{"With", "client.", "json:", "Go struct", "Resume", "Ref"} {
				if stderr == "" || strings.Contains(stderr, of) {
					t.Errorf("%q is of a library: %s", of, stderr)
				}
			}
		})
	}
}
