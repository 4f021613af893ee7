package generator

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/orders/orders"
)

// A manifest and what is added at run time refuse the same keys of _meta, and the same media types of icons.
func TestLET04ManifestsAndAddedToolsKeepOneRule(t *testing.T) {
	h := struct{ orders.Handlers }{}
	srv, err := orders.New(h)
	if err != nil {
		t.Fatal(err)
	}
	run := func(context.Context, *server.Call, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	extra := map[string]bool{ // whether it is refused
		`"_meta":{"a":1}`: false, `"_meta":{"com.example/a":1}`: false, `"_meta":{"com.example/":1}`: false, `"_meta":{"":1}`: false, `"_meta":{"io.modelcontextprotocol/ui":1}`: false,
		`"_meta":{"com.example.mcp/a":1}`: false, `"_meta":{"mcp/a":1}`: false, `"_meta":{"com.modelcontextprotocol.x/a":1}`: true, `"_meta":{"dev.MCP/a":1}`: true,
		`"_meta":{"IO.modelcontextprotocol/ui":1}`: true, `"_meta":{"-a":1}`: true, `"_meta":{"a b":1}`: true, `"_meta":{"1.example/a":1}`: true, `"_meta":{"com..x/a":1}`: true,
		`"icons":[{"src":"https://example.com/a"}]`: false, `"icons":[{"src":"https://example.com/a","mimeType":"image/png"}]`: false,
		`"icons":[{"src":"https://example.com/a","mimeType":"x"}]`: true, `"icons":[{"src":"https://example.com/a","mimeType":"x/"}]`: true,
		`"icons":[{"src":"https://example.com/a","mimeType":""}]`: true, `"icons":[{"src":"https://example.com/a","mimeType":"a b/c"}]`: true,
	}
	for _, key := range srv.Definition().Revisions[0].Own.Meta {
		extra[`"_meta":{"`+key+`":1}`] = true
	}
	for members, refused := range extra {
		tool := `{"name":"added","inputSchema":{"type":"object"},` + members + `}`
		err := srv.AddTool([]byte(tool), valid{}, run)
		srv.RemoveTool("added")
		if (err != nil) != refused {
			t.Errorf("AddTool with %s: %v", members, err)
		}
		manifest := `{"version":1,"server":{"name":"a","version":"1"},"tools":[` + tool + `]}`
		r, err := Generate(t.Context(), Config{Manifest: Source{"mcpkiln.json", []byte(manifest)}})
		if err != nil || r.Diagnostics.HasErrors() != refused {
			t.Errorf("a manifest with %s: %v %v", members, err, r.Diagnostics)
		}
	}
	if len(extra) < 25 || !strings.Contains(strings.Join(srv.Definition().Revisions[0].Own.Meta, " "), "related-task") {
		t.Error(extra)
	}
}

type valid struct{}

func (valid) Validate([]byte) check.Violations { return nil }
