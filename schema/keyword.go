package schema

import (
	"maps"
	"slices"
)

// form is the kind of value that a keyword takes.
type form uint8

const (
	formAny form = iota
	formString
	formBool
	formNumber
	formPositive // number above zero
	formCount    // integer from zero
	formPattern
	formType
	formEnum
	formArray
	formStrings      // array of unique strings
	formStringLists  // object of arrays of unique strings
	formFlags        // object of booleans
	formSchema       // schema
	formItems        // schema, or in draft-07 also an array of schemas
	formSchemas      // array of at least one schema
	formSchemaMap    // object of schemas
	formPatternMap   // object of schemas keyed by patterns
	formDependencies // object of schemas or of arrays of unique strings
	formGoName       // name of a field
	formGoType       // name of a type
)

// keywords are those of draft-07 and 2020-12, the two of 2019-09 that validators still know ($recursiveRef, $recursiveAnchor), and the generator's own.
// Any other word is an annotation, unless it looks like a misspelt keyword.
var keywords = map[string]form{
	"$schema": formString, "$id": formString, "$ref": formString, "$anchor": formString, "$comment": formString,
	"$dynamicRef": formString, "$dynamicAnchor": formString, "$recursiveRef": formString, "$recursiveAnchor": formBool,
	"$vocabulary": formFlags, "$defs": formSchemaMap, "definitions": formSchemaMap,

	"type": formType, "enum": formEnum, "const": formAny,
	"allOf": formSchemas, "anyOf": formSchemas, "oneOf": formSchemas, "not": formSchema,
	"if": formSchema, "then": formSchema, "else": formSchema,

	"multipleOf": formPositive, "minimum": formNumber, "maximum": formNumber,
	"exclusiveMinimum": formNumber, "exclusiveMaximum": formNumber,
	"minLength": formCount, "maxLength": formCount, "pattern": formPattern, "format": formString,
	"contentEncoding": formString, "contentMediaType": formString, "contentSchema": formSchema,

	"items": formItems, "additionalItems": formSchema, "prefixItems": formSchemas, "unevaluatedItems": formSchema,
	"minItems": formCount, "maxItems": formCount, "uniqueItems": formBool,
	"contains": formSchema, "minContains": formCount, "maxContains": formCount,

	"properties": formSchemaMap, "patternProperties": formPatternMap, "additionalProperties": formSchema,
	"unevaluatedProperties": formSchema, "propertyNames": formSchema, "required": formStrings,
	"minProperties": formCount, "maxProperties": formCount, "dependencies": formDependencies,
	"dependentRequired": formStringLists, "dependentSchemas": formSchemaMap,

	"title": formString, "description": formString, "default": formAny, "examples": formArray,
	"readOnly": formBool, "writeOnly": formBool, "deprecated": formBool,

	"goName": formGoName, "goType": formGoType, // ours: goname.go
}

// annotations are words of other vocabularies that assert nothing; some look like misspelt keywords.
var annotations = map[string]bool{"example": true, "comment": true, "id": true, "note": true, "enumNames": true, "readonly": true, "option": true, "options": true}

var keywordNames = slices.Sorted(maps.Keys(keywords))

// Subschemas calls visit for each schema directly below the schema n, in source order.
func Subschemas(n *Node, visit func(*Node)) { subschemas(n, visit) }

func subschemas(n *Node, visit func(*Node)) {
	for i := range n.Members {
		m := &n.Members[i]
		each := func(values *Node) {
			for j := range values.Members {
				visit(values.Members[j].Value)
			}
			for _, item := range values.Items {
				visit(item)
			}
		}
		switch keywords[m.Key] {
		case formSchema:
			visit(m.Value)
		case formSchemas, formSchemaMap, formPatternMap:
			each(m.Value)
		case formItems:
			if m.Value.Kind == Array {
				each(m.Value)
			} else {
				visit(m.Value)
			}
		case formDependencies:
			for j := range m.Value.Members {
				if v := m.Value.Members[j].Value; v.Kind != Array {
					visit(v)
				}
			}
		}
	}
}

// Keywords returns all known keywords: those of the drafts and the generator's own. A table of keywords elsewhere must have a row for each
// of these.
func Keywords() []string { return slices.Clone(keywordNames) }

// IsKeyword reports whether word is a keyword of JSON Schema, not one of the generator's own.
func IsKeyword(word string) bool { _, ok := keywords[word]; return ok && !IsOwn(word) }

// IsType reports whether word is a value of the keyword type.
func IsType(word string) bool { return slices.Contains(typeNames, word) }
