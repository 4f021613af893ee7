package argument

import (
	"encoding/json"
	"strings"
)

// kinds is a set of types as schemas call them, but that integers are numbers: the schema itself says which of those it takes.
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

// only tells whether a value has that kind and, but for null, no other.
func (k kinds) only(one kinds) bool { return k&one != 0 && k&^(one|ofNull) == 0 }

// place is where a value of the arguments stands: the one of that name, or so many lists deep in it.
type place struct {
	name  string
	lists int
}

// maxLists is how deep in lists a word can stand: those of a recursive schema have no end.
const maxLists = 2

// maxVisited is how many schemas and values of enums are looked at for one place. By more, nothing is said about it: some schemas never end.
const maxVisited = 10_000

// shapes says what a schema allows in places of the arguments.
type shapes struct {
	root any
	left int // of maxVisited
}

func newShapes(schema json.RawMessage) *shapes {
	root, _ := decode(schema)
	return &shapes{root: root}
}

// kinds are those that the schema allows in a place, as far as type, enum, const, local references and combinations of schemas say.
func (s *shapes) kinds(in place) kinds {
	s.left = maxVisited
	k := s.of(s.root, path{member: &in.name, lists: in.lists})
	if s.left < 0 {
		return anything
	}
	return k
}

// path leads from a value to one in it: to its member, if that is not nil, and then into lists.
type path struct {
	member *string
	lists  int
}

// of are the kinds that a schema allows at the end of a path.
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

// own are the kinds by what the schema says itself.
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

// referred are the kinds by the schema that a reference names, if it is in the same document.
func (s *shapes) referred(ref string, at path) kinds {
	if pointer, local := strings.CutPrefix(ref, "#"); local {
		if schema, ok := follow(s.root, pointer); ok {
			return s.of(schema, at)
		}
	}
	return anything
}

// some are the kinds by any of the schemas, without those that have nothing at the end of the path.
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
