package proof_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/mcpkiln/mcpkiln/schema"
)

// object is a JSON object in the making. Marshalling sorts its keys, so the same random numbers make the same text.
type object = map[string]any

// author writes random schemas of one draft, of all its keywords.
type author struct {
	*rand.Rand
	dialect schema.Dialect
	defs    []string
}

func (a *author) chance(n int) bool               { return a.IntN(n) == 0 }
func pick[T any](r *rand.Rand, all ...T) T        { return all[r.IntN(len(all))] }
func (a *author) knows(keyword string) bool       { return !slices.Contains(foreign[a.dialect], keyword) }
func (a *author) some(keyword string, n int) bool { return a.knows(keyword) && a.chance(n) }

// propertyNames are ordinary ones, those that become the same Go name, and those that are trouble in Go, in JSON, in a
// JSON Pointer or as keywords.
var propertyNames = []string{"a", "b", "c", "a", "b", "c", "id", "list", "A", "a_b", "aB", "type", "func", "string", "$ref", "properties",
	"", " ", "a/b", "~", "%41", `"`, "\\", "ü", "日本", "😀", "1", "v", "d", "check", "\n"}

// patterns are RE2 and ECMAScript alike. Beside each stand strings that match.
var patterns = map[string][]string{
	"^[a-z]+$": {"a", "abc", "list"}, "^a": {"a", "ab", "aé"}, "b": {"b", "abc", "a_b"}, `^\d{2,3}$`: {"12", "123"}, "^$": {""},
	"^(a|b)*$": {"", "a", "abba"}, "[é😀]": {"é", "a😀"}, "x?": {"", "x"}, `^[^/]*$`: {"", "a", "\n"},
}

// formatted are formats with values that have them.
var formatted = map[string][]string{
	"date-time": {"2026-07-28T09:30:00Z", "2024-02-29T23:59:59.123+01:00"}, "date": {"2026-07-28", "2024-02-29"},
	"ipv4": {"127.0.0.1", "0.0.0.0"}, "ipv6": {"::1", "2001:db8::8:800:200c:417a"}, "uuid": {"123e4567-e89b-12d3-a456-426614174000"},
	"json-pointer": {"", "/a/0", "/~0~1"}, "email": {"a@b.example"}, "uri": {"https://a.example/b?c#d", "urn:a"},
	"color": {"red"}, // unknown to both
}

// document returns a schema document.
func (a *author) document() []byte {
	a.defs = []string{"A", "B", "C"}[:a.IntN(4)]
	root := a.objectOrTrue(3)
	definitions := object{}
	for _, name := range a.defs {
		definitions[name] = a.definition(name)
	}
	if a.chance(4) {
		definitions["R"] = a.recursion("R")
		root = object{"properties": object{"a": object{"$ref": "#/" + a.definitions() + "/R"}, "b": root}}
	}
	if len(definitions) > 0 {
		root["$defs"] = definitions
	}
	if a.dialect == schema.Draft7 {
		root["$schema"] = a.dialect.String() + "#"
		delete(root, "$defs")
		if len(definitions) > 0 {
			root["definitions"] = definitions
		}
	}
	text, err := json.Marshal(root)
	if err != nil {
		panic(err)
	}
	return text
}

// definition is a schema that others may also refer to by name: by $anchor, by $dynamicAnchor, or by an $id of its own.
// What has an $id holds no references, because they would start from it. Which way a $dynamicRef came is for the official
// suite to judge: the reference counts the anchors of embedded resources as those of the resources around them.
func (a *author) definition(name string) any {
	if a.some("$ref", 6) {
		others := a.defs
		a.defs = nil
		s := a.objectOrTrue(1)
		a.defs = others
		s["$id"] = name + ".json"
		return s
	}
	s, ok := a.schema(2).(object)
	if !ok {
		return true
	}
	switch _, ref := s["$ref"]; {
	case a.dialect == schema.Draft2020:
		s["$anchor"] = "at" + name
		if a.some("$dynamicRef", 2) {
			s["$dynamicAnchor"] = "moving" + name
		}
	case !ref:
		s["$id"] = "#at" + name
	}
	return s
}

func (a *author) objectOrTrue(depth int) object {
	if s, ok := a.schema(depth).(object); ok {
		return s
	}
	return object{}
}

