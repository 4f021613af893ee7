package generator

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

func partsGolden(t *testing.T) golden {
	t.Helper()
	all := goldens(t)
	i := slices.IndexFunc(all, func(g golden) bool { return g.name() == "parts" })
	if i < 0 {
		t.Fatal("no golden of parts")
	}
	return all[i]
}

func hasParts(r *Result) bool {
	return slices.ContainsFunc(r.Files, func(f File) bool { return strings.HasPrefix(f.Path, "internal/part") })
}

// TestManyToolsAreDivided from the 201st, and only where the parts can be imported.
func TestManyToolsAreDivided(t *testing.T) {
	for _, c := range []struct {
		tools  int
		module string
		want   bool
	}{{200, "example.com/m", false}, {201, "example.com/m", true}, {201, "", false}} {
		cfg := config(bigManifest(c.tools))
		cfg.Import = c.module
		if got := hasParts(mustGenerate(t, cfg)); got != c.want {
			t.Errorf("%d tools in %q have parts: %v", c.tools, c.module, got)
		}
	}
}

// TestToolsStayInTheirParts when others come and go: a new tool is one hunk in the files of one part and of the package.
func TestToolsStayInTheirParts(t *testing.T) {
	g := partsGolden(t)
	before := mustGenerate(t, g.config)
	cfg := g.config
	cfg.Manifest.Data = bytes.Replace(cfg.Manifest.Data, []byte("  measure:\n"), []byte(`  list_orders:
    timeout: 7s
    inputSchema: {type: object, required: [sides], properties: {sides: {type: array, items: {$ref: "#/schemas/Side"}}, kind: {type: string, enum: [a, b]}}}
  measure:
`), 1)
	after := mustGenerate(t, cfg)
	folders := map[string]bool{}
	for _, f := range before.Files {
		d := diff.Diff("before", unhashed(f.Content), "after", unhashed([]byte(after.file(t, f.Path))))
		if hunks := bytes.Count(d, []byte("\n@@ ")); hunks > 1 {
			t.Errorf("%s: %d hunks\n%s", f.Path, hunks, d)
		}
		if d != nil {
			folders[path.Dir(f.Path)] = true
		}
	}
	if len(folders) > 2 {
		t.Errorf("one new tool changed files in %v", folders)
	}
}

// TestWriteLooksAfterFolders: stale files go with the folders that they leave empty, what is the user's stays.
func TestWriteLooksAfterFolders(t *testing.T) {
	dir := module(t)
	first := generated(file("a.gen.go", "a"), file("internal/part00/b.gen.go", "b"), file("internal/part01/c.gen.go", "c"))
	mustWrite(t, dir, first)
	put(t, filepath.Join(dir, "gen/internal/part01/mine.go"), "package part01\n")
	if findings, _, err := Check(t.Context(), dir, first); err != nil || len(findings) > 0 {
		t.Errorf("after Write: %v %v", findings, err)
	}
	report := mustWrite(t, dir, generated(file("a.gen.go", "a")))
	if want := []string{"internal/part00/b.gen.go", "internal/part01/c.gen.go"}; !slices.Equal(report.Removed, want) {
		t.Errorf("removed %v, want %v", report.Removed, want)
	}
	if _, err := os.Lstat(filepath.Join(dir, "gen/internal/part00")); err == nil {
		t.Error("a folder without files was left")
	}
	if _, err := os.Lstat(filepath.Join(dir, "gen/internal/part01/mine.go")); err != nil {
		t.Errorf("the user's file: %v", err)
	}
}

// TestWriteRefusesFoldersOfOthers before anything is touched.
func TestWriteRefusesFoldersOfOthers(t *testing.T) {
	for code, prepare := range map[string]func(t *testing.T, gen string){
		"out-symlink": func(t *testing.T, gen string) {
			if err := os.Symlink(t.TempDir(), filepath.Join(gen, "internal")); err != nil {
				t.Fatal(err)
			}
		},
		"out-not-directory":  func(t *testing.T, gen string) { put(t, filepath.Join(gen, "internal"), "a file") },
		"out-outside-module": func(t *testing.T, gen string) { put(t, filepath.Join(gen, "internal/go.mod"), "module other\n") },
		"foreign-file":       func(t *testing.T, gen string) { put(t, filepath.Join(gen, "internal/part00/b.gen.go"), "mine") },
	} {
		dir := module(t)
		put(t, filepath.Join(dir, "gen/keep.txt"), "")
		prepare(t, filepath.Join(dir, "gen"))
		before := tree(t, dir)
		_, ds, err := Write(t.Context(), dir, generated(file("a.gen.go", "a"), file("internal/part00/b.gen.go", "b")), Options{})
		if err != nil || len(ds) != 1 || ds[0].Code != code {
			t.Errorf("%s: %v %v", code, ds, err)
		}
		if tree(t, dir) != before {
			t.Errorf("%s: something was written", code)
		}
	}
}
