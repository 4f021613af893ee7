package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestVAL07AServerThatWritesWithoutEndIsQuoted: the command ends within its time, with the first lines, before and after the session has begun.
func TestVAL07AServerThatWritesWithoutEndIsQuoted(t *testing.T) {
	const discovered = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}`
	for name, c := range map[string]struct {
		begins string
		status int
		shows  []string
	}{
		"at once":         {"", exitProtocol, []string{"  | line 1\n  | line 2\n", "\n  | line 10\n  | …\n"}},
		"in a session":    {"read line; echo '" + discovered + "'; read line; ", exitTimeout, []string{"what is no message", "line 1\n", "further ones are not shown"}},
		"but no messages": {"read line; echo '" + discovered + "'; read line; yes '{\"a\":1}'; ", exitTimeout, []string{`jsonrpc must be "2.0" (bytes 7): {"a":1}`}},
	} {
		status, _, stderr := runs(t, "tools", "--timeout=1s", "--", "sh", "-c", c.begins+`n=0; while true; do n=$((n+1)); echo line $n; done`)
		if status != c.status || strings.Count(stderr, "\n") > 40 {
			t.Errorf("%s: status %d: %s", name, status, stderr)
		}
		for _, want := range c.shows {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: %q is not in %s", name, want, stderr)
			}
		}
	}
}

// TestVAL07AnEndlessTaskIDIsRefused, and the task cancelled: it would stand in every message, and in a reference to paste.
func TestVAL07AnEndlessTaskIDIsRefused(t *testing.T) {
	long := strings.Repeat("a", 100_000)
	task := fmt.Sprintf(`{"resultType":"task","taskId":"%s","status":"working","createdAt":"2026-11-01T00:00:00Z","lastUpdatedAt":"2026-11-01T00:00:00Z","ttlMs":60000}`, long)
	for _, args := range [][]string{nil, {"--detach"}} {
		args = append([]string{"call", "--revision=2026-07-28", withTasks(t, task), "t"}, args...)
		status, stdout, stderr := runs(t, args...)
		if status != exitProtocol || stdout != "" || len(stderr) > 1000 || !strings.Contains(stderr, "the id of the task has 100000 bytes") {
			t.Errorf("%v: status %d: %.300s%.1000s", args, status, stdout, stderr)
		}
	}
}

// withTasks is a server of 2026-07-28 with tasks, which answers calls so.
func withTasks(t *testing.T, answer string) (url string) {
	t.Helper()
	cancelled := make(chan struct{}, 10)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		result := `{"resultType":"complete"}`
		switch m.Method {
		case "server/discover":
			result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}`
		case "tools/list":
			result = `{"resultType":"complete","tools":[` + plainTool + `],"ttlMs":0,"cacheScope":"private"}`
		case "tools/call":
			result = answer
		case "tasks/cancel":
			cancelled <- struct{}{}
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(func() {
		ts.Close()
		if len(cancelled) == 0 {
			t.Error("the task was not cancelled")
		}
	})
	return ts.URL
}
