package generator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// freely has schemas in every form that JSON Schema has and some revision's Tool has not.
const freely = `
server: {name: s, version: "1"}
go: {package: s, out: s}
tools:
  free:
    description: takes what it is given
    annotations: {readOnlyHint: true, openWorldHint: false}
    icons: [{src: "https://example.com/i.png"}]
    inputSchema:
      type: object
      required: [any]
      properties: {any: true, never: false, deep: {type: object, properties: {any: true}}, named: {type: string}}
    outputSchema: {type: object, properties: {any: true, never: false}}
  task:
    description: is a task
    execution: {taskSupport: optional}
    inputSchema: {type: object, properties: {any: true}}
`

// TestREV06ListedToolsAreWhatTheRevisionDefines holds what each revision's tools/list shows against its definition of a tool: a client that
// checks the list loses all tools for one that is wrong.
func TestREV06ListedToolsAreWhatTheRevisionDefines(t *testing.T) {
	r := mustGenerate(t, config(freely))
	for _, name := range revision.Names() {
		c := jsonschema.NewCompiler()
		text, err := schema.Revisions.ReadFile(name + "/core.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("core.json", strings.NewReader(string(text))); err != nil {
			t.Fatal(err)
		}
		definitions := "$defs"
		if name < "2025-11-25" {
			definitions = "definitions"
		}
		defined, err := c.Compile("core.json#/" + definitions + "/Tool")
		if err != nil {
			t.Fatal(err)
		}
		for i, shown := range r.ToolList(name) {
			var tool any
			if err := json.Unmarshal([]byte(shown), &tool); err != nil {
				t.Fatal(err)
			}
			if err := defined.Validate(tool); err != nil {
				t.Errorf("%s: %s\n%#v", name, shown, err)
			}
			if whole := strings.Contains(shown, `"any":true`); i == 1 && whole != (name == "2026-07-28") {
				t.Errorf("%s: a revision that takes every schema shows what the manifest says, others an equal object: %s", name, shown)
			}
		}
	}
}
