package jsonschema_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/jsonschema"
)

func forSchema(t *testing.T, schema string) *jsonschema.Validator {
	t.Helper()
	v, err := jsonschema.ForTool([]byte(`{"name":"t","inputSchema":` + schema + `}`))
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return v
}

// A text is no number, and values are equal whatever they are written as.
func TestVAL05EqualityIsThatOfJSONSchema(t *testing.T) {
	for schema, values := range map[string]struct{ fit, wrong []string }{
		`{"const":"1"}`:               {[]string{`"1"`, `"\u0031"`}, []string{"1", "1.0", "10e-1", `"1.0"`}},
		`{"const":1}`:                 {[]string{"1", "1.0", "10e-1"}, []string{`"1"`, "true", "null"}},
		`{"const":"1/2"}`:             {[]string{`"1/2"`}, []string{"0.5"}},
		`{"const":"0x10"}`:            {[]string{`"0x10"`}, []string{"16"}},
		`{"const":{"a":"1","b":[1]}}`: {[]string{`{"b":[1.0],"a":"1"}`}, []string{`{"a":1,"b":[1]}`, `{"a":"1"}`, `{"a":"1","b":["1"]}`}},
		`{"const":null}`:              {[]string{"null"}, []string{"0", `"null"`, "false"}},
		`{"const":0}`:                 {[]string{"0", "-0", "0.0"}, []string{"false", `""`}},
		`{"enum":["1",5,[false]]}`:    {[]string{`"1"`, "5.0", "[false]"}, []string{"1", `"5"`, "[0]"}},
		`{"enum":[["1"]]}`:            {[]string{`["1"]`}, []string{"[1]"}},
		`{"not":{"const":"7"}}`:       {[]string{"7"}, []string{`"7"`}},
		`{"oneOf":[{"const":1},{"const":1.5},{"const":"1"}]}`: {[]string{"1", `"1"`, "1.5"}, []string{"2"}},
		`{"uniqueItems":true}`:                                {[]string{`["1.0",1]`, `[1,"1"]`, `[[1],[2]]`, `[0,false,null,""]`}, []string{"[1,1.0]", `[{"a":1,"b":2},{"b":2,"a":1e0}]`}},
		// A float64 holds 9007199254740992, and no 9007199254740993.
		`{"uniqueItems":true,"items":{}}`: {
			[]string{`[9007199254740993,9007199254740992.0]`, `[{"a":9007199254740993},{"a":9007199254740992.0}]`, `[0.1,0.1000000000000000055511151231257827]`, `[1e300,10.00000000000000000001e299]`},
			[]string{`[9007199254740992,9007199254740992.0]`, `[9007199254740993,90071992547409930e-1]`, `[-0.0,0e5]`, `[1e300,10e299]`},
		},
		`{"const":9007199254740993}`:            {[]string{"9007199254740993.0"}, []string{"9007199254740992.0", "9007199254740992", "9007199254740994"}},
		`{"enum":[[9007199254740993.0]]}`:       {[]string{"[9007199254740993]"}, []string{"[9007199254740992]"}},
		`{"maximum":9007199254740992.0}`:        {[]string{"9007199254740992"}, []string{"9007199254740993", "9007199254740993.0"}},
		`{"exclusiveMinimum":9007199254740992}`: {[]string{"9007199254740993.0"}, []string{"9007199254740992.0"}},
		`{"multipleOf":2}`:                      {[]string{"9007199254740992.0"}, []string{"9007199254740993", "9007199254740993.0"}},
		`{"type":"integer"}`:                    {[]string{"9007199254740993.0"}, []string{"9007199254740992.5"}},
	} {
		v := forSchema(t, schema)
		for _, value := range values.fit {
			if wrong := v.Validate([]byte(value)); wrong != nil {
				t.Errorf("%s refuses %s: %v", schema, value, wrong)
			}
		}
		for _, value := range values.wrong {
			wrong := v.Validate([]byte(value))
			if len(wrong) == 0 {
				t.Errorf("%s takes %s", schema, value)
			}
		}
	}
}

// What is wrong is said at the keyword.
func TestVAL02EqualityNamesItsKeyword(t *testing.T) {
	v := forSchema(t, `{"properties":{"c":{"const":"1"},"e":{"enum":[1,2]},"u":{"uniqueItems":true}}}`)
	var keywords []string
	for _, wrong := range v.Validate([]byte(`{"c":1,"e":"1","u":[1,2,1]}`)) {
		keywords = append(keywords, wrong.Instance+" "+wrong.Keyword)
	}
	if want := []string{"/c const", "/e enum", "/u uniqueItems"}; !slices.Equal(keywords, want) {
		t.Errorf("%q, want %q", keywords, want)
	}
}

