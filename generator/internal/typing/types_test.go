package typing

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL03TooManyDeclarationsAreReportedOnce: whatever the limit is, a schema that goes beyond it is refused, never generated without some of its types.
func TestVAL03TooManyDeclarationsAreReportedOnce(t *testing.T) {
	const kinds = `{"type": ["string", "boolean", "array"], "items": {"type": "object", "properties": {"z": {"type": "string"}}}}`
	n, _ := schema.ParseJSON("schema.json", []byte(`{"type": "object", "properties": {"a": `+kinds+`, "b": `+kinds+`, "c": `+kinds+`, "d": `+kinds+`}}`))
	doc, _ := schema.NewDocument(n, nil)
	lower := func(most int) (decls int, diags schema.Diagnostics) {
		types := NewTypes()
		types.MaxDecls = most
		types.Lower(Root{Document: doc, Name: "Thing", DefsPrefix: "Thing", Use: model.Decode})
		all, diags := types.Finish()
		return len(all), diags
	}
	whole, diags := lower(maxDecls)
	if len(diags) > 0 || whole < 15 {
		t.Fatalf("%d declarations: %v", whole, diags)
	}
	for most := 1; most <= whole; most++ {
		_, diags := lower(most)
		if want := most < whole; diags.HasErrors() != want || want && (len(diags) != 1 || diags[0].Code != "schema-too-large") {
			t.Errorf("%d of %d declarations: %v", most, whole, diags)
		}
	}
}

// TestVAL03TheLimitOfDeclarationsIsThatOfOneSchema: many schemas of the usual size are not too large.
func TestVAL03TheLimitOfDeclarationsIsThatOfOneSchema(t *testing.T) {
	types := NewTypes()
	types.MaxDecls = 3
	for _, name := range []string{"One", "Two", "Three", "Four"} {
		n, _ := schema.ParseJSON("schema.json", []byte(`{"type": "object", "properties": {"a": {"type": "object", "properties": {"`+name+`": {"type": "string"}}}}}`))
		doc, _ := schema.NewDocument(n, nil)
		types.Lower(Root{Document: doc, Name: name, DefsPrefix: name, Use: model.Decode})
	}
	if all, diags := types.Finish(); len(diags) > 0 || len(all) <= types.MaxDecls {
		t.Errorf("%d declarations: %v", len(all), diags)
	}
}
