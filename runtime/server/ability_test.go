package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// asks are requests to the client by what their params take of it.
var asks = map[string]*ClientRequest[noInput, noInput]{
	"form":       {Op: wire.OpElicit, Codecs: rawCodec(`{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)},
	"mode form":  {Op: wire.OpElicit, Codecs: rawCodec(`{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}`)},
	"url":        {Op: wire.OpElicit, Codecs: rawCodec(`{"mode":"url","message":"?","url":"https://example.com","elicitationId":"e"}`)},
	"sample":     {Op: wire.OpCreateMessage, Codecs: rawCodec(`{"messages":[],"maxTokens":5,"includeContext":"none"}`)},
	"tools":      {Op: wire.OpCreateMessage, Codecs: rawCodec(`{"messages":[],"maxTokens":5,"tools":[]}`)},
	"toolChoice": {Op: wire.OpCreateMessage, Codecs: rawCodec(`{"messages":[],"maxTokens":5,"toolChoice":{}}`)},
	"context":    {Op: wire.OpCreateMessage, Codecs: rawCodec(`{"messages":[],"maxTokens":5,"includeContext":"thisServer"}`)},
	"contexts":   {Op: wire.OpCreateMessage, Codecs: rawCodec(`{"messages":[],"maxTokens":5,"includeContext":"allServers"}`)},
	"roots":      {Op: wire.OpListRoots, Codecs: rawCodec(`{}`)},
}

// abilities are declarations, and what of asks each of them lacks.
var abilities = []struct {
	caps  string
	lacks map[string]string
}{
	{`{}`, map[string]string{
		"form": "elicitation", "mode form": "elicitation", "url": "elicitation/url", "sample": "sampling", "tools": "sampling/tools",
		"toolChoice": "sampling/tools", "context": "sampling/context", "contexts": "sampling/context", "roots": "roots",
	}},
	{`{"elicitation":{},"sampling":{},"roots":{}}`, map[string]string{
		"url": "elicitation/url", "tools": "sampling/tools", "toolChoice": "sampling/tools", "context": "sampling/context", "contexts": "sampling/context",
	}},
	{`{"elicitation":{"form":{}},"sampling":{"tools":{}},"roots":{}}`, map[string]string{
		"url": "elicitation/url", "context": "sampling/context", "contexts": "sampling/context",
	}},
	{`{"elicitation":{"url":{}},"sampling":{"context":{}},"roots":{}}`, map[string]string{
		"form": "elicitation/form", "mode form": "elicitation/form", "tools": "sampling/tools", "toolChoice": "sampling/tools",
	}},
	{`{"elicitation":{"url":{},"form":{}},"sampling":{"context":{},"tools":{}},"roots":{}}`, nil},
}

// askingTools has a tool that makes the request that its name says, and answers with what it lacked.
func askingTools() (tools []Tool) {
	for name, request := range asks {
		tools = append(tools, tool(strings.ReplaceAll(name, " ", "_"), plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			_, err := Send(ctx, call, request, "q", &noInput{})
			var unsupported *UnsupportedError
			if errors.Is(err, ErrUnsupported) && errors.As(err, &unsupported) {
				return &echoOutput{"lacks " + unsupported.Capability}, nil
			}
			return &echoOutput{"asked"}, err
		}), withTask(TaskOptional)))
	}
	return tools
}

// TestSRV08 and EXT18: what a client did not declare is not sent, on any wire, inline or for a task.
func TestSRV08SubCapabilitiesOnASession(t *testing.T) {
	f := dual(t, Definition{Tools: askingTools()})
	for _, row := range abilities {
		c := f.dial(t.Context())
		c.initialize(row.caps)
		for name := range asks {
			for _, asTask := range []string{"", `,"task":{}`} {
				c.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q%s}}`, strings.ReplaceAll(name, " ", "_"), asTask)
				var outcome string
				for answered := false; !answered; {
					m := c.next()
					switch {
					case m.Method == "notifications/tasks/status":
						if status := m.str("params", "status"); status == "completed" {
							m = c.request("2", "tasks/result", taskID(m.str("params", "taskId")))
							outcome, answered = m.str("result", "structuredContent", "text"), true
						}
					case m.Method != "":
						outcome = "sent"
						c.reply(m, `{"action":"decline"}`)
					case asTask == "":
						answered = true
						if outcome == "" {
							outcome = m.str("result", "structuredContent", "text")
						}
					}
				}
				want := "sent"
				if lacks := row.lacks[name]; lacks != "" {
					want = "lacks " + lacks
				} else if asTask != "" {
					want = "asked"
				}
				if outcome != want {
					t.Errorf("%s, %s%s: want %q, got %q", row.caps, name, asTask, want, outcome)
				}
			}
		}
		c.close()
	}
}

