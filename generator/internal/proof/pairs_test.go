package proof_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
)

// statement is a keyword with what belongs to it.
type statement struct {
	kind     string
	keywords string // members of a schema
}

// valuesOf are values of each kind. Each statement takes some of them and refuses others.
var valuesOf = map[string]string{
	"object": `[{}, {"a": 1}, {"a": "x"}, {"b": 1}, {"a": 1, "b": "x"}, {"a": 1, "b": 2, "c": 3}, {"c": []}, {"c": {"a": 1}}, {"ab": "y", "d": null},
		{"a": 1, "c": 1}, {"b": "x", "c": "x"}, {"a": null, "d": 1}, {"kind": "x", "a": 1}, {"kind": "y"}]`,
	"array":  `[[], [1], ["a"], [1, "a"], ["a", 1], [1, 1], [1, 2, 3], ["a", "b", "c"], [null], [[1]], [1, "a", true], ["a", "a"], [5, "b", 1, 5], [2, 2, 2, 2]]`,
	"string": `["", "a", "ab", "abc", "b", "ba", "1", "12", "x1", "abcdef", "2026-07-28", "127.0.0.1", "A"]`,
	"number": `[0, 1, 2, 3, 4, 5, 6, 1.5, 2.5, -1, 10, 12, 100]`,
}

