// Package keyword says what the keys of objects are in the JSON of a schema: its keywords, names that its author chose, or data. It is for those
// who walk a schema that they have as JSON alone: clients, who compare the tools of a server, and servers, whose tools may be added at run time.
package keyword

import "slices"

// Keys is what the keys of an object are.
type Keys uint8

// A schema has Keywords; what holds properties or definitions has Names, with a schema each; what is no schema, such as an enum, has Data.
const (
	Keywords Keys = iota
	Names
	Data
)

var (
	holdNames = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
	holdData  = []string{"const", "default", "enum", "examples"}
)

// Below is what the keys are in the value of a key. A list has the keys of its items.
func (k Keys) Below(key string) Keys {
	switch {
	case k == Data, k == Keywords && slices.Contains(holdData, key):
		return Data
	case k == Keywords && slices.Contains(holdNames, key):
		return Names
	}
	return Keywords
}
