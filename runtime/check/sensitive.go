package check

import (
	"encoding/json"
	"slices"
	"strings"
)

// Sensitive returns the names of the properties that schemas mark as x-sensitive (keyword.Sensitive), for Decoder.Hide. definition is valid JSON with
// these schemas, such as a tool. A name counts wherever a schema marks it, also in a subschema of a union or condition that may not apply.
func Sensitive(definition string) string {
	if !Mentions([]byte(definition), "x-sensitive") {
		return ""
	}
	var schema any
	_ = json.Unmarshal([]byte(definition), &schema) // it is valid
	var names []string
	collectSensitive(schema, &names)
	return Hidden(names...)
}

// Hidden returns the argument of Decoder.Hide for properties with these names.
func Hidden(names ...string) string {
	if len(names) == 0 {
		return ""
	}
	steps := make([]string, len(names))
	for i, name := range names {
		steps[i] = "/" + PointerStep(name)
	}
	slices.Sort(steps)
	return strings.Join(slices.Compact(steps), "")
}

func collectSensitive(schema any, names *[]string) {
	switch s := schema.(type) {
	case []any:
		for _, item := range s {
			collectSensitive(item, names)
		}
	case map[string]any:
		for name, member := range s {
			if m, ok := member.(map[string]any); ok && m["x-sensitive"] == true {
				*names = append(*names, name)
			}
			collectSensitive(member, names)
		}
	}
}

// PointerStep returns a name as a step of a JSON Pointer: a~1b for a/b.
func PointerStep(name string) string { return pointerEscape.Replace(name) }

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")
