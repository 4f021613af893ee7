package argument

import (
	"encoding/json"
	"maps"
	"strings"
)

// kinds are types as schemas call them, but that integers are numbers: the schema itself says which of those it takes.
type kinds map[string]bool

func newKinds(names ...string) kinds {
	k := kinds{}
	for _, name := range names {
		if name == "integer" {
			name = "number"
		}
		k[name] = true
	}
	return k
}

func anything() kinds {
	return newKinds("string", "number", "boolean", "null", "array", "object")
}

// both are the kinds that k and other have.
func (k kinds) both(other kinds) kinds {
	maps.DeleteFunc(k, func(name string, _ bool) bool { return !other[name] })
	return k
}

// only tells whether a value has that kind and, but for null, no other.
func (k kinds) only(name string) bool {
	return k[name] && (len(k) == 1 || len(k) == 2 && k["null"])
}

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
		return anything()
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
		return anything()
	case schema == false:
		return kinds{}
	case !isObject:
		return anything()
	}
	k := s.own(m, at)
	if ref, ok := m["$ref"].(string); ok {
		k.both(s.referred(ref, at))
	}
	all, _ := m["allOf"].([]any)
	for _, one := range all {
		k.both(s.of(one, at))
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if some, ok := m[keyword].([]any); ok {
			k.both(s.some(some, at))
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
		return anything()
	case at.lists > 0:
		return s.of(m["items"], path{lists: at.lists - 1})
	}
	k := anything()
	switch t := m["type"].(type) {
	case string:
		k.both(newKinds(t))
	case []any:
		names := kinds{}
		for _, name := range t {
			text, _ := name.(string)
			maps.Copy(names, newKinds(text))
		}
		k.both(names)
	}
	if values, ok := m["enum"].([]any); ok {
		k.both(s.ofValues(values))
	}
	if value, ok := m["const"]; ok {
		k.both(s.ofValues([]any{value}))
	}
	return k
}

func (s *shapes) ofValues(values []any) kinds {
	k := kinds{}
	if s.left -= len(values); s.left < 0 {
		return k
	}
	for _, value := range values {
		text, _ := json.Marshal(value)
		k[kindOf(text)] = true
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
	return anything()
}

// some are the kinds by any of the schemas, without those that have nothing at the end of the path.
func (s *shapes) some(schemas []any, at path) kinds {
	k := kinds{}
	for _, one := range schemas {
		switch {
		case at.member != nil && !s.of(one, path{})["object"]:
		case at.member == nil && at.lists > 0 && !s.of(one, path{})["array"]:
		default:
			maps.Copy(k, s.of(one, at))
		}
	}
	return k
}