// schema returns a schema with at most depth levels below it, which may take null and have a default.
func (a *author) schema(depth int) any {
	return a.withDefault(a.nullable(a.value(depth)))
}

func (a *author) value(depth int) any {
	switch {
	case a.chance(30):
		return true
	case a.chance(60):
		return false
	case len(a.defs) > 0 && a.some("$ref", 7):
		return a.reference(depth)
	case a.chance(14):
		return a.fixed()
	case depth > 0 && a.chance(14):
		return a.tagged(depth - 1)
	case depth > 0 && a.chance(10):
		return a.union(depth - 1)
	}
	s := object{}
	kinds := a.kinds(s)
	for _, kind := range kinds {
		a.rules(s, kind, depth-1)
	}
	if depth > 0 && a.chance(4) {
		a.applicators(s, depth-1)
	}
	a.goType(s)
	if a.chance(20) {
		s[pick(a.Rand, "title", "description", "$comment")] = pick(a.Rand, "Text", "*/ text\n//go:x", "")
	}
	return s
}

// goType asks for another Go type, where there is one that keeps the text. A UUID does not: it is written in small letters.
func (a *author) goType(s object) {
	types := map[string]string{"integer": "json.Number", "number": "json.Number"}
	formats := map[string]string{"date-time": "time.Time", "date": "check.Date"}
	kind, _ := s["type"].(string) // or a list
	t := types[kind]
	if format, _ := s["format"].(string); kind == "string" {
		t = formats[format]
	}
	if t != "" && s["enum"] == nil && s["const"] == nil && a.chance(3) {
		s["goType"] = t
	}
}

// kinds adds type to s, or not, and returns the kinds that get rules.
func (a *author) kinds(s object) []string {
	all := []string{"object", "object", "array", "string", "number", "integer", "boolean", "null"}
	one, other := pick(a.Rand, all...), pick(a.Rand, all...)
	switch {
	case a.chance(6):
		return []string{one, other}
	case a.chance(7) && one != other:
		s["type"] = []string{one, other}
		return []string{one, other}
	case a.chance(9) && one != "null":
		s["type"] = []string{one, "null"}
		return []string{one}
	case a.chance(20): // every kind, or every number but fractions
		s["type"] = []string{"null", "boolean", "object", "array", pick(a.Rand, "integer", "number"), "string"}
		return []string{one, other}
	}
	s["type"] = one
	return []string{one}
}

func (a *author) reference(depth int) any {
	name := pick(a.Rand, a.defs...)
	s := object{"$ref": "#/" + a.definitions() + "/" + name}
	switch a.IntN(12) {
	case 0:
		s["$ref"] = "#"
	case 1:
		s["$ref"] = name + ".json"
	case 2, 3:
		s["$ref"] = "#at" + name
	case 4:
		if a.knows("$dynamicRef") {
			s = object{"$dynamicRef": "#moving" + name}
		}
	}
	if a.chance(4) && depth > 0 { // siblings count in 2020-12 and mean nothing in draft-07
		a.rules(s, pick(a.Rand, "object", "array", "string", "number"), depth-1)
	}
	return s
}

func (a *author) definitions() string {
	if a.dialect == schema.Draft7 {
		return "definitions"
	}
	return "$defs"
}

// fixed is const or enum.
func (a *author) fixed() any {
	if a.some("const", 2) {
		return object{"const": a.constant(2)}
	}
	s := object{"enum": []any{"open", "closed", "half open"}[:1+a.IntN(3)]}
	switch a.IntN(3) {
	case 0:
		s["enum"] = []any{a.constant(2), a.constant(1), a.constant(0)}
	case 1:
		s["type"] = "string"
	}
	return s
}

// constant returns any JSON value.
func (a *author) constant(depth int) any {
	if depth > 0 && a.chance(3) {
		if a.chance(2) {
			return []any{a.constant(depth - 1), a.constant(depth - 1)}[:a.IntN(3)]
		}
		return object{pick(a.Rand, propertyNames...): a.constant(depth - 1)}
	}
	return pick[any](a.Rand, nil, true, false, 0, 1, -1, json.Number("1.0"), json.Number("1.5"), json.Number("1e2"),
		json.Number("9007199254740993"), json.Number("123456789012345678901234567890"), "", "a", "é", "😀", "\u2028")
}

