//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/screen"
)

// TestEXT22AQuestionThatWasJustAnsweredIsNotAskedAgain: a server may list it for a while, or say only that it waits for input. Whoever waits for the task
// behind an answer is not told that it is missing.
func TestEXT22AQuestionThatWasJustAnsweredIsNotAskedAgain(t *testing.T) {
	for _, stale := range []string{
		`"status":"input_required","inputRequests":{"q0":` + sureForm + `}`, `"status":"input_required","inputRequests":{"q0":` + asksRoots + `}`,
		`"status":"input_required","inputRequests":{}`,
	} {
		a, ref := ask(t, 0)
		a.change(func() { a.stale = slices.Repeat([]string{stale}, 10) })
		if status, stdout, stderr := runs(t, "task", "wait", ref); status != 0 || stdout != "done\n" {
			t.Errorf("%s: status %d: %s%s", stale, status, stdout, stderr)
		}
		a.change(func() { a.stale = slices.Repeat([]string{stale}, 10) })
		cmd := command(t, "task", "wait", ref)
		if text := exits(t, cmd, screen.Start(t, cmd), 0); !strings.HasSuffix(text, "done\r\n") || strings.Contains(text, "sure?") || strings.Contains(text, "it waits for that") {
			t.Errorf("%s: on a terminal: %q", stale, text)
		}
	}
}

// TestEXT22WhetherATaskStillAsksIsReadOnce, however many questions are open.
func TestEXT22WhetherATaskStillAsksIsReadOnce(t *testing.T) {
	a, ref := ask(t, 0, slices.Repeat([]string{sureForm}, 50)...)
	a.change(func() { a.slow = true })
	status, _, stderr := runs(t, "task", "wait", ref)
	if n := a.saw("tasks/get"); status != exitInputRequired || n != 2 {
		t.Errorf("status %d after %d readings: %s", status, n, stderr)
	}
}
