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
	for manifest, want := range map[string]place{
		"mcpkiln.yaml": {dir, "example.com/m", "."}, "a/b/mcpkiln.yaml": {dir, "example.com/m/a/b", "a/b"}, "other/mcpkiln.yaml": {filepath.Join(dir, "other"), "example.com/other/v2", "."},
	} {
		if at, err := placeInModule(filepath.Join(dir, manifest)); err != nil || at != want {
			t.Errorf("placeInModule(%s) = %+v, %v, want %+v", manifest, at, err, want)
		}
	}
	if at, err := placeInModule(filepath.Join(os.TempDir(), "mcpkiln.yaml")); err != nil || at != (place{}) {
		t.Errorf("outside of a module: %+v, %v", at, err)
	}
}
