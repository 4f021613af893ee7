package schema

import "testing"

// TestDAY05Example finds a small value for common schemas, and none where its guesses are refused.
func TestDAY05Example(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"object"}`: `{}`,
		`{"type":"object","required":["a","b"],"properties":{"a":{"type":"string","minLength":3},"b":{"type":"integer","minimum":7},"c":{}}}`: `{"a":"aaa","b":7}`,
		`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"enum":["x","y"]}}}`:                         `{"a":"x"}`,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"array","minItems":2,"items":{"type":"string","format":"date"}}}}`:       `{"a":["2026-07-28","2026-07-28"]}`,
		`{"type":"object","required":["a"],"properties":{"a":{"anyOf":[{"type":"null"},{"type":"string"}]}}}`:                                 `{"a":null}`,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"number","exclusiveMinimum":3}}}`:                                        `{"a":4}`,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"string","examples":["e"],"pattern":"^e$"}}}`:                            `{"a":"e"}`,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^x{3}$"}}}`:                                          ``,
		`{"type":"object","required":["a"],"properties":{"a":false}}`:                                                                         ``,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":100000}}}`:                                          ``,
		`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`:                                                                  ``,
	} {
		n, ds := ParseJSON("s.json", []byte(text))
		d, more := NewDocument(n, nil)
		if ds.HasErrors() || more.HasErrors() {
			t.Fatal(ds, more)
		}
		got := ""
		if v := d.Example(); v != nil {
			got = string(v.JSON())
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
