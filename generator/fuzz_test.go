package generator

import (
	"bytes"
	"go/format"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/txtar"
)

// FuzzGenerate feeds broken and strange manifests: there is a diagnostic with a place, or there are files that are Go as
// gofmt writes it.
func FuzzGenerate(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.config.Manifest.Data)
	}
	rejected, err := filepath.Glob("../testdata/rejected/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range rejected {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, manifest []byte) {
		r, err := Generate(t.Context(), Config{Manifest: Source{"mcpkiln.yaml", manifest}})
		if err != nil {
			t.Fatalf("%v\n%s", err, manifest)
		}
		if r.Diagnostics.HasErrors() {
			if len(r.Files) > 0 {
				t.Errorf("errors and files for\n%s", manifest)
			}
			for _, d := range r.Diagnostics {
				if d.Pos.File == "" || d.Code == "" || strings.TrimSpace(d.Message) == "" {
					t.Errorf("%+v for\n%s", d, manifest)
				}
			}
			return
		}
		for _, file := range r.Files {
			if file.Path == LockName {
				continue
			}
			formatted, err := format.Source(file.Content)
			if err != nil || !bytes.Equal(formatted, file.Content) {
				t.Errorf("%v for\n%s\n%s", err, manifest, diff.Diff(file.Path, file.Content, "as gofmt writes it", formatted))
			}
		}
	})
}
