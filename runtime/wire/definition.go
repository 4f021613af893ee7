package wire

import "slices"

// Definition is a schema of the protocol: JSON Schema with Assertions alone, in which a $ref is the name of another definition.
type Definition struct{ Name, Schema string }

// Assertions returns the keywords that a Definition may have. The others in the protocol's schemas of results assert nothing.
func Assertions() []string {
	return []string{
		"$ref", "type", "const", "enum", "properties", "required", "additionalProperties", "items", "maxItems", "anyOf", "allOf", "minimum", "maximum",
		"pattern", "format",
	}
}

// Defined returns the definitions that apply in the revision.
func (r *Revision) Defined() []Definition {
	all := slices.Clone(r.Definitions)
	for _, d := range r.Inherits {
		if !slices.ContainsFunc(r.Definitions, func(own Definition) bool { return own.Name == d.Name }) {
			all = append(all, d)
		}
	}
	return all
}
