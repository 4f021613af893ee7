package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// A keyword that hides a value, or has it in a header, is refused where it would do neither (SRV06, LET04): in an added tool as in a manifest.
func TestLET04KeywordsThatDoNothingWhereTheyStand(t *testing.T) {
	const secret, header = `{"type":"string","x-sensitive":true}`, `{"type":"string","x-mcp-header":"Region"}`
	for schema, wrong := range map[string]string{
		`"properties":{"a":` + secret + `}`:                                                                                     "",
		`"properties":{"x-sensitive":` + secret + `}`:                                                                           "",
		`"properties":{"a":{"type":"array","items":{"properties":{"b":` + secret + `}}}}`:                                       "",
		`"$defs":{"D":{"properties":{"b":` + secret + `}}}`:                                                                     "",
		`"properties":{"a":{"const":{"x-sensitive":1}}},"examples":[{"x-mcp-header":"no"}]`:                                     "",
		`"properties":{"a":{"properties":{"properties":` + header + `}}}`:                                                       "",
		`"properties":{"a":{"type":"array","items":` + secret + `}}`:                                                            "/inputSchema/properties/a/items/x-sensitive: it stands at a property",
		`"$defs":{"D":` + secret + `}`:                                                                                          "/inputSchema/$defs/D/x-sensitive: it stands at a property",
		`"definitions":{"properties":` + secret + `}`:                                                                           "/inputSchema/definitions/properties/x-sensitive: it stands at a property",
		`"dependencies":{"a":` + secret + `}`:                                                                                   "/inputSchema/dependencies/a/x-sensitive: it stands at a property",
		`"additionalProperties":` + secret:                                                                                      "/inputSchema/additionalProperties/x-sensitive: it stands at a property",
		`"patternProperties":{"^a":` + secret + `}`:                                                                             "/inputSchema/patternProperties/^a/x-sensitive: it stands at a property",
		`"properties":{"a":{"oneOf":[{"type":"integer"},` + secret + `]}}`:                                                      "/inputSchema/properties/a/oneOf/1/x-sensitive: it stands at a property",
		`"properties":{"a/b":{"allOf":[` + secret + `]}}`:                                                                       "/inputSchema/properties/a~1b/allOf/0/x-sensitive: it stands at a property",
		`"properties":{"a":` + secret + `,"b":{"$ref":"#/properties/a"}}`:                                                       "/inputSchema/properties/b/$ref: it leads to a property that is x-sensitive",
		`"properties":{"a/b c":` + secret + `,"b":{"items":{"$ref":"#/properties/a~1b%20c"}}}`:                                  "/inputSchema/properties/b/items/$ref: it leads to a property",
		`"properties":{"a":` + secret + `,"b":{"$ref":"#/properties/a","x-sensitive":true},"c":{"$ref":"#/properties/b/$ref"}}`: "",
		`"properties":{"a":{"type":"array","items":{"type":"string","x-s\u0065nsitive":true}}}`:                                 "/inputSchema/properties/a/items/x-sensitive: it stands at a property",
		`"properties":{"a":{"type":"number","x-mcp-h\u0065ader":"A"}}`:                                                          "is no string, integer or boolean",
		`"x-sensitive":true`:                                                                 "/inputSchema/x-sensitive: it stands at a property",
		`"properties":{"a":{"x-sensitive":"yes"}}`:                                           "/inputSchema/properties/a/x-sensitive: it takes true or false",
		`"properties":{"a":{"type":"array","items":` + header + `}}`:                         "/inputSchema/properties/a/items/x-mcp-header: clients do not find the argument here",
		`"anyOf":[{"properties":{"a":` + header + `}}]`:                                      "/inputSchema/anyOf/0/properties/a/x-mcp-header: clients do not find the argument here",
		`"$defs":{"D":{"properties":{"b":` + header + `}}}`:                                  "/inputSchema/$defs/D/properties/b/x-mcp-header: clients do not find the argument here",
		`"properties":{"a":{"properties":{"b":{"if":{"properties":{"c":` + header + `}}}}}}`: "/inputSchema/properties/a/properties/b/if/properties/c/x-mcp-header: clients do not find",
	} {
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
		err := f.srv.AddTool([]byte(`{"name":"added","inputSchema":{"type":"object",`+schema+`}}`), anything{},
			func(context.Context, *Call, json.RawMessage) (json.RawMessage, error) { return nil, nil })
		if wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: %v, want %q", schema, err, wrong)
		}
	}
}

// An output is hidden by the names of its properties, too; a header of it binds nobody.
func TestLET04KeywordsOfOutputs(t *testing.T) {
	for schema, wrong := range map[string]string{
		`"properties":{"a":{"items":{"x-mcp-header":"A"}}}`:  "",
		`"properties":{"a":{"items":{"x-sensitive":false}}}`: "/outputSchema/properties/a/items/x-sensitive: it stands at a property",
	} {
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
		err := f.srv.AddTool([]byte(`{"name":"added","inputSchema":{"type":"object"},"outputSchema":{"type":"object",`+schema+`}}`), textOutputs{},
			func(context.Context, *Call, json.RawMessage) (json.RawMessage, error) { return nil, nil })
		if wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: %v, want %q", schema, err, wrong)
		}
	}
}
