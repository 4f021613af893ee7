package proof_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/proof"
	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL09NoValidInputIsRefusedForItsShape: recursion through unions, long lists of what is looked at, and many ambiguous
// values cost what their texts are long. What they would cost without memory no machine could pay.
func TestVAL09NoValidInputIsRefusedForItsShape(t *testing.T) {
	nested := func(open, inner, end string, depth int) string {
		return strings.Repeat(open, depth) + inner + strings.Repeat(end, depth)
	}
	e := &experiment{dialect: schema.Draft2020}
	var names []string
	add := func(name, text string, instances ...string) {
		s, why := e.admit(t, []byte(text), false)
		if s == nil {
			t.Fatalf("%s is refused: %s", name, why)
		}
		for _, instance := range instances {
			e.questions = append(e.questions, proof.Question{Schema: s.number, Instance: []byte(instance)})
			names = append(names, name)
		}
	}
	const three = `{"$ref": "#/$defs/N", "$defs": {"N": {"oneOf": [
		{"type": "object", "properties": {"and": {"$ref": "#/$defs/N"}}, "required": ["and"]},
		{"type": "object", "properties": {"and": {"$ref": "#/$defs/N"}, "x": {"type": "string"}}, "required": ["and", "x"]},
		{"type": "object", "properties": {"v": {"type": "integer"}}, "additionalProperties": false}]}}}`
	add("oneOf of three", three, nested(`{"and":`, `{"v":1}`, `}`, 9), nested(`{"and":`, `{"v":1}`, `}`, 250))
	add("lists", `{"$ref": "#/$defs/N", "$defs": {"N": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/N"}, "minItems": 3},
		{"type": "array", "items": {"$ref": "#/$defs/N"}, "maxItems": 2}, {"type": "integer"}]}}}`,
		nested("[", "1", "]", 250), nested("[1,2,", "3", "]", 250), "["+strings.TrimSuffix(strings.Repeat("[1,[2]],", 5000), ",")+"]")
	add("contains", `{"type": "array", "contains": {"type": "object", "required": ["id"], "properties": {"id": {"const": 7}}}}`,
		"["+strings.Repeat(`{"id":1},`, 11_000)+`{"id":7}]`)
	add("pairs", `{"type": "array", "items": {"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
		{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}]}}`,
		"["+strings.TrimSuffix(strings.Repeat(`{"a":"x"},{"a":1},`, 3_000), ",")+"]")
	add("conditions", `{"$ref": "#/$defs/N", "$defs": {"N": {"type": "object", "properties": {"a": {"$ref": "#/$defs/N"}},
		"if": {"properties": {"a": {"$ref": "#/$defs/N"}}}, "then": {"properties": {"a": {"$ref": "#/$defs/N"}}}, "else": false,
		"not": {"required": ["b"], "properties": {"a": {"$ref": "#/$defs/N"}}},
		"dependentSchemas": {"a": {"properties": {"a": {"$ref": "#/$defs/N"}}}}}}}`, nested(`{"a":`, "{}", "}", 250))
	for n := 10; n <= 250; n += 10 {
		add("evaluated "+strconv.Itoa(n), `{"type": "object", "properties": {"v": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"type": "array", "anyOf": [
			{"contains": {"type": "integer"}}, {"contains": {"$ref": "#/$defs/T"}}, {"prefixItems": [{"$ref": "#/$defs/T"}]}, {"maxItems": 0}],
			"unevaluatedItems": {"anyOf": [{"$ref": "#/$defs/T"}, {"type": "integer"}]}}}}`, `{"v":`+nested("[[1],[2],", "3", "]", n)+"}")
		add("evaluated properties "+strconv.Itoa(n), `{"type": "object", "$defs": {"T": {"type": "object", "anyOf": [{"properties": {"a": {"$ref": "#/$defs/T"}}, "required": ["a"]},
			{"patternProperties": {"b": {"$ref": "#/$defs/T"}}}, {"properties": {"c": {"$ref": "#/$defs/T"}}}], "unevaluatedProperties": {"$ref": "#/$defs/T"}}},
			"properties": {"v": {"$ref": "#/$defs/T"}}}`, `{"v":`+nested(`{"a":{},"b":{"c":{}},"c":`, "{}", "}", n)+"}")
	}
	add("forms", `{"type": "array", "items": {"oneOf": [`+series(300, `{"type": "object", "required": ["k%"], "properties": {"k%": {"type": "string"}, "v": {"type": "integer"}}}`)+`]}}`,
		"["+strings.TrimSuffix(strings.Repeat(`{"k63":"","v":1},{"k299":"","v":2},`, 500), ",")+"]")
	add("diamond", diamond("anyOf", 22), `{"x":1}`)
	add("evaluated diamond", `{"unevaluatedProperties": false, `+diamond("anyOf", 40)[1:], `{"x":1}`)
	for i, a := range ask(t, build(t, &e.batch), e.questions) {
		if !a.Valid() {
			t.Errorf("%s: %.60s…: %s", names[i], e.questions[i].Instance, verdict(a))
		}
	}
}