// statements has every keyword that asserts, and each that several schemas may say differently twice.
var statements = []statement{
	{kind: "object", keywords: `"properties": {"a": {"type": "integer"}}`},
	{kind: "object", keywords: `"properties": {"a": {"minimum": 1}, "b": {"type": "string"}}`},
	{kind: "object", keywords: `"required": ["a"]`},
	{kind: "object", keywords: `"required": ["b"]`},
	{kind: "object", keywords: `"additionalProperties": {"type": ["integer", "string"]}`},
	{kind: "object", keywords: `"properties": {"a": true, "b": true}, "additionalProperties": false`},
	{kind: "object", keywords: `"patternProperties": {"^a": {"type": "integer"}}`},
	{kind: "object", keywords: `"patternProperties": {"b$": {"type": "string"}, "c": true}, "additionalProperties": {"type": "integer"}`},
	{kind: "object", keywords: `"propertyNames": {"maxLength": 1}`},
	{kind: "object", keywords: `"propertyNames": {"enum": ["a", "ab", "kind", "c"]}`},
	{kind: "object", keywords: `"minProperties": 1`},
	{kind: "object", keywords: `"maxProperties": 2`},
	{kind: "object", keywords: `"maxProperties": 1`},
	{kind: "object", keywords: `"dependentRequired": {"a": ["b"]}`},
	{kind: "object", keywords: `"dependentRequired": {"b": ["a"]}`},
	{kind: "object", keywords: `"dependentSchemas": {"a": {"maxProperties": 1}}`},
	{kind: "object", keywords: `"dependentSchemas": {"b": {"required": ["c"]}}`},
	{kind: "object", keywords: `"dependencies": {"a": ["b"], "b": {"maxProperties": 2}}`},
	{kind: "object", keywords: `"dependencies": {"c": ["a"]}`},
	{kind: "object", keywords: `"unevaluatedProperties": {"type": "integer"}`},
	{kind: "object", keywords: `"properties": {"a": true}, "unevaluatedProperties": false`},
	{kind: "object", keywords: `"oneOf": [{"required": ["a"]}, {"required": ["c"]}]`},
	{kind: "object", keywords: `"oneOf": [{"properties": {"kind": {"const": "x"}}, "required": ["kind"]}, {"required": ["b"]}]`},
	{kind: "object", keywords: `"anyOf": [{"required": ["a"]}, {"required": ["b"]}]`},
	{kind: "object", keywords: `"anyOf": [{"properties": {"a": {"type": "string"}}}, {"maxProperties": 2}]`},
	{kind: "object", keywords: `"not": {"required": ["c"]}`},
	{kind: "object", keywords: `"not": {"required": ["b"]}`},
	{kind: "object", keywords: `"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}`},
	{kind: "object", keywords: `"if": {"properties": {"a": {"const": 1}}}, "then": {"maxProperties": 2}`},
	{kind: "object", keywords: `"enum": [{"a": 1}, {"a": 1, "b": "x"}, {}, "other"]`},
	{kind: "object", keywords: `"const": {"a": 1}`},
	{kind: "object", keywords: `"allOf": [{"minProperties": 1}, {"properties": {"c": {"type": "array"}}}]`},

	{kind: "array", keywords: `"items": {"type": ["integer", "string"]}`},
	{kind: "array", keywords: `"items": {"maximum": 2, "maxLength": 1}`},
	{kind: "array", keywords: `"prefixItems": [{"type": "integer"}]`},
	{kind: "array", keywords: `"prefixItems": [true, {"type": "string"}], "items": {"type": "boolean"}`},
	{kind: "array", keywords: `"items": [{"type": "integer"}]`},
	{kind: "array", keywords: `"items": [true, {"type": "string"}], "additionalItems": {"type": "boolean"}`},
	{kind: "array", keywords: `"minItems": 1`},
	{kind: "array", keywords: `"maxItems": 3`},
	{kind: "array", keywords: `"maxItems": 2`},
	{kind: "array", keywords: `"uniqueItems": true`},
	{kind: "array", keywords: `"contains": {"type": "integer"}`},
	{kind: "array", keywords: `"contains": {"type": "string"}`},
	{kind: "array", keywords: `"contains": {"minimum": 2}, "minContains": 2, "maxContains": 3`},
	{kind: "array", keywords: `"contains": {"const": 5}, "minContains": 0, "maxContains": 1`},
	{kind: "array", keywords: `"unevaluatedItems": {"type": "integer"}`},
	{kind: "array", keywords: `"prefixItems": [true, true], "unevaluatedItems": false`},
	{kind: "array", keywords: `"oneOf": [{"minItems": 2}, {"contains": {"const": "a"}}]`},
	{kind: "array", keywords: `"anyOf": [{"maxItems": 1}, {"contains": {"const": 1}}]`},
	{kind: "array", keywords: `"not": {"contains": {"const": "b"}}`},
	{kind: "array", keywords: `"if": {"minItems": 2}, "then": {"uniqueItems": true}, "else": {"contains": {"type": "integer"}}`},
	{kind: "array", keywords: `"enum": [[1], [1, "a"], []]`},
	{kind: "array", keywords: `"const": [1]`},

	{kind: "string", keywords: `"minLength": 2`},
	{kind: "string", keywords: `"maxLength": 3`},
	{kind: "string", keywords: `"maxLength": 2`},
	{kind: "string", keywords: `"pattern": "^a"`},
	{kind: "string", keywords: `"pattern": "b"`},
	{kind: "string", keywords: `"format": "date"`},
	{kind: "string", keywords: `"format": "ipv4"`},
	{kind: "string", keywords: `"oneOf": [{"maxLength": 1}, {"pattern": "b"}]`},
	{kind: "string", keywords: `"anyOf": [{"pattern": "1"}, {"pattern": "^b"}, {"const": "ab"}]`},
	{kind: "string", keywords: `"not": {"pattern": "c"}`},
	{kind: "string", keywords: `"not": {"const": "a"}`},
	{kind: "string", keywords: `"if": {"pattern": "^a"}, "then": {"minLength": 2}, "else": {"pattern": "1$"}`},
	{kind: "string", keywords: `"enum": ["a", "ab", "b", 1]`},
	{kind: "string", keywords: `"enum": ["ab", "abc", null]`},
	{kind: "string", keywords: `"const": "ab"`},
	{kind: "string", keywords: `"oneOf": [{"const": "a"}, {"const": "ab"}, {"const": "1"}]`},

	{kind: "number", keywords: `"minimum": 1`},
	{kind: "number", keywords: `"exclusiveMinimum": 1`},
	{kind: "number", keywords: `"maximum": 5`},
	{kind: "number", keywords: `"exclusiveMaximum": 5`},
	{kind: "number", keywords: `"multipleOf": 2`},
	{kind: "number", keywords: `"multipleOf": 1.5`},
	{kind: "number", keywords: `"oneOf": [{"maximum": 3}, {"multipleOf": 2}]`},
	{kind: "number", keywords: `"anyOf": [{"type": "integer"}, {"maximum": 2}]`},
	{kind: "number", keywords: `"not": {"type": "integer", "minimum": 10}`},
	{kind: "number", keywords: `"if": {"type": "integer"}, "then": {"minimum": 2}, "else": {"maximum": 2}`},
	{kind: "number", keywords: `"enum": [1, 2, 3, 1.5, "1"]`},
	{kind: "number", keywords: `"enum": [2, 3, 12]`},
	{kind: "number", keywords: `"const": 2`},
	{kind: "number", keywords: `"type": "integer"`},
	{kind: "number", keywords: `"type": ["integer", "string", "null"]`},
}

// merging is a way in which two statements come to hold for one value: %1 and %2 are schemas of one each, %b is the members of both,
// %T their type, %D where definitions stand.
type merging struct {
	text  string
	value string // where the value stands, as %v; "": by itself
}

