package wire

import (
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// What results are held against says all that the protocol's definitions assert: a keyword that is left out would be one that nobody enforces.
func TestLET01DefinitionsOfResultsLoseNoAssertion(t *testing.T) {
	silent := []string{"description", "title", "$comment", "deprecated", "default", "examples", "propertyNames"} // names are to be strings
	for _, r := range load(t, revision.Names()...) {
		seen := map[string]bool{}
		names := []string{"CreateTaskResult"}
		for _, m := range r.Methods {
			if m.Kind == revision.Request && m.From.Includes(revision.FromClient) {
				names = append(names, m.Result)
			}
		}
		for i := 0; i < len(names); i++ {
			n := definition(r, names[i])
			if seen[names[i]] || n == nil {
				continue
			}
			seen[names[i]] = true
			eachSchema(n, func(n *schema.Node) {
				if ref := refName(n); ref != "" {
					names = append(names, ref)
				}
				for _, m := range n.Members {
					if !slices.Contains(assertions, m.Key) && !slices.Contains(silent, m.Key) {
						t.Errorf("%s: %s has %s, which is left out", r.Name, names[i], m.Key)
					}
				}
			})
		}
		if len(seen) < 20 {
			t.Errorf("%s: only %d definitions", r.Name, len(seen))
		}
	}
}

// eachSchema visits a schema and those within it, but not behind references.
func eachSchema(n *schema.Node, visit func(*schema.Node)) {
	if n == nil || n.Kind != schema.Object {
		return
	}
	visit(n)
	for _, m := range MembersOf(n.Get("properties")) {
		eachSchema(m.Value, visit)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		eachSchema(n.Get(key), visit)
	}
	for _, branch := range slices.Concat(itemsOf(n.Get("anyOf")), itemsOf(n.Get("allOf"))) {
		eachSchema(branch, visit)
	}
}
