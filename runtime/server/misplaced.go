package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/keyword"
)

// schemaPlace describes a place in a schema of an added tool.
type schemaPlace struct {
	keys keyword.Keys // what the keys of an object at this place are
	base string       // the URI that references resolve against
}

// below is the place of the value under a key.
func (p schemaPlace) below(key string) schemaPlace {
	return schemaPlace{keys: p.keys.Below(key), base: p.base}
}

// addedSchema is a schema of an added tool that is searched for x-sensitive.
type addedSchema struct {
	at      string // its JSON Pointer in the definition; others are relative to it
	targets        // of its references
}

// misplacedSensitive refuses x-sensitive where it would have no effect, as the generator does: it is for named properties.
func misplacedSensitive(tool map[string]json.RawMessage) error {
	for _, member := range []string{"inputSchema", "outputSchema"} {
		var root any
		_ = json.Unmarshal(tool[member], &root) // it is valid or absent
		s := addedSchema{at: "/" + member, targets: newTargets(root)}
		err := s.each("", root, schemaPlace{}, func(at string, schema map[string]any, p schemaPlace) error {
			s.note(at, schema, p.base)
			return nil
		})
		if err == nil {
			err = s.each("", root, schemaPlace{}, s.refuse)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls visit for each schema in the value at a JSON Pointer, until visit returns an error.
func (s *addedSchema) each(at string, value any, p schemaPlace, visit func(at string, schema map[string]any, p schemaPlace) error) error {
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			if err := s.each(fmt.Sprintf("%s/%d", at, i), item, p, visit); err != nil {
				return err
			}
		}
	case map[string]any:
		if p.keys == keyword.Keywords {
			p.base = s.baseOf(v, p.base)
			if err := visit(at, v, p); err != nil {
				return err
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := s.each(at+"/"+check.PointerStep(key), v[key], p.below(key), visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuse returns why the schema at a JSON Pointer is refused, nil if it is not.
func (s *addedSchema) refuse(at string, schema map[string]any, p schemaPlace) error {
	place := keyword.PlaceOf(at)
	ref := s.refersToSensitive(at, schema, p.base)
	at = s.at + at
	said, sensitive := schema[keyword.Sensitive]
	switch _, flag := said.(bool); {
	case sensitive && !flag:
		return fmt.Errorf("%s/x-sensitive: it takes true or false", at)
	case sensitive && !place.IsProperty:
		return fmt.Errorf("%s/x-sensitive: it stands at a property, and this schema is none: %s", at, place.HasSensitive())
	case ref != "":
		return fmt.Errorf("%s/%s: it leads to a property that is x-sensitive, and this one would be shown: %s", at, ref, place.HidesReference())
	}
	return nil
}
