package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// callsTool runs a call of the asking server's tool, and returns what it printed.
func callsTool(t *testing.T, ref string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return runs(t, append([]string{"call", endpointOf(t, ref), "t"}, args...)...)
}

func endpointOf(t *testing.T, ref string) string {
	t.Helper()
	var r struct{ Endpoint string }
	if err := json.Unmarshal([]byte(ref), &r); err != nil {
		t.Fatal(err)
	}
	return r.Endpoint
}

// TestEXT22AnAnswerThatADetachedCallDoesNotUse is for a question of the task: the command that gives it is named. One to a question before the task is used.
func TestEXT22AnAnswerThatADetachedCallDoesNotUse(t *testing.T) {
	a, ref := ask(t, 0, sureForm)
	a.change(func() { a.before = nameForm })
	status, stdout, stderr := callsTool(t, ref, "--detach", "--answer", `{"yes":true}`, "--answer", `{"name":"x"}`)
	const want = `mcpkiln: --answer {"yes":true} was not used: nothing that it fits was asked before the task began; see what the task asks, and how to answer it: mcpkiln task get t1` + "\n"
	if status != 0 || !strings.Contains(stdout, `"id":"t1"`) || stderr != want || a.saw("tools/call") != 2 {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestTSK27TheSchemasOfATaskThatAsksAreKept: a task that call could not wait for is held against the schemas that the tool had then.
func TestTSK27TheSchemasOfATaskThatAsksAreKept(t *testing.T) {
	a, ref := ask(t, 0, sureForm)
	status, stdout, stderr := callsTool(t, ref)
	if status != exitInputRequired || !strings.Contains(stdout, `"schema":"sha256:`) {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	if status, stdout, stderr = runs(t, "task", "answer", "t1", "yes=true"); status != 0 {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	a.change(func() { a.tool = typedTool })
	status, stdout, stderr = runs(t, "task", "wait", "t1")
	if status != 0 || stdout != "done\n" || !strings.Contains(stderr, "the schemas of t have changed since the task was made") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestTSK27ATaskIsNotLostWithItsReading: a token that has expired, or a wrong turn of a proxy, ends the call, and the task can be followed by another command.
func TestTSK27ATaskIsNotLostWithItsReading(t *testing.T) {
	for fault, exit := range map[int]int{http.StatusUnauthorized: exitAuth, http.StatusForbidden: exitAuth, http.StatusNotFound: exitNetwork, http.StatusFound: exitNetwork} {
		a, ref := ask(t, 0)
		a.change(func() { a.stale, a.fault = []string{`"status":"working"`}, fault })
		status, stdout, stderr := callsTool(t, ref)
		if status != exit || !strings.HasSuffix(stderr, "\n  the task may go on: mcpkiln task wait t1\n") || a.saw("tasks/cancel") > 0 {
			t.Errorf("%d: status %d: %s%s", fault, status, stdout, stderr)
		}
		a.change(func() { a.fault = 0 })
		if status, stdout, stderr := runs(t, "task", "wait", "t1"); status != 0 || stdout != "done\n" {
			t.Errorf("%d: status %d: %s%s", fault, status, stdout, stderr)
		}
	}
}

// TestEXT22ACallLeavesOpenWhatItCanNotAnswer: its task goes on, as one that `mcpkiln task wait` waits for does, and is kept on this machine.
func TestEXT22ACallLeavesOpenWhatItCanNotAnswer(t *testing.T) {
	for _, question := range []string{asksSample, asksRoots, noForm} {
		a, ref := ask(t, 0, question)
		status, stdout, stderr := callsTool(t, ref)
		if status != exitInputRequired || !strings.Contains(stdout, `"id":"t1"`) || !strings.Contains(stderr, "the task asks") || a.saw("tasks/cancel")+a.saw("tasks/update") > 0 {
			t.Errorf("status %d, after %q: %s%s", status, a.seen, stdout, stderr)
		}
		const remedy = "\n  the task goes on: all that it asks: mcpkiln task get t1\n  its result, when that is answered: mcpkiln task wait t1\n"
		if !strings.HasSuffix(stderr, remedy) || len(keptIDs()) != 1 {
			t.Errorf("kept %q: %s", keptIDs(), stderr)
		}
	}
}

// TestEXT07ATaskWithoutAReadableResultIsOver: no command says that another one reads it.
func TestEXT07ATaskWithoutAReadableResultIsOver(t *testing.T) {
	for _, state := range []string{`"status":"completed"`, `"status":"completed","result":{"content":"x"}`} {
		a, ref := ask(t, 0)
		for _, run := range [][]string{{"call", endpointOf(t, ref), "t"}, {"task", "wait", "t1"}, {"task", "result", "t1"}} {
			a.change(func() { a.stale = slices.Repeat([]string{state}, 20) })
			status, stdout, stderr := runs(t, run...)
			if status != exitProtocol || !strings.HasSuffix(stderr, "\n  the task is over, and no result can be read; what the server says of it: mcpkiln task get t1\n") {
				t.Errorf("%q: status %d: %s%s", run, status, stdout, stderr)
			}
		}
	}
}
