package generator

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// keyChange is a change of one key in manifestOfKeys: the path of steps to it, and its value before and after. "" is no such key.
type keyChange struct{ at, old, new string }

// manifestOfKeys is what the changes of comparedKeys are made in.
const manifestOfKeys = `{
	"protocol": {"revisions": ["2025-11-25"]},
	"server": {"name": "s", "version": "1"},
	"methods": ["sampling/createMessage", "roots/list"],
	"extensions": ["com.example/one", "com.example/two"],
	"customMethods": {
		"notifications/n": {"params": {"type": "object"}},
		"x/got": {"params": {"type": "object", "properties": {"a": {"type": "string"}}}, "result": {"type": "object", "properties": {"a": {"type": "string"}}}},
		"x/sent": {"from": "server", "extension": "com.example/one", "params": {"type": "object"}, "result": {"type": "object"}}},
	"tools": {"quick": {"inputSchema": {"type": "object"}}, "t": {
		"inputSchema": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "number"}, "i": {"type": "integer"},
			"day": {"type": "string", "format": "date"}, "at": {"type": "string", "format": "date-time"}, "long": {"type": "string", "format": "duration"}, "uuid": {"type": "string", "format": "uuid"}}},
		"execution": {"taskSupport": "optional"},
		"elicitations": {"q": {"message": "Sure?", "schema": {"type": "object", "properties": {"yes": {"type": "boolean"}}}}}}},
	"prompts": {"p": {"arguments": {"a": {}}}},
	"resources": {"r": {"uri": "file:///r"}},
	"resourceTemplates": {"v": {"uriTemplate": "file:///{id}", "variables": {"id": {}}}}
}`

