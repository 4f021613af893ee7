package proof_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
)

// union is an anyOf or oneOf of one of the kinds that are told apart in different ways, or not at all.
func (a *author) union(depth int) object {
	keyword := pick(a.Rand, "anyOf", "oneOf")
	switch a.IntN(5) {
	case 0:
		return object{keyword: a.byType(depth)}
	case 1:
		return object{keyword: []any{a.tagged(depth), object{keyword: a.byKey(depth)}}}
	case 2:
		return object{keyword: append([]any{pick[any](a.Rand, object{"not": object{}}, false)}, a.byKey(depth)[:1+a.IntN(2)]...)}
	case 3:
		return object{keyword: append(a.byKey(depth), a.byType(depth)...)}
	default:
		return object{keyword: a.byKey(depth)}
	}
}

// objectForm is an object for a union, and its properties, to which more can be added.
func (a *author) objectForm(depth int) (s, properties object) {
	s = object{"type": "object"}
	a.objectRules(s, depth)
	properties, ok := s["properties"].(object)
	if !ok {
		properties = object{}
		s["properties"] = properties
	}
	return s, properties
}

// byKey are objects that require a property each; some require the same.
func (a *author) byKey(depth int) []any {
	members := make([]any, 2+a.IntN(3))
	for i := range members {
		s, properties := a.objectForm(depth)
		key := pick(a.Rand, "a", "b", "c", "id", "a/b")
		properties[key] = pick[any](a.Rand, a.schema(0), true, object{"type": "string"})
		s["required"] = []string{key}
		if a.chance(6) {
			properties["d"] = object{"not": object{}}
		}
		members[i] = s
	}
	return members
}

// byType are schemas of a type each.
func (a *author) byType(depth int) []any {
	types := []string{"object", "array", "string", "integer", "boolean", "null"}
	a.Shuffle(len(types), func(i, j int) { types[i], types[j] = types[j], types[i] })
	members := make([]any, 2+a.IntN(2))
	for i := range members {
		s := object{"type": types[i]}
		a.rules(s, types[i], depth)
		members[i] = s
	}
	return members
}

// recursion is a union of which all branches but one lead back to it.
func (a *author) recursion(name string) object {
	again := object{"$ref": "#/" + a.definitions() + "/" + name}
	branches := []any{pick[any](a.Rand, object{"type": "null"}, object{"type": "integer"}, object{"type": []string{"string", "null"}}, a.fixed())}
	for range 1 + a.IntN(3) {
		branches = append(branches, a.back(again))
	}
	a.Shuffle(len(branches), func(i, j int) { branches[i], branches[j] = branches[j], branches[i] })
	return object{pick(a.Rand, "anyOf", "oneOf"): branches}
}

// back is a schema that contains again.
func (a *author) back(again object) object {
	member := func() any {
		return pick[any](a.Rand, again, again, object{"type": "array", "items": again}, a.schema(0))
	}
	names := func() []string { return []string{pick(a.Rand, "a", "b", "c"), pick(a.Rand, "b", "c", "d")} }
	switch a.IntN(9) {
	case 0:
		return object{"type": "array", "items": again}
	case 1:
		return object{"type": "object", "additionalProperties": again}
	case 2:
		return object{"type": "array", "contains": again, "maxItems": 3}
	case 3:
		return object{"type": "object", "properties": object{"a": again}, "not": object{"required": []string{"b"}, "properties": object{"b": again}}}
	case 4:
		return object{"type": "object", "if": object{"properties": object{"a": again}}, "then": object{"properties": object{"b": again}}, "else": object{"required": []string{"c"}}}
	default:
		s := object{"type": "object", "properties": object{"a": member(), "b": member(), "c": member()}}
		if a.chance(2) {
			s["required"] = dedupe(a.Rand, names())
		}
		if a.chance(3) {
			s["properties"].(object)["kind"] = object{"const": pick(a.Rand, "x", "y")}
			s["required"] = []string{"kind"}
		}
		if a.chance(4) {
			s["additionalProperties"] = false
		}
		return s
	}
}

// dedupe returns one or both of two names, each once.
func dedupe(r *rand.Rand, names []string) []string {
	if names[0] == names[1] || r.IntN(2) == 0 {
		return names[:1]
	}
	return names
}

// The tags of the i-th form of a union.
func textTag(i int) any   { return "k" + strconv.Itoa(i) }
func numberTag(i int) any { return i }
func mixedTag(i int) any  { return []any{"1", json.RawMessage("1.0"), false, nil}[i] }

// tagged is a union of objects that differ in the value of a property; some do not.
func (a *author) tagged(depth int) object {
	tag := pick(a.Rand, "kind", "kind", "type", "a", "a/b")
	tags := pick(a.Rand, textTag, textTag, numberTag, mixedTag)
	members := make([]any, 2+a.IntN(2))
	for i := range members {
		s, properties := a.objectForm(depth)
		properties[tag] = object{"const": tags(i)}
		if a.chance(8) {
			properties[tag] = a.fixed()
		}
		if s["required"] == nil || !a.chance(8) {
			s["required"] = []string{tag}
		}
		members[i] = s
	}
	return object{pick(a.Rand, "anyOf", "oneOf"): members}
}
