package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/keyword"
	"github.com/mcpkiln/mcpkiln/runtime/check/paramheader"
)

// schemaPlace is where something stands in a schema of an added tool.
type schemaPlace struct {
	keys       keyword.Keys
	properties bool // the keys are names of properties
	property   bool // it is the schema of a property
	reached    bool // from an inputSchema by properties alone
}

func (p schemaPlace) below(key string) schemaPlace {
	next := schemaPlace{keys: p.keys.Below(key)}
	switch p.keys {
	case keyword.Keywords:
		next.properties = key == "properties"
		next.reached = p.reached && next.properties
	case keyword.Names:
		next.property, next.reached = p.properties, p.reached
	}
	return next
}

// misplacedKeywords refuses x-sensitive and x-mcp-header where they would do nothing, as the generator does: the first is found by the names of
// properties, the second by clients that go from property to property.
func misplacedKeywords(tool map[string]json.RawMessage) error {
	for _, member := range []string{"inputSchema", "outputSchema"} {
		var schema any
		_ = json.Unmarshal(tool[member], &schema) // it is valid, or not there
		if err := misplaced("/"+member, schema, schemaPlace{reached: member == "inputSchema"}, member == "inputSchema"); err != nil {
			return err
		}
	}
	return nil
}

// misplaced looks through the value at a pointer. In an outputSchema a header binds nobody, wherever it stands.
func misplaced(at string, value any, p schemaPlace, headers bool) error {
	switch v := value.(type) {
	case []any:
		p = schemaPlace{keys: p.keys}
		for i, item := range v {
			if err := misplaced(fmt.Sprintf("%s/%d", at, i), item, p, headers); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := p.refuse(at, v, headers); err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := misplaced(at+"/"+check.PointerStep(key), v[key], p.below(key), headers); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p schemaPlace) refuse(at string, schema map[string]any, headers bool) error {
	if p.keys != keyword.Keywords {
		return nil
	}
	if said, ok := schema["x-sensitive"]; ok {
		if _, flag := said.(bool); !flag {
			return fmt.Errorf("%s/x-sensitive: it takes true or false", at)
		}
		if !p.property {
			return fmt.Errorf("%s/x-sensitive: it stands at a property, and this schema is none: write it at the property, beside a $ref if there is one", at)
		}
	}
	if schema[paramheader.Keyword] != nil && headers && !p.reached {
		return fmt.Errorf("%s/%s: clients do not find the argument here: move it to a property of the inputSchema, or of an object among its properties",
			at, paramheader.Keyword)
	}
	return nil
}
