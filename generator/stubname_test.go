package generator

import (
	"path/filepath"
	"strings"
	"testing"
)

// The file of a stub is one that Go compiles, whatever the tool is called: it begins with a letter or digit, and its end is no system, no
// architecture and no test.
func TestVAL11StubsAreFilesThatGoCompiles(t *testing.T) {
	for _, tool := range []string{"..", "-", "_", "...", "_x", ".x", "x_test", "x_windows", "amd64", "get.quote", "Ümlaut"} {
		file := stubName(tool) + "_handler.go"
		if match, err := filepath.Match("[a-z0-9]*_handler.go", file); err != nil || !match || strings.ContainsAny(file, "-/ ") {
			t.Errorf("the handler of %q is in %s", tool, file)
		}
	}
}
