package generator

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/schema/revision"

	kiln "github.com/mcpkiln/mcpkiln/testdata/byhand/byhand"
)

// presumptuous is a handler that says in every _meta, and beside it, what is not its to say; mine is.
func presumptuous() *careless {
	meta, more := map[string]check.Raw{"mine": check.Raw(`1`), "com.example/own": check.Raw(`{"a":1}`)}, map[string]check.Raw{"resultType": check.Raw(`"task"`)}
	for _, name := range revision.Names() {
		r, _ := revision.Load(name)
		for _, key := range r.Meta {
			meta[key.Key] = check.Raw(`{"foreign":true}`)
		}
	}
	return &careless{
		read: func() *kiln.ReadResourceResult {
			return &kiln.ReadResourceResult{Meta: meta, AdditionalProperties: more, Contents: []kiln.ReadResourceResultContent{&kiln.TextResourceContents{URI: "a:b"}}}
		},
		prompt: func() *kiln.GetPromptResult {
			return &kiln.GetPromptResult{Meta: meta, AdditionalProperties: more, Messages: []kiln.PromptMessage{{Role: kiln.RoleUser, Content: &kiln.TextContent{Text: "t"}}}}
		},
		list: func() *kiln.ListPromptsResult {
			return &kiln.ListPromptsResult{Meta: meta, AdditionalProperties: more, Prompts: []kiln.Prompt{}}
		},
		words: func() *kiln.CompleteResult {
			return &kiln.CompleteResult{Meta: meta, AdditionalProperties: more, Completion: kiln.CompleteResultCompletion{Values: []string{}}}
		},
		tool: func(ctx context.Context, call *server.Call) (*kiln.CallToolResult, error) {
			_, err := kiln.CreateMessage(ctx, call, "ask", &kiln.CreateMessageRequestParams{Meta: meta, MaxTokens: 5, Messages: []kiln.SamplingMessage{}})
			return &kiln.CallToolResult{Meta: meta, AdditionalProperties: more, Content: []kiln.ContentBlock{}}, err
		},
	}
}

// The protocol's own keys of _meta (https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta,
// https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta) are never a handler's: in no result and no request to the client, in no
// revision, whether or not that has them. The server's own are there, once.
func TestLET01TheProtocolsKeysAreTheServers(t *testing.T) {
	for _, name := range revision.Names() {
		for _, ask := range []struct{ method, params string }{
			{"tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`}, {"prompts/list", ""}, {"prompts/get", `"name":"p"`},
			{"resources/read", `"uri":"a:b"`}, {"completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`},
		} {
			c := dial(t, presumptuous(), name)
			text := c.ask(ask.method, ask.params)
			if ask.method == "tools/call" {
				text = c.afterTheQuestion(text, ask.params)
			}
			var answer struct{ Result map[string]json.RawMessage }
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"mine": `1`, "com.example/own": `{"a":1}`}
			resultType := ""
			if c.stateless() {
				want["io.modelcontextprotocol/serverInfo"] = ""
				resultType = `"complete"`
			}
			c.holds(ask.method, text, answer.Result["_meta"], want)
			if got := string(answer.Result["resultType"]); got != resultType || strings.Count(text, `"resultType"`) > 1 {
				t.Errorf("%s %s: resultType %s: %s", name, ask.method, got, text)
			}
		}
	}
}

// afterTheQuestion answers the question of a tool, whose params it looks at, and returns the answer to the call.
func (c *client) afterTheQuestion(text, params string) string {
	c.t.Helper()
	var asked struct {
		ID     json.RawMessage
		Params struct {
			Meta json.RawMessage `json:"_meta"`
		}
		Result struct {
			InputRequests map[string]struct {
				Params struct {
					Meta json.RawMessage `json:"_meta"`
				}
			}
			RequestState json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(text), &asked); err != nil {
		c.t.Fatal(err)
	}
	const said = `{"role":"assistant","model":"m","content":{"type":"text","text":"t"}}`
	want := map[string]string{"mine": `1`, "com.example/own": `{"a":1}`}
	if c.stateless() {
		c.holds("the question", text, asked.Result.InputRequests["ask"].Params.Meta, want)
		return c.ask("tools/call", params+`,"inputResponses":{"ask":`+said+`},"requestState":`+string(asked.Result.RequestState))
	}
	c.holds("the question", text, asked.Params.Meta, want)
	c.write(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":` + said + `}`)
	return c.answer()
}

// holds compares the keys of _meta; those without a value are the server's.
func (c *client) holds(of, text string, raw json.RawMessage, want map[string]string) {
	c.t.Helper()
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(raw, &meta)
	if got, keys := slices.Sorted(maps.Keys(meta)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, keys) {
		c.t.Errorf("%s %s: want the keys %q, got %q: %s", c.revision, of, keys, got, text)
	}
	for key, value := range want {
		if strings.Count(text, `"`+key+`"`) != 1 || value != "" && string(meta[key]) != value || strings.Contains(string(meta[key]), "foreign") {
			c.t.Errorf("%s %s: %s is not %s, once: %s", c.revision, of, key, value, text)
		}
	}
}

// What middleware answers in a handler's place is held against its definition, too.
func TestLET01ResultsOfMiddlewareAreHeldAgainstTheirDefinitions(t *testing.T) {
	const call, prompt = `"name":"test_sampling","arguments":{"prompt":"p"}`, `"name":"p"`
	for _, test := range []struct{ method, params, result, want string }{
		{"tools/call", call, `{}`, "/content"}, {"tools/call", call, `{"content":[null]}`, "/content/0"}, {"tools/call", call, `{"content":[{"type":"film"}]}`, "/content/0"},
		{"tools/call", call, `{"resultType":"task","taskId":"x"}`, "/content"}, {"tools/call", call, `{"content":[{"type":"text","text":"t"}],"_meta":{"a":1}}`, ""},
		{"prompts/get", prompt, `{}`, "/messages"}, {"prompts/get", prompt, `{"messages":[],"_meta":{"a":1}}`, ""},
		{"prompts/list", "", `{"prompts":[{}]}`, "/prompts/0/name"}, {"prompts/list", "", `{"prompts":[]}`, ""},
	} {
		for _, name := range revision.Names() {
			c := dial(t, presumptuous(), name, server.WithMiddleware(func(next server.Handle) server.Handle {
				return func(ctx context.Context, m *server.Message) (*server.MessageResult, error) {
					if m.Method == test.method {
						return server.ResultOf([]byte(test.result)), nil
					}
					return next(ctx, m)
				}
			}))
			answer := c.ask(test.method, test.params)
			if sent := !strings.Contains(answer, `"code":-32603`); sent != (test.want == "") {
				t.Errorf("%s %s in %s: %s", test.method, test.result, name, answer)
			}
			if test.want != "" {
				if log := <-c.log; !strings.Contains(log, test.want) {
					t.Errorf("%s %s in %s: %q lacks %s", test.method, test.result, name, log, test.want)
				}
			}
		}
	}
}
