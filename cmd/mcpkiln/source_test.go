package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPlaceInModule: what generated packages import each other by.
func TestPlaceInModule(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n", "a/b/mcpkiln.yaml": "", "other/go.mod": "module example.com/other/v2\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for manifest, want := range map[string][2]string{
		"mcpkiln.yaml": {"example.com/m", "."}, "a/b/mcpkiln.yaml": {"example.com/m/a/b", "a/b"}, "other/mcpkiln.yaml": {"example.com/other/v2", "."},
	} {
		if path, from, err := placeInModule(filepath.Join(dir, manifest)); err != nil || path != want[0] || from != want[1] {
			t.Errorf("placeInModule(%s) = %q, %q, %v, want %q", manifest, path, from, err, want)
		}
	}
	if path, from, err := placeInModule(filepath.Join(os.TempDir(), "mcpkiln.yaml")); err != nil || path != "" || from != "" {
		t.Errorf("outside of a module: %q, %q, %v", path, from, err)
	}
}
