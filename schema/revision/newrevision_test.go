package revision

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
)

// TestREV04NewRevisionFindsTheNearestRules: the document of each embedded revision gets the rules of that revision.
func TestREV04NewRevisionFindsTheNearestRules(t *testing.T) {
	for _, name := range Names() {
		core, err := fs.ReadFile(schema.Revisions, name+"/core.json")
		if err != nil {
			t.Fatal(err)
		}
		files, used, ds := NewRevision("2099-01-01", "", "schema.json", core)
		if used != name || len(ds) > 0 {
			t.Errorf("%s: rules of %s\n%v", name, used, ds)
		}
		r, ds := LoadFolder(memory(files), "folder")
		if r == nil || r.Name != "2099-01-01" {
			t.Errorf("%s: %v", name, ds)
		}
	}
}

// TestREV04NewRevisionListsTheRulesThatDoNotFit, with what may have replaced the definitions that they name.
func TestREV04NewRevisionListsTheRulesThatDoNotFit(t *testing.T) {
	core, err := fs.ReadFile(schema.Revisions, "2025-11-25/core.json")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(`"CallToolResult"`, `"ToolOutcome"`, `/CallToolResult"`, `/ToolOutcome"`, `"pollInterval"`, `"pollIntervalMs"`).Replace(string(core))
	files, used, ds := NewRevision("2099-01-01", "", "schema.json", []byte(changed))
	if used != "2025-11-25" || files == nil {
		t.Fatalf("rules of %s", used)
	}
	for _, want := range []string{`no document defines "CallToolResult"; it may be ToolOutcome`, "Task has no pollInterval; new in it: pollIntervalMs"} {
		if !slices.ContainsFunc(ds, func(d schema.Diagnostic) bool { return strings.Contains(d.String(), want) }) {
			t.Errorf("not said: %s\n%v", want, ds)
		}
	}
	if _, used, ds = NewRevision("2099-01-01", "2026-07-28", "schema.json", core); used != "2026-07-28" || len(ds) == 0 {
		t.Errorf("from another revision: %s, %v", used, ds)
	}
}

func TestREV04NewRevisionRefusesWhatIsNoSchema(t *testing.T) {
	for name, c := range map[string]struct{ revision, from, text, want string }{
		"no JSON":                  {"r1", "", `{`, "syntax"},
		"no definitions":           {"r1", "", `{}`, "no-definitions"},
		"an unknown revision":      {"r1", "2024-10-07", `{"$defs":{"A":{}}}`, "unknown-revision"},
		"an embedded revision":     {"2025-11-25", "", `{"$defs":{"A":{}}}`, "duplicate-revision"},
		"a name that is not one":   {"a/b1", "", `{"$defs":{"A":{}}}`, "revision-name"},
		"a name that is no ending": {"a_1", "", `{"$defs":{"A":{}}}`, "revision-name"},
		"a name that is a folder":  {"..", "", `{"$defs":{"A":{}}}`, "revision-name"},
		"a name that is a flag":    {"-1", "", `{"$defs":{"A":{}}}`, "revision-name"},
		"a name without a date":    {"con", "", `{"$defs":{"A":{}}}`, "revision-name"},
		"a name of a system":       {"2099-01-01-windows", "", `{"$defs":{"A":{}}}`, "revision-name"},
		"a name of a processor":    {"DRAFT-1-arm64", "", `{"$defs":{"A":{}}}`, "revision-name"},
		"a name without end":       {strings.Repeat("2099", 20), "", `{"$defs":{"A":{}}}`, "revision-name"},
	} {
		files, _, ds := NewRevision(c.revision, c.from, "schema.json", []byte(c.text))
		if files != nil || len(ds) == 0 || ds[0].Code != c.want {
			t.Errorf("%s: %v", name, ds)
		}
	}
}
