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

// A reference to what is sensitive is refused in every form that a draft has for it, since its values would be shown under the other
// name. What the error advises is accepted.
func TestLET04ReferencesToWhatIsSensitive(t *testing.T) {
	const (
		there  = "it leads to a property that is x-sensitive, and this one would be shown: "
		beside = there + "write x-sensitive: true at the property, beside the reference"
		draft  = `"$schema":"http://json-schema.org/draft-07/schema#",`
		draft4 = `"$schema":"http://json-schema.org/draft-04/schema#",`
		secret = `"properties":{"a":{"x-sensitive":true,`
	)
	for schema, wrong := range map[string]string{
		secret + `"$anchor":"s"},"b":{"$ref":"#s"}}`:                                                                                "/properties/b/$ref: " + beside,
		secret + `"$anchor":"s"},"b":{"$ref":"#s","x-sensitive":true}}`:                                                             "",
		secret + `"$anchor":"s"},"b":{"$ref":"#s","x-sensitive":false}}`:                                                            "",
		secret + `"$anchor":"s"},"b":{"$ref":"#%73"}}`:                                                                              "/properties/b/$ref: ",
		secret + `"$anchor":"s"},"b":{"$ref":"#t"}}`:                                                                                "",
		`"$id":"https://x.test/r",` + secret + `"$anchor":"s"},"b":{"$ref":"https://x.test/r#s"}}`:                                  "/properties/b/$ref: ",
		`"$id":"https://x.test/r",` + secret + `"$anchor":"s"},"b":{"$ref":"r#/properties/a"}}`:                                     "/properties/b/$ref: ",
		secret + `"$dynamicAnchor":"s"},"b":{"$dynamicRef":"#s"}}`:                                                                  "/properties/b/$dynamicRef: ",
		secret + `"$dynamicAnchor":"s"},"b":{"$ref":"#s"}}`:                                                                         "/properties/b/$ref: ",
		secret + `"$id":"in","$dynamicAnchor":"s"},"b":{"$dynamicRef":"#s"}},"$defs":{"D":{"$dynamicAnchor":"s"}}`:                  "/properties/b/$dynamicRef: ",
		secret + `"$id":"in"},"b":{"$ref":"in"}}`:                                                                                   "/properties/b/$ref: ",
		secret + `"$id":"in#"},"b":{"$ref":"in#"}}`:                                                                                 "/properties/b/$ref: ",
		secret + `"$id":"in","$recursiveAnchor":true},"b":{"$recursiveRef":"#"}}`:                                                   "/properties/b/$recursiveRef: ",
		`"$defs":{"D":{"$id":"in",` + secret + `"$anchor":"s"}}}},"properties":{"b":{"$ref":"in#s"}}`:                               "/properties/b/$ref: ",
		`"$defs":{"D":{"$id":"in",` + secret + `"$anchor":"s"}}}},"properties":{"b":{"$ref":"#s"}}`:                                 "",
		`"$defs":{"D":{"$id":"in",` + secret + `"$anchor":"s"},"b":{"$ref":"#s"}}}}`:                                                "/$defs/D/properties/b/$ref: ",
		`"$defs":{"D":{"$id":"in",` + secret + `"type":"string"},"b":{"$ref":"#/properties/a"}}}}`:                                  "/$defs/D/properties/b/$ref: ",
		`"$defs":{"D":{"$id":"in",` + secret + `"type":"string"}}}},"properties":{"b":{"$ref":"in#/properties/a"}}`:                 "/properties/b/$ref: ",
		`"$defs":{"D":{"$id":"in",` + secret + `"type":"string"}}}},"properties":{"b":{"$ref":"#/$defs/D/properties/a"}}`:           "/properties/b/$ref: ",
		draft + secret + `"$id":"#s"},"b":{"$ref":"#s"}}`:                                                                           "/properties/b/$ref: ",
		draft + `"$id":"https://x.test/r",` + secret + `"$id":"#s"},"b":{"$ref":"r#s","$id":"https://y.test"}}`:                     "/properties/b/$ref: ",
		draft4 + secret + `"id":"in"},"b":{"$ref":"in"}}`:                                                                           "/properties/b/$ref: ",
		`"allOf":[{` + secret + `"type":"string"}}}],"properties":{"b":{"$ref":"#/allOf/00/properties/a"}}`:                         "/properties/b/$ref: ",
		secret + `"properties":{"c":{}}},"b":{"$ref":"#/properties/a/properties/c"}}`:                                               "/properties/b/$ref: " + beside,
		secret + `"properties":{"c":{"$ref":"#/properties/a"}}}}`:                                                                   "",
		secret + `"type":"string"},"b":{"items":{"$ref":"#/properties/a"}}}`:                                                        "/properties/b/items/$ref: " + there + `write x-sensitive: true at the property "b"`,
		secret + `"type":"string"},"b":{"x-sensitive":true,"items":{"$ref":"#/properties/a"}}}`:                                     "",
		secret + `"type":"string"},"b":{"x-sensitive":true,"items":{"$ref":"#/properties/a"}},"c":{"$ref":"#/properties/b/items"}}`: "/properties/c/$ref: " + beside,
		secret + `"type":"string"}},"additionalProperties":{"$ref":"#/properties/a"}`:                                               "/additionalProperties/$ref: " + there + "move that schema to $defs without x-sensitive",
		secret + `"type":"string"}},"$defs":{"D":{"$ref":"#/properties/a"}}`:                                                        "/$defs/D/$ref: " + there + "move that schema to $defs without x-sensitive, refer to it there, and write x-sensitive: true at each property",
		`"properties":{"a":{"$ref":"#/$defs/S","x-sensitive":true}},"$defs":{"S":{"type":"string"},"D":{"$ref":"#/$defs/S"}}`:       "",
		`"properties":{"a":{"type":"array","items":{"x-sensitive":true}}}`:                                                          `write it at the property "a"`,
		`"properties":{"a":{"type":"array","x-sensitive":true,"items":{}}}`:                                                         "",
		`"$defs":{"D":{"items":{"x-sensitive":true}}}`:                                                                              "write it at each property that refers to this schema, beside the $ref",
		`"properties":{"a":{"$defs":{"D":{"x-sensitive":true}}}}`:                                                                   "write it at each property that refers to this schema, beside the $ref",
		`"additionalProperties":{"x-sensitive":true}`:                                                                               "write it at a property: list what is sensitive by name in properties",
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