// Patterns are those of ECMA-262, with the flag u, wherever one may stand, and what is Go's alone is refused.
func TestVAL05PatternsAreThoseOfECMA262(t *testing.T) {
	for pattern, texts := range map[string]struct{ fit, wrong []string }{
		`^\\s$`:                {[]string{`\u00a0`, `\ufeff`, `\u2003`, `\u000b`}, []string{"a"}},
		`^\\S+$`:               {[]string{"a"}, []string{`\u00a0`}},
		`^.$`:                  {[]string{"a", `\ud83d\ude00`}, []string{`\r`, `\u2028`}},
		`^\\u0041$`:            {[]string{"A"}, []string{"B"}},
		`^\\p{Script=Latin}+$`: {[]string{"abc"}, []string{"дом"}},
		`^a{1001}$`:            {[]string{strings.Repeat("a", 1001)}, []string{strings.Repeat("a", 1000)}},
	} {
		for i, schema := range []string{`{"pattern":"` + pattern + `"}`, `{"propertyNames":{"pattern":"` + pattern + `"}}`,
			`{"patternProperties":{"` + pattern + `":true},"additionalProperties":false}`} {
			v := forSchema(t, schema)
			as := `"%s"`
			if i > 0 {
				as = `{"%s":1}`
			}
			for _, text := range texts.fit {
				if wrong := v.Validate(fmt.Appendf(nil, as, text)); wrong != nil {
					t.Errorf("%s refuses %s: %v", schema, text, wrong)
				}
			}
			for _, text := range texts.wrong {
				if v.Validate(fmt.Appendf(nil, as, text)) == nil {
					t.Errorf("%s takes %s", schema, text)
				}
			}
		}
	}
	for _, foreign := range []string{`(?i)a`, `\\Aa\\z`, `[[:alpha:]]`, `\\pL`, `(?P<n>a)`, `(?=a)`} {
		if _, err := jsonschema.ForTool([]byte(`{"name":"t","inputSchema":{"pattern":"` + foreign + `"}}`)); err == nil {
			t.Errorf("%s is taken", foreign)
		}
	}
}

// Formats are those of generated tools.
func TestVAL05FormatsAreThoseOfGeneratedTools(t *testing.T) {
	for format, values := range map[string][2]string{
		"regex": {`^\\u0041$`, `(?i`}, "date": {"2024-02-29", "2023-02-29"}, "uuid": {"2b1d7c0a-4b5c-4f1e-8f00-0123456789ab", "{2b1d7c0a-4b5c-4f1e-8f00-0123456789ab}"},
	} {
		v := forSchema(t, `{"format":"`+format+`"}`)
		if wrong := v.Validate([]byte(`"` + values[0] + `"`)); wrong != nil {
			t.Errorf("%s: %v", format, wrong)
		}
		if v.Validate([]byte(`"`+values[1]+`"`)) == nil || v.Validate([]byte("7")) != nil {
			t.Errorf("%s takes %s, or refuses a number", format, values[1])
		}
	}
}

// node is a recursive union whose forms each look at the same member.
const node = `{"type":"object","properties":{"v":{"$ref":"#/$defs/N"}},"$defs":{"N":{"%s":[{"type":"null"},{"type":"integer"},
	{"type":"object","required":["l","r"],"additionalProperties":false,"properties":{"l":{"$ref":"#/$defs/N"},"r":{"$ref":"#/$defs/N"}}},
	{"type":"object","required":["l","c"],"additionalProperties":false,"properties":{"l":{"$ref":"#/$defs/N"},"c":{"$ref":"#/$defs/N"}}}]}}}`

func nested(depth int, leaf string) []byte {
	return []byte(`{"v":` + strings.Repeat(`{"l":`, depth) + leaf + strings.Repeat(`,"c":null}`, depth) + `}`)
}

