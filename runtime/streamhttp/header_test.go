package streamhttp

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

var testSentinel = sentinel{prefix: "=?base64?", suffix: "?="}

func TestEXT14EncodedHeaderValues(t *testing.T) {
	for _, c := range []struct {
		value, want string
		ok          bool
	}{
		{"plain", "plain", true},
		{"with space", "with space", true},
		{"", "", true},
		{"=?base64?SGVsbG8=?=", "Hello", true},
		{"=?base64?w7w=?=", "ü", true},
		{"=?base64??=", "", true},
		{"=?base64?SGVsbG8?=", "", false},                // no padding
		{"=?base64?SGVsbG8==?=", "", false},              // too much of it
		{"=?base64?SGVs_G8=?=", "", false},               // the other alphabet
		{"=?base64?SGVsbG9=?=", "", false},               // bits after the end
		{"=?base64?SGVs bG8=?=", "", false},              // space within
		{"=?base64?/w==?=", "", false},                   // not UTF-8
		{"=?base64?SGVsbG8=", "=?base64?SGVsbG8=", true}, // not the wrapping: literal
		{"=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?=", true},
		{"?base64?SGVsbG8=?=", "?base64?SGVsbG8=?=", true},
		{"ü", "", false},
		{"\x01", "", false},
		{"\x7f", "", false},
	} {
		got, ok := testSentinel.decode(c.value)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: got %q, %v", c.value, got, ok)
		}
	}
}

const paramTool = `{"name":"t","inputSchema":{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"level":{"type":"integer","x-mcp-header":"Level"},
	"dry":{"type":"boolean","x-mcp-header":"Dry-Run"},
	"ratio":{"type":"number","x-mcp-header":"Ratio"},
	"bad":{"type":"string","x-mcp-header":"not a token"},
	"plain":{"type":"string"},
	"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Item"}}}},
	"deep":{"type":"object","properties":{"er":{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"}}}}}
}}}`

func TestEXT14ParamsOfATool(t *testing.T) {
	var got []string
	for _, p := range readParams([]byte(paramTool), "Mcp-Param-") {
		got = append(got, p.header+"="+strings.Join(p.path, "/"))
	}
	want := "Mcp-Param-Zone=deep/er/zone Mcp-Param-Dry-Run=dry Mcp-Param-Level=level Mcp-Param-Region=region"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

func TestEXT14ParamsMatchTheBody(t *testing.T) {
	params := readParams([]byte(paramTool), "Mcp-Param-")
	for _, c := range []struct {
		args    string
		headers string // name=value, separated by |
		ok      bool
	}{
		{`{}`, "", true},
		{``, "", true},
		{`{"region":null}`, "", true},
		{`{"region":"eu"}`, "Region=eu", true},
		{`{"region":"eu"}`, "Region==?base64?ZXU=?=", true},
		{`{"region":"\u0065u"}`, "Region=eu", true},
		{`{"region":"eu"}`, "", false},
		{`{"region":"eu"}`, "Region=us", false},
		{`{"region":"eu"}`, "Region=EU", false},
		{`{"region":"eu"}`, "Region=eu|Region=eu", false},
		{`{"region":"eu"}`, "Region==?base64?ZXU?=", false},
		{`{}`, "Region=eu", false},
		{`{"region":null}`, "Region=null", false},
		{`{"region":""}`, "Region=", true},
		{`{"region":{"a":1}}`, `Region={"a":1}`, false},
		{`{"level":42}`, "Level=42", true},
		{`{"level":42.0}`, "Level=42", true},
		{`{"level":4.2e1}`, "Level=42", true},
		{`{"level":-0}`, "Level=0", true},
		{`{"level":9007199254740993}`, "Level=9007199254740992", false},
		{`{"level":9007199254740993}`, "Level=9007199254740993.0", true},
		{`{"level":42}`, "Level= 42", false},
		{`{"level":42}`, "Level=042", false},
		{`{"level":42}`, "Level=4e2", false},
		{`{"level":1e999999999999}`, "Level=1e999999999998", false},
		{`{"level":"42"}`, "Level=42", true},
		{`{"dry":true}`, "Dry-Run=true", true},
		{`{"dry":true}`, "Dry-Run=false", false},
		{`{"dry":true}`, "Dry-Run=1", false},
		{`{"deep":{"er":{"zone":"a"}}}`, "Zone=a", true},
		{`{"deep":{"er":{"zone":"a"}}}`, "", false},
		{`{"deep":{"er":null}}`, "", true},
		{`{"deep":7}`, "Zone=a", false},
		{`{"plain":"x"}`, "Plain=y", true}, // not announced: not looked at
	} {
		h := http.Header{}
		if c.headers != "" {
			for _, pair := range strings.Split(c.headers, "|") {
				name, value, _ := strings.Cut(pair, "=")
				h.Add("Mcp-Param-"+name, value)
			}
		}
		ok := true
		for i := range params {
			ok = ok && params[i].check(h, []byte(c.args), testSentinel)
		}
		if ok != c.ok {
			t.Errorf("%s with %q: %v", c.args, c.headers, ok)
		}
	}
}

// TestEXT14RefusalsSayWhatIsWrongWithAHeader: missing, repeated and different are three mistakes.
func TestEXT14RefusalsSayWhatIsWrongWithAHeader(t *testing.T) {
	j := &server.Routed{Revision: &wire.Revision{}}
	for want, values := range map[string][]string{
		"Mcp-Method is missing": nil, "Mcp-Method is repeated": {"a", "a"}, "Mcp-Method does not say what the body says": {"b"},
	} {
		r := &http.Request{Header: http.Header{"Mcp-Method": values}}
		if got := mismatch(r, j, "Mcp-Method").err.Message; got != "the header "+want {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
	}
}
