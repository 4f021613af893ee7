package typing

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// FuzzLowerNeverPanics: whatever stands in a schema, lowering ends with types or diagnostics, and every value has a type.
func FuzzLowerNeverPanics(f *testing.F) {
	for _, seed := range []string{
		`{}`, `true`, `{"type": 5, "properties": []}`, `{"allOf": [{"$ref": "#"}]}`, `{"type": "object", "properties": {"a": {"$ref": "#"}}}`,
		`{"enum": []}`, `{"oneOf": [{"type": "null"}]}`, `{"items": {"items": {"$ref": "#"}}, "type": "array", "default": 1}`,
		`{"anyOf": [{"properties": {"k": {"const": "a"}}, "required": ["k"]}, {"type": "object"}], "minProperties": 1e3}`,
		`{"not": {"$ref": "#"}, "if": 3, "then": {"contains": true}, "maxContains": {}, "dependentSchemas": {"a": {"$ref": "#"}}}`,
		`{"patternProperties": {"(": {"$ref": "#"}, "a": 1}, "propertyNames": {"not": false}, "dependentRequired": {"a": 3}, "prefixItems": [1]}`,
		`{"$id": "a", "$dynamicRef": "#x", "$dynamicAnchor": "x", "$defs": {"b": {"$id": "b", "$dynamicAnchor": "x", "anyOf": [{"$ref": "a"}]}}}`,
		`{"anyOf": [{"$ref": "#/$defs/a"}], "unevaluatedProperties": {"$ref": "#"}, "unevaluatedItems": false, "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}`,
		`{"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"], "b": {"$ref": "#"}}, "items": [{}], "additionalItems": {"$ref": "#"}}`,
		`{"$ref": "https://json-schema.org/draft/2020-12/schema#/properties/items", "$dynamicAnchor": "meta"}`,
		`{"type": ["object", "null"], "additionalProperties": {"allOf": [{"$ref": "#"}, {"maxLength": -1}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, diags := schema.ParseJSON("schema.json", data)
		if n == nil || diags.HasErrors() {
			return
		}
		doc, diags := schema.NewDocument(n, nil)
		if diags.HasErrors() {
			return
		}
		types := NewTypes()
		types.Lower(Root{Document: doc, Name: "Thing", DefsPrefix: "Thing", Use: model.Decode | model.Encode})
		decls, diags := types.Finish()
		if diags.HasErrors() {
			return
		}
		names := map[string]bool{}
		for _, d := range decls {
			if d.Same != nil {
				continue
			}
			if d.Body == nil || names[d.Decode] {
				t.Errorf("%s: %q has no body, or its name is there twice", data, d.Decode)
			}
			names[d.Decode] = true
		}
	})
}
