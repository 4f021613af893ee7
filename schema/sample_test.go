package schema

import "testing"

// What simplySatisfies lets pass without compiling, the reference validator lets pass too (VAL05).
func TestVAL05SimpleSamplesAgreeWithTheReference(t *testing.T) {
	schemas := []string{
		`{"type":"integer"}`, `{"type":["string","null"]}`, `{"type":"number","minimum":-1,"maximum":1.50}`, `{"enum":[1,"a",{"k":[1]},null]}`,
		`{"type":"array","items":{"type":"string"}}`, `{"type":"array","uniqueItems":true}`, `{"title":"t","x-note":1,"deprecated":true}`,
		`{"type":"string","minLength":2}`, `{"not":{}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, `{"exclusiveMinimum":0}`,
	}
	values := []string{`1`, `1.0`, `1.5`, `1.51`, `-2`, `"a"`, `""`, `null`, `true`, `[]`, `["a"]`, `[1,1.0]`, `{"k":[1.0]}`, `{}`}
	simple := 0
	for _, s := range schemas {
		root, _ := ParseJSON("", []byte(s))
		d, _ := NewDocument(root, nil)
		compiler := newCompiler(d)
		for _, v := range values {
			value, _ := ParseJSON("", []byte(v))
			if !simplySatisfies(root, value) {
				continue
			}
			simple++
			if reason := satisfies(compiler, "", value); reason != "" {
				t.Errorf("%s takes %s, the reference says: %s", s, v, reason)
			}
		}
	}
	if simple != 29 {
		t.Errorf("%d pairs were simple, not 29", simple)
	}
}

func TestVAL06TheReferenceValidatorLoadsNothing(t *testing.T) {
	root, _ := ParseJSON("", []byte(`{"$dynamicRef":"file:///etc/hostname"}`))
	d, _ := NewDocument(root, nil)
	want := `the schema does not compile: jsonschema mem://document# compilation failed: "file:///etc/hostname" leads out of the document`
	if got := satisfies(newCompiler(d), "", root); got != want {
		t.Errorf("said %q", got)
	}
}

// The reference validator panics when it is asked again about a document that it does not take.
func TestVAL11DefaultsOfADocumentThatDoesNotCompile(t *testing.T) {
	root, _ := ParseJSON("", []byte(`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"$id":"x","type":"string","default":1},
		"b":{"$id":"x","type":"string","default":2}}}`))
	d, _ := NewDocument(root, nil)
	if ds := d.Lint(); ds.HasErrors() || len(ds) != 2 {
		t.Errorf("got %v", ds)
	}
}

// Defaults are judged by the patterns that generated code runs.
func TestVAL05DefaultsAndECMAPatterns(t *testing.T) {
	root, _ := ParseJSON("", []byte(`{"properties":{"a":{"type":"string","pattern":"^\\u00e0\\s$","default":"à\u00a0"},"b":{"patternProperties":{"^\\S$":{"type":"string"}},"default":{"à":1}}}}`))
	d, _ := NewDocument(root, nil)
	if ds := d.Lint(); len(ds) != 1 || ds[0].Code != "impossible-default" || ds[0].Pointer != "/properties/b/default" {
		t.Errorf("got %v", ds)
	}
}
