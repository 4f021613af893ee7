package subsume

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func documentOf(t *testing.T, text string) *schema.Document {
	t.Helper()
	root, ds := schema.ParseJSON("schema.json", []byte(text))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	d, ds := schema.NewDocument(root, nil)
	if ds = append(ds, d.Lint()...); ds.HasErrors() {
		t.Fatalf("%s: %v", text, ds)
	}
	return d
}

// TestREV08Relations has edits as people make them, rewritings that change nothing, and what is beyond a comparison of keywords.
func TestREV08Relations(t *testing.T) {
	for _, c := range []struct {
		old, new string
		want     Relation
		refused  string // a value that only the old schema accepts
		accepted string
	}{
		{`{"type": "string"}`, `{"type": "string", "minLength": 1}`, Narrower, `""`, ""},
		{`{"type": "string", "maxLength": 8}`, `{"type": "string", "maxLength": 9}`, Wider, "", `"aaaaaaaaa"`},
		{`{"enum": ["EUR", "USD"]}`, `{"enum": ["USD", "EUR", "CHF"]}`, Wider, "", `"CHF"`},
		{`{"enum": ["EUR", "USD"]}`, `{"enum": ["USD", "CHF"]}`, Incomparable, `"EUR"`, `"CHF"`},
		{`{"const": "a"}`, `{"enum": ["a"]}`, Equal, "", ""},
		{`{"type": "integer", "minimum": 1}`, `{"type": "integer", "exclusiveMinimum": 0}`, Equal, "", ""},
		{`{"type": "integer", "minimum": 1}`, `{"type": "number", "minimum": 1}`, Wider, "", `1.5`},
		{`{"type": "integer", "minimum": 2, "maximum": 3}`, `{"enum": [2, 3.0]}`, Equal, "", ""},
		{`{"type": ["string", "null"]}`, `{"anyOf": [{"type": "null"}, {"type": "string"}]}`, Equal, "", ""},
		{`{"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}`, `{"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}`, Equal, "", ""},
		{`{"type": "object", "properties": {"a": true}}`, `{"type": "object", "properties": {"a": true}, "required": ["a"]}`, Narrower, `{}`, ""},
		{`{"type": "object", "properties": {"a": {"type": "string"}}}`, `{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}`, Narrower, `{"b":0}`, ""},
		{`{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}`, `{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "additionalProperties": false}`, Wider, "", `{"b":""}`},
		{`{"type": "string", "pattern": "^[a-z]{2}$"}`, `{"type": "string", "pattern": "^[a-z][a-z]$", "maxLength": 2}`, Equal, "", ""},
		{`{"type": "string", "pattern": "^a+$"}`, `{"type": "string", "pattern": "^(aa)*$"}`, Incomparable, `"a"`, `""`},
		{`{"type": "string", "format": "uri"}`, `{"type": "string", "format": "uri-reference"}`, Wider, "", `""`},
		{`{"type": "string", "format": "date", "maxLength": 20}`, `{"type": "string", "format": "date"}`, Equal, "", ""},
		{`{"type": "array", "items": {"type": "boolean"}, "uniqueItems": true}`, `{"type": "array", "items": {"type": "boolean"}, "uniqueItems": true, "maxItems": 2}`, Equal, "", ""},
		{`{"type": "array", "prefixItems": [{"type": "null"}, {"type": "null"}, {"type": "string"}], "uniqueItems": true}`,
			`{"type": "array", "prefixItems": [{"type": "null"}, {"type": "null"}, {"type": "number"}], "uniqueItems": true}`, Equal, "", ""},
		{`{"type": "array", "prefixItems": [{"type": "null"}, {"type": ["null", "boolean"]}, {"type": "string"}], "uniqueItems": true}`,
			`{"type": "array", "prefixItems": [{"type": "null"}, {"type": ["null", "boolean"]}, {"type": "number"}], "uniqueItems": true}`, Incomparable, `[null,false,""]`, `[null,false,0]`},
		{`{"oneOf": [{"type": "object", "required": ["k"], "properties": {"k": {"const": "a"}}}, {"type": "object", "required": ["k"], "properties": {"k": {"const": "b"}}}]}`,
			`{"anyOf": [{"type": "object", "required": ["k"], "properties": {"k": {"enum": ["a", "b"]}}}]}`, Equal, "", ""},
		{`{"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}}}}`, `{"type": "object", "properties": {"next": {"$ref": "#"}}}`, Equal, "", ""},
		{`{"type": "object", "properties": {"next": {"$ref": "#"}, "v": {"minimum": 1}}}`, `{"type": "object", "properties": {"next": {"$ref": "#"}, "v": {"minimum": 0}}}`, Wider, "", `{"next":{"v":0}}`},
		{`{"type": "object", "properties": {"a": true}, "unevaluatedProperties": false}`, `{"type": "object", "properties": {"a": true}, "additionalProperties": false}`, Equal, "", ""},
		{`{"description": "before", "type": "string", "title": "T", "examples": ["a"]}`, `{"description": "after", "type": "string"}`, Equal, "", ""},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}`, `{"prefixItems": [{"type": "string"}]}`, Equal, "", ""},
		{`false`, `{"allOf": [{"type": "string"}, {"type": "number"}]}`, Equal, "", ""},
	} {
		v := Compare(documentOf(t, c.old), documentOf(t, c.new))
		if got := v.Relation(); got != c.want || shown(v.Refused) != c.refused || shown(v.Accepted) != c.accepted {
			t.Errorf("%s\n%s: %v %s %s, want %v %s %s", c.old, c.new, got, shown(v.Refused), shown(v.Accepted), c.want, c.refused, c.accepted)
		}
	}
}

func shown(d Difference) string {
	if d.Value == nil {
		return d.Why
	}
	return string(d.Value.JSON())
}

// What can not be decided says why, and the other direction may be decided all the same.
// TestREV08ValuesAreTried has schemas that hold themselves in several ways, of which the search would look at too many: values are found by trying.
func TestREV08ValuesAreTried(t *testing.T) {
	const (
		head = `{"$ref": "#/$defs/R", "$defs": {"R": {"oneOf": [` +
			`{"additionalProperties": false, "properties": {"a": {"$ref": "#/$defs/R"}, "b": {"$ref": "#/$defs/R"}, "c": {"$ref": "#/$defs/R"}}, "type": "object"}, ` +
			`{"properties": {"a": {"$ref": "#/$defs/R"}, "b": true, "c": {"$ref": "#/$defs/R"}, "kind": {"const": "y"}}, "required": ["kind"], "type": "object"}, `
		tail = `{"const": "x"}]}}}`
	)
	old := documentOf(t, head+`{"properties": {"a": {"$ref": "#/$defs/R"}, "b": {"$ref": "#/$defs/R"}, "c": {"required": ["a"], "type": "object"}}, "required": ["b"], "type": "object"}, `+tail)
	new := documentOf(t, head+`{"required": ["b"], "type": "object"}, `+tail)
	for _, sides := range [][2]*schema.Document{{old, new}, {new, old}} {
		v := tried(goal{{site{sides[0], sides[0].Root}, true}, {site{sides[1], sides[1].Root}, false}})
		if v == nil {
			t.Fatal("no value is found")
		}
		for i, want := range []bool{true, false} {
			if held, err := newSolver(unbounded).holds(site{sides[i], sides[i].Root}, v); err != nil || held != want {
				t.Errorf("%s: %t, %v", v.JSON(), held, err)
			}
		}
	}
	if v := Compare(old, new); v.Relation() != Incomparable {
		t.Errorf("%v", v)
	}
}

// TestREV08EditsAreTried has one keyword changed deep inside: the value that tells the schemas apart is made around it, and always the same.
func TestREV08EditsAreTried(t *testing.T) {
	const deep = `{"$ref": "#/$defs/R", "$defs": {"R": {"oneOf": [{"type": "null"}, {"type": "object", "properties": {
		"list": {"type": "array", "items": {"allOf": [{"$ref": "#/$defs/S"}]}}, "rest": {"additionalProperties": {"contains": {"$ref": "#/$defs/S"}}}}}]}, "S": {"type": %s}}}`
	old, new := documentOf(t, fmt.Sprintf(deep, `["boolean", "null"]`)), documentOf(t, fmt.Sprintf(deep, `"null"`))
	g := goal{{site{old, old.Root}, true}, {site{new, new.Root}, false}}
	for range 5 {
		s := &trial{solver: newSolver(2), goal: g, known: map[string]bool{}}
		if v := s.edits(g[0].site, g[1].site); v == nil || string(v.JSON()) != `{"list":[false]}` {
			t.Fatalf("made around the edit: %s", shown(Difference{Value: v}))
		}
	}
	if v := (&trial{solver: newSolver(2), goal: g, known: map[string]bool{}}).edits(g[0].site, g[0].site); v != nil {
		t.Errorf("%s is made of no edit", v.JSON())
	}
}

// TestREV08VariationsAreTried has edits that other forms around them hide: the value is made so that those refuse it.
func TestREV08VariationsAreTried(t *testing.T) {
	const hidden = `{"type": "object", "properties": {"in": {"oneOf": [{"type": "object", "required": ["k"], "properties": {"k": %s}},
		{"type": "object", "minProperties": 1, "properties": {"free": {"type": "null"}}}, {"type": "object", "properties": {"tag": {"const": "b"}}, "required": ["tag"]}]}}}`
	old, new := documentOf(t, fmt.Sprintf(hidden, `{"type": "boolean"}`)), documentOf(t, fmt.Sprintf(hidden, `{}`))
	a, b := bundled(old, "old"), bundled(new, "new")
	for _, g := range []goal{{{a, true}, {b, false}}, {{b, true}, {a, false}}} {
		tried := func() *schema.Node {
			return (&trial{solver: newSolver(2), goal: g, known: map[string]bool{}}).variations(g[0].site, g[1].site)
		}
		v, again := tried(), tried()
		if v == nil || again == nil || string(v.JSON()) != string(again.JSON()) {
			t.Fatalf("%v, then %v", v, again)
		}
		if o := newSolver(unbounded).check(g, v); o.answer != some {
			t.Errorf("%s tells nothing apart", v.JSON())
		}
	}
	if v := (&trial{solver: newSolver(2), known: map[string]bool{}}).variations(a, a); v != nil {
		t.Errorf("%s is made of no edit", v.JSON())
	}
}

// TestREV08VariationsReach has edits that show in values of a certain form alone: with many properties on the way, and with a property that only a
// dependency names.
func TestREV08VariationsReach(t *testing.T) {
	var required, properties string
	for i := range 45 {
		required += fmt.Sprintf(`{"required": ["p%d"]}, `, i)
		properties += fmt.Sprintf(`"p%d": {}, `, i)
	}
	for _, c := range []struct{ name, schema, old, new string }{
		{"many", `{"type": "object", "properties": {"in": {"type": "object", "required": ["k"], "anyOf": [` + required + `{}], "properties": {` + properties + `"k": %s}}}}`,
			`{"type": "boolean"}`, `{"type": "null"}`},
		{"dependency", `{"oneOf": [{"type": "object", "required": ["k"], "properties": {"k": %s}}, {"type": "object", "dependentRequired": {"list": ["other"]}}]}`,
			`{"type": "boolean"}`, `{"type": ["boolean", "null"]}`},
	} {
		old, new := documentOf(t, fmt.Sprintf(c.schema, c.old)), documentOf(t, fmt.Sprintf(c.schema, c.new))
		a, b := bundled(old, "old"), bundled(new, "new")
		for _, g := range []goal{{{a, true}, {b, false}}, {{b, true}, {a, false}}} {
			v := (&trial{solver: newSolver(2), goal: g, known: map[string]bool{}}).variations(g[0].site, g[1].site)
			if v == nil {
				t.Errorf("%s: nothing is found", c.name)
			} else if o := newSolver(unbounded).check(g, v); o.answer != some {
				t.Errorf("%s: %s tells nothing apart", c.name, v.JSON())
			}
		}
	}
}

// TestREV08VariationsInsideOfThemselves: a value that shows the edit is tried as a part of another value of the same schema.
func TestREV08VariationsInsideOfThemselves(t *testing.T) {
	const schemas = `{"oneOf": [{"type": "object", "required": ["in"], "properties": {"in": {"$ref": "#"}}, "additionalProperties": false},
		{"type": "object", "required": ["k"], "properties": {"k": %s}},
		{"type": "object", "required": ["in"], "properties": {"in": {"type": "object", "required": ["k"], "properties": {"k": {"type": "null"}}}}}]}`
	old, new := documentOf(t, fmt.Sprintf(schemas, `true`)), documentOf(t, fmt.Sprintf(schemas, `{"type": "boolean"}`))
	v := &variation{descent: &descent{trial: &trial{solver: newSolver(2)}}}
	base, _ := schema.ParseJSON("value", []byte(`{"k": null}`))
	var got []string
	for _, n := range v.vary(site{new, new.Root}, site{old, old.Root}, []*schema.Node{base}) {
		got = append(got, string(n.JSON()))
	}
	if !slices.Contains(got, `{"k":null}`) || !slices.Contains(got, `{"in":{"k":null}}`) && !slices.Contains(got, `{"k":null,"in":{"k":null}}`) {
		t.Errorf("found %s", got)
	}
}

// TestREV08EditsBehindTwoKeywords: a schema that two keywords refer to is entered where it differs.
func TestREV08EditsBehindTwoKeywords(t *testing.T) {
	const schemas = `{"properties": {"a": {"$ref": "#/$defs/E"}}, "additionalProperties": {"$ref": "#/$defs/E"}, "$defs": {"E": {"type": %q}}}`
	a, b := documentOf(t, fmt.Sprintf(schemas, "boolean")), documentOf(t, fmt.Sprintf(schemas, "null"))
	if all := edited(site{a, a.Root}, site{b, b.Root}); len(all) != 2 {
		t.Errorf("%d edits are found", len(all))
	}
}

// An edit that nothing decides is looked for once in each direction, however deep it is: optional members of optional members are a union each.
func TestREV08UndecidedEditsDeepInsideEnd(t *testing.T) {
	chain := func(format string) *schema.Document {
		defs := fmt.Sprintf(`"L0": {"type": "string", "format": %q}`, format)
		for i := 1; i <= 30; i++ {
			defs += fmt.Sprintf(`, "L%d": {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/L%d"}, {"type": "null"}]}}}`, i, i-1)
		}
		return documentOf(t, `{"$ref": "#/$defs/L30", "$defs": {`+defs+`}}`)
	}
	if v := Compare(chain("uri"), chain("uri-template")); v.Relation() == Equal {
		t.Errorf("%v: %+v", v.Relation(), v)
	}
}

