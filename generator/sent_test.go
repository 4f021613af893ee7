package generator

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"

	kiln "github.com/mcpkiln/mcpkiln/testdata/byhand/byhand"
)

// careless is a server whose handlers return what a test says. What it does not say is never called.
type careless struct {
	kiln.Handlers
	read   func() *kiln.ReadResourceResult
	prompt func() *kiln.GetPromptResult
	list   func() *kiln.ListPromptsResult
	words  func() *kiln.CompleteResult
	tool   func(ctx context.Context, call *server.Call) (*kiln.CallToolResult, error)
}

func (h *careless) ReadResource(context.Context, *server.Call, *kiln.ReadResourceRequestParams) (*kiln.ReadResourceResult, error) {
	return h.read(), nil
}

func (h *careless) GetPrompt(context.Context, *server.Call, *kiln.GetPromptRequestParams) (*kiln.GetPromptResult, error) {
	return h.prompt(), nil
}

func (h *careless) ListPrompts(context.Context, *server.Call, *kiln.PaginatedRequestParams) (*kiln.ListPromptsResult, error) {
	return h.list(), nil
}

func (h *careless) Complete(context.Context, *server.Call, *kiln.CompleteRequestParams) (*kiln.CompleteResult, error) {
	return h.words(), nil
}

func (h *careless) TestSampling(ctx context.Context, call *server.Call, _ *kiln.TestSamplingInput) (*kiln.CallToolResult, error) {
	return h.tool(ctx, call)
}

// client talks to a server over a pipe, in one revision.
type client struct {
	t        *testing.T
	conn     rpc.Conn
	revision string
	log      records
}

// records are what a server logs.
type records chan string

func (r records) Write(p []byte) (int, error) {
	r <- string(p)
	return len(p), nil
}

const capabilities = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`

func dial(t *testing.T, h kiln.Handlers, revision string, opts ...server.Option) *client {
	t.Helper()
	c := connect(t, h, revision, opts...)
	if !c.stateless() {
		c.begin()
	}
	return c
}

// connect is dial before the handshake.
func connect(t *testing.T, h kiln.Handlers, revision string, opts ...server.Option) *client {
	t.Helper()
	c := &client{t: t, revision: revision, log: make(records, 8)}
	logger := slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelError}))
	srv, err := kiln.New(h, append(opts, server.WithLogger(logger))...)
	if err != nil {
		t.Fatal(err)
	}
	var end rpc.Conn
	c.conn, end = rpc.Pipe()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(context.Background(), end) }()
	t.Cleanup(func() {
		c.conn.Close()
		<-served
	})
	return c
}

func (c *client) begin() {
	c.t.Helper()
	c.write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + c.revision + `","clientInfo":{"name":"c","version":"1"},"capabilities":` + capabilities + `}}`)
	if answer := c.answer(); !strings.Contains(answer, c.revision) {
		c.t.Fatal(answer)
	}
	c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *client) stateless() bool { return c.revision >= "2026-07-28" }

