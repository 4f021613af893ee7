package server

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// A wrong answer is asked for again with what is wrong with it, for the one time; the state that the client carries fits the question still.
func TestEXT17LET12AWrongAnswerIsAskedForAgainWithTheReason(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}})
	message := func(m message) string { return m.str("result", "inputRequests", "confirm", "params", "message") }
	m, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
	plain := message(m)
	for responses, want := range map[string]string{
		`{"confirm":12345}`:                                             "type: found 12345",
		`{"confirm":{"action":"maybe"}}`:                                `/action: "maybe" is none of "accept", "decline", "cancel"`,
		`{"confirm":{"action":"accept"}}`:                               "/overwrite: is required and missing",
		`{"confirm":{"action":"decline","content":5}}`:                  "/content: type: found 5",
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
	for answer, want := range map[string]string{accepted: "accept true true", `{"action":"decline","content":null}`: "decline false false"} {
		if m, _, _ = f.try(t.Context(), forms, "ask", `{}`, answering(state, `{"confirm":`+answer+`}`)); m.str("result", "structuredContent", "text") != want {
			t.Error(m.raw)
		}
	}
}

// The same of what is asked before there is a task, and of a form that a handler writes.
func TestEXT17EveryKindOfWrongAnswerIsTold(t *testing.T) {
	early := tool("early", structured(echo), withTask(TaskRequired), func(t *Tool) { t.Before = []BeforeQuestion{confirmQuestion().Before()} })
	f := dual(t, Definition{Tools: append(askingTools(), early)})
	for tool, row := range map[string]struct{ caps, want string }{
		"early": {tasksAsks, `"message":"The last answer was not accepted: (root): type: found 5, allowed: an object\n\nOverwrite?"`},
		"form":  {forms, `"message":"The last answer was not accepted: an answer must be an object\n\n?"`},
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

// TestLET05AWrongAnswerToAProgramRefusesTheRetry: a request without a message can not say what was wrong with its last answer, so it is not made again
// for ever (EXT17, VAL02). The state stays good for a right answer.
func TestLET05AWrongAnswerToAProgramRefusesTheRetry(t *testing.T) {
	codecs := []ClientCodec[noInput, echoInput]{{Append: func(b []byte, _ *noInput) []byte {
		return append(b, `{"messages":[],"maxTokens":5}`...)
	}, Decode: decodeEchoInput}}
	var tools []Tool
	for name, request := range map[string]ClientRequest[noInput, echoInput]{
		"sampling": {Op: wire.OpCreateMessage, Codecs: codecs}, "roots": {Op: wire.OpListRoots, Codecs: codecs},
		"custom": {Op: wire.OpCustomRequest, Method: "rows/choose", Codecs: codecs},
	} {
		tools = append(tools, tool(name, plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			in, err := Send(ctx, call, &request, "q", &noInput{})
			if err != nil {
				return nil, err
			}
			return &echoOutput{in.Text}, nil
		})))
	}
	ended := make(chan Outcome, 100)
	f := dual(t, customDefinition(nil, nil, tools...), WithObserver(func(e Event) {
		if e.Kind == RequestEnded {
			ended <- e.Outcome
		}
	}))
	const caps = `{"sampling":{},"roots":{},"extensions":{"com.example/rows":{}}}`
	for _, name := range []string{"sampling", "roots", "custom"} {
		_, keys, state := f.try(t.Context(), caps, name, `{}`, "")
		if outcome := <-ended; len(keys) != 1 || keys[0] != "q" || outcome != HasAsked {
			t.Fatalf("%s asks for %q: %s", name, keys, outcome)
		}
		for wrong, why := range map[string]string{
			`5`: "an answer must be an object", `null`: "an answer must be an object", `{"text":5}`: "/text: type: found 5", `{}`: "/text: is required",
		} {
			m, _, _ := f.try(t.Context(), caps, name, `{}`, answering(state, `{"q":`+wrong+`}`))
			m.wantError(t, -32602, `invalid inputResponses: answer to "q": `+why)
			if data := m.field("error", "data", "violations"); !strings.Contains(data, why) {
				t.Errorf("%s: %s", name, m.raw)
			}
			if outcome := <-ended; outcome != Failed {
				t.Errorf("%s: a refused retry ends as %s", name, outcome)
			}
		}
		if m, _, _ := f.try(t.Context(), caps, name, `{}`, answering(state, `{"q":{"text":"right"}}`)); m.str("result", "structuredContent", "text") != "right" {
			t.Errorf("%s: %s", name, m.raw)
		}
		<-ended
	}
}
