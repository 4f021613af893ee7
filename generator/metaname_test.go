package generator

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/server"

	kiln "github.com/mcpkiln/mcpkiln/testdata/byhand/byhand"
)

// TestLET04HandlersKeepToTheNamesOfMeta: what the specification forbids in _meta is refused wherever a handler writes it.
func TestLET04HandlersKeepToTheNamesOfMeta(t *testing.T) {
	for name, good := range map[string]bool{
		"plain": true, "": true, "com.example/a.b_c-d": true, "com.example.mcp/": true, "io.modelcontextprotocol/related-task": true, "x/y": true,
		"a b": false, "-a": false, "a/b/c": false, "com.-x/y": false, "/a": false, "dev.mcp/y": false, "org.modelcontextprotocol.api/y": false, "com.MCP/y": false, "io.ModelContextProtocol/y": false, "Com.McpServer/y": true, "io.mcp/": false,
	} {
		meta := map[string]check.Raw{name: check.Raw("1")}
		for place, h := range map[string]*careless{
			"tools/call /_meta": {tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) {
				return &kiln.CallToolResult{Meta: meta}, nil
			}},
			"tools/call /content/0/_meta": {tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) {
				return content(&kiln.TextContent{Meta: meta}), nil
			}},
			"resources/read /contents/0/_meta": {read: func() *kiln.ReadResourceResult {
				return &kiln.ReadResourceResult{Contents: []kiln.ReadResourceResultContent{&kiln.TextResourceContents{URI: "a:b", Meta: meta}}}
			}},
			"prompts/list /prompts/0/_meta": {list: func() *kiln.ListPromptsResult {
				return &kiln.ListPromptsResult{Prompts: []kiln.Prompt{{Name: "p", Meta: meta}}}
			}},
			"tools/call /metadata": {tool: func(ctx context.Context, call *server.Call) (*kiln.CallToolResult, error) {
				_, err := kiln.CreateMessage(ctx, call, "q", &kiln.CreateMessageRequestParams{MaxTokens: 1, Messages: []kiln.SamplingMessage{
					{Role: kiln.RoleUser, Content: &kiln.TextContent{}, Meta: meta}}})
				return nil, err
			}},
		} {
			method, at, _ := strings.Cut(place, " ")
			params := map[string]string{"resources/read": `"uri":"a:b"`, "tools/call": `"name":"test_sampling","arguments":{"prompt":"p"}`}[method]
			for _, revision := range bothRevisions {
				c := dial(t, h, revision)
				answer := c.ask(method, params)
				if at == "/metadata" {
					if refused := strings.Contains(answer, "the params of q are invalid: /messages/0/_meta"); refused == good {
						t.Errorf("%q in a message in %s: %s", name, revision, answer)
					}
				} else if refused := strings.Contains(answer, "breaks its own schema"); refused == good {
					t.Errorf("%q at %s of %s in %s: %s", name, at, method, revision, answer)
				} else if refused {
					if log, want := <-c.log, fmt.Sprintf("%s/%s", at, strings.NewReplacer("~", "~0", "/", "~1").Replace(name)); !strings.Contains(log, want) {
						t.Errorf("%q of %s in %s: the log lacks %s: %s", name, method, revision, want, log)
					}
				}
			}
		}
	}
}