// TestREV08Included has edits that make a part stricter, and those where a stricter part makes the whole wider.
func TestREV08Included(t *testing.T) {
	const deep = `{"$ref": "#/$defs/R", "$defs": {"R": {"oneOf": [{"type": "object", "additionalProperties": {"$ref": "#/$defs/R"}%s}, {"type": ["string", "null"]}]}}}`
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{fmt.Sprintf(deep, `, "anyOf": [{"required": ["a"]}, {"maxProperties": 1}]`), fmt.Sprintf(deep, ""), true},
		{fmt.Sprintf(deep, ""), fmt.Sprintf(deep, `, "minProperties": 1`), false},
		{`{"type": ["integer", "null"], "enum": [1, null]}`, `{"type": ["number", "null"], "enum": [null, 1, 2]}`, true},
		{`{"type": "number"}`, `{"type": "integer"}`, false},
		{`{"properties": {"a": {"minimum": 2}, "b": true}, "required": ["a", "b"]}`, `{"properties": {"a": {"minimum": 2}}, "required": ["b"]}`, true},
		{`{"properties": {"a": true}, "additionalProperties": false}`, `{"properties": {}, "additionalProperties": false}`, false},
		{`{"properties": {}, "additionalProperties": {"type": "null"}}`, `{"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "null"}}`, false},
		{`{"not": {"type": "string", "minLength": 1}}`, `{"not": {"type": "string"}}`, false},
		{`{"oneOf": [{"type": "string", "minLength": 2}, {"maxLength": 2}]}`, `{"oneOf": [{"type": "string"}, {"maxLength": 2}]}`, false},
		{`{"oneOf": [{"type": "string", "minLength": 2}, {"type": "integer"}]}`, `{"oneOf": [{"type": "string"}, {"type": "integer"}]}`, true},
		{`{"not": {"type": "object"}}`, `{"not": {"type": "object", "required": [], "minProperties": 0, "properties": {}, "dependentRequired": {}}}`, true},
		{`{"oneOf": [{"type": "array", "uniqueItems": false}, true]}`, `{"oneOf": [{"type": "array", "minItems": 0.0}, true]}`, true},
		{`{"not": {"type": "string"}}`, `{"not": {"type": "string", "minLength": 1}}`, true},
		{`{"if": {"minimum": 1}, "then": {"maximum": 2}}`, `{"if": {"minimum": 1}, "then": {"maximum": 2}, "else": false}`, false},
		{`{"contains": {"type": "string"}, "minContains": 0}`, `{"contains": {"type": "string"}}`, false},
		{`{"prefixItems": [true], "items": {"type": "string"}}`, `{"prefixItems": [true, true], "items": {"type": "string"}}`, true},
		{`{"items": {"type": "string", "minLength": 1}, "maxItems": 2}`, `{"items": {"type": "string"}}`, true},
		{fmt.Sprintf(deep, `, "properties": {"n": {"$ref": "#/$defs/R"}, "v": {"minimum": 1}}`), fmt.Sprintf(deep, `, "properties": {"n": {"$ref": "#/$defs/R"}, "v": {"minimum": 2}}`), false},
		{`{"oneOf": [{"type": ["string", "null"]}, {"type": "object"}, true]}`, `{"oneOf": [{"type": ["string", "null"], "items": true}, {"type": "object"}, true]}`, true},
		{`{"oneOf": [{"type": "object", "required": ["k"]}, {"type": "object", "maxProperties": 0}]}`,
			`{"oneOf": [{"type": "object", "minProperties": 1}, {"type": "object", "maxProperties": 0}]}`, true},
		{`{"oneOf": [{"type": "object", "required": ["k"]}, {"type": "object", "maxProperties": 1}]}`,
			`{"oneOf": [{"type": "object", "minProperties": 1}, {"type": "object", "maxProperties": 1}]}`, false},
		{`{"if": {"minimum": 1}, "then": {"maximum": 2}}`, `{"if": {"minimum": 1, "type": ["number", "null", "string", "object", "array", "boolean"]}, "then": {"maximum": 3}}`, true},
		{`{"properties": {"a": {"minLength": 1}}, "anyOf": [{"required": ["a"]}, {"properties": {"b": true}}], "unevaluatedProperties": false}`,
			`{"properties": {"a": true}, "anyOf": [{"required": ["a"]}, {"properties": {"b": true}}], "unevaluatedProperties": false}`, true},
		{`{"anyOf": [{"required": ["a"]}, {"properties": {"b": true}}], "unevaluatedProperties": false}`,
			`{"anyOf": [{"required": ["a"]}, {"properties": {"c": true}}], "unevaluatedProperties": false}`, false},
		{`{"properties": {"a": true}, "unevaluatedProperties": false}`, `{"properties": {"a": true}, "unevaluatedProperties": {"type": "null"}}`, true},
		{`{"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}`,
			`{"type": "object", "oneOf": [{"type": "object", "required": ["a"], "minLength": 2}, {"required": ["b"]}]}`, true},
		{`{"type": "object", "oneOf": [{"type": "object", "required": ["a"]}, {"required": ["b"]}]}`,
			`{"type": "object", "oneOf": [{"type": ["object", "null"], "required": ["a"]}, {"required": ["b"]}]}`, true},
		{`{"type": ["object", "null"], "oneOf": [{"type": "object", "required": ["a"]}, {"required": ["b"]}]}`,
			`{"type": ["object", "null"], "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}`, false},
		{`{"type": "object", "additionalProperties": {"oneOf": [{"type": "object", "required": ["a"]}, {"required": ["b"]}]}}`,
			`{"type": "object", "additionalProperties": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}}`, false},
	} {
		a, b := documentOf(t, c.a), documentOf(t, c.b)
		if got := included(site{a, a.Root}, site{b, b.Root}); got != c.want {
			t.Errorf("%s in %s: %t", c.a, c.b, got)
		}
	}
}