var mergings = []merging{
	{text: `{"type": "%T", %b}`},
	{text: `{%b}`},
	{text: `{"type": "%T", "allOf": [{%b}]}`},
	{text: `{"type": "%T", "allOf": [%1, %2]}`},
	{text: `{"allOf": [{"allOf": [%1]}, {"type": "%T", "allOf": [%2]}]}`},
	{text: `{"type": "%T", "$ref": "#/%D/D", "%D": {"D": {%b}}}`},
	{text: `{"type": "%T", "allOf": [{"$ref": "#/%D/D"}], "%D": {"D": {%b}}}`},
	{text: `{"$ref": "#/%D/D", "allOf": [%1], "%D": {"D": %2}}`},
	{text: `{"allOf": [{"$ref": "#/%D/D"}, {"$ref": "#/%D/E"}], "%D": {"D": {"type": "%T", "allOf": [%1]}, "E": %2}}`},
	{text: `{"anyOf": [{"type": "%T", %b}, {"type": "null"}]}`},
	{text: `{"anyOf": [{"$ref": "#/%D/D"}, {"type": "null"}], "%D": {"D": {"type": "%T", %b}}}`},
	{text: `{"type": "object", "required": ["v"], "properties": {"v": {"oneOf": [{"type": "null"}, {"type": "%T", "allOf": [{%b}]}]}}}`, value: `{"v": %v}`},
	{text: `{"type": "%T", "allOf": [%1], "anyOf": [%2, {"type": "object", "required": ["kind"], "allOf": [%1]}]}`},
	{text: `{"type": "object", "required": ["v"], "properties": {"v": {"type": "%T", "allOf": [%1]}}, "allOf": [{"properties": {"v": %2}}]}`, value: `{"v": %v}`},
	{text: `{"type": "array", "items": {"type": "%T", "allOf": [%1]}, "allOf": [{"items": %2}]}`, value: `[%v]`},
}

// of returns the schema in which m merges a and b; "" if they can not stand there together.
func (m merging) of(a, b statement, dialect schema.Dialect) string {
	definitions, head := "$defs", ""
	if dialect == schema.Draft7 {
		definitions, head = "definitions", `"$schema": "`+dialect.String()+`#", `
	}
	text := strings.NewReplacer("%T", a.kind, "%D", definitions, "%1", "{"+a.keywords+"}", "%2", "{"+b.keywords+"}",
		"%b", a.keywords+", "+b.keywords).Replace(m.text)
	if _, ds := schema.ParseJSON("pair", []byte(text)); ds.HasErrors() {
		return "" // a keyword twice in one schema
	}
	return "{" + head + text[1:]
}

// knownIn reports whether the draft has all keywords of s.
func (s statement) knownIn(t *testing.T, dialect schema.Dialect) bool {
	return !slices.ContainsFunc(parse(t, "statement", []byte("{"+s.keywords+"}")).Members, func(m schema.Member) bool {
		key := m.Key
		if key == "items" && m.Value.Is(schema.Array) {
			key = "items[]"
		}
		return slices.Contains(foreign[dialect], key)
	})
}

// unites reports whether s is a union.
func (s statement) unites() bool {
	return strings.Contains(s.keywords[:7], "Of\"") && s.keywords[:6] != `"allOf`
}

// TestVAL03MergedKeywordsAllHold merges every keyword with every other, and with itself saying something else, in one of many
// ways, and holds what is generated against the reference. Two unions are merged in every way. With -seeds N the ways are drawn N times.
func TestVAL03MergedKeywordsAllHold(t *testing.T) {
	t.Parallel()
	for i := range uint64(*seeds) {
		r := rand.New(rand.NewPCG(*first+i, 3))
		all := []*experiment{{dialect: schema.Draft2020}, {dialect: schema.Draft7}}
		for i, a := range statements {
			for _, b := range statements[i+1:] {
				if a.kind == b.kind {
					merge(t, r, all, a, b)
				}
			}
		}
		for _, e := range all {
			t.Logf("%v: %d schemas", e.dialect, e.batch.Len())
			e.run(t)
		}
		if t.Failed() {
			break
		}
	}
}

// merge puts a pair in one way, in one of the drafts that know it; two unions in every way.
func merge(t *testing.T, r *rand.Rand, all []*experiment, a, b statement) {
	all = slices.DeleteFunc(slices.Clone(all), func(e *experiment) bool { return !a.knownIn(t, e.dialect) || !b.knownIn(t, e.dialect) })
	if len(all) == 0 {
		return
	}
	e := pick(r, all...)
	for _, i := range r.Perm(len(mergings)) {
		if e.pair(t, mergings[i], a, b) && (!a.unites() || !b.unites()) {
			return
		}
	}
}

// pair puts the values of a kind to a schema that says a and b, and is false if nobody can say both in this way.
func (e *experiment) pair(t *testing.T, m merging, a, b statement) bool {
	text := m.of(a, b, e.dialect)
	if text == "" {
		return false
	}
	s, _ := e.admit(t, []byte(text), e.batch.Len()%4 != 0)
	if s == nil {
		return false
	}
	for _, v := range append(parse(t, "values", []byte(valuesOf[a.kind])).Items, &schema.Node{}) {
		value := string(v.JSON())
		if m.value != "" {
			value = strings.ReplaceAll(m.value, "%v", value)
		}
		e.put(s, parse(t, "value", []byte(value)))
	}
	return true
}
