package generator

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tests of the runtime speak what is generated, so that one about the form of a message proves what clients get.
func TestLET01TheRuntimesTestsSpeakWhatIsGenerated(t *testing.T) {
	const dir = "../runtime/internal/wiretest"
	manifest, err := os.ReadFile(filepath.Join(dir, "mcpkiln.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Generate(t.Context(), Config{Manifest: Source{"mcpkiln.yaml", manifest}})
	if err != nil || r.Diagnostics.HasErrors() {
		t.Fatal(err, r.Diagnostics)
	}
	n, lines := 0, 0
	for _, f := range r.Files {
		if !strings.HasPrefix(f.Path, "wire_") {
			continue
		}
		n++
		lines += bytes.Count(f.Content, []byte("\n"))
		f.Content = unsealed(f.Content)
		path := filepath.Join(dir, f.Path)
		if *update {
			if err := os.WriteFile(path, f.Content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if old, err := os.ReadFile(path); !bytes.Equal(old, f.Content) {
			t.Errorf("%s is not what is generated (%v): go test ./generator -update", path, err)
		}
	}
	if n != 2 {
		t.Errorf("%d revisions", n)
	}
	if lines > 600 {
		t.Errorf("the wires of two revisions have %d lines, at most 600 are for reading", lines)
	}
}
