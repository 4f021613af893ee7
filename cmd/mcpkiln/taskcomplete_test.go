package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpkiln/mcpkiln/runtime/client"
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

// TestNoCommandOffersWhatAShellTakesForMoreThanAWord: shells evaluate a line to complete it, and a folder's mcp.json and a server's tasks may be anybody's.
// Each command and flag is asked for its first and its second word.
func TestNoCommandOffersWhatAShellTakesForMoreThanAWord(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	const hostile = "shop;touch${IFS}/tmp/x;a"
	entries := fmt.Sprintf(`{"mcpServers":{%q:{"url":"http://127.0.0.1:1/"},"shop":{"url":"http://127.0.0.1:1/"}}}`, hostile)
	if err := os.WriteFile("mcp.json", []byte(entries), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{hostile, "t1"} {
		keepRef(client.Ref{Version: refVersion, Endpoint: "http://127.0.0.1:1/", Revision: "2026-07-28", Tool: "t", ID: id}, 0)
	}
	offers := map[string]int{}
	var ask func(c *cobra.Command, path ...string)
	ask = func(c *cobra.Command, path ...string) {
		asked := [][]string{{""}, {"t1", ""}}
		c.Flags().VisitAll(func(f *pflag.Flag) { asked = append(asked, []string{"--" + f.Name, ""}) })
		for _, words := range asked {
			var out strings.Builder
			run(t.Context(), append(append([]string{"__complete"}, path...), words...), &out, &strings.Builder{})
			if strings.Contains(out.String(), ";") {
				t.Errorf("%q, %q: %q", path, words, out.String())
			}
			for _, line := range strings.Split(out.String(), "\n") {
				word, _, _ := strings.Cut(line, "\t")
				offers[word]++
			}
		}
		for _, sub := range c.Commands() {
			ask(sub, append(path[:len(path):len(path)], sub.Name())...)
		}
	}
	ask(newRoot(&strings.Builder{}))
	if offers["shop"] < 5 || offers["t1"] < 5 { // call, tools, task list, task get TARGET, task answer --target; and the tasks of five commands
		t.Errorf("an entry is offered %d times, a task %d times", offers["shop"], offers["t1"])
	}
}
