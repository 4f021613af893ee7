package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// TestREV08ThePageHasEveryChange: the table of the page is that of the source, which explain and the manifest's JSON Schema have, too.
func TestREV08ThePageHasEveryChange(t *testing.T) {
	page, err := os.ReadFile("DIFF.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `") && strings.Count(line, "|") == 6 {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	root, _ := schema.ParseJSON("manifest.schema.json", manifest.SchemaJSON())
	listed := root.Lookup("/$defs/Manifest/properties/diff/properties/classes/propertyNames/enum")
	var want, ids []string
	for _, r := range manifest.Changes {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", r.ID, r.Class, r.Axis, r.Says, r.Do))
		ids = append(ids, r.ID)
		if generator.Explanations()[r.ID] == "" {
			t.Errorf("%s is not explained", r.ID)
		}
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the page should have\n%s", strings.Join(want, "\n"))
	}
	if slices.Sort(ids); listed == nil || len(listed.Items) != len(ids) || slices.ContainsFunc(listed.Items, func(n *schema.Node) bool { return !slices.Contains(ids, n.Text) }) {
		t.Errorf("the manifest's JSON Schema should list %q", ids)
	}
}
