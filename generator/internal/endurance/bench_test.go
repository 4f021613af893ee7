package endurance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkNothingToDo runs the command on a package of 1,000 tools that is up to date.
func BenchmarkNothingToDo(b *testing.B) {
	dir := b.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n", "mcpkiln.yaml": variant("kiln", 1000, "", `"2026-07-28", "2025-11-25"`)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	run := func() string {
		out, err := command(b.Context(), dir, mcpkiln, "generate").CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	run()
	for b.Loop() {
		if out := run(); !strings.Contains(out, ": 0 written, 0 removed,") {
			b.Fatalf("something was to do: %s", out)
		}
	}
}