// comparedKeys are the keys of a manifest that Diff compares, by their place in the manifest's JSON Schema, each with a change that it has to tell.
var comparedKeys = map[string]keyChange{
	"Manifest/protocol/revisions":            {"protocol revisions", `["2026-07-28", "2025-11-25"]`, `["2026-07-28"]`},
	"Manifest/server/name":                   {"server name", `"s"`, `"z"`},
	"Manifest/server/title":                  {"server title", ``, `"S"`},
	"Manifest/server/description":            {"server description", ``, `"S"`},
	"Manifest/server/instructions":           {"server instructions", ``, `"S"`},
	"Manifest/server/websiteUrl":             {"server websiteUrl", ``, `"https://example.com"`},
	"Manifest/server/icons":                  {"server icons", ``, `[{"src": "https://example.com/i.png"}]`},
	"Manifest/defaults/timeout":              {"defaults timeout", `"9s"`, `"5s"`},
	"Manifest/defaults/task/ttl":             {"defaults task", `{"ttl": "2h"}`, `{"ttl": "1h"}`},
	"Manifest/defaults/task/maxTtl":          {"defaults task", `{"maxTtl": "2h"}`, `{"maxTtl": "1h"}`},
	"Manifest/defaults/task/pollInterval":    {"defaults task", `{"pollInterval": "2s"}`, `{"pollInterval": "1s"}`},
	"Manifest/defaults/goTypes/date-time":    {"defaults goTypes", ``, `{"date-time": "time.Time"}`},
	"Manifest/defaults/goTypes/date":         {"defaults goTypes", ``, `{"date": "check.Date"}`},
	"Manifest/defaults/goTypes/duration":     {"defaults goTypes", ``, `{"duration": "time.Duration"}`},
	"Manifest/defaults/goTypes/uuid":         {"defaults goTypes", ``, `{"uuid": "check.UUID"}`},
	"Manifest/defaults/goTypes/integer":      {"defaults goTypes", ``, `{"integer": "json.Number"}`},
	"Manifest/defaults/goTypes/number":       {"defaults goTypes", ``, `{"number": "json.Number"}`},
	"Manifest/schemas":                       {"schemas", `{"S": {"type": "string"}}`, `{"S": {"type": "integer"}}`},
	"Manifest/tools":                         {"tools u", ``, `{"inputSchema": {"type": "object"}}`},
	"Manifest/prompts":                       {"prompts u", ``, `{}`},
	"Manifest/resources":                     {"resources u", ``, `{"uri": "file:///u"}`},
	"Manifest/resourceTemplates":             {"resourceTemplates u", ``, `{"uriTemplate": "u:///{u}"}`},
	"Manifest/methods":                       {"methods", `["sampling/createMessage"]`, `["sampling/createMessage", "roots/list"]`},
	"Manifest/customMethods":                 {"customMethods x/new", ``, `{"params": {"type": "object"}, "result": {"type": "object"}}`},
	"Manifest/extensions":                    {"extensions", `["com.example/one", "com.example/two"]`, `["com.example/one"]`},
	"Manifest/go/client":                     {"go client", ``, `"client"`},
	"Manifest/prompts/goName":                {"prompts p goName", ``, `"Other"`},
	"Manifest/prompts/title":                 {"prompts p title", ``, `"P"`},
	"Manifest/prompts/description":           {"prompts p description", ``, `"P"`},
	"Manifest/prompts/icons":                 {"prompts p icons", ``, `[{"src": "https://example.com/i.png"}]`},
	"Manifest/prompts/_meta":                 {"prompts p _meta", ``, `{"example.com/k": 1}`},
	"Manifest/prompts/timeout":               {"prompts p timeout", `"9s"`, `"5s"`},
	"Manifest/prompts/elicitations":          {"prompts p elicitations", ``, `{"q": {"message": "Sure?", "schema": {"type": "object", "properties": {}}}}`},
	"Manifest/prompts/clientCapabilities":    {"prompts p clientCapabilities", `["roots"]`, `["roots", "sampling"]`},
	"Manifest/prompts/arguments":             {"prompts p arguments", `{"a": {}}`, `{"a": {"required": true}}`},
	"Manifest/resources/uri":                 {"resources r uri", `"file:///r"`, `"file:///z"`},
	"Manifest/resources/size":                {"resources r size", ``, `3`},
	"Manifest/resourceTemplates/uriTemplate": {"resourceTemplates v uriTemplate", `"file:///{id}"`, `"file:///z/{id}"`},
	"Manifest/resourceTemplates/variables":   {"resourceTemplates v variables", `{"id": {}}`, `{"id": {"maxLength": 3}}`},
	"Resource/goName":                        {"resources r goName", ``, `"Other"`},
	"Resource/title":                         {"resources r title", ``, `"R"`},
	"Resource/description":                   {"resources r description", ``, `"R"`},
	"Resource/mimeType":                      {"resources r mimeType", ``, `"text/plain"`},
	"Resource/icons":                         {"resources r icons", ``, `[{"src": "https://example.com/i.png"}]`},
	"Resource/_meta":                         {"resources r _meta", ``, `{"example.com/k": 1}`},
	"Resource/timeout":                       {"resourceTemplates v timeout", `"9s"`, `"5s"`},
	"Resource/elicitations":                  {"resources r elicitations", ``, `{"q": {"message": "Sure?", "schema": {"type": "object", "properties": {}}}}`},
	"Resource/clientCapabilities":            {"resourceTemplates v clientCapabilities", `["roots"]`, `["sampling"]`},
	"Resource/annotations/audience":          {"resources r annotations", ``, `{"audience": ["user"]}`},
	"Resource/annotations/priority":          {"resources r annotations", ``, `{"priority": 1}`},
	"Resource/annotations/lastModified":      {"resources r annotations", ``, `{"lastModified": "2026-01-01T00:00:00Z"}`},
	"Resource/subscribe":                     {"resources r subscribe", `true`, `false`},
	"Argument/title":                         {"prompts p arguments", `{"a": {}}`, `{"a": {"title": "A"}}`},
	"Argument/description":                   {"prompts p arguments", `{"a": {}}`, `{"a": {"description": "A"}}`},
	"Argument/required":                      {"prompts p arguments", `{"a": {}}`, `{"a": {"required": true}}`},
	"Argument/complete":                      {"prompts p arguments", `{"a": {}}`, `{"a": {"complete": true}}`},
	"Argument/type":                          {"resourceTemplates v variables", `{"id": {}}`, `{"id": {"type": "integer"}}`},
	"Argument/enum":                          {"prompts p arguments", `{"a": {}}`, `{"a": {"enum": ["x"]}}`},
	"Argument/const":                         {"prompts p arguments", `{"a": {}}`, `{"a": {"const": "x"}}`},
	"Argument/format":                        {"prompts p arguments", `{"a": {}}`, `{"a": {"format": "date"}}`},
	"Argument/pattern":                       {"prompts p arguments", `{"a": {}}`, `{"a": {"pattern": "^x"}}`},
	"Argument/minLength":                     {"prompts p arguments", `{"a": {}}`, `{"a": {"minLength": 3}}`},
	"Argument/maxLength":                     {"prompts p arguments", `{"a": {}}`, `{"a": {"maxLength": 3}}`},
	"Argument/minimum":                       {"resourceTemplates v variables", `{"id": {"type": "integer"}}`, `{"id": {"type": "integer", "minimum": 3}}`},
	"Argument/maximum":                       {"resourceTemplates v variables", `{"id": {"type": "integer"}}`, `{"id": {"type": "integer", "maximum": 3}}`},
	"Argument/exclusiveMinimum":              {"resourceTemplates v variables", `{"id": {"type": "integer"}}`, `{"id": {"type": "integer", "exclusiveMinimum": 3}}`},
	"Argument/exclusiveMaximum":              {"resourceTemplates v variables", `{"id": {"type": "integer"}}`, `{"id": {"type": "integer", "exclusiveMaximum": 3}}`},
	"Argument/multipleOf":                    {"resourceTemplates v variables", `{"id": {"type": "integer"}}`, `{"id": {"type": "integer", "multipleOf": 3}}`},
	"Argument/default":                       {"prompts p arguments", `{"a": {"default": "x"}}`, `{"a": {"default": "y"}}`},
	"Argument/goName":                        {"prompts p arguments", `{"a": {}}`, `{"a": {"goName": "Other"}}`},
	"Argument/goType":                        {"resourceTemplates v variables", `{"id": {"type": "integer"}}`, `{"id": {"type": "integer", "goType": "json.Number"}}`},
	"CustomMethod/from":                      {"customMethods notifications/n from", ``, `"server"`},
	"CustomMethod/goName":                    {"customMethods x/got goName", ``, `"Other"`},
	"CustomMethod/extension":                 {"customMethods x/sent extension", `"com.example/one"`, `"com.example/two"`},
	"CustomMethod/params":                    {"customMethods x/got params", `{"type": "object", "properties": {"a": {"type": "string"}}}`, `{"type": "object", "properties": {"a": {"type": "integer"}}}`},
	"CustomMethod/result":                    {"customMethods x/got result", `{"type": "object", "properties": {"a": {"type": "string"}}}`, `{"type": "object", "properties": {"a": {"type": "integer"}}}`},
	"Tool/goName":                            {"tools t goName", ``, `"Other"`},
	"Tool/title":                             {"tools t title", ``, `"T"`},
	"Tool/description":                       {"tools t description", ``, `"T"`},
	"Tool/icons":                             {"tools t icons", ``, `[{"src": "https://example.com/i.png"}]`},
	"Tool/annotations/title":                 {"tools t annotations", ``, `{"title": "T"}`},
	"Tool/annotations/readOnlyHint":          {"tools t annotations", ``, `{"readOnlyHint": true}`},
	"Tool/annotations/destructiveHint":       {"tools t annotations", ``, `{"destructiveHint": false}`},
	"Tool/annotations/idempotentHint":        {"tools t annotations", ``, `{"idempotentHint": true}`},
	"Tool/annotations/openWorldHint":         {"tools t annotations", ``, `{"openWorldHint": true}`},
	"Tool/_meta":                             {"tools t _meta", ``, `{"example.com/k": 1}`},
	"Tool/inputSchema":                       {"tools t inputSchema", `{"type": "object", "properties": {"a": {"type": "string"}}}`, `{"type": "object", "properties": {"a": {"type": "integer"}}}`},
	"Tool/outputSchema":                      {"tools t outputSchema", ``, `{"type": "object"}`},
	"Tool/timeout":                           {"tools t timeout", `"9s"`, `"5s"`},
	"Tool/clientCapabilities":                {"tools t clientCapabilities", `["roots"]`, `["roots", "sampling/tools"]`},
	"Tool/elicitations":                      {"tools t elicitations", ``, `{"q": {"message": "Sure?", "schema": {"type": "object", "properties": {}}}}`},
	"Tool/cancellation/mode":                 {"tools quick cancellation", ``, `{"mode": "none", "because": "it is quick"}`},
	"Tool/execution/taskSupport":             {"tools t execution", `{"taskSupport": "optional"}`, `{"taskSupport": "required"}`},
	"Tool/execution/ttl":                     {"tools t execution", `{"taskSupport": "optional", "ttl": "2h"}`, `{"taskSupport": "optional", "ttl": "1h"}`},
	"Tool/execution/maxTtl":                  {"tools t execution", `{"taskSupport": "optional", "maxTtl": "2h"}`, `{"taskSupport": "optional", "maxTtl": "1h"}`},
	"Tool/execution/pollInterval":            {"tools t execution", `{"taskSupport": "optional", "pollInterval": "2s"}`, `{"taskSupport": "optional", "pollInterval": "1s"}`},
	"Tool/execution/timeout":                 {"tools t execution", `{"taskSupport": "optional", "timeout": "2h"}`, `{"taskSupport": "optional", "timeout": "1h"}`},
	"Tool/execution/maxConcurrent":           {"tools t execution", `{"taskSupport": "optional", "maxConcurrent": 2}`, `{"taskSupport": "optional", "maxConcurrent": 1}`},
	"Tool/execution/onCrash":                 {"tools t execution", `{"taskSupport": "optional"}`, `{"taskSupport": "optional", "onCrash": "fail"}`},
	"Tool/execution/maxReruns":               {"tools t execution", `{"taskSupport": "optional", "onCrash": "rerun", "maxReruns": 2}`, `{"taskSupport": "optional", "onCrash": "rerun", "maxReruns": 1}`},
	"Elicitations/goName":                    {"tools t elicitations q goName", ``, `"Other"`},
	"Elicitations/message":                   {"tools t elicitations q message", `"Sure?"`, `"Really?"`},
	"Elicitations/schema":                    {"tools t elicitations q schema", `{"type": "object", "properties": {}}`, `{"type": "object", "properties": {"yes": {"type": "boolean"}}}`},
	"Elicitations/timeout":                   {"tools t elicitations q timeout", `"2m"`, `"1m"`},
	"Elicitations/beforeTask":                {"tools t elicitations q beforeTask", ``, `true`},
	"Elicitations/onUnsupported":             {"tools t elicitations q onUnsupported", ``, `"decline"`},
}

