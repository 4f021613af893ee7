package wire

import "slices"

// Definition is a schema of the protocol: JSON Schema as far as it asserts anything, with the name of another definition for a $ref.
type Definition struct{ Name, Schema string }

// Assertions are the keywords that a Definition may have. Others of the protocol's results say nothing of a value.
func Assertions() []string {
	return []string{
		"$ref", "type", "const", "enum", "properties", "required", "additionalProperties", "items", "maxItems", "anyOf", "allOf", "minimum", "maximum",
		"pattern", "format",
	}
}

// Defined are the definitions that hold in the revision.
func (r *Revision) Defined() []Definition {
	all := slices.Clone(r.Definitions)
	for _, d := range r.Inherits {
		if !slices.ContainsFunc(r.Definitions, func(own Definition) bool { return own.Name == d.Name }) {
			all = append(all, d)
		}
	}
	return all
}
