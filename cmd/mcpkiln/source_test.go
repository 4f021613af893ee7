package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestImportPathIsThatOfTheManifest: what generated packages import each other by.
func TestImportPathIsThatOfTheManifest(t *testing.T) {
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
	for manifest, want := range map[string]string{
		"mcpkiln.yaml": "example.com/m", "a/b/mcpkiln.yaml": "example.com/m/a/b", "other/mcpkiln.yaml": "example.com/other/v2",
	} {
		if got, err := importPath(filepath.Join(dir, manifest)); err != nil || got != want {
			t.Errorf("importPath(%s) = %q, %v, want %q", manifest, got, err, want)
		}
	}
	if got, err := importPath(filepath.Join(os.TempDir(), "mcpkiln.yaml")); err != nil || got != "" {
		t.Errorf("outside of a module: %q, %v", got, err)
	}
}
