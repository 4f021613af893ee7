package subsume

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
)

// TestREV08UnevaluatedWaysAreBounded: if has as many ways as there may be, and then as many for each of these.
func TestREV08UnevaluatedWaysAreBounded(t *testing.T) {
	either := func(prefix string) string {
		var all []string
		for i := range 8 {
			all = append(all, fmt.Sprintf(`{"properties": {"%s%d": true}}`, prefix, i))
		}
		return `{"anyOf": [` + strings.Join(all, ", ") + `]}`
	}
	d := documentOf(t, `{"if": `+either("a")+`, "then": `+either("b")+`, "unevaluatedProperties": false}`)
	s := site{d, d.Root}
	a := atom{s, s.get("unevaluatedProperties"), schema.Object, true}
	if ways, ok := a.throughCondition(s, s.get("if"), evaluatedParts{}); ok {
		t.Errorf("there are %d ways, and may be %d", len(ways), mostWays)
	}
}

// TestREV08DependentSchemasAreForObjects: what dependentSchemas would evaluate of an array is not evaluated.
func TestREV08DependentSchemasAreForObjects(t *testing.T) {
	d := documentOf(t, `{"dependentSchemas": {"a": {"items": true}}, "unevaluatedItems": false}`)
	s := site{d, d.Root}
	a := atom{s, s.get("unevaluatedItems"), schema.Array, true}
	if ways, ok := a.evaluate(s, evaluatedParts{}); !ok || len(ways) != 1 || ways[0].all || len(ways[0].option) > 0 {
		t.Errorf("%+v", ways)
	}
}