// TestREV08IncludedPlainly has edits that are no longer searched for: of a type that the schemas around allow or rule out anyway, and of what is
// evaluated where all else is accepted.
func TestREV08IncludedPlainly(t *testing.T) {
	const evaluated = `{%s "unevaluatedProperties": {"type": ["null", "boolean", "object", "array", "number", "string"]}}`
	for _, c := range [][2]string{
		{`{"type": "object", "anyOf": [{"required": ["a"]}]}`, `{"type": "object", "anyOf": [{"type": "object", "required": ["a"], "minLength": 2}]}`},
		{`{"type": "object", "not": {"type": "object"}}`, `{"type": "object", "not": {"required": []}}`},
		{fmt.Sprintf(evaluated, `"properties": {"a": {"type": "null"}},`), fmt.Sprintf(evaluated, "")},
	} {
		a, b := documentOf(t, c[0]), documentOf(t, c[1])
		if !included(site{a, a.Root}, site{b, b.Root}) {
			t.Errorf("%s in %s: no", c[0], c[1])
		}
		i := &inclusion{results: map[comparedAs]bool{}, kinds: []schema.Kind{schema.Object}}
		if !i.plainly(site{a, a.Root}, site{b, b.Root}) {
			t.Errorf("%s in %s: that is searched for", c[0], c[1])
		}
	}
}

