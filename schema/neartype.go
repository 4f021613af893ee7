package schema

import (
	"cmp"
	"slices"
)

// nearTypes are the words of other languages for the types of JSON Schema.
var nearTypes = map[string]string{
	"int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "uint": "integer",
	"float": "number", "float32": "number", "float64": "number", "double": "number", "decimal": "number",
	"bool": "boolean", "str": "string", "text": "string", "list": "array", "slice": "array", "tuple": "array",
	"map": "object", "dict": "object", "record": "object", "struct": "object", "nil": "null", "none": "null",
}

// anyTypes are the words of other languages for every type.
var anyTypes = []string{"any", "unknown", "mixed", "json"}

// Formats are the formats that JSON Schema defines, all of which are asserted.
var Formats = []string{
	"date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri", "uri-reference",
	"iri", "iri-reference", "uri-template", "uuid", "json-pointer", "relative-json-pointer", "regex",
}

// typeFor returns the members of a schema that is probably meant by word as a type, such as "type: integer"; "" if there
// is none.
func typeFor(word string) string {
	switch near := Nearest(word, typeNames); {
	case slices.Contains(typeNames, word):
		return "type: " + word
	case nearTypes[word] != "":
		return "type: " + nearTypes[word]
	case near != "":
		return "type: " + near
	}
	if slices.Contains(Formats, word) {
		return "type: string, format: " + word
	}
	if near := Nearest(word, Formats); near != "" {
		return "type: string, format: " + near
	}
	return ""
}

// typeHint says what to write in place of a word that is no type.
func typeHint(word string) string {
	if slices.Contains(anyTypes, word) {
		return "leave type out: a schema without it allows every type"
	}
	if near := cmp.Or(nearTypes[word], Nearest(word, typeNames)); near != "" {
		return `did you mean "` + near + `"?`
	}
	if meant := typeFor(word); meant != "" {
		return "write " + meant
	}
	return ""
}

// schemaHint says what to write in place of a value that is no schema.
func schemaHint(n *Node) string {
	switch {
	case n.Kind != String:
		return "write a schema such as {type: string}"
	case slices.Contains([]string{"true", "yes", "on"}, n.Text):
		return "write true, which allows every value"
	case slices.Contains([]string{"false", "no", "off", "none", "never"}, n.Text):
		return "write false, which allows none"
	case slices.Contains(anyTypes, n.Text):
		return "write {}, which allows every value"
	}
	if meant := typeFor(n.Text); meant != "" {
		return "write {" + meant + "}"
	}
	return "write a schema such as {type: string}"
}
