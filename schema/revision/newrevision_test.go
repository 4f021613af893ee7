package revision

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

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
	const golden = "testdata/newrevision.txtar"
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for i := range archive.Files {
		file := &archive.Files[i]
		input, want, _ := strings.Cut(string(file.Data), "---\n")
		names, text, _ := strings.Cut(input, "\n")
		name, from, _ := strings.Cut(names, " ")
		files, _, ds := NewRevision(name, from, "schema.json", []byte(text))
		got := ""
		if len(ds) > 0 {
			got = ds.Error() + "\n"
		}
		switch {
		case files != nil || len(ds) == 0:
			t.Errorf("%s: it was accepted", file.Name)
		case *update:
			file.Data = []byte(input + "---\n" + got)
		case got != want:
			t.Errorf("%s: got\n%swant\n%s", file.Name, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
