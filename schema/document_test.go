package schema

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func parse(t *testing.T, src string) *Node {
	t.Helper()
	n, ds := Parse("f.yaml", []byte(src))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	return n
}

func newDocument(t *testing.T, src string) *Document {
	t.Helper()
	d, ds := NewDocument(parse(t, src), nil)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	return d
}

func TestVAL06Resolve(t *testing.T) {
	root := parse(t, `
schemas:
  A: {$defs: {Inner: {const: innerA}}, properties: {x: {$ref: "#/$defs/Inner"}}}
  B: {const: b}
tool:
  $id: http://x.test/root.json
  $defs:
    Inner: {const: inner}
    embedded: {$id: sub/item.json, $defs: {Inner: {const: embedded}}, $anchor: here, properties: {x: {$ref: "#/$defs/Inner"}}}
  definitions: {old: {const: old}}
  properties: {y: {$ref: "#"}}
`)
	library, _ := NewLibrary(root.Get("schemas"))
	d, ds := NewDocument(root.Get("tool"), library)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	inShared := root.Lookup("/schemas/A/properties/x/$ref")
	inEmbedded := root.Lookup("/tool/$defs/embedded/properties/x/$ref")
	for _, test := range []struct {
		ref  string
		at   *Node
		want string // pointer, or code
	}{
		{"#", nil, "/tool"},
		{"", nil, "/tool"},
		{"#/$defs/Inner", nil, "/tool/$defs/Inner"},
		{"#/definitions/old", nil, "/tool/definitions/old"},
		{"#/schemas/B", nil, "/schemas/B"},
		{"#/schemas/A/$defs/Inner", nil, "/schemas/A/$defs/Inner"},
		{"#/$defs/Inner", inShared, "/schemas/A/$defs/Inner"},
		{"#", inShared, "/schemas/A"},
		{"#/schemas/B", inShared, "/schemas/B"},
		{"#/$defs/Inner", inEmbedded, "/tool/$defs/embedded/$defs/Inner"},
		{"#here", inEmbedded, "/tool/$defs/embedded"},
		{"#here", nil, "dangling-ref"},
		{"sub/item.json", nil, "/tool/$defs/embedded"},
		{"http://x.test/sub/item.json#here", nil, "/tool/$defs/embedded"},
		{"../root.json#/$defs/Inner", inEmbedded, "/tool/$defs/Inner"},
		{"item.json", nil, "remote-ref"},
		{"file:///etc/passwd", nil, "remote-ref"},
		{"FILE:/etc/passwd", nil, "remote-ref"},
		{"https://json-schema.org/draft/2020-12/schema", nil, "remote-ref"}, // no $ref leads there
		{"::bad::", nil, "remote-ref"},
		{"#/$defs/Innre", nil, "dangling-ref"},
		{"#/schemas/C", nil, "dangling-ref"},
		{"#/schemas/", nil, "dangling-ref"},
		{"#/%zz", nil, "dangling-ref"},
		{"#/$defs", nil, "/tool/$defs"}, // an object: whether it is meant as a schema can not be told
		{"#/$defs/Inner/const", nil, "not-a-schema"},
	} {
		n, diagnostic := d.Resolve(test.ref, test.at)
		got := ""
		if diagnostic != nil {
			got = diagnostic.Code
		} else {
			got = n.Pointer
		}
		if got != test.want {
			t.Errorf("%q from %v leads to %s, want %s", test.ref, test.at, got, test.want)
		}
	}
}

// TestVAL06MetaSchemasAreEmbedded: a $ref to the draft of the document leads to our text of it, with no way out.
func TestVAL06MetaSchemasAreEmbedded(t *testing.T) {
	for _, text := range []string{
		"$ref: https://json-schema.org/draft/2020-12/schema",
		"$ref: https://json-schema.org/draft/2020-12/schema#/$defs/anchor",
		"$schema: http://json-schema.org/draft-07/schema#\nproperties: {a: {$ref: 'http://json-schema.org/draft-07/schema#'}}",
	} {
		d := newDocument(t, text)
		if ds := d.Lint(); len(ds) > 0 || d.Meta == nil {
			t.Fatal(text, ds)
		}
		if ds := d.Meta.Lint(); len(ds) > 0 || d.Meta.Dialect != d.Dialect {
			t.Error(text, ds)
		}
	}
	d := newDocument(t, "$ref: http://json-schema.org/draft-07/schema#")
	if ds := d.Lint(); len(ds) != 1 || ds[0].Code != "remote-ref" {
		t.Error("the other draft:", ds)
	}
}

