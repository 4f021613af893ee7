package server

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// formOf is the params of an elicitation whose form has the field a.
func formOf(field string) []byte {
	return []byte(`{"message":"m","requestedSchema":{"type":"object","properties":{"a":` + field + `}}}`)
}

// A limit counts however its number is spelt, and 0 is one.
func TestLET12LET14LimitsOfAFormCountHoweverTheyAreSpelt(t *testing.T) {
	const list = `"type":"array","items":{"enum":["x","y"]}`
	for field, answers := range map[string]struct{ fit, broken []string }{
		`{"type":"string","minLength":3.0}`:                               {[]string{`"abc"`}, []string{`"ab"`, `5`}},
		`{"type":"string","minLength":1e2}`:                               {nil, []string{`"abc"`}},
		`{"type":"string","minLength":0,"maxLength":0}`:                   {[]string{`""`}, []string{`"a"`}},
		`{"type":"string","maxLength":20e-1}`:                             {[]string{`"ab"`}, []string{`"abc"`}},
		`{"type":"string","minLength":1,"maxLength":9223372036854775807}`: {[]string{`"ab"`}, []string{`""`}},
		`{` + list + `,"maxItems":0}`:                                     {[]string{`[]`}, []string{`["x"]`}},
		`{` + list + `,"minItems":1.0,"maxItems":1.0}`:                    {[]string{`["x"]`}, []string{`[]`, `["x","y"]`, `["z"]`}},
		`{"type":"integer","minimum":1e1,"maximum":12.0}`:                 {[]string{`10`, `12`}, []string{`9`, `13`}},
		`{"type":"array","items":{"type":"string"}}`:                      {[]string{`[]`, `["x","y"]`}, []string{`[5]`, `"x"`}},
		`{"type":"array","minItems":1}`:                                   {[]string{`["x"]`}, []string{`[]`}},
		`{"enum":["x"]}`:                                                  {[]string{`"x"`}, []string{`"y"`, `5`}},
		`{"type":"string","oneOf":[{"const":"x","title":"X"}]}`:           {[]string{`"x"`}, []string{`"y"`}},
	} {
		params := formOf(field)
		if err := contradiction(wire.OpElicit, params); err != nil {
			t.Errorf("%s: %v", field, err)
		}
		check := func(content string) error {
			return checkForm(params, []byte(`{"action":"accept","content":{"a":`+content+`}}`), check.Limits{})
		}
		for _, content := range answers.fit {
			if err := check(content); err != nil {
				t.Errorf("%s: %s: %v", field, content, err)
			}
		}
		for _, content := range answers.broken {
			if check(content) == nil {
				t.Errorf("%s: %s was accepted", field, content)
			}
		}
	}
}

// What can not be read could not be held against an answer: the handler is told where that is and what to write, and no answer is accepted.
func TestLET01LET12AFormThatCanNotBeReadIsRefused(t *testing.T) {
	for field, want := range map[string]string{
		`{"type":"string","minLength":"3"}`:                `/a/minLength: type: found "3", allowed: an integer`,
		`{"type":"string","minLength":2.5}`:                "/a/minLength: type: ",
		`{"type":"string","maxLength":-1}`:                 "/a/maxLength: minimum: found -1, allowed: at least 0",
		`{"type":"array","minItems":true}`:                 "/a/minItems: type: ",
		`{"type":"number","minimum":"3"}`:                  "/a/minimum: type: ",
		`{"type":"integer","enum":[1,2]}`:                  "/a/enum/0: type: ",
		`{"type":"string","enum":"x"}`:                     "/a/enum: type: ",
		`{"type":"string","enum":null}`:                    "/a/enum: type: ",
		`{"type":"string","oneOf":[{"title":"X"}]}`:        "/a/oneOf/0/const: is required and missing",
		`{"type":"array","items":{"anyOf":[{"const":1}]}}`: "/a/items/anyOf/0/const: type: ",
		`{"type":"object"}`:                                `/a/type: enum: found "object", allowed: one of "string", "number"`,
		`{"type":["string","null"]}`:                       "/a/type: ",
		`{"type":"string","pattern":5}`:                    "/a/pattern: type: ",
		`true`:                                             "/a: type: ",
	} {
		params := formOf(field)
		if err := contradiction(wire.OpElicit, params); err == nil || !strings.Contains(err.Error(), "/requestedSchema/properties"+want) {
			t.Errorf("%s: want %s, got %v", field, want, err)
		}
		if checkForm(params, []byte(`{"action":"accept","content":{"a":"anything"}}`), check.Limits{}) == nil {
			t.Errorf("%s: an answer was accepted", field)
		}
		if err := checkForm(params, []byte(`{"action":"decline"}`), check.Limits{}); err != nil {
			t.Errorf("%s: declined: %v", field, err)
		}
	}
	for _, form := range []string{`{"properties":[]}`, `{"properties":{},"required":"a"}`, `5`} {
		if err := contradiction(wire.OpElicit, []byte(`{"requestedSchema":`+form+`}`)); err == nil || !strings.Contains(err.Error(), "/requestedSchema") {
			t.Errorf("%s: %v", form, err)
		}
	}
}