func TestREV08Undecided(t *testing.T) {
	v := Compare(documentOf(t, `{"type": "string", "format": "idn-email", "pattern": "b$"}`), documentOf(t, `{"type": "string", "pattern": "@"}`))
	if v.Relation() != Undecided || v.Refused.Decided || v.Refused.Why != "formats and patterns together" || v.Accepted.Value == nil {
		t.Errorf("%v: %+v", v.Relation(), v)
	}
}

// Every keyword that says something of values has a row, and every format.
func TestREV08Tables(t *testing.T) {
	asserting := 0
	for word := range keywords {
		for _, d := range []schema.Dialect{schema.Draft2020, schema.Draft7} {
			if typing.Asserts(word, d) {
				asserting++
				break
			}
		}
	}
	if all := typing.Asserting(); len(all) != asserting {
		t.Errorf("%d of the keywords %v have rows", asserting, all)
	}
	for _, name := range schema.Formats {
		row, ok := formats[name]
		if !ok {
			t.Errorf("format %s has no row", name)
			continue
		}
		shape := regexp.MustCompile(row.shape)
		for n := range 40 {
			s := row.like(n)
			if !row.format.Match(s) || !row.size.holds(len([]rune(s))) || !shape.MatchString(s) {
				t.Errorf("%q is no %s", s, name)
			}
			for _, wide := range row.within {
				if !formats[wide].format.Match(s) {
					t.Errorf("%q is a %s and no %s", s, name, wide)
				}
			}
		}
		for _, s := range row.unlike {
			if row.format.Match(s) {
				t.Errorf("%q is a %s", s, name)
			}
		}
	}
}

