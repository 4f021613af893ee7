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
