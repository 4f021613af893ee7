package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// TestTSK27WhatAServerSaysInAnErrorIsOnOneLine: a line of its own would pass for one of whoever prints the error.
func TestTSK27WhatAServerSaysInAnErrorIsOnOneLine(t *testing.T) {
	const forged = "no\r\nroot: yes\x1b[2J"
	said := &client.Error{Code: 1, Message: forged}
	for _, err := range []error{
		said,
		&client.TransportError{Err: said, Stderr: forged, Noise: forged},
		&client.StatusError{Status: 500, Body: forged},
		&client.ProtocolError{Method: "tools/list", Err: errors.New(forged)},
		&client.VersionError{Client: []string{"1"}, Server: []string{forged}},
		&client.ExpiredError{Reason: forged},
		&client.TaskError{State: client.TaskState{ID: forged, Status: task.Failed, Message: forged}},
		&client.TaskError{State: client.TaskState{Status: task.Failed}, Err: said},
	} {
		text := err.Error()
		if !strings.Contains(text, "no | root: yes") || strings.ContainsAny(text, "\r\n\x1b") {
			t.Errorf("%T: %q", err, text)
		}
	}
	failed := &client.ToolError{Tool: "a", Result: &client.ToolResult{Content: []byte(`[{"type":"text","text":"one\ntwo\u001b[2J\rthree"}]`)}}
	if text := failed.Error(); text != `client: a failed: one`+"\n"+`two\x1b[2J | three` {
		t.Errorf("%q", text)
	}
	violations := check.Violations{{Instance: "/a\nb", Keyword: "type"}, {Instance: "/c", Keyword: "type"}}
	if text := (&client.ValidationError{Tool: "a", Err: violations}).Error(); strings.Count(text, "\n") != len(violations) {
		t.Errorf("%q is not a line for each violation", text)
	}
}
