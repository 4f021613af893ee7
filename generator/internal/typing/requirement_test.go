package typing

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL03WhatIsAroundANot: what a not allows is told of the values that its schema and those around it allow. A member of a map of
// schemas that is called then or else is no branch, and its siblings are no keywords.
func TestVAL03WhatIsAroundANot(t *testing.T) {
	const alone, text = "a value that is a string that has fewer than 2 characters", "a string that has fewer than 2 characters"
	for source, want := range map[string]string{
		`{"$id":"https://example.com/a","$dynamicAnchor":"n","type":"string","allOf":[{"not":{"minLength":2}}],"$defs":{"b":{"$id":"b","$dynamicAnchor":"n"}}}`: text,
		`{"type":"string","allOf":[{"not":{"minLength":2}}]}`:                                                       text,
		`{"type":"string","if":{"pattern":"x"},"then":{"anyOf":[{"not":{"minLength":2}},{"not":{"minLength":2}}]}}`: text,
		`{"properties":{"properties":{"type":"string","if":{"pattern":"x"},"then":{"not":{"minLength":2}}}}}`:       text,
	} {
		if got := allowedBy(t, source); got != want {
			t.Errorf("%s allows %q, want %q", source, got, want)
		}
	}
	for _, source := range []string{
		`{"$ref":"#/$defs/then","$defs":{"then":{"not":{"minLength":2}},"const":{"type":"string"},"minimum":{"type":"string"},"type":{"const":2},"pattern":true,"required":{"type":"string"}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/else","definitions":{"else":{"not":{"minLength":2}},"const":{"type":"string"},"type":{"const":2}}}`,
		`{"properties":{"then":{"not":{"minLength":2}},"const":{"type":"string"},"type":{"const":2}}}`,
		`{"patternProperties":{"then":{"not":{"minLength":2}},"const":{"type":"string"},"type":{"const":2}}}`,
		`{"dependentSchemas":{"else":{"not":{"minLength":2}},"const":{"type":"string"},"type":{"const":2}}}`,
	} {
		if got := allowedBy(t, source); got != alone {
			t.Errorf("%s allows %q, want %q", source, got, alone)
		}
	}
}

// TestVAL03WhatANotAllowsIsSaidOnce: of a property that is known to be an object or an array, too.
func TestVAL03WhatANotAllowsIsSaidOnce(t *testing.T) {
	for source, want := range map[string]string{
		`{"properties":{"a":{"type":"object"}},"required":["a"],"not":{"properties":{"a":{"properties":{"b":{"const":1}},"required":["b"]}}}}`: `an object in which "b" is not 1`,
		`{"properties":{"a":{"type":"array"}},"required":["a"],"not":{"properties":{"a":{"contains":{"const":1}}}}}`:                           `an array in which no item is 1`,
	} {
		if got := allowedBy(t, source); got != want {
			t.Errorf("%s allows %q, want %q", source, got, want)
		}
	}
}

// allowedBy returns what the not in a schema is said to allow.
func allowedBy(t *testing.T, source string) string {
	t.Helper()
	root, diags := schema.ParseJSON("schema.json", []byte(source))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	doc, diags := schema.NewDocument(root, nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	types := NewTypes()
	types.Lower(Root{Document: doc, Name: "Input", DefsPrefix: "Input", Use: model.Decode | model.Encode})
	decls, diags := types.Finish()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, d := range decls {
		if not, ok := d.Body.(*model.Not); ok {
			return not.Allowed
		}
	}
	t.Fatalf("no not in %s", source)
	return ""
}