// keysNobodySees are the keys of a manifest that callers, handlers, the wire and running tasks can not notice, with the reason.
var keysNobodySees = map[string]string{
	"Manifest/$schema":          "for editors",
	"Manifest/version":          "of the manifest's form: there is one",
	"Manifest/protocol/folders": "files: what they say is seen in the revisions that are served",
	"Manifest/server/version":   "a release has another version than the one before",
	"Manifest/go/package":       "imports of it are the compiler's to tell",
	"Manifest/go/out":           "imports of it are the compiler's to tell",
	"Manifest/diff/classes":     "how diff judges",
	"Tool/name":                 "the key of a tool in a list",
	"Tool/cancellation/because": "for readers of the manifest and of generated comments",
	"CustomMethod/description":  "for the generated comment",
	"Argument/examples":         "for readers of the manifest",
	"Argument/$comment":         "for readers of the manifest",
	"Argument/x-sensitive":      "of what is logged and stored",
}

// otherKeys are definitions whose keys are compared as a whole: values of keys above, and schemas, of which package subsume compares each keyword
// (generator/internal/proof edits every one).
var otherKeys = []string{"Schema", "ObjectSchema", "Question", "Icons", "Answer", "Response"}

// TestREV08EveryKey: each key of a manifest is compared by Diff or on the list of those that nobody sees.
func TestREV08EveryKey(t *testing.T) {
	known := map[string]bool{}
	for _, key := range manifestKeys(t) {
		known[key] = true
		_, compared := comparedKeys[key]
		if _, unseen := keysNobodySees[key]; compared == unseen {
			t.Errorf("%s: compared: %v, on the list of keys that nobody sees: %v", key, compared, unseen)
		}
	}
	for _, key := range slices.Concat(slices.Collect(maps.Keys(comparedKeys)), slices.Collect(maps.Keys(keysNobodySees))) {
		if !known[key] {
			t.Errorf("a manifest has no %s", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(comparedKeys)) {
		change := comparedKeys[key]
		d, err := Diff(t.Context(), change.config(t, change.old), change.config(t, change.new))
		switch {
		case err != nil:
			t.Fatal(err)
		case d.Old.HasErrors() || d.New.HasErrors():
			t.Errorf("%s: can not be compared: %v %v", key, d.Old, d.New)
		case len(d.Changes) == 0:
			t.Errorf("%s: nobody is told that it is %s, and was %s", key, change.new, change.old)
		}
	}
}

// config is manifestOfKeys with a value for the key.
func (c keyChange) config(t *testing.T, value string) Config {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(manifestOfKeys), &root); err != nil {
		t.Fatal(err)
	}
	steps := strings.Fields(c.at)
	holder := root
	for _, step := range steps[:len(steps)-1] {
		if holder[step] == nil {
			holder[step] = map[string]any{}
		}
		holder = holder[step].(map[string]any)
	}
	delete(holder, steps[len(steps)-1])
	if value != "" {
		holder[steps[len(steps)-1]] = json.RawMessage(value)
	}
	if c.at == "schemas" {
		holder["tools"].(map[string]any)["t"].(map[string]any)["inputSchema"] = json.RawMessage(`{"type": "object", "properties": {"s": {"$ref": "#/schemas/S"}}}`)
	}
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Manifest: Source{"mcpkiln.json", text}, Import: "example.com/m"}
}