func (c *client) write(frame string) {
	c.t.Helper()
	if err := c.conn.WriteFrame([]byte(frame)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) answer() string {
	c.t.Helper()
	frame, err := c.conn.ReadFrame(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(frame)
}

// ask sends a request; params has no braces.
func (c *client) ask(method, params string) string {
	c.t.Helper()
	if c.stateless() {
		params += `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + c.revision + `","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
	}
	c.write(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + strings.TrimPrefix(params, ",") + `}}`)
	return c.answer()
}

var bothRevisions = []string{"2025-11-25", "2026-07-28"}

func content(blocks ...kiln.ContentBlock) *kiln.CallToolResult {
	return &kiln.CallToolResult{Content: blocks}
}

func message(block kiln.ContentBlock) *kiln.GetPromptResult {
	return &kiln.GetPromptResult{Messages: []kiln.PromptMessage{{Role: kiln.RoleUser, Content: block}}}
}

func icon(src string) []kiln.Icon { return []kiln.Icon{{Src: src}} }

// A sound is base64 and says what it is (https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#audio-content).
func TestLET01ASoundIsBase64WithItsType(t *testing.T) {
	for _, name := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		for kind, sent := range map[string]bool{"audio/wav": true, "": false, "wav": false} {
			c := dial(t, &careless{prompt: func() *kiln.GetPromptResult {
				return message(&kiln.AudioContent{Data: []byte{0xfb, 0xff, 0x00, 0x01}, MIMEType: kind})
			}}, name)
			answer := c.ask("prompts/get", `"name":"p"`)
			whole := strings.Contains(answer, `"type":"audio"`) && strings.Contains(answer, `"data":"+/8AAQ=="`) && strings.Contains(answer, `"mimeType":"audio/wav"`)
			if whole != sent || !sent && !strings.Contains(answer, `"code":-32603`) {
				t.Errorf("%s, %q: %s", name, kind, answer)
			}
		}
	}
}

// TestLET01ResultsAreHeldAgainstTheirDefinitions has handlers return what breaks the definition of their result. The client is told
// that it is the server's fault, the log what and where.
func TestLET01ResultsAreHeldAgainstTheirDefinitions(t *testing.T) {
	link := &kiln.ResourceLink{Name: "n", URI: "no uri"}
	for name, test := range map[string]struct {
		method, params string
		h              careless
		want           string // in the log
		only           string // the one revision that has it
	}{
		"no URI in a list of contents": {method: "resources/read", params: `"uri":"a:b"`, want: "/contents/0/uri", h: careless{read: func() *kiln.ReadResourceResult {
			return &kiln.ReadResourceResult{Contents: []kiln.ReadResourceResultContent{&kiln.TextResourceContents{URI: "a b"}}}
		}}},
		"a negative ttl": {method: "resources/read", params: `"uri":"a:b"`, want: "/ttlMs", only: "2026-07-28", h: careless{read: func() *kiln.ReadResourceResult {
			return &kiln.ReadResourceResult{TTLMs: check.Some(int64(-5))}
		}}},
		"an embedded resource without a URI": {method: "prompts/get", params: `"name":"p"`, want: "/messages/0/content/resource/uri", h: careless{prompt: func() *kiln.GetPromptResult {
			return message(&kiln.EmbeddedResource{Resource: &kiln.TextResourceContents{}})
		}}},
		"an embedded resource without contents": {method: "prompts/get", params: `"name":"p"`, want: "/messages/0/content/resource", h: careless{prompt: func() *kiln.GetPromptResult {
			return message(&kiln.EmbeddedResource{})
		}}},
		"a picture without a type": {method: "prompts/get", params: `"name":"p"`, want: "/messages/0/content/mimeType", h: careless{prompt: func() *kiln.GetPromptResult {
			return message(&kiln.ImageContent{Data: []byte("x")})
		}}},
		"a sound without a type": {method: "prompts/get", params: `"name":"p"`, want: "/messages/0/content/mimeType", h: careless{prompt: func() *kiln.GetPromptResult {
			return message(&kiln.AudioContent{Data: []byte("x"), MIMEType: "wav"})
		}}},
		"no result": {method: "prompts/get", params: `"name":"p"`, want: "/messages", h: careless{prompt: func() *kiln.GetPromptResult { return nil }}},
		"no content": {method: "prompts/get", params: `"name":"p"`, want: "/messages/0/content", h: careless{prompt: func() *kiln.GetPromptResult {
			return message(nil)
		}}},
		"no role": {method: "prompts/get", params: `"name":"p"`, want: "/messages/0/role", h: careless{prompt: func() *kiln.GetPromptResult {
			return &kiln.GetPromptResult{Messages: []kiln.PromptMessage{{Content: &kiln.TextContent{}}}}
		}}},
		"a priority beyond its bounds": {method: "prompts/get", params: `"name":"p"`, want: "/messages/0/content/annotations/priority", h: careless{prompt: func() *kiln.GetPromptResult {
			return message(&kiln.ImageContent{Annotations: &kiln.Annotations{Priority: check.Some(1.5)}})
		}}},
		"150 completion values": {method: "completion/complete", params: `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`,
			want: "/completion/values", h: careless{words: func() *kiln.CompleteResult {
				return &kiln.CompleteResult{Completion: kiln.CompleteResultCompletion{Values: make([]string, 150)}}
			}}},
		"an icon that is a script": {method: "prompts/list", want: "/prompts/0/icons/0/src", h: careless{list: func() *kiln.ListPromptsResult {
			return &kiln.ListPromptsResult{Prompts: []kiln.Prompt{{Name: "p", Icons: icon("javascript:alert(1)")}}}
		}}},
		"an icon that is a page": {method: "prompts/list", want: "/prompts/0/icons/0/src", h: careless{list: func() *kiln.ListPromptsResult {
			return &kiln.ListPromptsResult{Prompts: []kiln.Prompt{{Name: "p", Icons: icon("data:text/html,hello")}}}
		}}},
		"a tool's link": {method: "tools/call", params: `"name":"test_sampling","arguments":{"prompt":"p"}`, want: "/content/0/uri", h: careless{
			tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) { return content(link), nil },
		}},
		"a tool's icon": {method: "tools/call", params: `"name":"test_sampling","arguments":{"prompt":"p"}`, want: "/content/0/icons/0/src", h: careless{
			tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) {
				return content(&kiln.ResourceLink{Name: "n", URI: "a:b", Icons: icon("file:///etc/passwd")}), nil
			},
		}},
		"a tool's missing block": {method: "tools/call", params: `"name":"test_sampling","arguments":{"prompt":"p"}`, want: "/content/1", h: careless{
			tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) {
				return content(&kiln.TextContent{}, nil), nil
			},
		}},
		"structured content that is no object": {method: "tools/call", params: `"name":"test_sampling","arguments":{"prompt":"p"}`, want: "/structuredContent", only: "2025-11-25", h: careless{
			tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) {
				return &kiln.CallToolResult{StructuredContent: check.Raw("5")}, nil
			},
		}},
	} {
		for _, revision := range bothRevisions {
			c := dial(t, &test.h, revision)
			answer := c.ask(test.method, test.params)
			refused := strings.Contains(answer, `"code":-32603`) && strings.Contains(answer, "breaks its own schema")
			if wanted := test.only == "" || test.only == revision; refused != wanted {
				t.Errorf("%s in %s: refused is %v: %s", name, revision, refused, answer)
			}
			if refused {
				if log := <-c.log; !strings.Contains(log, test.want) {
					t.Errorf("%s in %s: %q lacks %s", name, revision, log, test.want)
				}
			}
			if strings.Contains(answer, test.want) {
				t.Errorf("%s in %s: the client reads what is for the log: %s", name, revision, answer)
			}
		}
	}
}

