package typing

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL11SharedTypesAreOne: what says the same is one type under two names; what does not is two.
func TestVAL11SharedTypesAreOne(t *testing.T) {
	types := NewTypes()
	n, _ := schema.ParseJSON("schema.json", []byte(`{"type": "object", "properties": {
		"a": {"type": "object", "properties": {"x": {"enum": ["p", "q"]}, "y": {"type": "object", "properties": {"z": {"type": "string"}}}}},
		"b": {"type": "object", "properties": {"x": {"enum": ["p", "q"]}, "y": {"type": "object", "properties": {"z": {"type": "string"}}}}},
		"c": {"type": "object", "properties": {"x": {"enum": ["p", "q"]}, "y": {"type": "object", "properties": {"z": {"type": "integer"}}}}}}}`))
	doc, _ := schema.NewDocument(n, nil)
	types.Lower(Root{Document: doc, Name: "Thing", DefsPrefix: "Thing", Use: model.Decode})
	decls, _ := types.Finish()
	var same []string
	for _, d := range decls {
		if d.Renamed() {
			same = append(same, d.Name+"="+d.Same.Name)
		}
	}
	if got, want := strings.Join(same, " "), "ThingB=ThingA ThingBX=ThingAX ThingBY=ThingAY ThingCX=ThingAX"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
