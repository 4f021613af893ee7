package wire

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// revisionOf is a revision with one document, whose definitions are given.
func revisionOf(t *testing.T, name, definitions string) *revision.Revision {
	t.Helper()
	root, ds := schema.ParseJSON(name+".json", []byte(`{"$defs":`+definitions+`}`))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	doc, ds := schema.NewDocument(root, nil)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return &revision.Revision{Name: name, Documents: []revision.Document{{Name: "core.json", Document: doc}}}
}

// TestREV01WhatOneRevisionAllowsGetsThrough: each pair of definitions is merged into one that allows both.
func TestREV01WhatOneRevisionAllowsGetsThrough(t *testing.T) {
	for name, c := range map[string]struct{ newer, older, merged string }{
		"the same in other words": {
			`{"description":"new","type":"string"}`, `{"description":"old","type":"string"}`, `{"description":"new","type":"string"}`},
		"a bound of one":     {`{"type":"string","maxLength":5}`, `{"type":"string"}`, `{"type":"string"}`},
		"bounds that differ": {`{"type":"integer","minimum":1}`, `{"type":"integer","minimum":2}`, `{"type":"integer"}`},
		"an alternative beside what was the whole": {
			`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{"type":"string"}`, `{"anyOf":[{"type":"string"},{"type":"integer"}]}`},
		"another type":        {`{"type":"string"}`, `{"type":"integer"}`, `{}`},
		"anything":            {`{}`, `{"type":"object","required":["a"]}`, `{}`},
		"an enum that grew":   {`{"enum":["a","b"]}`, `{"enum":["a"]}`, `{"enum":["a","b"]}`},
		"an enum that shrank": {`{"enum":["a"]}`, `{"enum":["b","a"]}`, `{"enum":["a","b"]}`},
		"a property of one": {
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","description":"Since 2026-01-01."}},"required":["a"]}`},
		"no properties in the newer one": {
			`{"type":"object"}`, `{"type":"object","properties":{"a":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"Only in 2025-01-01."}}}`},
		"closed in one": {
			`{"type":"object","additionalProperties":false}`, `{"type":"object"}`, `{"type":"object"}`},
		"an alternative of one": {
			`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{"anyOf":[{"type":"string"},{"type":"boolean"}]}`,
			`{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"boolean"}]}`},
		"a reference of one": {
			`{"$ref":"#/$defs/Text"}`, `{"type":"string","maxLength":9}`, `{"type":"string"}`},
		"items": {
			`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string","maxLength":3}}`,
			`{"type":"array","items":{"type":"string"}}`},
		"conditions that differ": {
			`{"allOf":[{"required":["a"]}],"type":"object"}`, `{"allOf":[{"required":["b"]}],"type":"object"}`, `{"type":"object"}`},
		"conditions that are the same": {
			`{"allOf":[{"$ref":"#/$defs/Text"},{"maxLength":5}]}`, `{"allOf":[{"$ref":"#/$defs/Text"},{"maxLength":5}]}`,
			`{"allOf":[{"$ref":"#/$defs/Text"},{"maxLength":5}]}`},
		"exclusive alternatives that differ": {
			`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `{"oneOf":[{"type":"string"},{"type":"number"}]}`, `{}`},
		"exclusive alternatives that are the same": {
			`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `{"oneOf":[{"type":"string"},{"type":"integer"}]}`,
			`{"oneOf":[{"type":"string"},{"type":"integer"}]}`},
		"exclusive alternatives whose definitions may allow more": {
			`{"oneOf":[{"$ref":"#/$defs/Text"},{"type":"integer"}]}`, `{"oneOf":[{"$ref":"#/$defs/Text"},{"type":"integer"}]}`, `{}`},
		"the negation of a schema": {
			`{"not":{"type":"string"}}`, `{"not":{"type":"string"}}`, `{"not":{"type":"string"}}`},
		"the negation of a definition, which may allow more": {
			`{"type":"array","not":{"items":{"$ref":"#/$defs/Text"}}}`, `{"type":"array","not":{"items":{"$ref":"#/$defs/Text"}}}`, `{"type":"array"}`},
		"what else an object may have, where patterns differ": {
			`{"additionalProperties":false,"patternProperties":{"^a":{}}}`, `{"additionalProperties":false,"patternProperties":{"^b":{}}}`, `{}`},
		"what else a list may have, where its beginnings differ": {
			`{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`,
			`{"type":"array","prefixItems":[{"type":"boolean"}],"items":{"type":"integer"}}`, `{"type":"array"}`},
		"what else was not looked at": {
			`{"anyOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"anyOf":[{"$ref":"#/$defs/Text"}],"unevaluatedProperties":false}`,
			`{"anyOf":[{"properties":{"a":{}}},{"$ref":"#/$defs/Text"}]}`},
		"_meta": {
			`{"type":"object","properties":{"_meta":{"$ref":"#/$defs/Text"}}}`, `{"type":"object","properties":{"_meta":{"type":"object"}}}`,
			`{"type":"object","properties":{"_meta":{"type":"object"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewProtocol([]*revision.Revision{
				revisionOf(t, "2025-01-01", `{"It":`+c.older+`}`),
				revisionOf(t, "2026-01-01", `{"It":`+c.newer+`,"Text":{"type":"string"}}`),
			}, "It")
			got := string(p.Node("It").JSON())
			if got != c.merged {
				t.Errorf("got  %s\nwant %s", got, c.merged)
			}
			if strings.Contains(got, "#/$defs/Text") && p.Node("Text") == nil {
				t.Error("the definition Text is referred to and missing")
			}
		})
	}
}

// TestREV01DefinitionsMayContainThemselves, directly or through another one, in one revision or in both.
func TestREV01DefinitionsMayContainThemselves(t *testing.T) {
	p := NewProtocol([]*revision.Revision{
		revisionOf(t, "2025-01-01", `{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"type":"object"}}}}`),
		revisionOf(t, "2026-01-01", `{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/B"}}},"B":{"type":"array","items":{"$ref":"#/$defs/A"}}}`),
	}, "A")
	want := `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{}}}`
	if got := string(p.Node("A").JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestREV07ADocSaysWhichRevisionsHaveAProperty, of those that have the definition.
func TestREV07ADocSaysWhichRevisionsHaveAProperty(t *testing.T) {
	names := []string{"2025-01-01", "2026-01-01", "2027-01-01", "2028-01-01"}
	for in, want := range map[string]string{
		"x...": "Only in 2025-01-01.", "xx..": "Until 2026-01-01.", "...x": "Since 2028-01-01.", ".xx.": "From 2026-01-01 to 2027-01-01.",
		".x..": "Only in 2026-01-01.", "x..x": "Not in 2027-01-01, 2026-01-01.", "_.xx": "Since 2027-01-01.", "_x._": "Only in 2026-01-01.",
	} {
		var revisions []*revision.Revision
		for i, name := range names {
			switch in[i] {
			case 'x':
				revisions = append(revisions, revisionOf(t, name, `{"D":{"type":"object","properties":{"p":{"type":"string"},"q":{}}}}`))
			case '.':
				revisions = append(revisions, revisionOf(t, name, `{"D":{"type":"object","properties":{"q":{}}}}`))
			}
		}
		got := NewProtocol(revisions, "D").Node("D").Get("properties").Get("p").Get("description").Text
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestREV01WhatIsCopiedHasNoPosition: the merged document is in no file.
func TestREV01WhatIsCopiedHasNoPosition(t *testing.T) {
	p := NewProtocol([]*revision.Revision{revisionOf(t, "2026-01-01", `{"It":{"patternProperties":{"^a/":{"enum":["b"]}}}}`)}, "It")
	n := p.Node("It").Get("patternProperties").Get("^a/").Get("enum").Items[0]
	if n.Pos != (schema.Position{}) || n.Pointer != "/$defs/It/patternProperties/^a~1/enum/0" {
		t.Errorf("%v at %s", n.Pos, n.Pointer)
	}
}
