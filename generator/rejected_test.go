package generator

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/schema"
)

// TestRejected plays each file of testdata/rejected: its files are put in a directory (links: one "name target" a
// line, without: those that are not there), mcpkiln.yaml there is generated and written, and what is said must be the diagnostics. Nothing else changes.
func TestRejected(t *testing.T) {
	paths, err := filepath.Glob("../testdata/rejected/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no rejected inputs: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(bytes.TrimSpace(a.Comment)) == 0 {
				t.Errorf("%s does not say what it proves", path)
			}
			dir := unpack(t, a)
			before := tree(t, filepath.Dir(dir))
			ds, sources := refuse(t, filepath.Join(dir, "mcpkiln.yaml"))
			if after := tree(t, filepath.Dir(dir)); after != before {
				t.Errorf("the directory changed:\n%s\nwas:\n%s", after, before)
			}
			if !ds.HasErrors() {
				t.Fatal("it was accepted")
			}
			var b strings.Builder
			for _, d := range ds {
				text := strings.ReplaceAll(d.Render(sources[d.Pos.File]), dir+string(filepath.Separator), "")
				b.WriteString(strings.TrimSuffix(text, "\n") + "\n")
			}
			inputs := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "diagnostics" })
			if inputs < 0 {
				inputs = len(a.Files)
			}
			compareArchive(t, path, a, inputs, []txtar.File{{Name: "diagnostics", Data: []byte(b.String())}})
		})
	}
}

// TestWarned: what each manifest of testdata/warned is warned of, and it is generated all the same.
func TestWarned(t *testing.T) {
	paths, err := filepath.Glob("../testdata/warned/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		source := Source{"mcpkiln.yaml", a.Files[0].Data}
		r := mustGenerate(t, Config{Manifest: source})
		var b strings.Builder
		for _, d := range r.Diagnostics {
			b.WriteString(strings.TrimSuffix(d.Render(source.Data), "\n") + "\n")
		}
		compareArchive(t, path, a, 1, []txtar.File{{Name: "diagnostics", Data: []byte(b.String())}})
	}
}

// refuse generates and writes what the manifest at path says, as the command does.
func refuse(t *testing.T, path string) (schema.Diagnostics, map[string][]byte) {
	t.Helper()
	cfg := Config{Import: "example.com/m"}
	ds := cfg.Read(path)
	sources := map[string][]byte{path: cfg.Manifest.Data}
	if ds.HasErrors() {
		return ds, sources
	}
	if data, err := os.ReadFile(filepath.Join(filepath.Dir(path), "schema.json")); err == nil {
		cfg.Schema = Source{filepath.Join(filepath.Dir(path), "schema.json"), data}
		sources[cfg.Schema.Path] = data
	}
	for _, f := range cfg.Folders {
		for name, data := range f.Files {
			sources[filepath.Join(filepath.Dir(path), filepath.FromSlash(f.Path), name)] = data
		}
	}
	for _, f := range cfg.Files {
		sources[filepath.Join(filepath.Dir(path), filepath.FromSlash(f.Path))] = f.Data
	}
	r, err := Generate(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Diagnostics.HasErrors() {
		if len(r.Files) > 0 {
			t.Error("there are errors and files")
		}
		return r.Diagnostics, sources
	}
	_, ds, err = Write(t.Context(), filepath.Dir(path), r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return ds, sources
}

// unpack puts the archive's files into a module and returns its directory, which has one above that is watched too.
func unpack(t *testing.T, a *txtar.Archive) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "m")
	put(t, filepath.Join(dir, "go.mod"), "module example.com/m\n")
	for _, f := range a.Files {
		switch f.Name {
		case "diagnostics", "without":
		case "links":
			for line := range strings.Lines(string(f.Data)) {
				name, target, _ := strings.Cut(strings.TrimSpace(line), " ")
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
					t.Fatal(err)
				}
				link(t, filepath.Join(dir, target), filepath.Join(dir, name))
			}
		default:
			put(t, filepath.Join(dir, f.Name), string(f.Data))
		}
	}
	for _, f := range a.Files {
		for name := range strings.Lines(string(f.Data)) {
			if f.Name != "without" {
				break
			}
			if err := os.Remove(filepath.Join(dir, strings.TrimSpace(name))); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}
