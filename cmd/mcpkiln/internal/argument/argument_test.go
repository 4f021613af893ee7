package argument_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/argument"
)

const schema = `{"type":"object","required":["name"],"additionalProperties":false,"properties":{
  "name":{"type":"string","minLength":2},"n":{"type":"integer","maximum":120},"ok":{"type":"boolean"},"x":{"type":["number","null"]},
  "tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":"integer"}},"any":{},"o":{"type":"object"}}}`

func TestWordsBecomeWhatTheSchemaHas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte(`{"name":"file","n":12345678901234567890}`), 0o600); err != nil {
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

func TestWhatBreaksASchemaIsNamed(t *testing.T) {
	s, err := argument.Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		`{"name":"ab","n":5}`:                `[]`,
		`{"n":500,"name":"ab"}`:              `[/n: maximum: must be <= 120 but found 500]`,
		`{}`:                                 `[required: missing properties: 'name'; found {}]`,
		`{"name":"ab","tags":["a",{"b":1}]}`: `[/tags/1: type: expected string, but got object]`,
		`{"name":"a","who":1}`:               `[/name: minLength: length must be >= 2, but got 1 additionalProperties: additionalProperties 'who' not allowed; found {"name":"a","who":1}]`,
	} {
		got := fmt.Sprint(s.Check(json.RawMessage(value)))
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", value, got, want)
		}
	}
	long := `{"name":"ab","o":"` + strings.Repeat("é", 200) + `","who":"` + strings.Repeat("é", 200) + `"}`
	for _, v := range s.Check(json.RawMessage(long)) {
		if len(v.String()) > 200 || strings.Contains(v.String(), "\ufffd") {
			t.Errorf("%s", v)
		}
	}
}

// TestNothingIsFetched: a schema comes from a stranger.
func TestNothingIsFetched(t *testing.T) {
	for _, ref := range []string{"https://example.com/s.json", "file:///etc/passwd", "other.json"} {
		if _, err := argument.Compile(json.RawMessage(`{"$ref":"` + ref + `"}`)); err == nil || !strings.Contains(err.Error(), "nothing is fetched") {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// TestANameThatTheSchemaDoesNotHaveIsASlip: unless it is written in a way that says it is meant, or the schema may have more names.
func TestANameThatTheSchemaDoesNotHaveIsASlip(t *testing.T) {
	const pages = `"properties":{"title":{},"pages":{}}`
	for _, c := range []struct{ schema, words, want string }{
		{`{` + pages + `}`, "pages=3", ""},
		{`{` + pages + `}`, "title=a page=3", `no argument "page"; did you mean "pages"? (page:=JSON gives it as it is)`},
		{`{` + pages + `,"additionalProperties":false}`, "foo=bar", `no argument "foo"; it has pages, title (foo:=JSON gives it as it is)`},
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
