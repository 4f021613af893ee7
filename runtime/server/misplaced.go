package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/keyword"
	"github.com/mcpkiln/mcpkiln/runtime/check/paramheader"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// schemaPlace describes a place in a schema of an added tool.
type schemaPlace struct {
	keys       keyword.Keys // what the keys of an object at this place are
	properties bool         // the keys are names of properties
	property   bool         // it is the schema of a property
	reached    bool         // from an inputSchema by properties alone
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

// addedSchema is a schema of an added tool that is searched for x-sensitive and x-mcp-header.
type addedSchema struct {
	root    any
	headers bool // it is an inputSchema; in an outputSchema x-mcp-header means nothing
}

// misplacedKeywords refuses x-sensitive and x-mcp-header where they would have no effect, as the generator does: the first is for named
// properties, the second is found where only properties lead to it.
func misplacedKeywords(tool map[string]json.RawMessage) error {
	for _, member := range []string{"inputSchema", "outputSchema"} {
		s := addedSchema{headers: member == "inputSchema"}
		_ = json.Unmarshal(tool[member], &s.root) // it is valid or absent
		if err := s.misplaced("/"+member, s.root, schemaPlace{reached: true}); err != nil {
			return err
		}
	}
	return nil
}

// misplaced searches the value at a JSON Pointer.
func (s *addedSchema) misplaced(at string, value any, p schemaPlace) error {
	switch v := value.(type) {
	case []any:
		p = schemaPlace{keys: p.keys}
		for i, item := range v {
			if err := s.misplaced(fmt.Sprintf("%s/%d", at, i), item, p); err != nil {
				return err
			}
		}
	case map[string]any:
		if p.keys == keyword.Keywords {
			if err := s.refuse(at, v, p); err != nil {
				return err
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := s.misplaced(at+"/"+check.PointerStep(key), v[key], p.below(key)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *addedSchema) refuse(at string, schema map[string]any, p schemaPlace) error {
	said, sensitive := schema["x-sensitive"]
	switch _, flag := said.(bool); {
	case sensitive && !flag:
		return fmt.Errorf("%s/x-sensitive: it takes true or false", at)
	case sensitive && !p.property:
		return fmt.Errorf("%s/x-sensitive: it stands at a property, and this schema is none: write it at the property, beside a $ref if there is one", at)
	case !sensitive && s.refersToSensitive(schema["$ref"]):
		return fmt.Errorf("%s/$ref: it leads to a property that is x-sensitive, and this one would be shown: write x-sensitive at the property, beside the $ref", at)
	case schema[paramheader.Keyword] != nil && s.headers && !p.reached:
		return fmt.Errorf("%s/%s: clients do not find the argument here: move it to a property of the inputSchema, or of an object among its properties",
			at, paramheader.Keyword)
	}
	return nil
}

// refersToSensitive reports whether a reference within the schema leads to a property that is x-sensitive. Under the name of the referring
// property its values would be shown.
func (s *addedSchema) refersToSensitive(ref any) bool {
	text, _ := ref.(string)
	path, within := strings.CutPrefix(text, "#/")
	if !within {
		return false
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	target := s.root
	for step := range strings.SplitSeq(path, "/") {
		step = wire.UnescapeStep(step)
		switch v := target.(type) {
		case map[string]any:
			target = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return false
			}
			target = v[i]
		}
	}
	property, _ := target.(map[string]any)
	return property["x-sensitive"] == true
}
