package generator

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// TestREV08Changes holds what Diff says of two manifests against goldens, which together show every kind of change.
func TestREV08Changes(t *testing.T) {
	paths, err := filepath.Glob("testdata/diff/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens (%v)", err)
	}
	shown := map[string]bool{}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := changesOf(t, a)
		for _, x := range got {
			shown[x.ID] = true
		}
		last := &a.Files[len(a.Files)-1]
		text := changesText(got)
		if *update {
			last.Data = text
			if err := os.WriteFile(path, txtar.Format(a), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(last.Data, text) {
			t.Errorf("%s: got\n%s", path, text)
		}
	}
	for _, r := range manifest.Changes {
		if !shown[r.ID] {
			t.Errorf("no golden shows %s", r.ID)
		}
	}
}

func changesOf(t *testing.T, a *txtar.Archive) []Change {
	t.Helper()
	file := func(name string) Source {
		i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("there is no %s", name)
		}
		return Source{name, a.Files[i].Data}
	}
	d, err := Diff(t.Context(), Config{Manifest: file("old.yaml"), ServerName: serverOf(a)}, Config{Manifest: file("new.yaml"), ServerName: serverOf(a)})
	if err != nil {
		t.Fatal(err)
	}
	if d.Old.HasErrors() || d.New.HasErrors() {
		t.Fatal(d.Old, d.New)
	}
	return d.Changes
}

// serverOf names the server of manifests that do not: otherwise it would be called after its file.
func serverOf(a *txtar.Archive) string {
	if bytes.Contains(a.Files[0].Data, []byte("server:")) {
		return ""
	}
	return "server"
}

func changesText(all []Change) []byte {
	var b bytes.Buffer
	for _, x := range all {
		fmt.Fprintf(&b, "%s %s %s: %s", x.Class, x.Axis, x.ID, x.Message)
		if x.Subject != "" {
			fmt.Fprintf(&b, " (%s, line %d)", x.Subject, x.Pos.Line)
		}
		if x.Revisions != nil {
			fmt.Fprintf(&b, " in %v", x.Revisions)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// A manifest that is the same is no change, whatever the order of its tools.
func TestREV08NoChange(t *testing.T) {
	tool := func(name string) string {
		return "  " + name + ": {inputSchema: {type: object, properties: {a: {type: string}}}}\n"
	}
	old := Config{Manifest: Source{"mcpkiln.yaml", []byte("tools:\n" + tool("a") + tool("b"))}}
	new := Config{Manifest: Source{"mcpkiln.yaml", []byte("tools:\n" + tool("b") + tool("a"))}}
	d, err := Diff(t.Context(), old, new)
	if err != nil || len(d.Changes) > 0 || d.Old.HasErrors() || d.New.HasErrors() {
		t.Errorf("%v %v", d, err)
	}
}
