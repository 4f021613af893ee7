package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestEXT22AKeyThatNoQuestionHasIsRefused, with the keys that are open, the nearest first: nothing is waited for that can not come.
func TestEXT22AKeyThatNoQuestionHasIsRefused(t *testing.T) {
	a, ref := ask(t, 0)
	a.put("overwrite", sureForm)
	a.put("a", nameForm)
	a.put("s", asksSample)
	status, stdout, stderr := runs(t, "task", "answer", ref, "--key", "overwrit", "yes=true")
	if want := `no question that is open has the key "overwrit": there is overwrite, a, s` + "\n"; status != exitRefused || !strings.HasSuffix(stderr, want) {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	status, stdout, stderr = runs(t, "task", "answer", ref, "--key", "a", "name=x")
	if status != 0 || !slices.Equal(a.open(), []string{"overwrite", "s"}) {
		t.Errorf("status %d, %q are open: %s%s", status, a.open(), stdout, stderr)
	}
}

// TestEXT22TheStateSaysWhatATaskAsks: each question with its key, its kind and its text, and with the line that answers it and no other.
func TestEXT22TheStateSaysWhatATaskAsks(t *testing.T) {
	a, ref := ask(t, 0)
	a.put("sure", sureForm)
	a.put("page", `{"method":"elicitation/create","params":{"mode":"url","message":"Pay","url":"https://pay.example/now","elicitationId":"1"}}`)
	a.put("s", asksSample)
	_, stdout, stderr := runs(t, "task", "get", ref)
	for _, want := range []string{
		"\n  page: it asks to open a page: Pay https://pay.example/now\n  mcpkiln task answer t1 --key page\n",
		"\n  sure: it asks for a form: sure?\n  mcpkiln task answer t1 --key sure yes=…\n",
		"\n  s: it asks for sampling, which mcpkiln itself can not do: only the host that made the task can answer\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %s%s", want, stdout, stderr)
		}
	}
	_, stdout, stderr = runs(t, "task", "get", "--json", ref)
	for _, want := range []string{`"key":"sure"`, `"method":"elicitation/create"`, `"message":"sure?"`, `"mode":"url"`, `"key":"s","unanswerable":"asks for sampling`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%s is not in %s%s", want, stdout, stderr)
		}
	}
}

// TestEXT22TheLineToPasteAnswersTheQuestionThatIsShown: several are open that its fields fit, and only the key tells them apart.
func TestEXT22TheLineToPasteAnswersTheQuestionThatIsShown(t *testing.T) {
	const key = "it's 2"
	a, ref := ask(t, 0, sureForm, sureForm)
	a.put(key, sureForm)
	const line = `mcpkiln task answer t1 --key 'it'\''s 2' yes=…` + "\n"
	if _, stdout, stderr := runs(t, "task", "get", ref); !strings.Contains(stdout, line) {
		t.Errorf("%q is not in %s%s", line, stdout, stderr)
	}
	for _, args := range [][]string{{"task", "wait", ref}, {"call", endpointOf(t, ref), "t"}} {
		status, stdout, stderr := runs(t, args...)
		for _, key := range []string{key, "q0", "q1"} {
			want := "  mcpkiln task answer t1 --key " + shellWord(key) + " yes=…\n"
			if status != exitInputRequired || !strings.Contains(stdout, `"key":"`+key+`"`) || !strings.Contains(stderr, want) {
				t.Errorf("%s: status %d, not %q: %s%s", args[0], status, want, stdout, stderr)
			}
		}
	}
	if status, stdout, stderr := runs(t, "task", "answer", ref, "--key", key, "yes=true"); status != 0 || !slices.Equal(a.open(), []string{"q0", "q1"}) {
		t.Errorf("status %d, %q are open: %s%s", status, a.open(), stdout, stderr)
	}
}

