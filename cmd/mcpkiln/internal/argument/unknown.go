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

// names is what a schema says of the names of an object's members. Members of the other keywords may name more.
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

// Known is an error for the first name=text, of what is called an argument or a field, whose name the schema does not have: it is a slip rather than meant. Names are known by
// properties, patternProperties, or additionalProperties that are allowed in so many words; a schema without properties, or with a keyword that
// could name more, knows all. A file and name:=JSON may have any name: whoever writes those means them.
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
		return fmt.Errorf("no %s %q; %s (%s:=JSON gives it as it is)", what, p.name, hint, p.name)
	}
	return nil
}

// open tells whether names that are not among the properties may be meant.
func (n *names) open() bool {
	additional := n.AdditionalProperties != nil && !bytes.Equal(n.AdditionalProperties, []byte("false"))
	for _, keyword := range []json.RawMessage{n.Ref, n.DynamicRef, n.AllOf, n.AnyOf, n.OneOf, n.If, n.DependentSchemas} {
		additional = additional || keyword != nil
	}
	return additional || len(n.Properties) == 0
}

// matches tells whether a pattern has the name, or can not be read here.
func (n *names) matches(name string) bool {
	for pattern := range n.PatternProperties {
		if re, err := regexp.Compile(pattern); err != nil || re.MatchString(name) {
			return true
		}
	}
	return false
}
