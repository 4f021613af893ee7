package lower

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVAL03EveryKeywordHasAGolden: no row of the table is there for nothing, and none is without proof. What is
// enforced or noted stands in an accepted golden, what is refused in a rejected one.
func TestVAL03EveryKeywordHasAGolden(t *testing.T) {
	accepted, rejected := texts(t, "golden"), texts(t, "rejected")
	for name, k := range newKeywords() {
		where, text := "golden", accepted
		if k.read == nil && !k.note {
			where, text = "rejected", rejected
		}
		if !strings.Contains(text, `"`+name+`":`) {
			t.Errorf("%s is in no archive of %s", name, where)
		}
	}
}

// TestFormatsHaveGoldens: formats that are asserted are those that the runtime has.
func TestFormatsHaveGoldens(t *testing.T) {
	text := texts(t, "golden")
	for name := range formats {
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
