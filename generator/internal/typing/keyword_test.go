package typing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL03EveryKeywordHasAGolden: no row of the table is there for nothing, none is without proof, and none is neither
// enforced nor noted.
func TestVAL03EveryKeywordHasAGolden(t *testing.T) {
	accepted := texts(t, "golden")
	for name, k := range newKeywords() {
		if k.read == nil && !k.annotation {
			t.Errorf("%s is dropped", name)
		}
		if !strings.Contains(accepted, `"`+name+`":`) {
			t.Errorf("%s is in no golden", name)
		}
	}
}

// TestFormatsHaveGoldens: formats that are asserted are those that the runtime has.
func TestFormatsHaveGoldens(t *testing.T) {
	text := texts(t, "golden")
	for _, name := range schema.Formats {
		if !strings.Contains(text, `"format": "`+name+`"`) {
			t.Errorf("format %s is in no golden", name)
		}
	}
}

func texts(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob("../emit/testdata/" + dir + "/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives in %s: %v", dir, err)
	}
	var all strings.Builder
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}