// TestVAL07CirclesAreFoundThroughEveryApplicator: what leads back to itself without a step into the value would never end.
func TestVAL07CirclesAreFoundThroughEveryApplicator(t *testing.T) {
	for text, circles := range map[string]int{
		"not: {$ref: '#'}":                                        1,
		"if: {anyOf: [{$ref: '#'}]}":                              1,
		"dependentSchemas: {a: {$ref: '#'}}":                      1,
		"$dynamicAnchor: x\nif: true\nthen: {$dynamicRef: '#x'}":  1,
		"$dynamicAnchor: x\nproperties: {a: {$dynamicRef: '#x'}}": 0,
		"$schema: http://json-schema.org/draft-07/schema#\ndependencies: {a: [b], b: {$ref: '#'}}": 1,
		// The root's anchor is the outermost one, and there a step into the value follows.
		"$id: http://a.example/\n$dynamicAnchor: x\nproperties: {a: {$ref: in}}\n$defs: {I: {$id: in, $dynamicAnchor: x, allOf: [{$dynamicRef: '#x'}]}}": 0,
		"$id: http://a.example/\nproperties: {a: {$ref: in}}\n$defs: {I: {$id: in, $dynamicAnchor: x, allOf: [{$dynamicRef: '#x'}]}}":                    1,
		"$id: http://a.example/\n$dynamicAnchor: x\nallOf: [{$ref: in}]\n$defs: {I: {$id: in, $dynamicAnchor: x, allOf: [{$dynamicRef: '#x'}]}}":         1,
	} {
		ds := newDocument(t, text).Lint()
		if len(ds) != circles || circles > 0 && ds[0].Code != "ref-circle" {
			t.Error(text, ds)
		}
	}
}

func TestDraft7IDs(t *testing.T) {
	d := newDocument(t, `
$schema: http://json-schema.org/draft-07/schema#
definitions:
  a: {$id: "#name", const: 1}
  b: {$ref: "#name", $id: http://ignored.test/}
`)
	if d.Dialect != Draft7 {
		t.Fatal(d.Dialect)
	}
	if n, ds := d.Resolve("#name", nil); ds != nil || n.Pointer != "/definitions/a" {
		t.Error(ds)
	}
	if n, ds := d.Resolve("#name", d.Lookup("/definitions/b/$ref")); ds != nil || n.Pointer != "/definitions/a" {
		t.Error(ds)
	}
}