// TestEXT22AFormIsNotAnsweredWithoutFields: only a page is agreed to so, and an empty form is written out.
func TestEXT22AFormIsNotAnsweredWithoutFields(t *testing.T) {
	const (
		optional = `{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{"my name":{"type":"string"},"age":{"type":"integer"}}}}}`
		empty    = `{"method":"elicitation/create","params":{"message":"go on?","requestedSchema":{"type":"object","properties":{}}}}`
		page     = `{"method":"elicitation/create","params":{"mode":"url","message":"Pay","url":"https://pay.example/now","elicitationId":"1"}}`
	)
	for _, c := range []struct {
		question, fields, says string
		status                 int
	}{
		{optional, "", `a form is asked for, and no field is given: write '{"age": …, "my name": …}', '{}' for an empty form, or decline` + "\n", exitRefused},
		{empty, "", "write '{}' or decline\n", exitRefused}, {sureForm, "", "write yes=… or decline\n", exitRefused}, {optional, "{}", "", 0}, {empty, "{}", "", 0}, {page, "", "", 0},
		{page, "{}", "what is asked is no form, but to open a page, which is agreed to without fields: https://pay.example/now\n", exitRefused},
	} {
		a, ref := ask(t, 0, c.question)
		status, stdout, stderr := runs(t, append([]string{"task", "answer", ref}, strings.Fields(c.fields)...)...)
		if status != c.status || !strings.Contains(stderr, c.says) || a.saw("tasks/update") > 0 != (c.status == 0) {
			t.Errorf("%s %s: status %d: %s%s", c.question, c.fields, status, stdout, stderr)
		}
	}
	a, ref := ask(t, 0, page, empty)
	if status, stdout, stderr := runs(t, "task", "answer", ref); status != 0 || !slices.Equal(a.open(), []string{"q1"}) {
		t.Errorf("status %d, %q are open: %s%s", status, a.open(), stdout, stderr)
	}
	_, stdout, stderr := runs(t, "task", "get", ref)
	if !strings.Contains(stdout, "mcpkiln task answer t1 --key q1 '{}'\n") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// TestEXT22FieldsAndADeclineAreRefused: which of them is meant can not be known.
func TestEXT22FieldsAndADeclineAreRefused(t *testing.T) {
	a, ref := ask(t, 0, sureForm)
	for _, args := range [][]string{{`{"yes":true}`, "--decline"}, {"yes=true", "--decline"}, {"decline", "yes=true"}, {"yes=true", "decline"}} {
		status, stdout, stderr := runs(t, append([]string{"task", "answer", ref}, args...)...)
		if status != exitRefused || !strings.Contains(stderr, "fields and decline are given: write one of them") || a.saw("tasks/update") > 0 {
			t.Errorf("%q: status %d: %s%s", args, status, stdout, stderr)
		}
	}
}

// TestEXT22MoreQuestionsThanAreReadAreAnError of the server, which no command keeps to itself.
func TestEXT22MoreQuestionsThanAreReadAreAnError(t *testing.T) {
	a, ref := ask(t, 0)
	for n := range 150 {
		a.put(fmt.Sprint("q", n), sureForm)
	}
	for _, args := range [][]string{{"get", ref}, {"answer", ref, "yes=true"}, {"answer", ref, "--key", "q1", "yes=true"}} {
		status, stdout, stderr := runs(t, append([]string{"task"}, args...)...)
		if status != exitProtocol || stdout != "" || !strings.Contains(stderr, "it asks 150 questions at once, more than 100") {
			t.Errorf("%s: status %d: %s%s", args[0], status, stdout, stderr)
		}
	}
}

// TestCAN28TheTimeOfAnAnswerIsBounded by --timeout: that of an answer that the server does not take, too, of which the command says what it knows.
func TestCAN28TheTimeOfAnAnswerIsBounded(t *testing.T) {
	_, ref := ask(t, 1000, sureForm)
	status, stdout, stderr := runs(t, "task", "answer", ref, "--timeout", "300ms", "yes=true")
	const want = "the task was not answered within 300ms\n  whether the server has taken the answer is not known: mcpkiln task get t1\n"
	if status != exitTimeout || !strings.HasSuffix(stderr, want) {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestEXT22ATaskThatShowsNoQuestion is not waited for: the state says whom to ask, and an answer is refused.
func TestEXT22ATaskThatShowsNoQuestion(t *testing.T) {
	a, ref := ask(t, 0)
	a.change(func() { a.silent = true })
	status, stdout, stderr := runs(t, "task", "get", "--timeout", "300ms", ref)
	const none = "waits for input, and shows this command no question: another client has it, or the host that made the task\n"
	if status != 0 || stdout != "input_required\n  it "+none || stderr != "" {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	for _, more := range [][]string{{"yes=true"}, {"--key=a", "yes=true"}} {
		status, stdout, stderr = runs(t, append([]string{"task", "answer", "--timeout", "300ms", ref}, more...)...)
		if status != exitRefused || stderr != "mcpkiln: the task "+none {
			t.Errorf("%q: status %d: %s%s", more, status, stdout, stderr)
		}
	}
}

// TestATaskThatTheServerDoesNotKnowIsNoTask: a list whose tasks have all expired says that it is empty.
func TestATaskThatTheServerDoesNotKnowIsNoTask(t *testing.T) {
	a, ref := ask(t, 0, sureForm)
	if status, stdout, stderr := callsTool(t, ref, "--detach"); status != 0 {
		t.Fatal(stdout, stderr)
	}
	list := func() (status int, stdout, stderr string) { return runs(t, "task", "list", endpointOf(t, ref)) }
	if status, stdout, stderr := list(); status != 0 || stdout != "t1  t  input_required\n" || stderr != "" {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	a.change(func() { a.expired = true })
	if status, stdout, stderr := list(); status != 0 || stdout != "" || !strings.HasPrefix(stderr, "no tasks: the server has no list of them in 2026-07-28, and this machine") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestEXT22ATaskThatAsksForEver ends neither the reading of its questions nor an answer too late.
func TestEXT22ATaskThatAsksForEver(t *testing.T) {
	a, ref := ask(t, 0)
	a.change(func() { a.restless = 1 })
	status, stdout, stderr := runs(t, "task", "get", ref)
	if n := strings.Count(stdout, "asks for sampling"); status != 0 || n != maxShown && n != maxShown/2+1 { // one reading, if the next one takes long
		t.Errorf("status %d, %d questions: %s", status, n, stderr)
	}
	status, stdout, stderr = runs(t, "task", "answer", ref, "yes=true")
	if status != exitRefused || stdout != "" || !strings.Contains(stderr, "asks for sampling") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestEXT22AnAnswerThatWasTakenIsSaidToBe, whatever fails after it: whoever tries again would answer twice.
func TestEXT22AnAnswerThatWasTakenIsSaidToBe(t *testing.T) {
	a, ref := ask(t, 0, sureForm)
	a.change(func() { a.blinds = true })
	status, stdout, stderr := runs(t, "task", "answer", ref, "yes=true")
	if status != exitNetwork || stdout != "" || !strings.Contains(stderr, "the server has the answer") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestEXT22AKeyMayBeEmpty: it names its question as any other does, is shown and printed, and its answer ends the command.
func TestEXT22AKeyMayBeEmpty(t *testing.T) {
	a, ref := ask(t, 0)
	a.put("", sureForm)
	a.put("a", sureForm)
	_, stdout, stderr := runs(t, "task", "get", ref)
	if !strings.Contains(stdout, "\n  '': it asks for a form: sure?\n  mcpkiln task answer t1 --key '' yes=…\n") {
		t.Errorf("%s%s", stdout, stderr)
	}
	if _, stdout, stderr = runs(t, "task", "get", "--json", ref); !strings.Contains(stdout, `"key":""`) {
		t.Errorf("%s%s", stdout, stderr)
	}
	status, stdout, stderr := runs(t, "task", "answer", ref, "--key=b", "yes=true")
	if status != exitRefused || !strings.HasSuffix(stderr, "there is '', a\n") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	for range 3 { // they are asked at the same time
		a.put("", sureForm)
		status, stdout, stderr := runs(t, "task", "answer", ref, "--key=", "--timeout=10s", "yes=true")
		if status != 0 || !slices.Equal(a.open(), []string{"a"}) {
			t.Fatalf("status %d, %q are open: %s%s", status, a.open(), stdout, stderr)
		}
	}
	a, ref = ask(t, 0)
	a.put("", sureForm)
	status, stdout, _ = runs(t, "call", endpointOf(t, ref), "t")
	if status != exitInputRequired || !strings.Contains(stdout, `"key":""`) {
		t.Errorf("status %d: %s", status, stdout)
	}
}
