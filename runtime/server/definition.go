package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/address"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/check/paramheader"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// shape is the schema of an object in a definition that is added while the server runs, so that lists have the form of the protocol (LET01), or in a form
// (form.go). Members that it does not name are passed on, unless object refuses them.
type shape struct {
	object  check.Object
	members []func(*check.Decoder) // in the order of object.Names
}

// shapeMember is a member of a shape.
type shapeMember struct {
	name string
	read func(*check.Decoder)
}

// shapeOf returns a shape; other is for members that it does not name. Rules of shapes are at "#", because no schema that somebody could look up has them.
func shapeOf(other check.AdditionalProperties, required []string, members ...shapeMember) *shape {
	s := &shape{object: check.Object{At: "#", Required: required, AdditionalProperties: other}}
	for _, m := range members {
		s.object.Names = append(s.object.Names, m.name)
		s.members = append(s.members, m.read)
	}
	return s
}

func (s *shape) read(d *check.Decoder) {
	for f := d.Object(&s.object); f >= 0; f = d.Next() {
		if f < len(s.members) {
			s.members[f](d)
		} else {
			d.Skip()
		}
	}
}

// check returns what is wrong with a definition, for its author. own are the keys of _meta that the runtime itself writes.
func (s *shape) check(definition []byte, own []string) error {
	d := check.Get(definition, check.Limits{})
	defer d.Put()
	s.read(d)
	err := d.Finish()
	if err == nil {
		err = listedRules(definition, own)
	}
	if err != nil {
		return fmt.Errorf("server: the definition is wrong: %w", err)
	}
	return nil
}

// listedRules checks a definition, whose shape is right, by the other rules that the generator applies to a manifest: clients meet the same rules in what
// was generated and what was added.
func listedRules(definition []byte, own []string) error {
	members := membersOf(definition)
	if err := manifestKeys(members); err != nil {
		return err
	}
	var icons []map[string]json.RawMessage
	_ = json.Unmarshal(members["icons"], &icons) // valid, or absent
	for i, icon := range icons {
		if err := address.Picture(unquoted(icon["src"])); err != nil {
			return fmt.Errorf("/icons/%d/src: %w", i, err)
		}
		if mime := icon["mimeType"]; mime != nil {
			if err := checkMIME(unquoted(mime)); err != nil {
				return fmt.Errorf("/icons/%d/mimeType: %w", i, err)
			}
		}
	}
	if mime := members["mimeType"]; mime != nil {
		if err := checkMIME(unquoted(mime)); err != nil {
			return fmt.Errorf("/mimeType: %w", err)
		}
	}
	for _, m := range edit.ObjectOf(members["_meta"]) {
		err := checkMetaKey(m.Name)
		if err == nil && slices.Contains(own, m.Name) {
			err = reservedKey(m.Name)
		}
		if err != nil {
			return fmt.Errorf("/_meta: %w", err)
		}
	}
	if err := misplacedSensitive(members); err != nil {
		return err
	}
	params, err := paramheader.Of(definition)
	if err != nil {
		return err
	}
	for _, p := range params {
		switch {
		case p.Inexact:
			return fmt.Errorf("%s: the integer with the header %q can be one that JavaScript clients do not hold exactly: "+
				"give it minimum and maximum, or an enum, within -9007199254740991 and 9007199254740991", paramheader.Keyword, p.Header)
		case p.Sensitive:
			return fmt.Errorf("%s: the argument with the header %q is x-sensitive, and gateways log headers", paramheader.Keyword, p.Header)
		}
	}
	return nil
}

// manifestKeys refuses keys that a manifest has beside the protocol's members: nothing would obey them, and lists would show them.
func manifestKeys(definition map[string]json.RawMessage) error {
	for _, key := range slices.Sorted(maps.Keys(insteadOfKey)) {
		if definition[key] != nil {
			return manifestKey(key, insteadOfKey[key])
		}
	}
	execution := membersOf(definition["execution"])
	for _, key := range []string{"maxConcurrent", "maxReruns", "maxTtl", "onCrash", "pollInterval", "timeout", "ttl"} {
		if execution[key] != nil {
			return manifestKey("execution/"+key, "and set the times of tasks in the manifest, in defaults.task, or write the tool there")
		}
	}
	return nil
}

func manifestKey(at, instead string) error {
	return fmt.Errorf("/%s: it is a key of manifests, and nothing obeys it here: remove it, %s", at, instead)
}

// insteadOfKey says what to do in place of a manifest's key in a definition.
var insteadOfKey = map[string]string{
	"cancellation":       "or write the tool in the manifest",
	"clientCapabilities": "since the handler may ask for whatever the client has declared",
	"elicitations":       "and ask with server.Ask in the handler",
	"goName":             "since no code is generated for what is added",
	"subscribe":          "since clients can subscribe to every resource that is added",
	"timeout":            "and use context.WithTimeout in the handler",
	"variables":          "since the uriTemplate names its variables, and the handler checks their values",
}