// manyIDs is a schema of n parts with an $id each, and a reference to each by it.
func manyIDs(t *testing.T, n int) *Node {
	t.Helper()
	var defs, refs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"D%d": {"$id": "http://x.test/%d/", "$defs": {"in": {"$id": "in"}}}`, i, i))
		refs = append(refs, fmt.Sprintf(`"p%d": {"$ref": "http://x.test/%d/in"}`, i, i))
	}
	return parse(t, `{"$defs": {`+strings.Join(defs, ", ")+`}, "properties": {`+strings.Join(refs, ", ")+`}}`)
}

// TestVAL07ManyIDsAreReadOnce links a schema of many $ids: twice as many must not take four times the work.
func TestVAL07ManyIDsAreReadOnce(t *testing.T) {
	work := func(n int) float64 {
		root := manyIDs(t, n)
		return testing.AllocsPerRun(1, func() {
			if linked := NewLinker("mcpkiln.yaml", nil).Link(root); linked != root {
				t.Error("a reference that stays inside was changed")
			}
		})
	}
	if few, many := work(50), work(100); many > 3*few {
		t.Errorf("%v allocations for 50 $ids, %v for 100", few, many)
	}
}

// TestVAL07ManyIDsAreFound resolves a reference to each of many $ids, and from below each of them.
func TestVAL07ManyIDsAreFound(t *testing.T) {
	const many = 20_000
	d, ds := NewDocument(manyIDs(t, many), nil)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for i := range many {
		part := d.Root.Get("$defs").Members[i].Value
		in := part.Get("$defs").Get("in")
		for _, r := range []struct {
			ref  string
			at   *Node
			want *Node
		}{{fmt.Sprintf("http://x.test/%d/in", i), nil, in}, {"in", part.Get("$id"), in}, {"#", in.Get("$id"), in}, {"#", part.Get("$defs"), part}} {
			if n, wrong := d.Resolve(r.ref, r.at); wrong != nil || n != r.want {
				t.Fatalf("%s from %v: %v, %v", r.ref, r.at, n, wrong)
			}
		}
	}
}

// TestVAL07OneURIOnce: the second schema of a URI is refused, whether the first is the root, stands beside it or above it.
func TestVAL07OneURIOnce(t *testing.T) {
	for _, text := range []string{
		`{$id: "http://x.test/a", $defs: {A: {$id: "http://x.test/a"}}}`,
		`{$defs: {A: {$id: "http://x.test/a"}, B: {$id: "http://x.test/a"}}}`,
		`{$defs: {A: {$id: "http://x.test/a", $defs: {B: {$id: a}}}}}`,
	} {
		if _, ds := NewDocument(parse(t, text), nil); len(ds) != 1 || ds[0].Code != "duplicate-id" {
			t.Errorf("%s: %v", text, ds)
		}
	}
}

func TestDefinitions(t *testing.T) {
	d := newDocument(t, "{definitions: {a: {}, b: {}}, $defs: {c: true, a: {const: 1}}}")
	var names []string
	for _, m := range d.Definitions() {
		names = append(names, m.Key)
	}
	if got := strings.Join(names, " "); got != "a b c a" {
		t.Error(got)
	}
	if d.Definition("a").Get("const") == nil || d.Definition("b") == nil || d.Definition("x") != nil {
		t.Error("Definition looks in the wrong place")
	}
}

func TestVAL08BundleLeavesTheSourceAlone(t *testing.T) {
	root := parse(t, `
schemas: {ID: {$schema: "https://json-schema.org/draft/2020-12/schema", type: string}, Loop: {properties: {next: {$ref: "#/schemas/Loop"}, self: {$ref: "#"}}}}
one: {properties: {id: {$ref: "#/schemas/ID"}, c: {const: {$ref: "#/schemas/ID"}}}, anyOf: [{$ref: "#/schemas/Loop"}, {$ref: "#/nowhere"}]}
two: {properties: {schemas: {$ref: "#/schemas/X"}}, schemas: {X: {type: integer}}}
`)
	before := string(root.JSON())
	library, _ := NewLibrary(root.Get("schemas"))
	one, _ := NewDocument(root.Get("one"), library)
	two, _ := NewDocument(root.Get("two"), library)
	want := `{"properties":{"id":{"$ref":"#/$defs/ID"},"c":{"const":{"$ref":"#/schemas/ID"}}},"anyOf":[{"$ref":"#/$defs/Loop"},{"$ref":"#/nowhere"}],` +
		`"$defs":{"ID":{"type":"string"},"Loop":{"properties":{"next":{"$ref":"#/$defs/Loop"},"self":{"$ref":"#/$defs/Loop"}}}}}`
	if got := string(one.Bundle().JSON()); got != want {
		t.Errorf("bundled to\n%s, want\n%s", got, want)
	}
	if two.Bundle() != two.Root {
		t.Error("a document without shared schemas was copied")
	}
	if got := string(root.JSON()); got != before {
		t.Errorf("the source became %s", got)
	}
}

// TestVAL02WhatIsSensitiveIsFound: a document of which this says false is not searched for properties whose values no violation may show.
func TestVAL02WhatIsSensitiveIsFound(t *testing.T) {
	root := parse(t, `
schemas: {Login: {properties: {token: {type: string, x-sensitive: true}}}}
none: {properties: {id: {type: string}}}
below: {anyOf: [{properties: {id: {type: string, x-sensitive: true}}}]}
`)
	library, _ := NewLibrary(root.Get("schemas"))
	for _, test := range []struct {
		name   string
		shared *Library
		want   bool
	}{{"none", nil, false}, {"below", nil, true}, {"none", library, true}} {
		if d, _ := NewDocument(root.Get(test.name), test.shared); d.MentionsSensitive() != test.want {
			t.Errorf("%s: %t", test.name, !test.want)
		}
	}
}

func TestSharedSchemaBelowAnID(t *testing.T) {
	root := parse(t, `
schemas: {ID: {type: string}}
one: {$id: http://x.test/, properties: {id: {$ref: "#/schemas/ID"}}}
`)
	library, _ := NewLibrary(root.Get("schemas"))
	d, _ := NewDocument(root.Get("one"), library)
	if ds := d.Lint(); len(ds) != 1 || ds[0].Code != "shared-under-id" {
		t.Errorf("diagnostics %v", ds)
	}
}

func TestVAL03LintFollowsReferencesOutOfTheKeywords(t *testing.T) {
	d := newDocument(t, `{$ref: "#/components/a", components: {a: {type: objct}}}`)
	if ds := d.Lint(); len(ds) != 2 || ds[0].Code != "unknown-keyword" || ds[0].Severity != Warning || ds[1].Code != "unknown-type" {
		t.Errorf("diagnostics %v", ds)
	}
}

func TestVAL07NumbersAreBounded(t *testing.T) {
	for text, want := range map[string]bool{
		"1e5000": true, "1e-5000": true, "1e0005000": true, "1e5001": false, "1e-99999999999": false, "1e+5001": false,
		strings.Repeat("9", 10000): true, strings.Repeat("9", 10001): false,
	} {
		if got := (&Node{Kind: Number, Text: text}).Rat() != nil; got != want {
			t.Errorf("%.20s: %t, want %t", text, got, want)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"1", "1.0", true}, {"10", "1e1", true}, {"9007199254740993", "9007199254740992", false}, {`"1"`, "1", false}, {"null", "false", false},
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, true}, {`{"a":1}`, `{"b":1}`, false}, {`{"a":1}`, `{"a":1,"b":1}`, false}, {"[1,2]", "[2,1]", false},
		{"1e9999", "1e9999", true}, {"1e9999", "1e9998", false},
	} {
		a, _ := ParseJSON("", []byte(test.a))
		b, _ := ParseJSON("", []byte(test.b))
		if got := Equal(a, b); got != test.want {
			t.Errorf("Equal(%s, %s) = %t", test.a, test.b, got)
		}
	}
}

// The official suite holds schemas of all kinds that make sense. The lint passes them, except for those that need a
// remote document and the few whose default is wrong on purpose.
func TestVAL03VAL06LintPassesTheOfficialSuite(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	for dir, dialect := range map[string]Dialect{"draft2020-12": Draft2020, "draft7": Draft7} {
		files, err := filepath.Glob(filepath.Join(suite, dir, "*.json"))
		if err != nil || len(files) < 30 {
			t.Fatalf("%d files: %v", len(files), err)
		}
		for _, file := range files {
			lintSuiteFile(t, file, dialect)
		}
	}
}

func lintSuiteFile(t *testing.T, file string, dialect Dialect) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root, ds := ParseJSON(filepath.Base(file), data)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for _, group := range root.Items {
		d, ds := NewDocument(group.Get("schema"), nil)
		d.Dialect = dialect
		for _, found := range append(ds, d.Lint()...) {
			wrongDefault := found.Code == "impossible-default" && filepath.Base(file) == "default.json"
			overlap := found.Code == "overlapping-forms" && strings.Contains(group.Get("description").Text, "oneOf") // what they test
			idle := found.Code == "idle-keyword"                                                                     // which they show to check nothing
			if found.Code != "remote-ref" && !wrongDefault && !overlap && !idle {
				t.Errorf("%s: %s", group.Get("description").Text, found)
			}
		}
	}
}

// Whatever is read can be linted and bundled.
func FuzzLint(f *testing.F) {
	for _, seed := range []string{
		`{"$ref":"#/schemas/A","$defs":{"A":{"$ref":"#"}}}`, `{"allOf":[{"$ref":"#/allOf/0"}]}`, `{"items":[1],"dependencies":{"a":1}}`,
		`{"default":1,"type":["string"],"enum":[{}],"required":{}}`, `{"$id":"x","$anchor":"y","not":{"$id":"y","$ref":"x#y"}}`,
		`{"properties":{"a":{"default":[],"pattern":"("}},"patternProperties":{"(":1}}`, `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"#a","default":1,"$ref":"#a"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, _ := ParseJSON("f", data)
		if root == nil {
			return
		}
		library, _ := NewLibrary(&Node{Kind: Object, Pointer: "/schemas", Members: []Member{{Key: "A", Value: root}}})
		d, _ := NewDocument(root, library)
		d.Lint()
		if b, ds := ParseJSON("f", d.Bundle().JSON()); b == nil {
			t.Fatal(ds)
		}
	})
}
