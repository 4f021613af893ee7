package generator

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	for _, x := range movesOf(t) {
		shown[x.ID] = true
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
	side := func(name string) Config {
		return Config{Manifest: file(name), ServerName: serverOf(a), Import: "example.com/m"}
	}
	d, err := Diff(t.Context(), side("old.yaml"), side("new.yaml"))
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

// movesOf are the changes from each revision to the next one, for a manifest that has all that revisions treat differently.
func movesOf(t *testing.T) (all []Change) {
	t.Helper()
	cfg := Config{Manifest: Source{"mcpkiln.yaml", []byte(`
methods: [roots/list]
resources: {readme: {uri: "file:///README.md"}}
tools:
  plain: {inputSchema: {type: object}}
  asking:
    execution: {taskSupport: optional}
    inputSchema: {type: object}
    elicitations:
      sure: {message: "Sure?", schema: {type: object, properties: {yes: {type: boolean}}}}
`)}}
	names := manifest.KnownRevisions()
	for i, to := range names[1:] {
		m, err := DiffRevisions(t.Context(), cfg, names[i], to)
		if err != nil || m.Diagnostics.HasErrors() {
			t.Fatal(err, m)
		}
		if len(m.Changes) == 0 {
			t.Errorf("%s → %s: nothing changes", names[i], to)
		}
		all = append(all, m.Changes...)
	}
	return all
}

// TestREV05Moves: what is told of a move follows from the folders. There and back, each tool is told of, and there are no words without a rule.
func TestREV05Moves(t *testing.T) {
	told := map[string]bool{}
	for _, x := range movesOf(t) {
		told[x.Message] = true
		if x.Message == "" || strings.Contains(x.Message, "; ;") || strings.HasSuffix(x.Message, "; ") || strings.HasPrefix(x.Message, "; ") {
			t.Errorf("%s: %q has a part without words", x.ID, x.Message)
		}
	}
	for _, want := range []string{
		"may ask with elicitation/create", "messages do not come in arrays any more", "is listed and called as before",
		"resourceNotFound is -32602, and was -32002",
		"asks inside of the call's result (resultType: input_required) in place of the request elicitation/create; the client calls again with the answers, and the handler runs again from its beginning",
	} {
		if !told[want] {
			t.Errorf("nobody is told that %s", want)
		}
	}
}

// A revision that there is not is a diagnostic.
func TestREV05UnknownRevision(t *testing.T) {
	cfg := Config{Manifest: Source{"mcpkiln.yaml", []byte("tools:\n  a: {inputSchema: {type: object}}\n")}}
	m, err := DiffRevisions(t.Context(), cfg, "2025-11-25", "2099-01-01")
	if err != nil || !m.Diagnostics.HasErrors() || m.Changes != nil {
		t.Errorf("%+v %v, want a diagnostic about 2099-01-01", m, err)
	}
}
