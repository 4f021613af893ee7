package proof_test

import (
	"encoding/json"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/proof"
	"github.com/mcpkiln/mcpkiln/schema"
)

// nullable lets some schemas take null in one of the ways in which that is written.
func (a *author) nullable(s any) any {
	switch members, ok := s.(object); {
	case !a.chance(9):
		return s
	case ok && a.chance(2) && members["type"] != nil && members["enum"] == nil:
		if one, ok := members["type"].(string); ok && one != "null" {
			members["type"] = []string{one, "null"}
		}
		return s
	default:
		return object{pick(a.Rand, "anyOf", "oneOf"): []any{s, object{"type": "null"}}}
	}
}

// withDefault gives some schemas a default: null, what no Go type holds, or any value. Few satisfy their schema; the others are
// only annotations.
func (a *author) withDefault(s any) any {
	members, ok := s.(object)
	if !ok || !a.chance(7) {
		return s
	}
	switch value := a.IntN(8); {
	case value < 3:
		members["default"] = nil
	case value == 3:
		members["default"] = json.Number("1e400")
	case value == 4:
		members["default"] = object{}
	default:
		members["default"] = a.constant(2)
	}
	return s
}

// hasDefaults reports whether a document has a default, or a property of that name.
func hasDefaults(d *schema.Document) bool {
	found := false
	d.Root.Walk(func(n *schema.Node) bool {
		found = found || n.Get("default") != nil
		return !found
	})
	return found
}

// filled returns what is wrong with what was written if the instance is not in it: defaults may be beside what was given.
func filled(s *specimen, instance *schema.Node, text string) string {
	out, ds := schema.ParseJSON("out", []byte(text))
	if ds.HasErrors() || s.keep && !holds(instance, out) {
		return "out " + text + " lacks something"
	}
	return ""
}

func holds(a, b *schema.Node) bool {
	return schema.Equal(a, b) || within(a, b, holds)
}

// jsonFault is what encoding/json does otherwise. Reading the zero value puts defaults where nothing was.
func jsonFault(s *specimen, a proof.Answer) string {
	if strings.HasPrefix(a.JSON, "json.Unmarshal") && s.fills {
		return ""
	}
	return a.JSON
}
