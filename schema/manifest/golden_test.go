package manifest

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/schema"
)

var update = flag.Bool("update", false, "rewrite the outputs of the goldens")

// The goldens: the first file of each archive is the manifest, then there may be files that it refers to; the last two are what comes of it.

func TestRejected(t *testing.T) {
	forEachGolden(t, "rejected", func(t *testing.T, m *Manifest, ds schema.Diagnostics) {
		if !ds.HasErrors() {
			t.Error("the manifest has no error")
		}
	})
}

func TestAccepted(t *testing.T) {
	forEachGolden(t, "accepted", func(t *testing.T, m *Manifest, ds schema.Diagnostics) {
		if err := ds.Err(); err != nil {
			t.Error(err)
		}
	})
}

func TestAsManyRejectedAsAccepted(t *testing.T) {
	if r, a := len(goldens(t, "rejected")), len(goldens(t, "accepted")); r < a {
		t.Errorf("%d rejected goldens, %d accepted", r, a)
	}
}

// The lists of codes in the docs of both packages are complete, and every code has a golden that shows it.
func TestCodesAreListedAndShown(t *testing.T) {
	listed := map[string]bool{}
	for _, path := range []string{"doc.go", "../doc.go"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(string(text), "\n// # Codes\n")
		for _, line := range strings.Split(list, "\n") {
			if codes, ok := strings.CutPrefix(line, "//\t"); ok {
				for _, code := range strings.Fields(codes) {
					listed[code] = true
				}
			}
		}
	}
	shown := map[string]bool{"missing-file": true, "unreadable-file": true} // by TestReadMissingFile
	for _, path := range append(goldens(t, "rejected"), goldens(t, "accepted")...) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, ds := loadArchive(archive)
		for _, d := range ds {
			shown[d.Code] = true
		}
	}
	if missing := slices.DeleteFunc(slices.Sorted(maps.Keys(shown)), func(c string) bool { return listed[c] }); len(missing) > 0 {
		t.Errorf("not listed: %v", missing)
	}
	if missing := slices.DeleteFunc(slices.Sorted(maps.Keys(listed)), func(c string) bool { return shown[c] }); len(missing) > 0 {
		t.Errorf("without a golden: %v", missing)
	}
}

func forEachGolden(t *testing.T, dir string, check func(*testing.T, *Manifest, schema.Diagnostics)) {
	for _, path := range goldens(t, dir) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m, ds := loadArchive(archive)
			check(t, m, ds)
			compareGolden(t, path, archive, map[string]string{
				"diagnostics": render(ds, archive.Files),
				"advertised":  advertise(m, ds),
			})
		})
	}
}

// loadArchive loads the manifest of a golden with the files in its folder.
func loadArchive(archive *txtar.Archive) (*Manifest, schema.Diagnostics) {
	in := archive.Files[0]
	folder := fstest.MapFS{}
	for _, f := range archive.Files {
		folder[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	d := Parse(in.Name, in.Data)
	return d.Load(d.ReadFilesFrom(folder)...)
}

func goldens(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens in %s: %v", dir, err)
	}
	return paths
}

func compareGolden(t *testing.T, path string, archive *txtar.Archive, got map[string]string) {
	t.Helper()
	for i := range archive.Files[1:] {
		f := &archive.Files[i+1]
		if f.Name != "diagnostics" && f.Name != "advertised" {
			continue
		}
		if want := string(f.Data); !*update && got[f.Name] != want {
			t.Errorf("%s: %s\ngot:\n%s\nwant:\n%s", path, f.Name, got[f.Name], want)
		}
		f.Data = []byte(got[f.Name])
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func render(ds schema.Diagnostics, files []txtar.File) string {
	var b strings.Builder
	for _, d := range ds {
		i := max(0, slices.IndexFunc(files, func(f txtar.File) bool { return f.Name == d.Pos.File }))
		b.WriteString(d.Render(files[i].Data) + "\n")
	}
	return b.String()
}

func advertise(m *Manifest, ds schema.Diagnostics) string {
	if m == nil || ds.HasErrors() {
		return ""
	}
	var b bytes.Buffer
	for i := range m.Tools {
		definition, execution := m.Tools[i].Advertised()
		b.Write(definition.JSON())
		if execution != nil {
			b.WriteString(" execution ")
			b.Write(execution.JSON())
		}
		b.WriteByte('\n')
	}
	for i := range m.Prompts {
		b.Write(append(m.Prompts[i].Advertised().JSON(), '\n'))
	}
	for i := range m.Resources {
		b.Write(append(m.Resources[i].Advertised().JSON(), '\n'))
	}
	for i := range m.ResourceTemplates {
		b.Write(append(m.ResourceTemplates[i].Advertised().JSON(), '\n'))
	}
	return b.String()
}
