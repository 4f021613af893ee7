package argument_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/argument"
)

const schema = `{"type":"object","required":["name"],"additionalProperties":false,"properties":{
  "name":{"type":"string","minLength":2},"n":{"type":"integer","maximum":120},"ok":{"type":"boolean"},"x":{"type":["number","null"]},
  "tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":"integer"}},"any":{},"o":{"type":"object"},
  "gaps":{"type":["array","null"],"items":{"type":["number","null"]}}}}`

func TestWordsBecomeWhatTheSchemaHas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte("\ufeff"+`{"name":"file","n":12345678901234567890}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"":                              `{}`,
		"name=5":                        `{"name":"5"}`,
		"name=a=b":                      `{"name":"a=b"}`,
		"name=":                         `{"name":""}`,
		"n=5 ok=true x=1.50":            `{"n":5,"ok":true,"x":1.50}`,
		"x=null any=5 any2:=5":          `{"any":"5","any2":5,"x":null}`,
		"n=five ok=yes":                 `{"n":"five","ok":"yes"}`,
		"tags=a":                        `{"tags":["a"]}`,
		"tags=a tags=b":                 `{"tags":["a","b"]}`,
		"ids=1 ids=2 ids:=[3,4]":        `{"ids":[1,2,3,4]}`,
		"gaps=1 gaps=null gaps=2":       `{"gaps":[1,null,2]}`,
		"gaps=null gaps=null gaps=1":    `{"gaps":[null,null,1]}`,
		"gaps=null":                     `{"gaps":null}`,
		`o:={"a":[1]} tags=["x","y"]`:   `{"o":{"a":[1]},"tags":["x","y"]}`,
		"@" + file + " name=word":       `{"n":12345678901234567890,"name":"word"}`,
		"- n=1":                         `{"n":1,"name":"stdin"}`,
		"unknown=1 name:=\"in quotes\"": "",
	} {
		split := strings.Fields(words)
		if want == "" {
			split, want = []string{"unknown=1", `name:="in quotes"`}, `{"name":"in quotes","unknown":"1"}`
		}
		g, err := argument.Read(split, strings.NewReader(`{"name":"stdin"}`))
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		if got, err := g.Object(json.RawMessage(schema)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", words, got, err, want)
		}
	}
}

// TestWhatIsReadIsWhatTheSchemaAllows: a number, boolean or list is read where the schema has no text, however it says so.
func TestWhatIsReadIsWhatTheSchemaAllows(t *testing.T) {
	const defs = `"$defs":{"n":{"type":"integer"},"list":{"type":"array","items":{"$ref":"#/$defs/n"}},"a/b c":{"type":"boolean"},
		"self":{"$ref":"#/$defs/self"},"lists":{"type":"array","items":{"$ref":"#/$defs/lists"}}}`
	for _, c := range []struct{ schema, words, want string }{
		{`{"enum":[1,2]}`, "a=1", `1`},
		{`{"enum":[1,"x"]}`, "a=1", `"1"`},
		{`{"enum":[true,null]}`, "a=true", `true`},
		{`{"const":5}`, "a=5", `5`},
		{`{"const":"5"}`, "a=5", `"5"`},
		{`{"type":["string","integer"],"const":5}`, "a=5", `5`},
		{`{"$ref":"#/$defs/n"}`, "a=5", `5`},
		{`{"$ref":"#/$defs/a~1b%20c"}`, "a=true", `true`},
		{`{"$ref":"#/$defs/nowhere"}`, "a=5", `"5"`},
		{`{"$ref":"other.json"}`, "a=5", `"5"`},
		{`{"$ref":"#/$defs/self"}`, "a=5", `"5"`},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, "a=5", `5`},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, "a=null", `null`},
		{`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, "a=5", `"5"`},
		{`{"anyOf":[{"type":"integer"},{}]}`, "a=5", `"5"`},
		{`{"anyOf":[{"type":"integer"},false]}`, "a=5", `5`},
		{`{"oneOf":[{"$ref":"#/$defs/n"},{"type":"boolean"}]}`, "a=true", `true`},
		{`{"allOf":[{"$ref":"#/$defs/n"},{"minimum":1}]}`, "a=5", `5`},
		{`{"type":"array","items":{"$ref":"#/$defs/n"}}`, "a=1 a=2", `[1,2]`},
		{`{"$ref":"#/$defs/list"}`, "a=1 a=2", `[1,2]`},
		{`{"anyOf":[{"$ref":"#/$defs/list"},{"type":"null"}]}`, "a=1", `[1]`},
		{`{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"string"}]}}`, "a=1", `["1"]`},
		{`{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, "a=1", `[[1]]`},
		{`{"$ref":"#/$defs/lists"}`, "a=x", `[["x"]]`},
	} {
		g, err := argument.Read(strings.Fields(c.words), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, whole := range []string{
			`{"properties":{"a":` + c.schema + `},` + defs + `}`,
			`{"anyOf":[{"type":"null"},{"$ref":"#/$defs/in"}],"$defs":{"in":{"type":"object","properties":{"a":` + c.schema + `}},` + strings.TrimPrefix(defs, `"$defs":{`) + `}`,
		} {
			if got, err := g.Object(json.RawMessage(whole)); err != nil || string(got) != `{"a":`+c.want+`}` {
				t.Errorf("%s by %s: %s, %v, want %s", c.words, whole, got, err, c.want)
			}
		}
	}
}

func TestWordsThatCanNotBeRead(t *testing.T) {
	for words, want := range map[string]string{
		"name":          "name: write name=text, name:=JSON, @file.json or -",
		"=x":            "=x: write name=text",
		`{"name":"a="}`: "all arguments as JSON are read from a file (@file.json) or standard input (-); one is name:=JSON",
		"n:=five":       "n:=five: what follows := is no JSON",
		"@nowhere":      "@nowhere: no such file",
		"-":             "-: arguments are one JSON object",
		"name=a name=b": "name is given twice",
	} {
		g, err := argument.Read(strings.Fields(words), strings.NewReader(`[1]`))
		if err == nil {
			_, err = g.Object(json.RawMessage(schema))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", words, err, want)
		}
	}
	if _, err := argument.Read([]string{"-"}, strings.NewReader(`null`)); err == nil || !strings.Contains(err.Error(), "this is null") {
		t.Error(err)
	}
}

// TestArgumentsThatReadersTakeDifferentlyAreRefused: of a key that occurs twice one value would be sent without a word, and U+FFFD in place of a byte.
func TestArgumentsThatReadersTakeDifferentlyAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	for _, c := range []struct{ word, file, want string }{
		{"name=a\xffb", "", "name=a\xffb: byte 7 is not UTF-8"},
		{"na\xffme=ab", "", "byte 3 is not UTF-8"},
		{"name:=\"a\xffb\"", "", "byte 9 is not UTF-8"},
		{`name:="\ud800"`, "", "line 1, column 2: half of a surrogate pair is no character"},
		{`o:={"a":1,"b":{"c":1,"c":2}}`, "", `line 1, column 19: key "c" occurs twice; the first is at line 1: remove one of them`},
		{"-", `{"name":"a","name":"b"}`, `-: line 1, column 13: key "name" occurs twice`},
		{"-", "{\"name\":\n\"a\xffb\"}", "-: line 2, column 3: byte 0xff is not UTF-8: write the text in UTF-8"},
		{"@" + file, "{\"name\":\"a\",\n\"name\":\"b\"}", `line 2, column 1: key "name" occurs twice`},
	} {
		if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := argument.Read([]string{c.word}, strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v, want %s", c.word, c.file, err, c.want)
		}
	}
	if _, err := argument.Read([]string{"name=\ufffd", `o:="\ufffd"`}, nil); err != nil {
		t.Errorf("U+FFFD itself: %v", err)
	}
}

func TestWhatBreaksASchemaIsNamed(t *testing.T) {
	check := func(value string) []argument.Violation {
		all, err := argument.Check(t.Context(), json.RawMessage(schema), json.RawMessage(value))
		if err != nil {
			t.Error(err)
		}
		return all
	}
	for value, want := range map[string]string{
		`{"name":"ab","n":5}`:                `[]`,
		`{"n":500,"name":"ab"}`:              `[/n: maximum: must be <= 120 but found 500]`,
		`{}`:                                 `[required: missing properties: 'name'; found {}]`,
		`{"name":"ab","tags":["a",{"b":1}]}`: `[/tags/1: type: expected string, but got object]`,
		`{"name":"a","who":1}`:               `[/name: minLength: length must be >= 2, but got 1 additionalProperties: additionalProperties 'who' not allowed; found {"name":"a","who":1}]`,
	} {
		got := fmt.Sprint(check(value))
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", value, got, want)
		}
	}
	long := `{"name":"ab","o":"` + strings.Repeat("é", 200) + `","who":"` + strings.Repeat("é", 200) + `"}`
	for _, v := range check(long) {
		if len(v.String()) > 200 || strings.Contains(v.String(), "\ufffd") {
			t.Errorf("%s", v)
		}
	}
}

// TestWhatIsAllowedIsShownAsTheSchemaWritesIt, and how a word is written that was taken for a text, if it would be allowed.
func TestWhatIsAllowedIsShownAsTheSchemaWritesIt(t *testing.T) {
	for _, c := range []struct{ schema, word, want string }{
		{`{"enum":[1,2]}`, "a=3", `[/a: enum: value must be one of 1, 2; found 3]`},
		{`{"enum":[1,2]}`, "a=x", `[/a: enum: value must be one of 1, 2; found "x"]`},
		{`{"enum":[1]}`, "a=3", `[/a: enum: value must be 1; found 3]`},
		{`{"enum":["x","y"]}`, "a=z", `[/a: enum: value must be one of "x", "y"; found "z"]`},
		{`{"const":5}`, "a=x", `[/a: const: value must be 5; found "x"]`},
		{`{"const":null}`, "a=x", `[/a: const: value must be null; found "x"]`},
		{`{"const":{"b":1}}`, "a=x", `[/a: const: value must be {"b":1}; found "x"]`},
		{`{"enum":[1,"x"]}`, "a=1", `[/a: enum: value must be one of 1, "x"; found "1" (a:=1 gives it as a number)]`},
		{`{"enum":[1,"x"]}`, "a=2", `[/a: enum: value must be one of 1, "x"; found "2"]`},
		{`{"enum":[1,"x"]}`, `a:="1"`, `[/a: enum: value must be one of 1, "x"; found "1"]`},
		{`{"anyOf":[{"const":true},{"const":"x"}]}`, "a=true", `[/a: const: value must be "x"; found "true" (a:=true gives it as a boolean) /a: const: value must be true; found "true" (a:=true gives it as a boolean)]`},
		{`{"anyOf":[{"type":"object"},{"type":"object"}]}`, "a=x", `[/a: type: expected object, but got string]`},
	} {
		whole := json.RawMessage(`{"properties":{"a":` + c.schema + `}}`)
		g, err := argument.Read([]string{c.word}, nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := g.Object(whole)
		if err != nil {
			t.Fatal(err)
		}
		all, err := argument.Check(t.Context(), whole, in)
		if err != nil {
			t.Fatal(err)
		}
		g.Explain(t.Context(), whole, in, all)
		if got := fmt.Sprint(all); got != c.want {
			t.Errorf("%s by %s:\n got %s\nwant %s", c.word, c.schema, got, c.want)
		}
	}
}

// bomb is a schema by which the validator tries what it refers to 2 to the power of 60 times.
func bomb() json.RawMessage {
	defs := []string{`"d0":{"type":"string"}`}
	for i := range 60 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i))
	}
	return json.RawMessage(`{"properties":{"a":{"$ref":"#/$defs/d60"}},"$defs":{` + strings.Join(defs, ",") + `}}`)
}

// TestVAL09ACheckEndsWithItsContext: and what it has begun ends, too, which synctest waits for.
func TestVAL09ACheckEndsWithItsContext(t *testing.T) {
	for _, value := range []string{`{"a":"x"}`, `{"a":1}`} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(0, cancel)
			if all, err := argument.Check(ctx, bomb(), json.RawMessage(value)); !errors.Is(err, argument.ErrUndecided) {
				t.Error(all, err)
			}
		})
	}
}

// TestVAL07ACheckDoesNotWaitForAPattern that takes minutes: it is linear, but has thousands of states at each of a million letters.
func TestVAL07ACheckDoesNotWaitForAPattern(t *testing.T) {
	schema := json.RawMessage(`{"pattern":"^(` + strings.Repeat("x{0,1000}y?", 10) + `)*z$"}`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if all, err := argument.Check(ctx, schema, json.RawMessage(`"`+strings.Repeat("x", 1<<20)+`"`)); !errors.Is(err, argument.ErrUndecided) {
		t.Error(all, err)
	}
}

// TestVAL09WordsAreReadByASchemaThatNeverEnds as texts.
func TestVAL09WordsAreReadByASchemaThatNeverEnds(t *testing.T) {
	g, err := argument.Read([]string{"a=1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := g.Object(bytes.ReplaceAll(bomb(), []byte(`"string"`), []byte(`"integer"`))); err != nil || string(got) != `{"a":"1"}` {
		t.Errorf("%s, %v", got, err)
	}
}

// TestVAL07ANumberThatTheValidatorDoesNotSurvive leaves its value unchecked.
func TestVAL07ANumberThatTheValidatorDoesNotSurvive(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"a":{"type":"integer"}}}`)
	if all, err := argument.Check(t.Context(), schema, json.RawMessage(`{"a":1e99999999}`)); !errors.As(err, new(*argument.UncheckableError)) {
		t.Error(all, err)
	}
}

// TestNothingIsFetched: a schema comes from a stranger.
func TestNothingIsFetched(t *testing.T) {
	for _, ref := range []string{"https://example.com/s.json", "file:///etc/passwd", "other.json"} {
		if _, err := argument.Check(t.Context(), json.RawMessage(`{"$ref":"`+ref+`"}`), json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "nothing is fetched") {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// TestVAL05PatternsAreThoseOfECMA262, which are matched and shown as the schema writes them.
func TestVAL05PatternsAreThoseOfECMA262(t *testing.T) {
	for pattern, values := range map[string][2]string{
		`^\\u00e9+$`: {"éé", "e"}, `^[^]$`: {"x", ""}, `^\\s$`: {"\u2003", "x"}, `^(?<year>\\d{4})$`: {"2026", "26"}, `^x{1,1500}$`: {"xx", "y"},
	} {
		for _, where := range []string{`{"properties":{"a":{"pattern":"` + pattern + `"}}}`, `{"properties":{"a":{"not":{"not":{"pattern":"` + pattern + `"}}}}}`} {
			for i, value := range values {
				text, _ := json.Marshal(map[string]string{"a": value})
				all, err := argument.Check(t.Context(), json.RawMessage(where), text)
				if err != nil || (len(all) == 0) != (i == 0) {
					t.Errorf("%s, %q: %v, %v", where, value, all, err)
				}
				if i == 1 && !strings.Contains(where, "not") && !strings.Contains(fmt.Sprint(all), "does not match pattern '"+strings.ReplaceAll(pattern, `\\`, `\`)+"'") {
					t.Errorf("%s: %v", where, all)
				}
			}
		}
	}
}

// TestANameThatTheSchemaDoesNotHaveIsASlip: unless it is written in a way that says it is meant, or the schema may have more names.
func TestANameThatTheSchemaDoesNotHaveIsASlip(t *testing.T) {
	const pages = `"properties":{"title":{},"pages":{}}`
	for _, c := range []struct{ schema, words, want string }{
		{`{` + pages + `}`, "pages=3", ""},
		{`{` + pages + `}`, "title=a page=3", `no argument "page"; did you mean "pages"? (page:=JSON gives it as it is)`},
		{`{` + pages + `,"additionalProperties":false}`, "foo=bar", `no argument "foo"; it has pages, title`},
		{`{` + pages + `}`, "pages.from=3", `no argument "pages.from"; it has pages, title (pages:='{…}' gives it whole)`},
		{`{` + pages + `}`, "page:=3", ""},
		{`{` + pages + `}`, "-", ""},
		{`{` + pages + `,"additionalProperties":{"type":"string"}}`, "page=3", ""},
		{`{` + pages + `,"additionalProperties":true}`, "page=3", ""},
		{`{` + pages + `,"patternProperties":{"^x-":{}}}`, "x-a=3", ""},
		{`{` + pages + `,"patternProperties":{"^x-":{}}}`, "y-a=3", `no argument "y-a"; it has pages, title (y-a:=JSON gives it as it is)`},
		{`{` + pages + `,"patternProperties":{"(?=x)":{}}}`, "y-a=3", ""},
		{`{` + pages + `,"allOf":[{"properties":{"page":{}}}]}`, "page=3", ""},
		{`{"type":"object"}`, "page=3", ""},
		{`true`, "page=3", ""},
	} {
		g, err := argument.Read(strings.Fields(c.words), strings.NewReader(`{"page":3}`))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := g.Known("argument", json.RawMessage(c.schema)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.schema, c.words, got, c.want)
		}
	}
}