func (a *author) rules(s object, kind string, depth int) {
	switch kind {
	case "object":
		a.objectRules(s, depth)
	case "array":
		a.arrayRules(s, depth)
	case "string":
		a.stringRules(s)
	case "number", "integer":
		a.numberRules(s, kind)
	}
}

func (a *author) stringRules(s object) {
	low := a.IntN(4)
	if a.some("minLength", 4) {
		s["minLength"] = low
	}
	if a.some("maxLength", 4) {
		s["maxLength"] = low + a.IntN(4)
	}
	if a.some("pattern", 4) {
		s["pattern"] = pick(a.Rand, slices.Sorted(maps.Keys(patterns))...)
	} else if a.some("format", 5) {
		s["format"] = pick(a.Rand, slices.Sorted(maps.Keys(formatted))...)
	}
}

// numberRules draws bounds around small integers, halves, and the ends of float64's and int64's exact ranges.
func (a *author) numberRules(s object, kind string) {
	base := pick[int64](a.Rand, 0, 0, 1, -3, 10, 9007199254740992, -9007199254740992, 9223372036854775807-4, -9223372036854775808)
	number := func(offset int64) any {
		if kind == "number" && base < 100 && base > -100 && a.chance(3) {
			return json.Number(strconv.FormatInt(base+offset, 10) + pick(a.Rand, ".5", ".25", ".0", "e0"))
		}
		return base + offset
	}
	if a.some("minimum", 3) {
		s["minimum"] = number(0)
	} else if a.some("exclusiveMinimum", 5) {
		s["exclusiveMinimum"] = number(0)
	}
	if a.some("maximum", 3) {
		s["maximum"] = number(2 + int64(a.IntN(3)))
	} else if a.some("exclusiveMaximum", 5) {
		s["exclusiveMaximum"] = number(2 + int64(a.IntN(3)))
	}
	if a.some("multipleOf", 7) {
		s["multipleOf"] = pick[any](a.Rand, 2, 3, 1, 7, json.Number("0.1"), json.Number("0.5"), json.Number("1e-3"), json.Number("2.0"), json.Number("1e2"))
	}
}

func (a *author) arrayRules(s object, depth int) {
	if a.some("items", 2) && depth >= 0 {
		s["items"] = pick[any](a.Rand, a.schema(depth), a.schema(depth), object{"type": pick(a.Rand, "string", "integer", "number", "boolean")})
	}
	low := a.IntN(3)
	if a.some("minItems", 4) {
		s["minItems"] = low
	}
	if a.some("maxItems", 4) {
		s["maxItems"] = low + a.IntN(3)
	}
	if a.some("uniqueItems", 5) {
		s["uniqueItems"] = true
	}
	if depth < 0 {
		return
	}
	a.tuple(s, depth)
	if a.some("contains", 5) {
		s["contains"] = a.schema(depth)
		if a.some("minContains", 3) {
			s["minContains"] = a.IntN(3)
		}
		if a.some("maxContains", 3) {
			s["maxContains"] = 2 + a.IntN(2)
		}
	}
	if a.some("unevaluatedItems", 9) {
		s["unevaluatedItems"] = a.schema(depth)
	}
}

// tuple adds schemas of the first items, under the name that the draft has for them.
func (a *author) tuple(s object, depth int) {
	list := a.list(depth, 1+a.IntN(3))
	switch {
	case a.dialect == schema.Draft2020 && a.some("prefixItems", 4):
		s["prefixItems"] = list
	case a.dialect == schema.Draft7 && a.knows("items[]") && a.chance(4):
		s["items"] = list
		if a.some("additionalItems", 2) {
			s["additionalItems"] = a.schema(depth)
		}
	}
}

func (a *author) list(depth, n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = a.schema(depth)
	}
	return list
}

