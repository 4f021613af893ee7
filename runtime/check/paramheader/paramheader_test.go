package paramheader

import (
	"fmt"
	"strings"
	"testing"
)

// TestEXT14BothEndsFindTheSameArguments: what a client repeats is what a server holds against the body, at any depth, by exact names.
func TestEXT14BothEndsFindTheSameArguments(t *testing.T) {
	deep := `{"type":"string","x-mcp-header":"Deep"}`
	for range 40 {
		deep = `{"type":"object","properties":{"a":` + deep + `}}`
	}
	for schema, want := range map[string]string{
		deep: "Deep" + strings.Repeat("/a", 40),
		`{"properties":{"b":{"type":"integer","x-mcp-header":"B"},"a":{"type":"boolean","x-mcp-header":"A","x-sensitive":true}}}`: "A/a! B/b",
		`{"Properties":{"a":{"type":"string","x-mcp-header":"A"}}}`:                                                               "",
		`{"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}`:                                                     "",
		`true`: "",
	} {
		definition := []byte(`{"name":"t","inputSchema":` + schema + `}`)
		all, err := Of(definition)
		if got := shown(all); err != nil || got != want {
			t.Errorf("%.80s: %q, %v, want %q", schema, got, err, want)
		}
		if got := shown(Valid(definition)); got != want {
			t.Errorf("%.80s: valid are %q, want %q", schema, got, want)
		}
	}
}

// TestEXT14WrongDeclarations are errors where a tool is offered, and bind nobody where it is called.
func TestEXT14WrongDeclarations(t *testing.T) {
	for wrong, want := range map[string]string{
		`"b":{"type":"string","x-mcp-header":"a b"}`:  "is no name of a header",
		`"b":{"type":"string","x-mcp-header":1}`:      "is no name of a header",
		`"b":{"type":"number","x-mcp-header":"B"}`:    "is no string, integer or boolean",
		`"b":{"type":["string"],"x-mcp-header":"B"}`:  "is no string, integer or boolean",
		`"b":{"type":"string","x-mcp-header":"good"}`: "two properties",
	} {
		definition := []byte(`{"inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"Good"},` + wrong + `}}}`)
		if all, err := Of(definition); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", wrong, all, err)
		}
		if got := shown(Valid(definition)); !strings.HasPrefix(got, "Good/a") {
			t.Errorf("%s: valid are %q", wrong, got)
		}
	}
}

func shown(all []Param) string {
	var out []string
	for _, p := range all {
		s := fmt.Sprintf("%s/%s", p.Header, strings.Join(p.Path, "/"))
		if p.Sensitive {
			s += "!"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// TestLET04IntegersInHeadersAreExact: a client in JavaScript writes the same integer into header and body only if float64 holds it.
func TestLET04IntegersInHeadersAreExact(t *testing.T) {
	for property, want := range map[string]bool{
		`{"type":"integer"}`:             false,
		`{"type":"integer","minimum":0}`: false,
		`{"type":"integer","maximum":9}`: false,
		`{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991}`:                   true,
		`{"type":"integer","minimum":-9007199254740992,"maximum":9}`:                                  false,
		`{"type":"integer","minimum":0,"maximum":9007199254740993}`:                                   false,
		`{"type":"integer","exclusiveMinimum":-9007199254740992,"exclusiveMaximum":9007199254740992}`: true,
		`{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":9007199254740993}`:                 false,
		`{"type":"integer","enum":[1,-2]}`:                                                            true,
		`{"type":"integer","enum":[1,9007199254740992]}`:                                              false,
		`{"type":"integer","const":3}`:                                                                true,
		`{"type":"integer","const":1e30}`:                                                             false,
		`{"type":"integer","const":null,"minimum":0}`:                                                 false,
		`{"type":"string"}`:  true,
		`{"type":"boolean"}`: true,
	} {
		if got := Exact([]byte(property)); got != want {
			t.Errorf("%s: %v", property, got)
		}
		all, err := Of([]byte(`{"inputSchema":{"properties":{"a":` + strings.TrimSuffix(property, "}") + `,"x-mcp-header":"A"}}}}`))
		if err != nil || len(all) != 1 || all[0].Inexact == want {
			t.Errorf("%s: %+v %v", property, all, err)
		}
	}
}