// A member with the name in another case is another member: the value that is checked is the one that the handler gets.
func TestLET12NamesOfAnAnswerAndAFormMatchExactly(t *testing.T) {
	for _, row := range []struct{ field, answer, want string }{
		{`{"type":"string"}`, `{"action":"accept","content":{"a":5},"Action":"decline"}`, "/a: type: found 5"},
		{`{"type":"string"}`, `{"action":"accept","content":{"a":5},"Content":{"a":"x"}}`, "/a: type: found 5"},
		{`{"type":"string"}`, `{"Action":"accept","action":"decline","content":{"a":5}}`, ""},
		{`{"type":"string","Type":"integer"}`, `{"action":"accept","content":{"a":5}}`, "/a: type: found 5"},
		{`{"type":"string","minLength":2,"MinLength":0}`, `{"action":"accept","content":{"a":"x"}}`, "/a: minLength: "},
		{`{"type":"string","enum":["x"],"Enum":["y"]}`, `{"action":"accept","content":{"a":"y"}}`, "/a: enum: "},
		{`{"type":"string","MinLength":"long"}`, `{"action":"accept","content":{"a":"x"}}`, ""},
	} {
		err := checkForm(formOf(row.field), []byte(row.answer), check.Limits{})
		if err == nil && row.want != "" || err != nil && (row.want == "" || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %s: want %q, got %v", row.field, row.answer, row.want, err)
		}
	}
}

// A list of choices without any is none that a user could choose from, of a field as of the items of one.
func TestLET01AFormHasSomethingToChoose(t *testing.T) {
	for field, in := range map[string]string{
		`{"type":"string","enum":[]}`: "enum", `{"type":"string","oneOf":[]}`: "oneOf", `{"type":"array","items":{"enum":[]}}`: "items/enum",
		`{"type":"array","items":{"anyOf":[]}}`: "items/anyOf", `{"type":"array","items":{"oneOf":[]}}`: "items/oneOf",
	} {
		want := "/requestedSchema/properties/a: there is nothing to choose: list the choices in " + in + ", or leave it out"
		if err := contradiction(wire.OpElicit, formOf(field)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// The form of a question of one's own is read when it is asked: the client is not.
func TestLET12AQuestionWhoseFormCanNotBeReadIsNotAsked(t *testing.T) {
	q := confirmQuestion()
	q.Schema = `{"type":"object","properties":{"overwrite":{"type":"boolean"},"name":{"type":"string","maxLength":"9"}}}`
	var asked error
	f := dual(t, Definition{Tools: []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, asked = Ask(ctx, call, q, "")
		return nil, asked
	}))}})
	if m := f.ask(t.Context(), frame(1, "tools/call", forms, callParams("ask", `{}`))); m.field("result", "isError") != "true" {
		t.Error(m.raw)
	}
	if asked == nil || !strings.Contains(asked.Error(), `question "confirm" can not be read: /properties/name/maxLength: type: `) {
		t.Error(asked)
	}
}
