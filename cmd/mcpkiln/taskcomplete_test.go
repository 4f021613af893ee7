package main

import (
	"strings"
	"testing"
)

// completes returns what a shell offers for the last word of a command.
func completes(t *testing.T, words ...string) string {
	t.Helper()
	_, stdout, _ := runs(t, append([]string{"__complete"}, words...)...)
	return strings.TrimSpace(stdout[:strings.LastIndex(stdout, ":")])
}

// TestTheWordsOfTaskCommandsAreCompleted: tasks that this machine keeps, and what their questions take. Whoever presses tab forgets no task.
func TestTheWordsOfTaskCommandsAreCompleted(t *testing.T) {
	a, ref := ask(t, 0)
	a.put("sure", sureForm)
	a.put("who", nameForm)
	a.put("two words", nameForm)
	a.put("s", asksSample)
	url := endpointOf(t, ref)
	for _, command := range []string{"get", "wait", "result", "cancel", "answer"} {
		if got := completes(t, "task", command, ""); got != "" {
			t.Errorf("%s: %s", command, got)
		}
	}
	if status, stdout, stderr := runs(t, "task", "get", ref); status != 0 {
		t.Fatal(stdout, stderr)
	}
	for words, want := range map[string]string{
		"get|": "t1\tt at " + url, "answer|": "t1\tt at " + url, "wait|": "t1\tt at " + url,
		"answer|t1|--key|": "sure\tsure?\nwho\twho?", "answer|t1|": "name=\nyes=", "answer|t1|yes=": "yes=false\nyes=true", "answer|t1|--key=who|": "name=",
		"answer|" + ref + "|": "name=\nyes=", "answer|-|": "", "answer|t2|": "",
	} {
		if got := completes(t, append([]string{"task"}, strings.Split(words, "|")...)...); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
	a.change(func() { a.expired = true })
	completes(t, "task", "answer", "t1", "")
	if got := completes(t, "task", "get", ""); !strings.HasPrefix(got, "t1\t") || a.saw("tasks/update") > 0 {
		t.Errorf("%q, after %q", got, a.seen)
	}
}