func TestLET01WhatKeepsItsDefinitionIsSent(t *testing.T) {
	h := &careless{
		read: func() *kiln.ReadResourceResult {
			return &kiln.ReadResourceResult{Contents: []kiln.ReadResourceResultContent{&kiln.BlobResourceContents{URI: "urn:isbn:1", Blob: []byte{0, 1, 255}}}}
		},
		list: func() *kiln.ListPromptsResult {
			return &kiln.ListPromptsResult{Prompts: []kiln.Prompt{{Name: "p", Icons: append(icon("https://example.com/a.png"), icon("data:image/png;base64,AA==")...)}}}
		},
		words: func() *kiln.CompleteResult {
			return &kiln.CompleteResult{Completion: kiln.CompleteResultCompletion{Values: make([]string, 100)}}
		},
		prompt: func() *kiln.GetPromptResult { return message(&kiln.AudioContent{Data: nil, MIMEType: "audio/wav"}) },
		tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) {
			return content(&kiln.ImageContent{Data: bytes.Repeat([]byte("x"), 1<<20), MIMEType: "image/png"}), nil
		},
	}
	for _, revision := range bothRevisions {
		c := dial(t, h, revision)
		for _, answer := range []struct{ got, want string }{
			{c.ask("resources/read", `"uri":"a:b"`), `"blob":"AAH/"`},
			{c.ask("prompts/list", ""), `"src":"https://example.com/a.png"`},
			{c.ask("completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`), `"values":["",`},
			{c.ask("prompts/get", `"name":"p"`), `"data":""`},
			{c.ask("tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`), `"data":"eHh4`},
		} {
			if !strings.Contains(answer.got, answer.want) || strings.Contains(answer.got, `"error"`) {
				t.Errorf("%s: %.300s lacks %s", revision, answer.got, answer.want)
			}
		}
	}
}

// TestLET01QuestionsAreHeldAgainstTheirDefinitions has a handler ask with params that break their definition: it gets an error that
// says where, and the client is not asked.
func TestLET01QuestionsAreHeldAgainstTheirDefinitions(t *testing.T) {
	url := func(p kiln.ElicitRequestURLParams) func(context.Context, *server.Call) error {
		return func(ctx context.Context, call *server.Call) error {
			_, err := kiln.Elicit(ctx, call, "page", &p)
			return err
		}
	}
	sample := func(messages ...kiln.SamplingMessage) func(context.Context, *server.Call) error {
		return func(ctx context.Context, call *server.Call) error {
			_, err := kiln.CreateMessage(ctx, call, "model", &kiln.CreateMessageRequestParams{MaxTokens: 5, Messages: messages})
			return err
		}
	}
	form := func(name string, field kiln.PrimitiveSchemaDefinition, required ...string) func(context.Context, *server.Call) error {
		return func(ctx context.Context, call *server.Call) error {
			_, err := kiln.Elicit(ctx, call, "form", &kiln.ElicitRequestFormParams{Message: "m", RequestedSchema: kiln.ElicitRequestFormParamsRequestedSchema{
				Properties: map[string]kiln.PrimitiveSchemaDefinition{name: field}, Required: required}})
			return err
		}
	}
	say := func(role kiln.Role, blocks ...kiln.SamplingMessageContentBlock) kiln.SamplingMessage {
		return kiln.SamplingMessage{Role: role, Content: kiln.SamplingMessageContentList(blocks)}
	}
	use := func(id string) *kiln.ToolUseContent { return &kiln.ToolUseContent{ID: id, Name: "t"} }
	gave := func(id string) *kiln.ToolResultContent { return &kiln.ToolResultContent{ToolUseID: id} }
	text := &kiln.TextContent{Text: "t"}
	id := check.Some("e1")
	for name, test := range map[string]struct {
		ask  func(context.Context, *server.Call) error
		want string
		only string
	}{
		"a page that is no URL":                {ask: url(kiln.ElicitRequestURLParams{ElicitationID: id, Message: "m", URL: "no url"}), want: "/url"},
		"a page without an id":                 {ask: url(kiln.ElicitRequestURLParams{Message: "m", URL: "https://example.com"}), want: "elicitationId", only: "2025-11-25"},
		"a message without role":               {ask: sample(kiln.SamplingMessage{Content: &kiln.TextContent{Text: "t"}}), want: "/messages/0/role"},
		"a form that requires what it has not": {ask: form("a", &kiln.BooleanSchema{}, "b"), want: `/requestedSchema/required/0: the form has no property "b"`},
		"a length below zero":                  {ask: form("a", &kiln.StringSchema{MinLength: check.Some[int64](-1)}), want: "/requestedSchema/properties/a/minLength: minimum: found -1, allowed: at least 0"},
		"lengths that leave nothing":           {ask: form("a", &kiln.StringSchema{MinLength: check.Some[int64](3), MaxLength: check.Some[int64](2)}), want: "/requestedSchema/properties/a: no length is at least 3 and at most 2"},
		"bounds that leave nothing":            {ask: form("a", &kiln.NumberSchema{Type: "number", Minimum: check.Some(-1.5), Maximum: check.Some(-2.0)}), want: "no number is at least -1.5 and at most -2"},
		"nothing to choose":                    {ask: form("a", &kiln.UntitledSingleSelectEnumSchema{Enum: []string{}}), want: "there is nothing to choose"},
		"a tool use of the user":               {ask: sample(say(kiln.RoleUser, use("1"))), want: `/messages/0: the tool use "1" is not the assistant's`},
		"a tool result of the assistant":       {ask: sample(say(kiln.RoleAssistant, gave("1"))), want: `/messages/0: the tool result for "1" is not the user's`},
		"a tool use without a result":          {ask: sample(say(kiln.RoleAssistant, use("1"), use("2")), say(kiln.RoleUser, gave("2"))), want: `/messages/1: the tool use "1" of the message before has no result here`},
		"a tool use at the end":                {ask: sample(say(kiln.RoleAssistant, use("1"))), want: `/messages/0: the tool use "1" is followed by no result`},
		"a tool result without a use":          {ask: sample(say(kiln.RoleUser, gave("1"))), want: `/messages/0: the tool result for "1" has no tool use`},
		"two results of one use":               {ask: sample(say(kiln.RoleAssistant, use("1")), say(kiln.RoleUser, gave("1"), gave("1"))), want: `/messages/1: the tool result for "1"`},
		"two uses of one id":                   {ask: sample(say(kiln.RoleAssistant, use("1"), use("1"))), want: `/messages/0: two tool uses have the id "1"`},
		"a result beside a text":               {ask: sample(say(kiln.RoleAssistant, use("1")), say(kiln.RoleUser, gave("1"), text)), want: "/messages/1: a message with tool results holds nothing else"},
		"uses and results in order":            {ask: sample(say(kiln.RoleUser, text), say(kiln.RoleAssistant, text, use("1"), use("2")), say(kiln.RoleUser, gave("2"), gave("1")), say(kiln.RoleAssistant, text)), want: "sent", only: "none"},
		"a form that can be filled in":         {ask: form("a", &kiln.StringSchema{MinLength: check.Some[int64](2), MaxLength: check.Some[int64](2)}, "a"), want: "sent", only: "none"},
		"a message without text":               {ask: sample(kiln.SamplingMessage{Role: kiln.RoleUser}), want: "/messages/0/content"},
	} {
		for _, revision := range bothRevisions {
			var asked error
			c := dial(t, &careless{tool: func(ctx context.Context, call *server.Call) (*kiln.CallToolResult, error) {
				if asked = test.ask(ctx, call); asked != nil && strings.Contains(asked.Error(), test.want) {
					return content(&kiln.TextContent{Text: "refused"}), nil
				}
				return nil, asked
			}}, revision)
			answer := c.ask("tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`)
			var sent struct {
				Method string
				Result struct{ Content []struct{ Text string } }
			}
			if err := json.Unmarshal([]byte(answer), &sent); err != nil {
				t.Fatal(err)
			}
			refused := sent.Method == "" && len(sent.Result.Content) == 1 && sent.Result.Content[0].Text == "refused"
			if wanted := test.only == "" || test.only == revision; refused != wanted {
				t.Errorf("%s in %s: refused is %v: %s\n%v", name, revision, refused, answer, asked)
			}
		}
	}
}

// TestLET12AnswersHoldAnyNumber: forms ask for numbers, though the published schema of their answers names integers alone.
func TestLET12AnswersHoldAnyNumber(t *testing.T) {
	var r kiln.ElicitResult
	if err := json.Unmarshal([]byte(`{"action":"accept","content":{"score":95.5}}`), &r); err != nil {
		t.Fatal(err)
	}
	if got := r.Content["score"]; got != kiln.ElicitResultContentValueNumber(95.5) {
		t.Errorf("got %v", got)
	}
}

// TestLET12RootsAreFiles: a root that is no file is an answer that breaks its definition, which the handler is told.
func TestLET12RootsAreFiles(t *testing.T) {
	for uri, good := range map[string]bool{"file:///home/a": true, "FILE://host/a": true, "https://example.com": false, "/home/a": false} {
		var r kiln.ListRootsResult
		err := json.Unmarshal([]byte(`{"roots":[{"uri":"`+uri+`"}]}`), &r)
		if (err == nil) != good || err != nil && !strings.Contains(err.Error(), "/roots/0/uri") {
			t.Errorf("%s: %v", uri, err)
		}
	}
}