// unquoted is the text of a JSON string, "" for other values.
func unquoted(value []byte) (text string) {
	_ = json.Unmarshal(value, &text)
	return text
}

var anyObject = check.Object{At: "#"}

func readText(d *check.Decoder)   { d.Text(nil) }
func readFlag(d *check.Decoder)   { d.Bool(nil) }
func readNumber(d *check.Decoder) { d.Float(nil) }
func readName(d *check.Decoder)   { d.Text(&check.String{At: "#", Min: 1}) }
func readURI(d *check.Decoder)    { d.Text(&check.String{At: "#", Format: format.URI}) }
func readLength(d *check.Decoder) { d.Int(&check.Int{At: "#", Has: check.Minimum}) }
func readObject(d *check.Decoder) { d.EachMember(&anyObject, (*check.Decoder).Skip) }

// readSchema accepts what is a schema in any draft of JSON Schema: an object or a boolean.
func readSchema(d *check.Decoder) {
	if d.Kind(&check.Union{At: "#", Keyword: "type", Kinds: check.KindObject | check.KindBool}) != 0 {
		d.Skip()
	}
}

func readWord(words ...string) func(*check.Decoder) {
	rule := &check.Enum{At: "#", Values: words}
	return func(d *check.Decoder) { d.Enum(rule) }
}

func readEach(rule *check.Array, item func(*check.Decoder)) func(*check.Decoder) {
	return func(d *check.Decoder) { d.Each(rule, item) }
}

func readPriority(d *check.Decoder) {
	d.Float(&check.Number{At: "#", Has: check.Minimum | check.Maximum, Max: 1})
}

// withCommonMembers adds the members that all definitions may have.
func withCommonMembers(more ...shapeMember) []shapeMember {
	icon := shapeOf(check.Skip, []string{"src"}, shapeMember{"src", readURI}, shapeMember{"mimeType", readText},
		shapeMember{"sizes", readEach(&check.Array{At: "#"}, readText)}, shapeMember{"theme", readWord("light", "dark")})
	return append(more, shapeMember{"name", readName}, shapeMember{"title", readText}, shapeMember{"description", readText},
		shapeMember{"icons", readEach(&check.Array{At: "#"}, icon.read)}, shapeMember{"_meta", readObject})
}

var (
	promptShape = shapeOf(check.Skip, []string{"name"}, withCommonMembers(shapeMember{"arguments", readEach(&check.Array{At: "#"}, argumentShape.read)})...)
	// An argument's members beside those of the protocol are keywords of JSON Schema: one that nothing would enforce is refused.
	argumentShape = shapeOf(check.Refuse, []string{"name"}, shapeMember{"name", readName}, shapeMember{"title", readText}, shapeMember{"description", readText},
		shapeMember{"required", readFlag}, shapeMember{"type", readWord("string")}, shapeMember{"enum", readEach(&check.Array{At: "#", Min: 1}, readText)},
		shapeMember{"pattern", readText}, shapeMember{"format", readText}, shapeMember{"minLength", readLength}, shapeMember{"maxLength", readLength},
		shapeMember{"x-sensitive", readFlag})

	annotations = shapeMember{"annotations", shapeOf(check.Skip, nil, shapeMember{"audience", readEach(&check.Array{At: "#"}, readWord("user", "assistant"))},
		shapeMember{"priority", readPriority}, shapeMember{"lastModified", readText}).read}
	resourceShape = shapeOf(check.Skip, []string{"name", "uri"}, withCommonMembers(shapeMember{"uri", readURI}, shapeMember{"mimeType", readText},
		shapeMember{"size", readLength}, annotations)...)
	templateShape = shapeOf(check.Skip, []string{"name", "uriTemplate"}, withCommonMembers(shapeMember{"uriTemplate", readText}, shapeMember{"mimeType", readText},
		annotations)...)

	hints = shapeOf(check.Skip, nil, shapeMember{"title", readText}, shapeMember{"readOnlyHint", readFlag}, shapeMember{"destructiveHint", readFlag},
		shapeMember{"idempotentHint", readFlag}, shapeMember{"openWorldHint", readFlag})
	execution = shapeOf(check.Skip, nil, shapeMember{"taskSupport", readWord("forbidden", "optional", "required")})
	// The rules of the protocol for a tool's schemas, except for their type, which has a message of its own.
	toolSchema = shapeOf(check.Skip, nil, shapeMember{"$schema", readText}, shapeMember{"required", readEach(&check.Array{At: "#"}, readText)},
		shapeMember{"properties", func(d *check.Decoder) { d.EachMember(&check.Object{At: "#"}, readSchema) }})
	toolShape = shapeOf(check.Skip, []string{"name", "inputSchema"}, withCommonMembers(shapeMember{"inputSchema", toolSchema.read}, shapeMember{"outputSchema", toolSchema.read},
		shapeMember{"annotations", hints.read}, shapeMember{"execution", execution.read})...)
)