// TestREV08Shapes: what has a format has its shape, and what has an exact one has the format. Texts are examples with some characters changed.
func TestREV08Shapes(t *testing.T) {
	const letters = "0123456789aAfzZTPYW-+:./@~%#?[]{}\"\\ üé\n"
	seeds := []string{"2024-02-29", "0000-02-29", "1900-02-29", "1999-04-31", "2026-07-28T23:59:60Z", "00:59:60+01:00", "P1Y2M3DT4H5M6S", "P1D", "PT1S", "P1W",
		"a.b!#$%&'*+/=?^_`{|}~-@b.example", `"a b\"@"@[IPv6:::1]`, "a@[1.2.3.4]", "xn--4ca.example", "255.249.0.1", "01.1.1.1", "1::8:1.2.3.4",
		"a://u:p@[::1]:80/p;x?q#f", "//h/p", "1:b", "a+b:c%20", "http://ü.example/ü?ü#ü", "a{+b,c:3*}%20{?d.e}", "/a~0/~1b", "12/a", "0#", "01"}
	r := rand.New(rand.NewPCG(1, 2))
	for name, row := range formats {
		shape := regexp.MustCompile(row.shape)
		for i := range 4000 {
			text := []rune(row.like(i % 8))
			if i%3 == 0 {
				text = []rune(seeds[r.IntN(len(seeds))])
			}
			for range r.IntN(3) {
				if len(text) > 0 {
					text[r.IntN(len(text))] = []rune(letters)[r.IntN(utf8.RuneCountInString(letters))]
				}
			}
			s := string(text)
			switch has, shaped := row.format.Match(s), shape.MatchString(s); {
			case has && !shaped:
				t.Errorf("%q is a %s and has not its shape", s, name)
			case !has && shaped && row.exact:
				t.Errorf("%q has the shape of %s and is none", s, name)
			}
		}
	}
}

