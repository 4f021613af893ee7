package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

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
		`{"type":"array","items":[1]}`:       "array of any",
		`true`:                               "any",
	} {
		p := newExplainer(nil).property([]byte(schema))
		if got := p.full(); got != want {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
}

// TestAPropertyIsExplainedThroughReferences within the schema, which may lead in a circle, out of it, or nowhere. What stands beside one goes before.
func TestAPropertyIsExplainedThroughReferences(t *testing.T) {
	const defs = `{"$defs":{"unit":{"type":"string","enum":["C","F"]},"size":{"type":"integer","minimum":1,"description":"How large"},"alias":{"$ref":"#/$defs/size"},
		"tree":{"type":"array","items":{"$ref":"#/$defs/tree"}},"loop":{"$ref":"#/$defs/loop"},"a b/c":{"type":"boolean"}}}`
	for schema, want := range map[string]string{
		`{"$ref":"#/$defs/unit"}`:                                     `"C" | "F"`,
		`{"$ref":"#/$defs/alias","maximum":9}`:                        "integer, ≥ 1, ≤ 9",
		`{"type":"array","items":{"$ref":"#/$defs/size"}}`:            "array of integer (≥ 1)",
		`{"$ref":"#/$defs/tree"}`:                                     "array of #/$defs/tree",
		`{"$ref":"#/$defs/loop"}`:                                     "#/$defs/loop",
		`{"$ref":"#/$defs/a%20b~1c"}`:                                 "boolean",
		`{"$ref":"#/$defs/none"}`:                                     "#/$defs/none",
		`{"$ref":"https://example.com/\u001b[2J"}`:                    `https://example.com/\x1b[2J`,
		`{"anyOf":[{"$ref":"#/$defs/size"},{"type":"null"}]}`:         "integer, ≥ 1 | null",
		`{"oneOf":[{"type":"string"},{"type":"string"},{"const":1}]}`: "string | 1",
	} {
		p := newExplainer(json.RawMessage(defs)).property(json.RawMessage(schema))
		if got := p.full(); got != want {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
	one := tool{Name: "t", InputSchema: json.RawMessage(`{"$ref":"#/$defs/in","$defs":{"in":{"properties":{"a":{"$ref":"#/$defs/b"},"c":{}},"required":["c"]},"b":{"type":"integer","enum":[1,2]}}}`)}
	var text strings.Builder
	if err := one.explain(&text); err != nil || !strings.Contains(text.String(), "\n  c  any    required\n  a  1 | 2\n") {
		t.Errorf("%v, %s", err, text.String())
	}
	if got := fmt.Sprint(completions(one.InputSchema, "a=")); got != "[a=1\t a=2\t]" {
		t.Error(got)
	}
	many := json.RawMessage(`{"properties":{"tag":{"type":"array","items":{"enum":["a","b"]}},"k":{"anyOf":[{"const":"x"},{"enum":[1]},{"type":"boolean"},{"type":"null"}]}}}`)
	if got := fmt.Sprint(completions(many, "tag="), completions(many, "k=")); got != "[tag=a\t tag=b\t] [k=x\t k=1\t k=true\t k=false\t]" {
		t.Error(got)
	}
	if one = *undecidable(); one.explain(&text) != nil { // it ends
		t.Error(text.String())
	}
}

// TestARootThatRefersToItselfHasItsProperties: a circle is gone around once, and what is left to read is for the properties.
func TestARootThatRefersToItselfHasItsProperties(t *testing.T) {
	for _, root := range []string{`"$ref":"#"`, `"$ref":"#/$defs/in"`} {
		e := newExplainer(json.RawMessage(`{"type":"object",` + root + `,"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"integer"},"in":{"$ref":"#/$defs/in"}}}`))
		properties, _ := e.object()
		p := e.property(properties["x"])
		if got := p.full(); got != "integer" {
			t.Errorf("%s: %q", root, got)
		}
	}
}

// TestTheTextOfSchemasIsBounded, of which references read the same one again and again, and lists within lists all that is left.
func TestTheTextOfSchemasIsBounded(t *testing.T) {
	long := `"description":"` + strings.Repeat("x", 1<<20) + `"`
	e := newExplainer(json.RawMessage(`{"$defs":{"a":{"type":"integer",` + long + `}}}`))
	read := 0
	for range 100 {
		p := e.property(json.RawMessage(`{"$ref":"#/$defs/a"}`))
		if p.full() == "integer" {
			read++
		}
	}
	if read == 0 || read > 4 {
		t.Errorf("it is read %d times", read)
	}
	p := newExplainer(nil).property(json.RawMessage(strings.Repeat(`{"type":"array","items":`, 2000) + `{}` + strings.Repeat("}", 2000)))
	if got := strings.Count(p.full(), "array"); got > maxExplained {
		t.Errorf("%d lists are read", got)
	}
}

// TestRequiredPropertiesComeFirst, in the order of the schema.
func TestRequiredPropertiesComeFirst(t *testing.T) {
	one := tool{Name: "t", InputSchema: json.RawMessage(`{"properties":{"a":{},"b":{},"c":{},"d":{}},"required":["d","b","d"]}`)}
	var text strings.Builder
	if err := one.explain(&text); err != nil || !strings.Contains(text.String(), "\n  d  any  required\n  b  any  required\n  a  any\n  c  any\n") {
		t.Errorf("%v, %s", err, text.String())
	}
}

// TestWhatIsInsideOfAPropertyIsExplained, three objects deep: in an object, in the items of a list, in what may be null, and behind references. One that
// contains itself is explained once.
func TestWhatIsInsideOfAPropertyIsExplained(t *testing.T) {
	one := tool{Name: "t", InputSchema: json.RawMessage(`{"properties":{
		"to":{"type":"object","properties":{"zip":{"type":"string","maxLength":5},"geo":{"anyOf":[{"$ref":"#/$defs/geo"},{"type":"null"}]}},"required":["zip"]},
		"lines":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer","required":true},"sub":{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{}}}}}}}}}},
		"tree":{"$ref":"#/$defs/tree"},
		"either":{"oneOf":[{"type":"object","properties":{"x":{}}},{"type":"object","properties":{"y":{}}}]}
	},"required":["to"],"$defs":{"geo":{"type":"object","description":"Where","properties":{"lat":{"type":"number"}}},
		"tree":{"type":"object","properties":{"left":{"$ref":"#/$defs/tree"},"name":{"type":"string"}}}}}`)}
	const want = `
Arguments:
  to       object                        required
    zip    string, at most 5 characters  required
    geo    object | null
      lat  number
  either   object
  lines    array of object
    n      integer
    sub    object
      a    object
        b  object
  tree     object
    left   #/$defs/tree
    name   string
`
	var text strings.Builder
	if err := one.explain(&text); err != nil || !strings.Contains(text.String(), want) {
		t.Errorf("%v, %s", err, text.String())
	}
}
