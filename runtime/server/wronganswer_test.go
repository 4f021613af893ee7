package server

import (
	"strings"
	"testing"
)

// A wrong answer is asked for again with what is wrong with it, for the one time; the state that the client carries fits the question still.
func TestEXT17AWrongAnswerIsAskedForAgainWithTheReason(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}})
	message := func(m message) string { return m.str("result", "inputRequests", "confirm", "params", "message") }
	m, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
	plain := message(m)
	for responses, want := range map[string]string{
		`{"confirm":12345}`:                                             "type: found 12345",
		`{"confirm":{"action":"maybe"}}`:                                `/action: "maybe" is none of "accept", "decline", "cancel"`,
		`{"confirm":{"action":"accept"}}`:                               "/overwrite: is required and missing",
		`{"confirm":{"action":"accept","content":{"overwrite":"yes"}}}`: `/overwrite: type: found "yes"`,
	} {
		m, _, state = f.try(t.Context(), forms, "ask", `{}`, answering(state, responses))
		if got := message(m); !strings.HasPrefix(got, "The last answer was not accepted: ") || !strings.Contains(got, want) || !strings.HasSuffix(got, "\n\n"+plain) {
			t.Errorf("%s: %s", responses, m.raw)
		}
	}
	if m, _, state = f.try(t.Context(), forms, "ask", `{}`, answering(state, `{}`)); message(m) != plain {
		t.Error(m.raw)
	}
	if m, _, _ = f.try(t.Context(), forms, "ask", `{}`, answering(state, `{"confirm":`+accepted+`}`)); m.str("result", "structuredContent", "text") == "" {
		t.Error(m.raw)
	}
}

// The same of what is asked before there is a task, and of a form that a handler writes. What has no message for it is told in the client's log.
func TestEXT17EveryKindOfWrongAnswerIsTold(t *testing.T) {
	early := tool("early", structured(echo), withTask(TaskRequired), func(t *Tool) { t.Before = []BeforeQuestion{confirmQuestion().Before()} })
	f := dual(t, Definition{Tools: append(askingTools(), early)})
	for tool, row := range map[string]struct{ caps, want string }{
		"early": {tasksAsks, `"message":"The last answer was not accepted: (root): type: found 5, allowed: an object\n\nOverwrite?"`},
		"form":  {forms, `"message":"The last answer was not accepted: an answer must be an object\n\n?"`},
		"roots": {`{"roots":{}}`, `"data":"the answer to \"q\" was not accepted: an answer must be an object"`},
	} {
		_, keys, state := f.try(t.Context(), row.caps, tool, `{"text":"x"}`, "")
		if len(keys) != 1 {
			t.Fatalf("%s asks for %q", tool, keys)
		}
		retry := callParams(tool, `{"text":"x"}`) + "," + answering(state, `{"`+keys[0]+`":5}`)
		frames, _ := f.exchange(t.Context(), frameWith(1, "tools/call", row.caps, retry, `"io.modelcontextprotocol/logLevel":"warning"`))
		all := ""
		for _, m := range frames {
			all += m.raw
		}
		if strings.Count(all, "not accepted") != 1 || !strings.Contains(all, row.want) || !strings.Contains(all, `"input_required"`) {
			t.Errorf("%s: %s", tool, all)
		}
	}
}