// TestREV08FormatsWithPatterns: a pattern beside a format is decided.
func TestREV08FormatsWithPatterns(t *testing.T) {
	for _, c := range []struct {
		format, old, new string
		want             Relation
	}{
		{"email", "^[a-z]+$", "^ ", Equal}, // neither accepts any
		{"email", "@example\\.com$", "@", Wider},
		{"hostname", "_", "^-", Equal},
		{"uri", "^https?://", "^https://", Narrower},
		{"date", "^2026-0[1-9]-(0[1-9]|1[0-9]|2[0-8])$", "^2026-0[1-9]-[012]", Wider},
		{"date", "-02-30$", "-04-31$", Equal},
		{"date", "^[0-9-]*$", "-", Equal},
		{"time", "^2[4-9]", "^3", Equal},
		{"ipv4", "^10\\.", "^1", Wider},
		{"uuid", "^[^-]{8}-", "-", Equal},
		{"json-pointer", "^/a$", "~2", Narrower},
		{"duration", "^P", "[0-9]", Equal},
		{"iri", "^ü", "^é", Equal},
	} {
		text := func(pattern string) string {
			return fmt.Sprintf(`{"type": "string", "format": %q, "pattern": %q}`, c.format, pattern)
		}
		if v := Compare(documentOf(t, text(c.old)), documentOf(t, text(c.new))); v.Relation() != c.want {
			t.Errorf("%s: %s and %s: %v, want %v: %+v", c.format, c.old, c.new, v.Relation(), c.want, v)
		}
	}
}
