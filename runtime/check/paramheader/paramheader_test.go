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
		`{"properties":{"b":{"type":"integer","x-mcp-header":"B"},"a":{"type":"boolean","x-mcp-header":"A","x-sensitive":true}}}`:    "A/a! B/b",
		`{"properties":{"x-mcp-header":{"type":"string"},"b":{"properties":{"x-mcp-header":{"type":"string","x-mcp-header":"B"}}}}}`: "B/b/x-mcp-header",
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

// TestEXT14MisplacedDeclarations: only properties lead to an argument, so that a client finds it without evaluating a schema. Names and data are no declarations.
func TestEXT14MisplacedDeclarations(t *testing.T) {
	const a = `{"type":"string","x-mcp-header":"A"}`
	for schema, at := range map[string]string{
		`"x-mcp-header":"A"`:                                  "",
		`"properties":{"l":{"items":` + a + `}}`:              "/properties/l/items",
		`"properties":{"p":{"anyOf":[{},` + a + `]}}`:         "/properties/p/anyOf/1",
		`"properties":{"p":{"prefixItems":[` + a + `]}}`:      "/properties/p/prefixItems/0",
		`"properties":{"p":{"contains":` + a + `}}`:           "/properties/p/contains",
		`"oneOf":[{"properties":{"a/b":` + a + `}}]`:          "/oneOf/0/properties/a~1b",
		`"allOf":[{"properties":{"a":` + a + `}}]`:            "/allOf/0/properties/a",
		`"not":{"properties":{"a":` + a + `}}`:                "/not/properties/a",
		`"if":{},"then":{"properties":{"a":` + a + `}}`:       "/then/properties/a",
		`"$defs":{"a":` + a + `}`:                             "/$defs/a",
		`"definitions":{"properties":` + a + `}`:              "/definitions/properties",
		`"dependencies":{"b":{"properties":{"a":` + a + `}}}`: "/dependencies/b/properties/a",
		`"additionalProperties":` + a:                         "/additionalProperties",
		`"patternProperties":{"a":` + a + `}`:                 "/patternProperties/a",
		`"Properties":{"a":` + a + `}`:                        "/Properties/a",
		`"items":{"type":"string","x-mcp-h\u0065ader":"A"}`:   "/items",
		`"properties":{"p":{"const":` + a + `,"enum":[` + a + `],"default":` + a + `,"examples":[` + a + `]}}`:           "none",
		`"dependentRequired":{"x-mcp-header":["a"]},"patternProperties":{"x-mcp-header":{}},"$defs":{"x-mcp-header":{}}`: "none",
		`"required":["x-mcp-header"],"properties":{"p":{"description":"x-mcp-header"}}`:                                  "none",
	} {
		definition := []byte(`{"inputSchema":{"type":"object",` + schema + `},"outputSchema":{"items":` + a + `}}`)
		_, err := Of(definition)
		if at == "none" {
			if err != nil {
				t.Errorf("%s: %v", schema, err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), "/inputSchema"+at+"/x-mcp-header: clients do not find the argument here") {
			t.Errorf("%s: %v, want it at %q", schema, err, at)
		}
		if got := Valid(definition); len(got) > 0 {
			t.Errorf("%s: valid are %v", schema, got)
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
