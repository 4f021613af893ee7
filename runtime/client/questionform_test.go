package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// malformed are params of questions that break their definition, and what the error says of them; "" for those that do not.
var malformed = map[string]map[string]string{
	"sampling/createMessage": {
		`{"messages":[]}`:                                                              "/maxTokens: it must be of type number, and is missing",
		`{"messages":[],"maxTokens":null}`:                                             "/maxTokens: it must be of type number, and is null",
		`{"messages":[],"maxTokens":"x"}`:                                              "/maxTokens: it must be of type number, and is string",
		`{"messages":[],"maxTokens":-5}`:                                               "/maxTokens: it must be an integer",
		`{"messages":[],"maxTokens":1.5}`:                                              "/maxTokens: it must be an integer",
		`{"maxTokens":5}`:                                                              "/messages: it must be of type array, and is missing",
		`{"messages":"x","maxTokens":5}`:                                               "/messages: it must be of type array, and is string",
		`{"messages":[5],"maxTokens":5}`:                                               "/messages/0: it must be an object, and is number",
		`{"messages":[],"maxTokens":5,"systemPrompt":5}`:                               "/systemPrompt: it must be of type string",
		`{"messages":[],"maxTokens":5,"tools":5}`:                                      "/tools: it must be of type array",
		`{"messages":[],"maxTokens":5,"tools":[{"name":"x"}]}`:                         "/tools/0/inputSchema: it must be of type object, and is missing",
		`{"messages":[],"maxTokens":5,"toolChoice":{"mode":"zork"}}`:                   "/toolChoice/mode: it must be auto, none or required",
		`{"messages":[],"maxTokens":5,"toolChoice":{"mode":5}}`:                        "/toolChoice/mode: it must be of type string",
		`{"messages":[],"maxTokens":5,"includeContext":"odd"}`:                         "/includeContext: it must be none, thisServer or allServers",
		`{"messages":[],"maxTokens":5,"includeContext":""}`:                            "/includeContext: it must be none, thisServer or allServers",
		`{"messages":[],"maxTokens":5,"includeContext":5}`:                             "/includeContext: it must be of type string, and is number",
		`{"messages":[],"maxTokens":5,"stopSequences":["x",5]}`:                        "/stopSequences/1: it must be of type string, and is number",
		`{"messages":[],"maxTokens":5,"modelPreferences":{"hints":{}}}`:                "/modelPreferences/hints: it must be of type array, and is object",
		`{"messages":[],"maxTokens":5,"modelPreferences":{"hints":["x"]}}`:             "/modelPreferences/hints/0: it must be an object, and is string",
		`{"messages":[],"maxTokens":5,"modelPreferences":{"hints":[{"name":5}]}}`:      "/modelPreferences/hints/0/name: it must be of type string",
		`{"messages":[],"maxTokens":5,"modelPreferences":{"costPriority":"x"}}`:        "/modelPreferences/costPriority: it must be of type number",
		`{"messages":[],"maxTokens":5,"modelPreferences":{"speedPriority":1.5}}`:       "/modelPreferences/speedPriority: it must be from 0 to 1",
		`{"messages":[],"maxTokens":5,"modelPreferences":{"intelligencePriority":-1}}`: "/modelPreferences/intelligencePriority: it must be from 0 to 1",
		`{"messages":[],"maxTokens":5,"tools":[{"name":"x","inputSchema":{}}]}`:        "/tools/0/inputSchema/type: it must be object",
		`{"messages":[],"maxTokens":5,"includeContext":"none","stopSequences":["x"]}`:  "",
		`{"messages":[],"maxTokens":5,"modelPreferences":{"hints":[{}],"costPriority":1,"speedPriority":null},"includeContext":null}`: "",
		says("system", `{"type":"text","text":"x"}`):                                                             "/messages/0/role: it must be user or assistant",
		says("user", `{"type":"zork"}`):                                                                          "/messages/0/content/type: it must be audio",
		says("user", `{"type":"text"}`):                                                                          "/messages/0/content/text: it must be of type string, and is missing",
		says("user", `[{"type":"text","text":"x"},{"type":"image","data":""}]`):                                  "/messages/0/content/1/mimeType: it must be of type string",
		says("user", `"x"`):                                                                                      "/messages/0/content: it must be an object, and is string",
		says("user", `[{"type":"tool_result","toolUseId":"a","content":[]}]`):                                    "/messages/0/content: a result of a tool must be the user's",
		says("user", `{"type":"tool_use","id":"a","name":"x","input":{}}`):                                       "/messages/0/content: only the assistant uses tools",
		says("assistant", `{"type":"tool_use","id":"a","name":"x","input":{}}`):                                  "/messages/0: it uses tools",
		`{"messages":[],"maxTokens":0,"systemPrompt":null,"temperature":0.5,"toolChoice":{},"tools":[],"new":1}`: "",
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{}},{"type":"text","text":""}]},` +
			`{"role":"user","content":{"type":"tool_result","toolUseId":"a","content":[]}}],"maxTokens":5}`: "",
	},
	"elicitation/create": {
		`{"message":"x"}`:                                                                         "/requestedSchema: it must be the form, an object, and is missing",
		`{"message":"x","requestedSchema":null}`:                                                  "/requestedSchema: it must be the form, an object, and is null",
		`{"message":"x","mode":"form","requestedSchema":{}}`:                                      "/requestedSchema/type: it must be of type string, and is missing",
		`{"message":"x","requestedSchema":{"type":"object"}}`:                                     "/requestedSchema/properties: it must be of type object, and is missing",
		`{"message":"x","requestedSchema":{"type":"object","properties":null}}`:                   "/requestedSchema/properties: it must be of type object, and is null",
		`{"message":"x","requestedSchema":{"properties":{}}}`:                                     "/requestedSchema/type: it must be of type string, and is missing",
		`{"message":"x","requestedSchema":{"type":"array","properties":{}}}`:                      "/requestedSchema: the form is of type array, not of object",
		`{"message":"x","requestedSchema":{"type":"object","properties":{"a":{"enum":["x"]}}}}`:   "/requestedSchema/properties/a/type: it must be of type string, and is missing",
		`{"message":"x","requestedSchema":{"type":"object","properties":{"a":null}}}`:             "/requestedSchema/properties/a: it must be an object, and is null",
		`{"message":"x","requestedSchema":{"type":"object","properties":{"a/b":{"type":""}}}}`:    "/requestedSchema/properties/a~1b/type: it must be boolean",
		`{"message":"x","requestedSchema":{"type":"","properties":{}}}`:                           "/requestedSchema/type: it must be object",
		`{"message":"x","requestedSchema":{"type":"object","properties":{"a":{"type":"array"}}}}`: "/requestedSchema/properties/a/items: it must be an object, and is missing",
		`{"message":"x","requestedSchema":{"type":"object","properties":{}}}`:                     "",
		`{"message":"x","mode":"url","url":"https://example.com"}`:                                "/elicitationId: it must be a string",
		`{"message":"x","mode":"url","url":"https://example.com","elicitationId":5}`:              "/elicitationId: it must be a string",
		`{"message":"x","mode":"url","url":"https://example.com","elicitationId":"e"}`:            "",
	},
}

// says returns params of a request to sample with one message.
func says(role, content string) string {
	return `{"messages":[{"role":"` + role + `","content":` + content + `}],"maxTokens":5}`
}

// A question that breaks its definition is refused, and no person is asked, nor told that there was one.
func TestEXT21AMalformedQuestionIsRefused(t *testing.T) {
	asked, told := make(chan string, 100), make(chan error, 100)
	_, p := meet(t, "2025-11-25", client.WithHandlers(client.Handlers{
		SampleTools: true,
		Sample: func(context.Context, *client.Question) (json.RawMessage, error) {
			asked <- ""
			return json.RawMessage(`{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}`), nil
		},
		Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
			asked <- ""
			return &client.Answer{Action: client.Declined}, nil
		},
		OpenURL: func(context.Context, *client.Question) (*client.Answer, error) {
			asked <- ""
			return &client.Answer{Action: client.Declined}, nil
		},
		Answered: func(_ *client.Question, err error) { told <- err },
	}))
	id := 0
	for method, questions := range malformed {
		for params, want := range questions {
			id++
			p.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
			m := p.next()
			switch {
			case want == "" && m.Error != nil, want != "" && (m.Error == nil || m.Error.Code != rpc.CodeInvalidParams || !strings.HasPrefix(m.Error.Message, want)):
				t.Errorf("%s: %s, want %q", params, m.raw, want)
			case want == "":
				<-asked
				<-told
			}
			if len(asked)+len(told) > 0 {
				t.Fatalf("%s: the host knows of it", params)
			}
		}
	}
}

// In a result as well as in a request, the params of a question are an object, also those of one that needs none.
func TestEXT21TheParamsOfAQuestionAreAnObject(t *testing.T) {
	for _, method := range []string{"roots/list", "elicitation/create", "sampling/createMessage"} {
		for _, params := range []string{`null`, `[]`, `5`, `""`} {
			s, p := meet(t, "2026-07-28", client.WithHandlers(client.Handlers{
				Roots:  func(context.Context, *client.Question) ([]client.Root, error) { t.Error("asked"); return nil, nil },
				Elicit: func(context.Context, *client.Question) (*client.Answer, error) { t.Error("asked"); return nil, nil },
				Sample: func(context.Context, *client.Question) (json.RawMessage, error) { t.Error("asked"); return nil, nil },
			}))
			done := start(t.Context(), s, "x")
			go p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"q":{"method":"`+method+`","params":`+params+`}}}`)
			var bad *client.ProtocolError
			if r := <-done; !errors.As(r.err, &bad) {
				t.Errorf("%s: %v", params, r.err)
			} else {
				has(t, r.err.Error(), `its question "q": its params are no object: `+params)
			}
		}
	}
}