func (a *author) objectRules(s object, depth int) {
	properties := object{}
	for range a.IntN(4) {
		properties[pick(a.Rand, propertyNames...)] = a.schema(depth)
	}
	names := slices.Sorted(maps.Keys(properties))
	if depth >= 0 && a.knows("properties") && len(names) > 0 {
		s["properties"] = properties
	}
	if a.some("required", 2) {
		s["required"] = append([]string{}, names[:a.IntN(len(names)+1)]...)
		if a.chance(6) {
			s["required"] = []string{pick(a.Rand, propertyNames...)}
		}
	}
	if a.some("additionalProperties", 3) {
		s["additionalProperties"] = pick[any](a.Rand, false, false, true, a.schema(depth))
	}
	low := a.IntN(3)
	if a.some("minProperties", 7) {
		s["minProperties"] = low
	}
	if a.some("maxProperties", 7) {
		s["maxProperties"] = low + 1 + a.IntN(3)
	}
	a.rarerObjectRules(s, depth)
}

func (a *author) rarerObjectRules(s object, depth int) {
	name := func() string { return pick(a.Rand, propertyNames[:10]...) }
	if a.some("patternProperties", 7) {
		s["patternProperties"] = object{pick(a.Rand, slices.Sorted(maps.Keys(patterns))...): a.schema(depth)}
	}
	if a.some("propertyNames", 12) {
		s["propertyNames"] = pick[any](a.Rand, object{"maxLength": 2}, object{"pattern": "^[a-z]+$"}, object{"enum": []string{"a", "b"}}, true)
	}
	if a.some("dependentRequired", 10) {
		s["dependentRequired"] = object{name(): []string{name()}}
	}
	if a.some("dependentSchemas", 10) {
		s["dependentSchemas"] = object{name(): a.schema(depth)}
	}
	if a.dialect == schema.Draft7 && a.some("dependencies", 8) {
		s["dependencies"] = object{name(): pick[any](a.Rand, []string{name()}, a.schema(depth))}
	}
	if a.some("unevaluatedProperties", 9) {
		s["unevaluatedProperties"] = pick[any](a.Rand, false, a.schema(depth))
	}
}

// applicators add schemas that hold for the same value.
func (a *author) applicators(s object, depth int) {
	switch keyword := pick(a.Rand, "anyOf", "anyOf", "oneOf", "oneOf", "allOf", "not", "if"); {
	case !a.knows(keyword):
	case keyword == "not":
		s["not"] = a.schema(depth)
	case keyword == "if":
		s["if"] = a.schema(depth)
		for _, branch := range []string{"then", "else"} {
			if a.some(branch, 2) {
				s[branch] = a.schema(depth)
			}
		}
	case keyword != "allOf" && s["properties"] != nil && a.chance(2):
		s[keyword] = []any{a.part(s), a.part(s)}
	default:
		s[keyword] = a.list(depth, 1+a.IntN(3))
		if a.chance(2) {
			delete(s, "type") // more often than not the type of one excludes the other
		}
	}
	a.together(s, depth)
}

// together puts what s says, with a second union, where it is merged into what is left of s.
func (a *author) together(s object, depth int) {
	if !a.chance(3) || s["allOf"] != nil {
		return
	}
	part := object{pick(a.Rand, "anyOf", "oneOf"): []any{a.schema(0), a.schema(0), true}}
	for _, keyword := range []string{"anyOf", "oneOf", "not", "if", "then", "else"} {
		if s[keyword] != nil && part[keyword] == nil {
			part[keyword] = s[keyword]
			delete(s, keyword)
		}
	}
	s["allOf"] = []any{part}
	if a.chance(3) && depth > 0 {
		s["allOf"] = []any{part, a.schema(0)}
	}
}

// part is what owner may also require, as alternatives beside properties are written.
func (a *author) part(owner object) object {
	names := append(slices.Sorted(maps.Keys(owner["properties"].(object))), "a", "b")
	s := object{"required": []string{pick(a.Rand, names...)}}
	if a.chance(2) {
		s["properties"] = object{pick(a.Rand, names...): a.schema(0)}
	}
	return s
}

// foreign are the keywords that a draft does not know; "items[]" is the list form of draft-07.
var foreign = map[schema.Dialect][]string{
	schema.Draft2020: {"items[]", "additionalItems", "dependencies"},
	schema.Draft7: {"prefixItems", "minContains", "maxContains", "unevaluatedItems", "unevaluatedProperties", "dependentRequired",
		"dependentSchemas", "$dynamicRef"},
}