// manifestKeys are the keys that the manifest's JSON Schema knows, by their place: the definition, and the keys in it that lead there.
func manifestKeys(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../schema/manifest/manifest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var root struct {
		Defs definitions `json:"$defs"`
	}
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	for name, definition := range root.Defs {
		if !slices.Contains(otherKeys, name) {
			all = append(all, root.Defs.keys(name, definition)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// definitions are those of a JSON Schema.
type definitions map[string]any

// keys are the keys of a schema, those inside of them in their place. What is behind a reference has keys of its own, and what narrows one of
// them is none.
func (d definitions) keys(at string, value any) (all []string) {
	n, _ := value.(map[string]any)
	reference, _ := n["$ref"].(string)
	behind, _ := d[strings.TrimPrefix(reference, "#/$defs/")].(map[string]any)
	known, _ := behind["properties"].(map[string]any)
	properties, _ := n["properties"].(map[string]any)
	for key, value := range properties {
		if known[key] != nil {
			continue
		}
		inside := d.keys(at+"/"+key, value)
		schema, _ := value.(map[string]any)
		if _, keyed := schema["additionalProperties"].(map[string]any); keyed || len(inside) == 0 {
			inside = append(inside, at+"/"+key)
		}
		all = append(all, inside...)
	}
	for _, keyword := range []string{"additionalProperties", "items"} {
		if below := n[keyword]; below != nil {
			all = append(all, d.keys(at, below)...)
		}
	}
	return all
}
