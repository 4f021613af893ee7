package wire

import "slices"

// Definition is a schema from the protocol's own schema document. It has no keywords but Assertions, and a $ref in it is the name of another Definition.
type Definition struct{ Name, Schema string }

// Assertions returns the keywords that a Definition may have. The other keywords in the protocol's schemas of results validate nothing.
func Assertions() []string {
	return []string{
		"$ref", "type", "const", "enum", "properties", "required", "additionalProperties", "items", "maxItems", "anyOf", "allOf", "minimum", "maximum",
		"pattern", "format",
	}
}

// Defined returns the definitions that apply in the revision: its own, and the inherited ones whose names it does not define.
func (r *Revision) Defined() []Definition {
	all := slices.Clone(r.Definitions)
	for _, d := range r.Inherits {
		if !slices.ContainsFunc(r.Definitions, func(own Definition) bool { return own.Name == d.Name }) {
			all = append(all, d)
		}
	}
	return all
}
