package argument

import (
	"encoding/json"
	"strings"
)

// kinds is a set of JSON types. Integers are numbers: validation finds out which numbers are allowed.
type kinds uint8

const (
	ofText kinds = 1 << iota
	ofNumber
	ofBoolean
	ofNull
	ofList
	ofObject
	anything = 1<<iota - 1
)

var kindNames = map[string]kinds{
	"string": ofText, "number": ofNumber, "integer": ofNumber, "boolean": ofBoolean, "null": ofNull, "array": ofList, "object": ofObject,
}

// only reports whether k is that one kind, or that and null.
func (k kinds) only(one kinds) bool { return k&one != 0 && k&^(one|ofNull) == 0 }

// place is the place of a value in the arguments: the argument of that name, or an item so many lists deep in it.
type place struct {
	name  string
	lists int
}

// maxLists is how deep in lists the value of a word may be: the lists of a recursive schema have no end.
const maxLists = 2

// maxVisited limits the schemas and enum values that are visited for one place, since some schemas never end. Beyond it, anything is allowed.
const maxVisited = 10_000

// shapes finds the kinds that a schema allows at places of the arguments.
type shapes struct {
	root any
	left int // of maxVisited
}

func newShapes(schema json.RawMessage) *shapes {
	root, _ := decode(schema)
	return &shapes{root: root}
}

// kinds returns the kinds that the schema allows at a place by type, enum, const, local references and combinations of schemas.
func (s *shapes) kinds(in place) kinds {
	s.left = maxVisited
	k := s.of(s.root, path{member: &in.name, lists: in.lists})
	if s.left < 0 {
		return anything
	}
	return k
}

// path leads from a value to one inside it: to a member, if that is not nil, and then into lists.
type path struct {
	member *string
	lists  int
}

// of returns the kinds that a schema allows at the end of a path.
func (s *shapes) of(schema any, at path) kinds {
	m, isObject := schema.(map[string]any)
	s.left--
	switch {
	case s.left < 0:
		return anything
	case schema == false:
		return 0
	case !isObject:
		return anything
	}
	k := s.own(m, at)
	if ref, ok := m["$ref"].(string); ok {
		k &= s.referred(ref, at)
	}
	all, _ := m["allOf"].([]any)
	for _, one := range all {
		k &= s.of(one, at)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if some, ok := m[keyword].([]any); ok {
			k &= s.some(some, at)
		}
	}
	return k
}

// own returns the kinds by the schema's own keywords, without references and combinations.
func (s *shapes) own(m map[string]any, at path) kinds {
	switch {
	case at.member != nil:
		properties, _ := m["properties"].(map[string]any)
		if member, ok := properties[*at.member]; ok {
			return s.of(member, path{lists: at.lists})
		}
		return anything
	case at.lists > 0:
		return s.of(m["items"], path{lists: at.lists - 1})
	}
	k := kinds(anything)
	switch t := m["type"].(type) {
	case string:
		k &= kindNames[t]
	case []any:
		var several kinds
		for _, one := range t {
			name, _ := one.(string)
			several |= kindNames[name]
		}
		k &= several
	}
	if values, ok := m["enum"].([]any); ok {
		k &= s.ofValues(values)
	}
	if value, ok := m["const"]; ok {
		k &= s.ofValues([]any{value})
	}
	return k
}

func (s *shapes) ofValues(values []any) (k kinds) {
	if s.left -= len(values); s.left < 0 {
		return 0
	}
	for _, value := range values {
		raw, _ := json.Marshal(value)
		k |= kindNames[kindOf(raw)]
	}
	return k
}

// referred returns the kinds by the schema that a reference names, if it is in the same document.
func (s *shapes) referred(ref string, at path) kinds {
	if pointer, local := strings.CutPrefix(ref, "#"); local {
		if schema, ok := follow(s.root, pointer); ok {
			return s.of(schema, at)
		}
	}
	return anything
}

// some returns the union of the kinds by each schema, without schemas that do not allow the object or list that the path goes through.
func (s *shapes) some(schemas []any, at path) (k kinds) {
	for _, one := range schemas {
		switch {
		case at.member != nil && s.of(one, path{})&ofObject == 0:
		case at.member == nil && at.lists > 0 && s.of(one, path{})&ofList == 0:
		default:
			k |= s.of(one, at)
		}
	}
	return k
}
