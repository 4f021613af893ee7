package client_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// evil is what a terminal obeys, and what hides how a text reads.
const evil = "\x1b[2J\x1b]0;title\x07 \u009b31m \u202etxt.exe \x00 \x7f"

// harmless finds nothing in an error that a terminal would obey, and that it is of a size to be read.
func harmless(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("%s: no error", name)
	}
	text := err.Error()
	for _, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsGraphic(r) {
			t.Errorf("%s: %q is in %.200q", name, r, text)
			break
		}
	}
	if len(text) > 5<<10 {
		t.Errorf("%s: %d bytes", name, len(text))
	}
	has(t, text, `\x1b[2J`)
}

func TestWhatPeersSayIsShownAndNotObeyed(t *testing.T) {
	long := evil + strings.Repeat("x", 100<<10)
	harmless(t, "an error", &client.Error{Code: 1, Message: long})
	harmless(t, "standard error", &client.TransportError{Err: errors.New("gone"), Stderr: long, Noise: evil})
	harmless(t, "a status", &client.StatusError{Status: http.StatusTeapot, Body: long})
	harmless(t, "a challenge", &client.StatusError{Status: http.StatusUnauthorized, Challenge: long})
	harmless(t, "what breaks the protocol", &client.ProtocolError{Method: "x", Err: errors.New(long)})
	harmless(t, "versions", &client.VersionError{Server: []string{long}})
	harmless(t, "a task", &client.TaskError{State: client.TaskState{ID: "t", Status: "failed", Message: long}})
	harmless(t, "a task that is gone", &client.TaskError{Err: &client.ExpiredError{Reason: long}})
	harmless(t, "a tool", &client.ToolError{Tool: "x", Result: &client.ToolResult{Content: []byte(`[{"type":"text","text":"\u001b[2J"}]`)}})
}