func TestEXT18SubCapabilitiesOfInputRequests(t *testing.T) {
	f := dual(t, Definition{Tools: askingTools()})
	for _, row := range abilities {
		for name := range asks {
			m, keys, _ := f.try(t.Context(), row.caps, strings.ReplaceAll(name, " ", "_"), `{}`, "")
			want := ""
			if lacks := row.lacks[name]; lacks != "" {
				want = "lacks " + lacks
			}
			if got := m.str("result", "structuredContent", "text"); got != want || (len(keys) == 1) != (want == "") {
				t.Errorf("%s, %s: want %q, got %s", row.caps, name, want, m.raw)
			}
			withTask := row.caps[:len(row.caps)-1] + `,"extensions":{"io.modelcontextprotocol/tasks":{}}}`
			withTask = strings.Replace(withTask, "{,", "{", 1)
			id := f.create(t.Context(), strings.ReplaceAll(name, " ", "_"), `{}`, withTask)
			if want != "" {
				if m := f.await(t.Context(), id, task.Completed); m.str("result", "result", "structuredContent", "text") != want {
					t.Errorf("task: %s, %s: want %q, got %s", row.caps, name, want, m.raw)
				}
				continue
			}
			f.awaitQuestions(t.Context(), id, 1)
			for _, reader := range abilities { // who reads it may be another client of the same owner
				caps := strings.Replace(reader.caps[:len(reader.caps)-1]+`,"extensions":{"io.modelcontextprotocol/tasks":{}}}`, "{,", "{", 1)
				m := f.ask(t.Context(), frame(1, "tasks/get", caps, byID(id)))
				if shown := m.field("result", "inputRequests") != `{}`; shown != (reader.lacks[name] == "") {
					t.Errorf("%s, read with %s: %s", name, reader.caps, m.raw)
				}
			}
		}
	}
}

// A prompt is a form, also before a task is made and when a handler of `methods` asks.
func TestEXT18PromptsAreForms(t *testing.T) {
	codec := MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult}
	ask := asker(confirmQuestion())
	ask.Task.Support = TaskRequired
	ask.Before = []BeforeQuestion{confirmQuestion().Before()}
	f := dual(t, Definition{Tools: []Tool{ask}, Methods: []MethodHandler{BindMethod("prompts/get",
		func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
			a, err := Ask(ctx, call, confirmQuestion(), "")
			return &rawResult{fmt.Sprintf(`{"messages":[],"description":"%v"}`, a.Value.Overwrite)}, err
		}, codec)}})
	const caps = `{"elicitation":{"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	for _, request := range []string{
		frame(1, "tools/call", caps, callParams("ask", `{}`)), frame(1, "prompts/get", caps, `"name":"p"`),
	} {
		m := f.ask(t.Context(), request)
		m.wantError(t, -32021, "elicitation/form")
		if got := m.field("error", "data", "requiredCapabilities"); got != `{"elicitation":{"form":{}}}` {
			t.Error(m.raw)
		}
	}
}

// What a run of a task may ask is the same after a restart, whatever the numbers of abilities are then.
func TestEXT18AbilitiesSurviveInTheTask(t *testing.T) {
	rev := dual(t, Definition{}).srv.revisions[0]
	for _, row := range abilities {
		can := rev.abilities([]byte(row.caps))
		var names []string
		if err := json.Unmarshal(rev.appendAbilities(nil, can), &names); err != nil {
			t.Fatal(err)
		}
		if got := rev.abilitiesOf(names); got != can {
			t.Errorf("%s: %b became %v, then %b", row.caps, can, names, got)
		}
	}
}
