package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A directory that go commands refuse is refused before anything is written.
func TestVAL11InitRefusesLineBreaksInPaths(t *testing.T) {
	for _, dir := range []string{"new\nline", "new\rline/server"} {
		o := initOptions{module: "example.com/m"}
		if _, err := o.project(filepath.Join(t.TempDir(), dir)); err == nil || !strings.Contains(err.Error(), "line break") {
			t.Errorf("%q: %v", dir, err)
		}
	}
}
