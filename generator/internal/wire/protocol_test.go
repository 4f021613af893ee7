package wire

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

func load(t *testing.T, names ...string) []*revision.Revision {
	t.Helper()
	var all []*revision.Revision
	for _, name := range names {
		r, ds := revision.Load(name)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		all = append(all, r)
	}
	return all
}

func both(t *testing.T) []*revision.Revision { return load(t, "2025-11-25", "2026-07-28") }

func TestREV01TypesAreTheUnionOverRevisions(t *testing.T) {
	p := NewProtocol(both(t), "ListPromptsResult", "CallToolResult", "ElicitRequestParams", "CreateMessageRequestParams")
	types := typing.NewTypes()
	for _, m := range p.defs.Members {
		types.Lower(typing.Root{Document: p.Doc, Node: m.Value, Name: naming.GoName(m.Key), Keep: true, Use: model.Encode})
	}
	decls, ds := types.Finish()
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	fields := map[string]string{}
	for _, d := range decls {
		if s, ok := d.Body.(*model.Struct); ok {
			for _, p := range s.Props {
				fields[d.Name] += p.Name + " "
			}
		}
	}
	for name, want := range map[string]string{
		"ListPromptsResult":      "Meta CacheScope NextCursor Prompts TTLMs ",
		"CallToolResult":         "Meta Content IsError StructuredContent ",
		"ElicitRequestURLParams": "Meta ElicitationID Message  URL ",
	} {
		if fields[name] != want {
			t.Errorf("%s has %q, want %q", name, fields[name], want)
		}
	}
}