// diamond is a schema of many levels, each of which refers to the next one twice.
func diamond(keyword string, levels int) string {
	var b strings.Builder
	b.WriteString(`{"$ref": "#/$defs/L0", "$defs": {`)
	for i := range levels {
		level, next := "L"+strconv.Itoa(i), "L"+strconv.Itoa(i+1)
		b.WriteString(`"` + level + `": {"` + keyword + `": [{"$ref": "#/$defs/` + next + `"}, {"$ref": "#/$defs/` + next + `"}]}, `)
	}
	b.WriteString(`"L` + strconv.Itoa(levels) + `": {"type": "object", "properties": {"x": {"type": "integer"}}, "minProperties": 1}}}`)
	return b.String()
}

// TestVAL09SchemasAreReadOnce: what a schema costs the generator is bounded by its length. A schema of 40 levels, each of which
// refers to the next one twice, has a trillion ways through it; an enum of 50,000 values has a billion pairs.
func TestVAL09SchemasAreReadOnce(t *testing.T) {
	e := &experiment{dialect: schema.Draft2020}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for _, text := range []string{diamond(keyword, 40), ladder(keyword, 40)} {
			lowered(t, &e.batch, text)
		}
	}
	for _, value := range []string{`"v%"`, `%`, `%.5`, `[%]`, `{"a":%}`} {
		lowered(t, &e.batch, `{"properties": {"e": {"enum": [`+series(50_000, value)+`]}}}`)
	}
	for _, list := range []string{
		`"oneOf": [` + series(20_000, `{"type": "object", "required": ["k%"], "properties": {"k%": {"type": "string"}}}`) + `]`,
		`"oneOf": [` + series(20_000, `{"type": "object", "required": ["t"], "properties": {"t": {"const": "v%"}, "p%": {"type": "string"}}}`) + `]`,
		`"oneOf": [` + series(20_000, `{"const": "v%", "title": "V %"}`) + `]`,
		`"oneOf": [` + series(20_000, `{"const": %}`) + `]`,
		`"allOf": [` + series(2_000, `{"not": {"const": "v%"}}`) + `]`,
		`"prefixItems": [` + series(20_000, `{"title": "V %", "type": "string"}`) + `]`,
	} {
		lowered(t, &e.batch, `{"properties": {"e": {`+list+`}}}`)
	}
}

// series joins n copies of a text that have their numbers in place of %.
func series(n int, text string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(text, "%", strconv.Itoa(i))
	}
	return strings.Join(all, ",")
}

// lowered lints and generates one schema, without the reference, which follows every way.
func lowered(t *testing.T, b *proof.Batch, text string) {
	t.Helper()
	doc, ds := document(t, parse(t, "schema.json", []byte(text)), schema.Draft2020)
	if ds = append(ds, doc.Lint()...); ds.HasErrors() {
		t.Fatalf("%.80s: %v", text, ds)
	}
	if _, ds, err := b.Add(proof.Schema{Document: doc}); err != nil || ds.HasErrors() {
		t.Errorf("%.80s: %v %v", text, err, ds)
	}
}

// ladder is a diamond of two different schemas at each level.
func ladder(keyword string, levels int) string {
	var b strings.Builder
	b.WriteString(`{"$ref": "#/$defs/A0", "$defs": {`)
	for i := range levels {
		next := strconv.Itoa(i + 1)
		for _, side := range []string{"A", "B"} {
			b.WriteString(`"` + side + strconv.Itoa(i) + `": {"` + keyword + `": [{"$ref": "#/$defs/A` + next + `"}, {"$ref": "#/$defs/B` + next + `"}]}, `)
		}
	}
	end := strconv.Itoa(levels)
	b.WriteString(`"A` + end + `": {"type": "object", "properties": {"x": {"type": "integer"}}}, "B` + end + `": {"type": "object", "required": ["y"]}}}`)
	return b.String()
}
