package jsonschema_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/jsonschema"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

var (
	_ server.Validator       = (*jsonschema.Validator)(nil)
	_ server.OutputValidator = (*jsonschema.Validator)(nil)
)

const definition = `{"name":"order","inputSchema":{"type":"object","required":["amount"],"additionalProperties":false,"properties":{
	"amount":{"type":"integer","minimum":1},"mail":{"type":"string","format":"email"},"items":{"type":"array","items":{"$ref":"#/$defs/item"}}},
	"$defs":{"item":{"type":"string","maxLength":3}}},"outputSchema":{"type":"object","required":["ok"]}}`

func TestSRV06AddedToolsAreHeldAgainstTheirSchemas(t *testing.T) {
	v, err := jsonschema.ForTool([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	srv, err := kiln.New(struct{ kiln.Handlers }{})
	if err != nil {
		t.Fatal(err)
	}
	output := json.RawMessage(`{"ok":true}`)
	err = srv.AddTool([]byte(definition), v, func(context.Context, *server.Call, json.RawMessage) (json.RawMessage, error) { return output, nil })
	if err != nil {
		t.Fatal(err)
	}
	c := servertest.Start(t, srv)
	if r, err := c.Call("order", json.RawMessage(`{"amount":9007199254740993,"items":["abc"]}`)); err != nil || string(r.Structured) != `{"ok":true}` {
		t.Errorf("%+v %v", r, err)
	}
	_, err = c.Call("order", json.RawMessage(`{"amount":0,"mail":"nobody","items":["abcd"],"other":1}`))
	if wrong := (*servertest.ToolError)(nil); !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	for _, want := range []string{"/amount: minimum", "/mail: format", "/items/0: maxLength", "additionalProperties"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	output = json.RawMessage(`{}`)
	if _, err := c.Call("order", json.RawMessage(`{"amount":1}`)); err == nil || !strings.Contains(err.Error(), "breaks its own schema") {
		t.Errorf("%v", err)
	}
}

// TestSRV06WrongSchemasAreRefused: with the place and the rule, in words that name nothing of the library.
func TestSRV06WrongSchemasAreRefused(t *testing.T) {
	for definition, want := range map[string]string{
		`{"name":"a"}`: "the definition of a tool has no inputSchema",
		`{"name":"a","inputSchema":{"type":"objekt"}}`: `the inputSchema is wrong: /type: one of "array", "boolean", "integer", "null", ` +
			`"number", "object", "string" or an array, found "objekt"`,
		`{"name":"a","inputSchema":{"type":"object","properties":{"a":{"type":"strnig"}}}}`:             `the inputSchema is wrong: /properties/a/type: one of`,
		`{"name":"a","inputSchema":{"type":"object","properties":{"a":{"items":{"required":"b"}}}}}`:    `the inputSchema is wrong: /properties/a/items/required: an array, found`,
		`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"properties":{"a":{"enum":"b"}}}}`: `the outputSchema is wrong: /properties/a/enum: an array, found`,
		`{"name":"a","inputSchema":5}`:                                                           "the inputSchema is wrong: its root: a boolean or an object, found 5",
		`{"name":"a","inputSchema":{"minLength":-1,"maxLength":"1"}}`:                            `/maxLength: an integer, found "1"; /minLength: at least 0, found -1`,
		`{"name":"a","inputSchema":{"type":"object","properties":{"a":{"pattern":"("}}}}`:        "the inputSchema is wrong: /properties/a/pattern: '(' is not valid regex",
		`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"$ref":"#/$defs/nothing"}}`: `the outputSchema is wrong: json-pointer in "#/$defs/nothing" not found`,
		`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"$ref":"#nothing"}}`:        `the outputSchema is wrong: anchor in "#nothing" not found`,
		`{"name":"a","inputSchema":{"$ref":"file:///etc/passwd"}}`:                               "the inputSchema is wrong: file:///etc/passwd is outside of the schema, and nothing is fetched",
		`{"name":"a","inputSchema":{"$ref":"https://example.com/schema.json"}}`:                  "nothing is fetched",
		`{`:   "the definition of a tool is a JSON object",
		`[1]`: "the definition of a tool is a JSON object",
	} {
		_, err := jsonschema.ForTool([]byte(definition))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", definition, err, want)
			continue
		}
		for _, of := range []string{"mem:", "metaschema", "unmarshal", "\n"} {
			if strings.Contains(err.Error(), of) {
				t.Errorf("%s: %q is in %v", definition, of, err)
			}
		}
	}
}

// TestLET14WhatIsWrongIsListedInOneOrder: the order and the spelling of members change nothing of what is said.
func TestLET14WhatIsWrongIsListedInOneOrder(t *testing.T) {
	v, err := jsonschema.ForTool([]byte(`{"name":"x","inputSchema":{"type":"object","properties":{"z":{"type":"string"}},"additionalProperties":{"type":"boolean"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	forth, back := []byte(`{"z":3e-1`), []byte(`{"z":0.30`)
	for i := range 50 {
		forth = fmt.Appendf(forth, `,"m%d":{"b":1.0,"a":%d}`, i, i)
		back = fmt.Appendf(back, `,"m%d":{"a":%d.0,"b":1e0}`, 49-i, 49-i)
	}
	want := v.Validate(append(forth, '}')).Error()
	for range 5 {
		if got := v.Validate(append(back, '}')).Error(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	if got := strings.Count(want, "\n") + 1; got != 32 || !strings.Contains(want, `{"a":0,"b":1}`) {
		t.Errorf("%d: %s", got, want)
	}
}

// VAL02, VAL07: a number that takes too long to compute with, or that no library can hold, is a violation like any other.
func TestVAL07NumbersBeyondTheLimitAreViolations(t *testing.T) {
	for _, rule := range []string{`{"maximum":5}`, `{"multipleOf":3}`, `{"type":"integer"}`, `{"enum":[1]}`} {
		v, err := jsonschema.ForTool([]byte(`{"name":"t","inputSchema":{"type":"object","properties":{"a":` + rule + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, number := range []string{"1e1000001", "-1E+1000001", "1e-1000001", "1e99999999999999999999"} {
			wrong := v.Validate([]byte(`{"a":` + number + `}`))
			if len(wrong) != 1 || wrong[0].Instance != "/a" || wrong[0].Found != "a number whose exponent is beyond ±1,000,000" {
				t.Errorf("%s and %s: %v", rule, number, wrong)
			}
		}
	}
}

// VAL02: what is x-sensitive is in no violation, whichever keyword is broken around it, and wherever it stands by mistake.
func TestVAL02ASensitiveValueIsInNoViolation(t *testing.T) {
	const secret = "hunter2"
	pw := `{"type":"string","x-sensitive":true,"maxLength":9}`
	for schema, wrong := range map[string]string{
		`{"minProperties":2,"properties":{"pw":` + pw + `}}`:                                                      `{"pw":"hunter2"}`,
		`{"maxProperties":0,"properties":{"pw":` + pw + `}}`:                                                      `{"pw":"hunter2"}`,
		`{"required":["pw","b"],"properties":{"pw":` + pw + `}}`:                                                  `{"pw":"hunter2"}`,
		`{"additionalProperties":false,"properties":{"pw":` + pw + `}}`:                                           `{"pw":"hunter2","z":1}`,
		`{"dependentRequired":{"pw":["b"]},"properties":{"pw":` + pw + `}}`:                                       `{"pw":"hunter2"}`,
		`{"properties":{"pw":` + pw + `},"oneOf":[{"required":["pw"]},{"required":["pw"]}]}`:                      `{"pw":"hunter2"}`,
		`{"properties":{"pw":` + pw + `},"not":{"required":["pw"]}}`:                                              `{"pw":"hunter2"}`,
		`{"properties":{"pw":` + pw + `},"enum":[{}]}`:                                                            `{"pw":"hunter2"}`,
		`{"properties":{"pw":` + pw + `},"unevaluatedProperties":false}`:                                          `{"pw":"hunter2","z":1}`,
		`{"properties":{"o":{"type":"object","properties":{"pw":` + pw + `}}}}`:                                   `{"o":[{"pw":"hunter2"}]}`,
		`{"properties":{"l":{"type":"array","uniqueItems":true,"items":{"properties":{"pw":` + pw + `}}}}}`:       `{"l":[{"pw":"hunter2"},{"pw":"hunter2"}]}`,
		`{"properties":{"l":{"type":"array","maxItems":0,"items":{"properties":{"pw":` + pw + `}}}}}`:             `{"l":[{"pw":"hunter2"}]}`,
		`{"properties":{"pw":{"type":"string","pattern":"^x"},"o":{"properties":{"pw":` + pw + `}}}}`:             `{"pw":"hunter2"}`,
		`{"properties":{"o":{"type":"object","properties":{"pw":` + pw + `}}} }`:                                  `{"o":"{\"pw\":\"hunter2\"}"}`,
		`{"properties":{"o":{"properties":{"pw":` + pw + `}},"l":{"anyOf":[{"maxLength":3},{"type":"array"}]}}}`:  `{"l":"[{\"pw\":\"hunter2\"}]"}`,
		`{"properties":{"pw":` + pw + `,"at":{"type":"string","format":"ipv4"}}}`:                                 `{"at":"{\"pw\":\"hunter2\"}"}`,
		`{"properties":{"pw":{"x-sensitive":true,"type":"string","format":"ipv4"}}}`:                              `{"pw":"hunter2"}`,
		`{"properties":{"pw":{"x-sensitive":true,"type":"object","propertyNames":{"maxLength":3}}}}`:              `{"pw":{"hunter2":1}}`,
		`{"properties":{"pw":{"x-sensitive":true,"type":"object","additionalProperties":false}}}`:                 `{"pw":{"hunter2":1}}`,
		`{"properties":{"pw":` + pw + `},"$defs":{"s":{"minProperties":3}},"allOf":[{"$ref":"#/$defs/s"}]}`:       `{"pw":"hunter2"}`,
		`{"properties":{"pw":` + pw + `},"if":{"required":["pw"]},"then":{"required":["b"]},"else":false}`:        `{"pw":"hunter2"}`,
		`{"properties":{"m":{"type":"object","additionalProperties":{"properties":{"pw":` + pw + `},"not":{}}}}}`: `{"m":{"k":{"pw":"hunter2"}}}`,
	} {
		definition := []byte(`{"name":"t","inputSchema":{"type":"object",` + schema[1:] + `}`)
		v, err := jsonschema.ForTool(definition)
		if err != nil {
			t.Fatal(schema, err)
		}
		found := v.Validate([]byte(wrong)).Hidden(check.Sensitive(string(definition)))
		if len(found) == 0 || strings.Contains(found.Error(), secret) {
			t.Errorf("%s with %s: %v", schema, wrong, found)
		}
	}
}

// VAL02: of a value that is not shown, a model is told which rule it breaks, as by a generated tool.
func TestVAL02TheRuleThatASensitiveValueBreaksIsSaid(t *testing.T) {
	for schema, row := range map[string][2]string{
		`"type":"string","minLength":8`:         {`"short"`, "minLength: found a value that is not shown, allowed: at least 8 characters, not 5"},
		`"type":"string"`:                       {`5`, "type: found a value that is not shown, allowed: a string"},
		`"type":["string","null"]`:              {`[]`, "type: found a value that is not shown, allowed: a string or null"},
		`"pattern":"^[a-z]+$"`:                  {`"A"`, "pattern: found a value that is not shown, allowed: text that matches ^[a-z]+$"},
		`"format":"ipv4"`:                       {`"A"`, "format: found a value that is not shown, allowed: text of the format ipv4"},
		`"enum":["a","b"]`:                      {`"c"`, `enum: found a value that is not shown, allowed: one of "a", "b"`},
		`"propertyNames":{"maxLength":1}`:       {`{"bb":1}`, "propertyNames: found a value that is not shown, allowed: at most 1 character, not 2"},
		`"properties":{"a":{"type":"integer"}}`: {`{"a":"x"}`, "type: found a value that is not shown, allowed: an integer"},
		`"items":{"propertyNames":{"maxLength":1}}`: {`[{"bb":1},{"bb":1}]`,
			"propertyNames: found a name that is not shown, allowed: at most 1 character, not 2"},
	} {
		definition := []byte(`{"name":"t","inputSchema":{"type":"object","properties":{"pw":{"x-sensitive":true,` + schema + `}}}}`)
		v, err := jsonschema.ForTool(definition)
		if err != nil {
			t.Fatal(schema, err)
		}
		found := v.Validate([]byte(`{"pw":` + row[0] + `}`)).Hidden(check.Sensitive(string(definition)))
		if len(found) != 1 || !strings.HasSuffix(found.Error(), ": "+row[1]) {
			t.Errorf("%s with %s: %v, want %s", schema, row[0], found, row[1])
		}
	}
}

// VAL02: of a union is said what is wrong with the form that fits best, and not what is wrong with each.
func TestVAL02OfAUnionTheBestFormIsExplained(t *testing.T) {
	byKind := `{"oneOf":[{"required":["kind","url"],"properties":{"kind":{"const":"web"},"url":{"type":"string"}}},
		{"required":["kind","path","mode"],"properties":{"kind":{"const":"file"},"path":{"type":"string"},"mode":{"enum":["r","w"]}}}]}`
	for _, c := range []struct{ union, value, want string }{
		{`{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"}]}`, `[]`, `/u: type: found [], allowed: a string or a number or null`},
		{byKind, `{"kind":"file","path":7}`, "/u/mode: is required and missing\n/u/path: type: found 7, allowed: a string"},
		{byKind, `{"kind":"ftp","path":"a","mode":"r"}`, `/u/kind: const: found "ftp", allowed: "file"`},
		{`{"oneOf":[{"properties":{"a":{"const":"x"}}},{"properties":{"a":{"const":"y"}}}]}`, `{"a":"z"}`, `/u/a: const: found "z", allowed: "x" or "y"`},
		{`{"anyOf":[{"type":"string"},{"enum":[null]}]}`, `1`, `/u: anyOf: found 1, allowed: a string or null`},
		{`{"anyOf":[{"type":"string"},{"type":["number","string"]},{"const":null}]}`, `[]`, `/u: anyOf: found [], allowed: a string or a number or null`},
		{`{"oneOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"enum":["b","c"]}}}]}`, `{"k":"z"}`, `/u/k: oneOf: found "z", allowed: "a" or one of "b", "c"`},
		{`{"oneOf":[{"required":["x"]},{"required":["y"]}]}`, `{}`, `/u: oneOf: found {}, allowed: an object with "x" or with "y"`},
		{`{"oneOf":[{"type":"number"},{"type":"integer"},{"type":"string"}]}`, `1`, `/u: oneOf: found 1, allowed: a value that fits one form of oneOf alone; it fits form 1 and form 2`},
		{`{"anyOf":[{"type":"array","items":` + byKind + `},` + byKind + `]}`, `[{"kind":"web"}]`, "/u/0/url: is required and missing"},
		{`{"anyOf":[{"type":"integer"},{"type":"object","required":["a","b","c","d","e"]}]}`, `{}`, "/u/a: is required and missing\n" +
			"/u/b: is required and missing\n/u/c: is required and missing"},
	} {
		v, err := jsonschema.ForTool([]byte(`{"name":"t","inputSchema":{"type":"object","properties":{"u":` + c.union + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if found := v.Validate([]byte(`{"u":` + c.value + `}`)); found.Error() != c.want {
			t.Errorf("%s with %s:\n%v\nwant\n%s", c.union, c.value, found, c.want)
		}
	}
}

// VAL02: a name that is wrong is told where it stands.
func TestVAL02AWrongNameIsToldInItsObject(t *testing.T) {
	v, err := jsonschema.ForTool([]byte(`{"name":"t","inputSchema":{"type":"object","properties":{"o":{"propertyNames":{"maxLength":3}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	found := v.Validate([]byte(`{"o":{"good":1,"ok":2}}`))
	if len(found) != 1 || found[0].Instance != "/o" || found[0].Found != `"good"` || !strings.Contains(found[0].Allowed, "3") {
		t.Errorf("%+v", found)
	}
}

// VAL02: many names that are wrong are looked for together: one by one in all of the value, these would take an hour.
func TestVAL02ManyWrongNames(t *testing.T) {
	v, err := jsonschema.ForTool([]byte(`{"name":"t","inputSchema":{"type":"object","propertyNames":{"maxLength":3}}}`))
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(`{"one":1`)
	for i := range 200_000 {
		text = fmt.Appendf(text, `,"k%06d":%d`, i, i)
	}
	if found := v.Validate(append(text, '}')); len(found) != 32 || found[0].Found != `"k000000"` {
		t.Errorf("%d: %v", len(found), found)
	}
}

// VAL07, VAL09: values are written for the violations that are listed alone: one for each of those that are nested, these would take 20 times as long.
func TestVAL09OnlyListedValuesAreWritten(t *testing.T) {
	v, err := jsonschema.ForTool([]byte(`{"name":"t","inputSchema":{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"maxItems":0,"items":{"$ref":"#/$defs/n"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const depth = 500
	text := `{"a":` + strings.Repeat("[", depth) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", depth) + `}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found := v.Validate([]byte(text))
	runtime.ReadMemStats(&after)
	if len(found) != 32 || !strings.HasPrefix(found[0].Found, "[[[[") {
		t.Errorf("%.1000v", found)
	}
	if times := (after.TotalAlloc - before.TotalAlloc) / uint64(len(text)); times > 2*depth {
		t.Errorf("%d times the text was allocated", times)
	}
}

// A number is refused for its size, however it is written, and shown in one spelling.
func TestLET14NumbersAreJudgedByTheirValue(t *testing.T) {
	v, err := jsonschema.ForTool([]byte(`{"name":"a","inputSchema":{"properties":{"n":{"type":"number"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	zeros := strings.Repeat("0", 401)
	for want, spellings := range map[string][]string{
		"":          {"0", "0e999", "-0.0E-999", "1e400", "10e399", "0.1e401", "1" + zeros[1:], "1e-400", "0.1e-399", "12E5"},
		"1e+401":    {"1e401", "1E+401", "10e400", "0.1e402", "1" + zeros},
		"-1.5e-401": {"-1.5e-401", "-15e-402", "-0.15E-400"},
		"a number whose exponent is beyond ±1,000,000": {"1e1000001", "10e1000000", "1e99999999999999999999"},
	} {
		for _, n := range spellings {
			all := v.Validate([]byte(`{"n":` + n + `}`))
			if (len(all) == 0) != (want == "") || want != "" && all[0].Found != want {
				t.Errorf("%.20s: %v, want %q", n, all, want)
			}
		}
	}
}
