package server

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A retry is good on any connection, of any process that has the key, by any transport without an identity.
func TestLET18ARetryNeedsNeitherConnectionNorProcess(t *testing.T) {
	keys, err := ParseSealKeys(strings.Repeat("new-", 8) + "\r\n# the one before\n\n" + strings.Repeat("old-", 8))
	if err != nil || len(keys) != 2 {
		t.Fatal(keys, err)
	}
	process := func(keys ...[]byte) *fixture {
		return dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}}, WithGather(0), WithSealKeys(keys...))
	}
	ask := func(c *client, more string) message {
		if more != "" {
			more = "," + more
		}
		c.send(frame(1, "tools/call", forms, callParams("ask", `{}`)+more))
		m, _ := c.answer("1")
		return m
	}
	const accepted = `{"confirm":{"action":"accept","content":{"overwrite":true}}}`
	for name, dial := range map[string]func(*fixture) *client{
		"connections": func(f *fixture) *client { return f.dial(t.Context()) },
		"stdio":       func(f *fixture) *client { return f.dialStateless(rpc.LineOptions{Local: true}) },
		"identities":  func(f *fixture) *client { return f.dial(as(t, "ada")) },
	} {
		before, after := process(keys[1]), process(keys...)
		state := ask(dial(before), "").str("result", "requestState")
		for where, f := range map[string]*fixture{"another connection": before, "another process": after} {
			if m := ask(dial(f), answering(state, accepted)); m.str("result", "resultType") != "complete" {
				t.Errorf("%s, %s: %s", name, where, m.raw)
			}
		}
		stranger := process()
		ask(dial(stranger), answering(state, accepted)).wantError(t, -32602, "requestState")
		ask(before.dial(as(t, "eve")), answering(state, accepted)).wantError(t, -32602, "requestState")
	}
}

func TestLET18KeysThatAreNoneAreNotShown(t *testing.T) {
	for text, want := range map[string]string{
		"":        "there is none",
		"# x\n\n": "there is none",
		"\n# x\n" + strings.Repeat("k", 31) + "\n":                         "line 3 has 31 characters",
		strings.Repeat("k", 40) + "\r\nhunter2hunter2hunter2\r\n# comment": "line 2 has 21 characters",
	} {
		keys, err := ParseSealKeys(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter") || len(keys) > 0 {
			t.Errorf("%q: %q, %v", text, keys, err)
		}
	}
}
