package main

import "testing"

// TestAPropertyIsExplainedWithItsBounds: those that a caller has to keep.
func TestAPropertyIsExplainedWithItsBounds(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"integer","minimum":1,"maximum":120}`:                        "integer, ≥ 1, ≤ 120",
		`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1.50}`:      "number, > 0, < 1.50",
		`{"type":["integer","null"],"multipleOf":5}`:                          "integer | null, a multiple of 5",
		`{"type":"string","minLength":2,"maxLength":8}`:                       "string, 2 to 8 characters",
		`{"type":"string","minLength":3,"maxLength":3,"pattern":"^[A-Z]+$"}`:  "string, 3 characters, matches ^[A-Z]+$",
		`{"type":"string","maxLength":1,"format":"uri"}`:                      "string, at most 1 character, uri",
		`{"type":"array","minItems":1}`:                                       "array, at least 1 item",
		`{"type":"array","maxItems":5,"items":{"type":"string"}}`:             "array of string, at most 5 items",
		`{"type":"array","items":{"type":"integer","minimum":1,"maximum":6}}`: "array of integer (≥ 1, ≤ 6)",
		`{"type":"array","items":{"enum":["a","b"]}}`:                         `array of "a" | "b"`,
		`{"type":"string","pattern":"\u001b[2J"}`:                             `string, matches \x1b[2J`,
		`{"const":1}`:                        "1",
		`{"type":"integer","minimum":"one"}`: `integer, ≥ "one"`,
		`{"type":"array","items":[1]}`:       "any",
		`true`:                               "any",
	} {
		p := propertyOf([]byte(schema))
		if got := p.full(); got != want {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
}
