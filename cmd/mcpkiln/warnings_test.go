package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// TestAWarningIsSaidOnce, at once, and at the end with how often it came. Others are said as they come, however many there are.
func TestAWarningIsSaidOnce(t *testing.T) {
	var out bytes.Buffer
	v := &visit{cmd: &cobra.Command{}}
	v.cmd.SetErr(&out)
	log := slog.New(warnings{v})
	for range 100 {
		log.Warn("a notification can not be read", "method", "notifications/message")
	}
	log.Warn("a message was not sent")
	const first = "mcpkiln: a notification can not be read (method notifications/message)\nmcpkiln: a message was not sent\n"
	if out.String() != first {
		t.Error(out.String())
	}
	v.countWarnings()
	if got := strings.TrimPrefix(out.String(), first); got != "mcpkiln: a notification can not be read (method notifications/message) (100 times)\n" {
		t.Error(got)
	}
	out.Reset()
	for n := range 2 * maxTallied {
		log.Warn(fmt.Sprint("warning ", n))
	}
	if n := strings.Count(out.String(), "\n"); n != 2*maxTallied || len(v.warned.lines) > maxTallied || len(v.warned.times) > maxTallied {
		t.Errorf("%d were said, %d are remembered", n, len(v.warned.lines))
	}
}

// TestVAL07WarningsOfOneKindAreNotEndless: the first are shown, and the others counted.
func TestVAL07WarningsOfOneKindAreNotEndless(t *testing.T) {
	var out bytes.Buffer
	v := &visit{cmd: &cobra.Command{}}
	v.cmd.SetErr(&out)
	log := slog.New(warnings{v})
	for n := range 1000 {
		log.Warn("the server wrote what is no message", "text", fmt.Sprint("line ", n))
		log.Warn("the server wrote what is no message", "text", "line 0")
	}
	v.countWarnings()
	const kind = "mcpkiln: the server wrote what is no message: "
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != maxAlike+3 || lines[19] != kind+"line 19" || lines[20] != kind+"further ones are not shown" || lines[21] != kind+"line 0 (1001 times)" || lines[22] != kind+"further ones are not shown (980 times)" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}

// TestEXT22WhyAnAnswerFitsNoQuestionIsSaidOnce, however many questions it does not fit for the same reason.
func TestEXT22WhyAnAnswerFitsNoQuestionIsSaidOnce(t *testing.T) {
	_, ref := ask(t, 0, slices.Repeat([]string{nameForm}, 20)...)
	status, stdout, stderr := runs(t, "task", "answer", ref, "yes=true")
	if status != exitRefused || stderr != "mcpkiln: the question has no field \"yes\"; it has name (yes:=JSON gives it as it is) (20 times)\n" {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestTheSameQuestionIsShownOnce: those of 2025-11-25 have no keys that tell them apart.
func TestTheSameQuestionIsShownOnce(t *testing.T) {
	var out bytes.Buffer
	v := &visit{cmd: &cobra.Command{}, remote: &remote{}}
	v.cmd.SetOut(&out)
	roots := openQuestion{&client.Question{Method: "roots/list"}, errors.New("no roots")}
	sure := openQuestion{question: &client.Question{Message: "sure?", Schema: []byte(`{"properties":{"yes":{}}}`)}}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if err := v.printState(client.Ref{Endpoint: "https://x", ID: "t1"}, client.TaskState{Status: task.InputRequired}, roots, sure, roots, sure); err != nil {
		t.Fatal(err)
	}
	if err := (&reply{key: new(string)}).misfits([]misfit{{&client.Question{}, errors.New("none is shown")}, {sure.question, nil}}); err.Error() != "none is shown" {
		t.Error(err)
	}
	const want = "input_required\n  it asks for roots, which only the host that made the task can answer (2 times)\n  it asks for a form: sure? (2 times)\n  mcpkiln task answer t1 yes=…\n"
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}
