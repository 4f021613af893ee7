package jsonschema_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/jsonschema"
)

// Violations say what would be right, in the words that generated tools have (VAL02).
func TestVAL02WhatIsAllowedIsSaid(t *testing.T) {
	for schema, row := range map[string][2]string{
		`{"properties":{"a":{"pattern":"^a+$"}}}`:                {`{"a":"bb"}`, `/a: pattern: found "bb", allowed: text that matches ^a+$`},
		`{"properties":{"a":{"type":["string","null"]}}}`:        {`{"a":[]}`, `/a: type: found [], allowed: a string or null`},
		`{"properties":{"a":{"type":"integer"}}}`:                {`{"a":1.5}`, `/a: type: found 1.5, allowed: an integer`},
		`{"properties":{"a":{"enum":["x",1]}}}`:                  {`{"a":2}`, `/a: enum: found 2, allowed: one of "x", 1`},
		`{"properties":{"a":{"const":{"b":1.0}}}}`:               {`{"a":2}`, `/a: const: found 2, allowed: {"b":1}`},
		`{"properties":{"a":{"minLength":1}}}`:                   {`{"a":""}`, `/a: minLength: found "", allowed: at least 1 character, not 0`},
		`{"properties":{"a":{"maxLength":2}}}`:                   {`{"a":"abc"}`, `/a: maxLength: found "abc", allowed: at most 2 characters, not 3`},
		`{"properties":{"a":{"minItems":2}}}`:                    {`{"a":[1]}`, `/a: minItems: found [1], allowed: at least 2 items, not 1`},
		`{"properties":{"a":{"maxItems":0}}}`:                    {`{"a":[1]}`, `/a: maxItems: found [1], allowed: at most 0 items, not 1`},
		`{"minProperties":1}`:                                    {`{}`, `(root): minProperties: found {}, allowed: at least 1 member, not 0`},
		`{"maxProperties":1}`:                                    {`{"a":1,"b":2}`, `(root): maxProperties: found {"a":1,"b":2}, allowed: at most 1 member, not 2`},
		`{"properties":{"a":{"minimum":0.125}}}`:                 {`{"a":0}`, `/a: minimum: found 0, allowed: at least 0.125`},
		`{"properties":{"a":{"maximum":9007199254740993}}}`:      {`{"a":9007199254740994}`, `/a: maximum: found 9007199254740994, allowed: at most 9007199254740993`},
		`{"properties":{"a":{"exclusiveMinimum":0}}}`:            {`{"a":0}`, `/a: exclusiveMinimum: found 0, allowed: greater than 0`},
		`{"properties":{"a":{"exclusiveMaximum":0}}}`:            {`{"a":0}`, `/a: exclusiveMaximum: found 0, allowed: less than 0`},
		`{"properties":{"a":{"multipleOf":0.1}}}`:                {`{"a":0.25}`, `/a: multipleOf: found 0.25, allowed: a multiple of 0.1`},
		`{"properties":{"a":{"uniqueItems":true}}}`:              {`{"a":[1,1.0]}`, `/a: uniqueItems: found [1,1], allowed: items that all differ`},
		`{"properties":{"a":false}}`:                             {`{"a":1}`, `/a: schema: found 1, allowed: no value`},
		`{"required":["a","b/c"]}`:                               {`{}`, "/a: is required and missing\n/b~1c: is required and missing"},
		`{"properties":{"a":true},"additionalProperties":false}`: {`{"b":1}`, `/b: additionalProperties: found a property with this name, allowed: the properties that the schema names`},
		`{"properties":{"a":{"propertyNames":{"maxLength":1}}}}`: {`{"a":{"bb":1}}`, `/a: propertyNames: found "bb", allowed: at most 1 character, not 2`},
	} {
		v, err := jsonschema.ForTool([]byte(`{"name":"t","inputSchema":{"type":"object",` + schema[1:] + `}`))
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		if got := v.Validate([]byte(row[0])).Error(); got != row[1] {
			t.Errorf("%s with %s:\n got %s\nwant %s", schema, row[0], got, row[1])
		}
	}
}

// What is said of many names is bounded by what is listed, however long the way to them is (VAL02).
func TestVAL02ManyNamesOfALongWay(t *testing.T) {
	v, err := jsonschema.ForTool([]byte(`{"name":"t","inputSchema":{"type":"object","additionalProperties":{"type":"object","additionalProperties":false}}}`))
	if err != nil {
		t.Fatal(err)
	}
	input := []byte(`{"` + strings.Repeat("k", 100_000) + `":{"z":0`)
	for i := range 1000 {
		input = fmt.Appendf(input, `,"n%04d":0`, i)
	}
	input = append(input, "}}"...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wrong := v.Validate(input)
	runtime.ReadMemStats(&after)
	if len(wrong) != 32 || !strings.HasSuffix(wrong[31].Instance, "/n0031") {
		t.Errorf("%d violations", len(wrong))
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 30<<20 {
		t.Errorf("%d bytes for an input of %d", got, len(input))
	}
}
