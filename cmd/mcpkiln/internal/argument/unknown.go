package argument

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/schema"
)

// names has the keywords of a schema that name an object's members. The ones after AdditionalProperties may name more.
type names struct {
	Properties           map[string]json.RawMessage
	PatternProperties    map[string]json.RawMessage
	AdditionalProperties json.RawMessage

	Ref              json.RawMessage `json:"$ref"`
	DynamicRef       json.RawMessage `json:"$dynamicRef"`
	AllOf            json.RawMessage
	AnyOf            json.RawMessage
	OneOf            json.RawMessage
	If               json.RawMessage
	DependentSchemas json.RawMessage
}

// Known returns an error for the first name=text whose name the schema does not have, because it is probably misspelt; what is "argument" or
// "field". Names are known by properties, patternProperties, or additionalProperties unless it is absent or false; a schema without properties,
// or with a keyword that could name more, knows all. Names in a file or of name:=JSON are not checked: that is how to write an unknown one.
func (g *Given) Known(what string, inputSchema json.RawMessage) error {
	var n names
	if json.Unmarshal(inputSchema, &n) != nil || n.open() {
		return nil
	}
	for _, p := range g.pairs {
		if _, known := n.Properties[p.name]; known || p.json || n.matches(p.name) {
			continue
		}
		all := slices.Sorted(maps.Keys(n.Properties))
		hint := schema.DidYouMean(p.name, all)
		if hint == "" {
			hint = "it has " + plain.Line(strings.Join(all, ", "))
		}
		return fmt.Errorf("no %s %q; %s%s", what, p.name, hint, n.asJSON(p.name))
	}
	return nil
}

// asJSON says how to give what a name means as JSON, if the schema may take that: a member of a property, or an additional property.
func (n *names) asJSON(name string) string {
	outer, _, inner := strings.Cut(name, ".")
	if _, known := n.Properties[outer]; inner && known {
		return fmt.Sprintf(" (%s:='{…}' gives it whole)", outer)
	}
	if n.AdditionalProperties != nil { // it is false
		return ""
	}
	return fmt.Sprintf(" (%s:=JSON gives it as it is)", name)
}

// open reports whether the schema may allow names that are not among the properties.
func (n *names) open() bool {
	additional := n.AdditionalProperties != nil && !bytes.Equal(n.AdditionalProperties, []byte("false"))
	for _, keyword := range []json.RawMessage{n.Ref, n.DynamicRef, n.AllOf, n.AnyOf, n.OneOf, n.If, n.DependentSchemas} {
		additional = additional || keyword != nil
	}
	return additional || len(n.Properties) == 0
}

// matches reports whether a pattern matches the name, or is no valid Go regexp.
func (n *names) matches(name string) bool {
	for pattern := range n.PatternProperties {
		if re, err := regexp.Compile(pattern); err != nil || re.MatchString(name) {
			return true
		}
	}
	return false
}
