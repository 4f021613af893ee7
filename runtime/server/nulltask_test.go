package server

import (
	"strings"
	"testing"
)

// A null in place of task counts as none, as it does for arguments: the call runs inline, and a tool that is always a task says so.
func TestTSK03LET10ANullTaskIsNone(t *testing.T) {
	f := newFixture(t, []Tool{tool("optional", structured(echo), withTask(TaskOptional)), tool("required", structured(echo), withTask(TaskRequired)), tool("never", structured(echo))})
	c := f.dialTasks("")
	call := func(name string) message {
		c.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"text":"hi"},"task":null}}`, name)
		m, _ := c.answer("1")
		return m
	}
	for _, name := range []string{"optional", "never"} {
		if m := call(name); m.str("result", "structuredContent", "text") != "hi" || strings.Contains(m.raw, "taskId") {
			t.Errorf("%s: %s", name, m.raw)
		}
	}
	call("required").wantError(t, -32601)
}
