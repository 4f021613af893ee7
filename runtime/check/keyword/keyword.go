// Package keyword says what the keys of an object in the JSON of a schema are: keywords, names that the schema's author chose, or data; and where a
// schema stands within another. It is for the packages that walk a schema: those of clients, which compare the tools of a server, of servers, whose tools
// may be added at run time, and of the generator.
package keyword

import "slices"

// Keys is what the keys of an object are.
type Keys uint8

// The keys of a schema are Keywords; those of an object of properties or definitions are Names, each with a schema or a list of names as its value; those
// of anything else, such as the value of const, are Data.
const (
	Keywords Keys = iota
	Names
	Data
)

var (
	holdNames = []string{"$defs", "definitions", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties", "properties"}
	holdData  = []string{"const", "default", "enum", "examples"}
)

// Below returns what the keys are in the value of key, or in its items if the value is a list.
func (k Keys) Below(key string) Keys {
	switch {
	case k == Data, k == Keywords && slices.Contains(holdData, key):
		return Data
	case k == Keywords && slices.Contains(holdNames, key):
		return Names
	}
	return Keywords
}
