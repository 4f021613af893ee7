package client_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// TestATaskErrorSaysWhatBecameOfTheTaskOnce: the messages of servers often begin with the status.
func TestATaskErrorSaysWhatBecameOfTheTaskOnce(t *testing.T) {
	for reason, want := range map[string]string{
		"cancelled on request": "client: task t: cancelled on request",
		"not needed":           "client: task t: cancelled: not needed",
		"":                     "client: task t: cancelled",
	} {
		err := &client.TaskError{State: client.TaskState{ID: "t", Status: task.Cancelled}, Err: &client.Cause{Source: inflight.SourcePeer, Reason: reason}}
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
