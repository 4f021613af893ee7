package server

import (
	"context"
	"errors"
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
	const list = `"type":"array","items":{"type":"string","enum":["x","y"]}`
	for field, answers := range map[string]struct{ fit, broken []string }{
		`{"type":"string","minLength":3.0}`:                               {[]string{`"abc"`}, []string{`"ab"`, `5`}},
		`{"type":"string","minLength":1e2}`:                               {nil, []string{`"abc"`}},
		`{"type":"string","minLength":0,"maxLength":0}`:                   {[]string{`""`}, []string{`"a"`}},
		`{"type":"string","maxLength":20e-1}`:                             {[]string{`"ab"`}, []string{`"abc"`}},
		`{"type":"string","minLength":1,"maxLength":9223372036854775807}`: {[]string{`"ab"`}, []string{`""`}},
		`{` + list + `,"maxItems":0}`:                                     {[]string{`[]`}, []string{`["x"]`}},
		`{` + list + `,"minItems":1.0,"maxItems":1.0}`:                    {[]string{`["x"]`}, []string{`[]`, `["x","y"]`, `["z"]`}},
		`{"type":"integer","minimum":1e1,"maximum":12.0}`:                 {[]string{`10`, `12`}, []string{`9`, `13`}},
		`{"type":"string","enum":["x"]}`:                                  {[]string{`"x"`}, []string{`"y"`, `5`}},
		`{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}`:  {[]string{`[]`, `["x"]`}, []string{`["y"]`, `[5]`, `"x"`}},
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
		`{"type":"string","minLength":"3"}`:                        `/a/minLength: type: found "3", allowed: an integer`,
		`{"type":"string","minLength":2.5}`:                        "/a/minLength: type: ",
		`{"type":"string","maxLength":-1}`:                         "/a/maxLength: minimum: found -1, allowed: at least 0",
		`{"type":"array","minItems":true}`:                         "/a/minItems: type: ",
		`{"type":"number","minimum":"3"}`:                          "/a/minimum: type: ",
		`{"type":"integer","enum":[1,2]}`:                          "/a/enum/0: type: ",
		`{"type":"string","enum":"x"}`:                             "/a/enum: type: ",
		`{"type":"string","enum":null}`:                            "/a/enum: type: ",
		`{"type":"string","oneOf":[{"title":"X"}]}`:                "/a/oneOf/0/const: is required and missing",
		`{"type":"array","items":{"anyOf":[{"const":1}]}}`:         "/a/items/anyOf/0/const: type: ",
		`{"type":"object"}`:                                        `/a/type: enum: found "object", allowed: one of "string", "number"`,
		`{"type":["string","null"]}`:                               "/a/type: ",
		`{"enum":["x"]}`:                                           "/a/type: is required and missing",
		`{"$ref":"https://example.com/schema"}`:                    "/a/type: is required and missing",
		`{"type":"array","items":{"type":"string"}}`:               "/a: a list in a form is a choice",
		`{"type":"array","minItems":1}`:                            "/a: a list in a form is a choice",
		`{"type":"array","items":{"anyOf":[{"const":"x"}]}}`:       "/a/items/anyOf/0/title: is required and missing",
		`{"type":"array","items":{"type":"integer","enum":["x"]}}`: "/a/items/type: ",
		`{"type":"string","pattern":5}`:                            "/a/pattern: type: ",
		`true`:                                                     "/a: type: ",
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
	for _, form := range []string{`{"type":"object","properties":[]}`, `{"type":"object","properties":{},"required":"a"}`, `5`, `{"type":"array"}`,
		`{"type":"array","properties":{}}`, `{"type":"object"}`, `{"properties":{}}`, `{"type":"object","properties":{},"$schema":5}`} {
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
	if asked == nil || !strings.Contains(asked.Error(), `question "confirm" can not be sent: /properties/name/maxLength: type: `) {
		t.Error(asked)
	}
}

// What a client would refuse to show, or could not show, is not sent, though answers could be read. What Go alone can not match is the client's to check.
func TestLET01AFormKeepsToTheDefinitionOfItsFields(t *testing.T) {
	for field, want := range map[string]string{
		`{"type":"string","pattern":"["}`: "is no regular expression", `{"type":"string","pattern":"(a"}`: "is no regular expression",
		`{"type":"string","pattern":"a**"}`: "is no regular expression", `{"type":"string","pattern":"\\"}`: "is no regular expression",
		`{"type":"string","pattern":"(?=a)b"}`: "", `{"type":"string","pattern":"(a)\\1"}`: "", `{"type":"string","pattern":"[^]a{1001}"}`: "",
		`{"type":"string","format":"ipv4"}`: `no form has the format "ipv4"`, `{"type":"string","format":"email"}`: "",
		`{"type":"string","default":5}`: "the default 5 is no string", `{"type":"string","default":"a"}`: "", `{"type":"boolean","default":null}`: "is no boolean",
		`{"type":"number","default":"5"}`: "is no number", `{"type":"integer","default":5}`: "", `{"type":"array","items":{"type":"string","enum":["x"]},"default":"x"}`: "is no array",
		`{"type":"array","items":{"enum":["x"]}}`:                 `the choices in items/enum have no type: write "type": "string" beside enum`,
		`{"type":"array","items":{"type":"string","enum":["x"]}}`: "", `{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}`: "",
	} {
		err := contradiction(wire.OpElicit, formOf(field))
		if (err == nil) != (want == "") || err != nil && !(strings.Contains(err.Error(), "/requestedSchema/properties/a: ") && strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A default that its own field refuses is not sent: who accepts the form as it is shown would give a wrong answer.
func TestLET01ADefaultFitsItsField(t *testing.T) {
	const list = `"type":"array","items":{"type":"string","enum":["x","y"]}`
	for field, want := range map[string]string{
		`{"type":"string","enum":["x"],"default":"y"}`: `: enum: found "y", allowed: `, `{"type":"string","enum":["x"],"default":"x"}`: "",
		`{"type":"string","oneOf":[{"const":"x","title":"X"}],"default":"X"}`: `: enum: found "X"`,
		`{"type":"string","minLength":3,"default":"ab"}`:                      ": minLength: ", `{"type":"string","maxLength":1,"default":"ab"}`: ": maxLength: ",
		`{"type":"string","format":"email","default":"nobody"}`: ": format: ", `{"type":"string","pattern":"^a$","default":"b"}`: ": pattern: ",
		`{"type":"integer","maximum":3,"default":4}`:  ": maximum: found 4, allowed: at most 3; mend the default, or leave it out",
		`{"type":"number","minimum":0.5,"default":0}`: ": minimum: ", `{"type":"integer","default":1.5}`: ": type: found 1.5", `{"type":"integer","maximum":3,"default":3.0}`: "",
		`{` + list + `,"default":["x","z"]}`: `/1: enum: found "z"`, `{` + list + `,"minItems":1,"default":[]}`: ": minItems: ", `{` + list + `,"default":["y"]}`: "",
		`{"type":"boolean","default":true}`: "", `{"type":"string","pattern":"(?=a)b","default":"x"}`: "", // that pattern is the client's to check
	} {
		err := contradiction(wire.OpElicit, formOf(field))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "/requestedSchema/properties/a/default"+want) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// What must not be in a form is in none, however the form is made: a question of one's own is not sent, in any revision, nor before a task.
func TestLET01LET04AQuestionIsHeldAgainstTheRulesOfForms(t *testing.T) {
	const text = `{"type":"object","properties":{"name":{"type":"string"}}}`
	secretField := `{"type":"object","properties":{"password":{"type":"string"}}}`
	for _, row := range []struct{ schema, message, want string }{
		{text, "Who?", ""}, {text, "Enter your password", "message asks for one"}, {secretField, "Who?", `"password" is named like one`},
		{`{"type":"object","properties":{"password":{"type":"string","x-sensitive":false}}}`, "Enter your password", ""},
		{`{"type":"object","properties":{"name":{"type":"string","x-sensitive":true}}}`, "Who?", "is x-sensitive"},
		{`{"type":"array"}`, "Who?", "/type: "}, {`{"type":"object"}`, "Who?", "/properties: is required"},
		{`{"type":"object","properties":{"a":{"$ref":"https://example.com"}}}`, "Who?", "/properties/a/type: is required"},
		{`{"type":"object","properties":{"a":{"type":"string","pattern":"["}}}`, "Who?", "/properties/a: the pattern"},
		{`{"type":"object","properties":{"a":{"type":"string","minLength":2,"default":"x"}}}`, "Who?", "/properties/a/default: minLength"},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x"]}}}}`, "Who?", `write "type": "string" beside enum`},
		{`{"type":"object","properties":{},"required":["zz"]}`, "Who?", `/required/0: the form has no property "zz"`},
	} {
		q := confirmQuestion()
		q.Schema = row.schema
		var asked error
		f := dual(t, Definition{Tools: []Tool{
			tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				_, asked = Ask(ctx, call, q, row.message)
				return nil, asked
			})),
			tool("early", structured(echo), withTask(TaskRequired), func(t *Tool) {
				early := *q
				early.Message = row.message
				t.Before = []BeforeQuestion{early.Before()}
			}),
		}}, WithGather(0))
		m := f.ask(t.Context(), frame(1, "tools/call", forms, callParams("ask", `{}`)))
		if sent := m.str("result", "resultType") == "input_required"; sent != (row.want == "") {
			t.Errorf("%s, %s: %s", row.schema, row.message, m.raw)
		}
		var secret *SecretError
		about := strings.Contains(row.want, "one") || strings.Contains(row.want, "sensitive")
		if row.want != "" && (asked == nil || !strings.Contains(asked.Error(), row.want) || errors.As(asked, &secret) != about) {
			t.Errorf("%s, %s: %v", row.schema, row.message, asked)
		}
		early := f.ask(t.Context(), frame(2, "tools/call", tasksAsks, callParams("early", `{"text":"hi"}`)))
		if sent := early.str("result", "resultType") == "input_required"; sent != (row.want == "") {
			t.Errorf("before a task: %s, %s: %s", row.schema, row.message, early.raw)
		}
	}
}

// Without Decode no answer could be read: the user is not asked for one.
func TestLET01AQuestionWithoutDecodeIsNotAsked(t *testing.T) {
	q := confirmQuestion()
	q.Decode = nil
	var asked error
	f := dual(t, Definition{Tools: []Tool{
		tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			_, asked = Ask(ctx, call, q, "")
			return nil, asked
		})),
		tool("early", structured(echo), withTask(TaskRequired), func(t *Tool) { t.Before = []BeforeQuestion{q.Before()} }),
	}}, WithGather(0))
	if m := f.ask(t.Context(), frame(1, "tools/call", forms, callParams("ask", `{}`))); m.field("result", "isError") != "true" {
		t.Error(m.raw)
	}
	if asked == nil || !strings.Contains(asked.Error(), `the question "confirm" has no Decode`) {
		t.Error(asked)
	}
	f.ask(t.Context(), frame(2, "tools/call", tasksAsks, callParams("early", `{"text":"hi"}`))).wantError(t, -32603)
}