// However often a part of the value is looked at, it is looked at once.
func TestVAL09RecursionDoesNotMultiply(t *testing.T) {
	for _, union := range []string{"anyOf", "oneOf"} {
		v := forSchema(t, fmt.Sprintf(node, union))
		for _, leaf := range []string{"1", "null"} {
			if wrong := v.Validate(nested(300, leaf)); wrong != nil {
				t.Errorf("%s: %.300s", union, wrong)
			}
		}
		if wrong := v.Validate(nested(300, `"x"`)); len(wrong) == 0 || len(wrong) > 32 {
			t.Errorf("%s: %d violations", union, len(wrong))
		}
	}
	diamond := `{"$ref":"#/$defs/L40","$defs":{"L0":{"minimum":1}`
	for i := 1; i <= 40; i++ {
		diamond += fmt.Sprintf(`,"L%d":{"allOf":[{"$ref":"#/$defs/L%[2]d"},{"$ref":"#/$defs/L%[2]d"}]}`, i, i-1)
	}
	v := forSchema(t, diamond+"}}")
	if wrong := v.Validate([]byte("1")); wrong != nil {
		t.Error(wrong)
	}
	if wrong := v.Validate([]byte("0")); len(wrong) != 1 || wrong[0].Keyword != "minimum" {
		t.Errorf("%.300s", wrong)
	}
}

// Below not and if nobody asks why a value is wrong. Whoever asks later is told.
func TestVAL02WhatWasJudgedWithoutWordsIsSaid(t *testing.T) {
	v := forSchema(t, `{"if":{"properties":{"a":{"$ref":"#/$defs/S"}}},"then":{},"else":{"properties":{"a":{"$ref":"#/$defs/S"}}},"$defs":{"S":{"minimum":5}}}`)
	if wrong := v.Validate([]byte(`{"a":1}`)); len(wrong) != 1 || wrong[0].Instance != "/a" || wrong[0].Keyword != "minimum" {
		t.Errorf("%v", wrong)
	}
	v = forSchema(t, `{"oneOf":[{"required":["a"]},{"$ref":"#/$defs/S"}],"properties":{"b":{"$ref":"#/$defs/S"}},"not":{"$ref":"#/$defs/S"},"$defs":{"S":{"minProperties":5}}}`)
	if wrong := v.Validate([]byte(`{"a":1,"b":{}}`)); len(wrong) != 1 || wrong[0].Instance != "/b" {
		t.Errorf("%v", wrong)
	}
}

// Where what a schema says depends on who refers to it, the references are counted.
func TestVAL07ReferencesAreBounded(t *testing.T) {
	v := forSchema(t, strings.TrimSuffix(fmt.Sprintf(node, "anyOf"), "}")+`,"unevaluatedProperties":false}`)
	if wrong := v.Validate(nested(8, "1")); wrong != nil {
		t.Error(wrong)
	}
	if wrong := v.Validate(nested(100, "1")); len(wrong) != 1 || !strings.Contains(wrong[0].Allowed, "references") {
		t.Errorf("%.300s", wrong)
	}
	if wrong := v.Validate(nested(8, `"x"`)); len(wrong) == 0 {
		t.Error("after that, nothing is wrong any more")
	}
}

// One Validator serves many goroutines, also one whose schema refers to that of its draft.
func TestSRV06ValidatorsAreSafeForConcurrentUse(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			own := forSchema(t, `{"properties":{"s":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}`)
			if own.Validate([]byte(`{"s":{"type":"objekt"}}`)) == nil || own.Validate([]byte(`{"s":{"type":"object"}}`)) != nil {
				t.Error("the draft's schema judges otherwise")
			}
		})
	}
	v := forSchema(t, fmt.Sprintf(node, "oneOf"))
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				if wrong := v.Validate(nested(i, "1")); wrong != nil {
					t.Error(wrong)
				}
				if v.Validate(nested(i, `"x"`)) == nil {
					t.Error("nothing is wrong")
				}
			}
		})
	}
	all.Wait()
}

// A zero is one whatever its exponent, to every rule.
func TestLET14AZeroMayHaveAnyExponent(t *testing.T) {
	for _, schema := range []string{`{"minimum":0}`, `{"maximum":0}`, `{"multipleOf":2}`, `{"type":"integer"}`, `{"const":0}`, `{"enum":[0]}`, `{"exclusiveMinimum":-1}`} {
		for _, zero := range []string{"0e99999999999999999999", "-0.0E-99999999999999999999", "0.00e+400000"} {
			if wrong := forSchema(t, schema).Validate([]byte(zero)); wrong != nil {
				t.Errorf("%s and %s: %v", schema, zero, wrong)
			}
			if wrong := forSchema(t, `{"items":`+schema+`}`).Validate([]byte("[" + zero + "]")); wrong != nil {
				t.Errorf("%s and [%s]: %v", schema, zero, wrong)
			}
		}
	}
}
