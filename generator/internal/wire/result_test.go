package wire

import (
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
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

// An older revision has the definitions that it has alone, whether they are its own or those of the newest that are the same.
func TestLET01DefinitionsAreInheritedWhereTheyAreTheSame(t *testing.T) {
	pkg := &model.Package{Needs: model.Needs{Tools: true, Tasks: true}}
	lower := func(shared *Shared, name string) *model.Wire {
		w, ds := Lower(load(t, name)[0], pkg, shared)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return w
	}
	alone := lower(&Shared{Union: revision.Embedded()}, "2025-11-25")
	shared := &Shared{Union: revision.Embedded()}
	newest, older := lower(shared, "2026-07-28"), lower(shared, "2025-11-25")
	texts := map[string]string{}
	for _, d := range slices.Concat(newest.Definitions, older.Definitions) {
		texts[d.Name] = d.Schema
	}
	for _, d := range alone.Definitions {
		if texts[d.Name] != d.Schema {
			t.Errorf("%s is %s, alone %s", d.Name, texts[d.Name], d.Schema)
		}
	}
	if older.Inherits != newest.Suffix || len(older.Definitions) >= len(alone.Definitions) || alone.Inherits != "" {
		t.Errorf("%d of %d definitions, inherits %q; alone %q", len(older.Definitions), len(alone.Definitions), older.Inherits, alone.Inherits)
	}
}
