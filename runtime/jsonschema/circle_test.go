package jsonschema_test

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/jsonschema"
)

// A schema that would be applied to the same value for ever is refused when the tool is added, as the generator refuses it (ref-circle), and not
// when it is called. Recursion through properties and items is none, nor is what nothing refers to.
func TestSRV06ReferencesInACircleAreRefused(t *testing.T) {
	const meta = `https://json-schema.org/draft/2020-12/schema`
	for schema, want := range map[string]string{
		`{"$ref":"#"}`: "to # leads in a circle",
		`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`: "to #/$defs/a leads",
		`{"properties":{"a":{"items":{"$ref":"#/$defs/x"}}},"$defs":{"x":{"oneOf":[{"$ref":"#/$defs/x"},true]}}}`:                            "to #/$defs/x leads",
		`{"dependentSchemas":{"a":{"$ref":"#"}}}`: "circle", `{"if":{"$ref":"#"}}`: "circle", `{"then":{"$ref":"#"},"if":true}`: "circle", `{"else":{"$ref":"#"},"if":{"type":"object"}}`: "circle",
		`{"$dynamicAnchor":"n","$dynamicRef":"#n"}`: "circle",
		`{"$id":"https://e.org/a","$dynamicAnchor":"n","$ref":"b","$defs":{"b":{"$id":"b","$dynamicRef":"#n","$defs":{"n":{"$dynamicAnchor":"n"}}}}}`:                                                                      "circle",
		`{"$id":"https://e.org/a","properties":{"b":{"$ref":"b"}},"$defs":{"b":{"$id":"b","$dynamicAnchor":"n","$dynamicRef":"#n"}}}`:                                                                                      "circle",
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"https://e.org/a","$recursiveAnchor":true,"properties":{"b":{"$ref":"b"}},"$defs":{"b":{"$id":"b","$recursiveAnchor":true,"$recursiveRef":"#"}}}`: "",
		// The outermost anchor is meant, and only the nearest would be a circle.
		`{"$id":"https://e.org/a","$dynamicAnchor":"n","properties":{"b":{"$ref":"b"}},"$defs":{"b":{"$id":"b","$dynamicAnchor":"n","$dynamicRef":"#n"}}}`:                                                 "",
		`{"$id":"https://e.org/r","properties":{"a":{"$ref":"a"}},"$defs":{"a":{"$id":"a","$dynamicAnchor":"n","properties":{"b":{"$ref":"b"}}},"b":{"$id":"b","$dynamicAnchor":"n","$dynamicRef":"#n"}}}`: "",
		`{"$dynamicAnchor":"x","allOf":[{"$dynamicRef":"#x"}]}`:                                                                   "circle",
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"#"}`:                                          "circle",
		`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":{"allOf":[{"$ref":"#"}]}}}`:                     "circle",
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"additionalItems":{"anyOf":[{"$ref":"#/items/0"}]}}]}`:    "",
		`{"properties":{"a":{"$ref":"#"}},"items":{"$ref":"#"},"additionalProperties":{"$ref":"#"},"propertyNames":{"$ref":"#"}}`: "",
		`{"$dynamicAnchor":"x","properties":{"a":{"$dynamicRef":"#x"}}}`:                                                          "",
		`{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"object"}}}`:          "",
		`{"$defs":{"x":{"$ref":"#/$defs/x"}}}`:                                                                                    "",
		`{"properties":{"schema":{"$ref":"` + meta + `"}}}`:                                                                       "",
	} {
		for _, definition := range []string{
			`{"name":"a","inputSchema":` + schema + `}`, `{"name":"a","inputSchema":{},"outputSchema":` + schema + `}`,
		} {
			_, err := jsonschema.ForTool([]byte(definition))
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", definition, err, want)
			}
		}
	}
}

// Two schemas with one $id are refused, as in a manifest (duplicate-id).
func TestSRV06OneIDForTwoSchemasIsRefused(t *testing.T) {
	const a, b = `{"$id":"https://example.com/a","type":"string"}`, `{"$id":"https://example.com/a","type":"integer"}`
	for _, schema := range []string{
		`{"properties":{"a":` + a + `,"b":` + b + `}}`, `{"$defs":{"a":` + a + `},"items":` + b + `}`, `{"$id":"https://example.com/","properties":{"a":` + a + `,"b":{"$id":"a"}}}`,
		`{"$id":"https://example.com/a","properties":{"a":` + a + `}}`,
	} {
		if _, err := jsonschema.ForTool([]byte(`{"name":"a","inputSchema":` + schema + `}`)); err == nil || !strings.Contains(err.Error(), "https://example.com/a") {
			t.Errorf("%s: %v", schema, err)
		}
	}
}
