package check

import (
	"encoding/json"
	"slices"
	"strings"
)

// Sensitive returns the names of the properties that schemas call x-sensitive, for Decoder.Hide. definition is valid JSON with these schemas, such
// as a tool. A name is hidden wherever it occurs in it: which schema of a union or condition applies is not asked.
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

// Hidden is what Decoder.Hide takes for the properties of these names.
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

// PointerStep is a name as a step of a JSON Pointer: a/b is a~1b.
func PointerStep(name string) string { return pointerEscape.Replace(name) }

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")
