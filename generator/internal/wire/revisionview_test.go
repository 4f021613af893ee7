package wire

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// TestREV07WhatARevisionLacksIsNotWritten, wherever the definition that lacks it stands: Go types do not follow the branches of a schema one by
// one.
func TestREV07WhatARevisionLacksIsNotWritten(t *testing.T) {
	for _, content := range []string{
		`{"$ref":"#/$defs/Part"}`,
		`{"type":"array","items":{"type":"object","properties":{"part":{"$ref":"#/$defs/Part"}}}}`,
		`{"anyOf":[{"type":["string","integer"]},{"$ref":"#/$defs/Part"}]}`,
		`{"anyOf":[{"type":"null"},{"anyOf":[{"type":"string"},{"type":"integer"}]},{"$ref":"#/$defs/Part"}]}`,
		`{"anyOf":[{"type":["string","integer"]},{"type":"object","properties":{"part":{"$ref":"#/$defs/Part"}}}]}`,
		`{"type":"object","properties":{"x":{}},"anyOf":[{"$ref":"#/$defs/Part"},{"$ref":"#/$defs/Other"}]}`,
		`{"allOf":[{"$ref":"#/$defs/Part"},{"$ref":"#/$defs/Other"}]}`,
	} {
		older, newer := written(t, content)
		if !older["a"] || older["b"] {
			t.Errorf("%s: the revision without b gets %v", content, older)
		}
		if !newer["a"] || !newer["b"] {
			t.Errorf("%s: the revision with b gets %v", content, newer)
		}
	}
}

// TestREV07WhatOnePartHasIsWritten: a revision has a property if any of the definitions that describe it has it there.
func TestREV07WhatOnePartHasIsWritten(t *testing.T) {
	if older, _ := written(t, `{"allOf":[{"$ref":"#/$defs/Part"},{"type":"object","properties":{"b":{"type":"string"}}}]}`); !older["b"] {
		t.Errorf("it gets %v", older)
	}
}

// written returns the properties that an object with this content has in each of two revisions. The older one has no b in Part.
func written(t *testing.T, content string) (older, newer map[string]bool) {
	t.Helper()
	with := func(part string) string {
		return `{"It":{"type":"object","properties":{"content":` + content + `}},"Other":{"type":"object","properties":{"o":{}},"required":["o"]},` +
			`"Part":{"type":"object","properties":{"a":{"type":"string"}` + part + `}}}`
	}
	p := NewProtocol([]*revision.Revision{revisionOf(t, "2025-01-01", with("")), revisionOf(t, "2026-01-01", with(`,"b":{"type":"string"}`))}, "It")
	types := typing.NewTypes()
	it := types.Lower(typing.Root{Document: p.Doc, Node: p.Node("It"), Name: "It", Keep: true, Use: model.Encode})
	if _, ds := types.Finish(); ds.HasErrors() {
		t.Fatal(ds)
	}
	viewers := NewViewers(types, p, []*model.Wire{{Revision: "2025-01-01"}, {Revision: "2026-01-01"}})
	return propsOf(viewers["2025-01-01"].view(it.Decl), map[string]bool{}), propsOf(viewers["2026-01-01"].view(it.Decl), map[string]bool{})
}

// propsOf adds the names of all properties that the encoder of d writes.
func propsOf(d *model.Decl, found map[string]bool) map[string]bool {
	if d != nil {
		d.Children(func(_ *model.Value, p *model.Prop) {
			if p != nil {
				found[p.Key] = true
			}
		})
		d.Encoders(func(inner *model.Decl) { propsOf(inner, found) })
	}
	return found
}