// An answer holds what forms ask for: strings, numbers, booleans and lists of strings. Anything else is a violation also in a field that the form does not
// have, though the handler would not see it there.
func TestLET12AnAnswerHoldsNothingThatNoFormAsksFor(t *testing.T) {
	open := check.Object{Names: []string{"overwrite"}, Required: []string{"overwrite"}, AdditionalProperties: check.Skip}
	q := confirmQuestion()
	q.Decode = func(d *check.Decoder, v *confirmation) {
		for f := d.Object(&open); f >= 0; f = d.Next() {
			v.Overwrite = d.Bool(nil)
		}
	}
	ended := make(chan error, 1)
	f := dual(t, Definition{Tools: []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, err := Ask(ctx, call, q, "")
		ended <- err
		return &echoOutput{}, nil
	}))}}, WithGather(0))
	c := f.dial(t.Context())
	c.initialize(`{"elicitation":{}}`)
	for value, want := range map[string]string{
		`"x"`: "", `5`: "", `1.5`: "", `true`: "", `["x","y"]`: "", `[]`: "",
		`{"a":1}`: `/more: type: found {"a":1}, allowed: `, `{}`: "/more: type: ", `null`: "/more: type: found null",
		`["x",5]`: "/more/1: type: found 5, allowed: a string", `[{}]`: "/more/0: type: ", `[["x"]]`: "/more/0: type: ", `[null]`: "/more/0: type: ",
	} {
		answer := `{"action":"accept","content":{"overwrite":true,"more":` + value + `}}`
		c.call("1", "ask", `{}`)
		c.reply(c.nextRequest(), answer)
		var broken *AnswerError
		if err := <-ended; errors.As(err, &broken) != (want != "") || broken != nil && !strings.Contains(broken.Error(), want) {
			t.Errorf("%s: %v", value, err)
		}
		c.answer("1")
		if err := checkForm([]byte(`{"requestedSchema":`+q.Schema+`}`), []byte(answer), check.Limits{}); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s, against the form alone: %v", value, err)
		}
		retry := f.ask(t.Context(), frame(2, "tools/call", forms, callParams("ask", `{}`)+`,"inputResponses":{"confirm":`+answer+`}`))
		<-ended
		if again := retry.str("result", "resultType") == "input_required"; again != (want != "") {
			t.Errorf("%s: %s", value, retry.raw)
		}
	}
	if err := checkForm([]byte(`{"requestedSchema":{"type":"object","properties":{}}}`), []byte(`{"action":"accept","content":{"a":{}}}`), check.Limits{}); err == nil {
		t.Error("a form without fields takes an object")
	}
}
