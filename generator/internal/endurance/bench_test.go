package endurance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkNothingToDo runs the command on packages that are up to date.
func BenchmarkNothingToDo(b *testing.B) {
	for _, tools := range []int{10, 1000} {
		b.Run(fmt.Sprint(tools), func(b *testing.B) {
			dir := project(b, variant("kiln", tools, "", `"2026-07-28", "2025-11-25"`))
			generated(b, dir)
			for b.Loop() {
				if out, _ := generated(b, dir); !strings.Contains(out, ": 0 written, 0 removed,") {
					b.Fatalf("something was to do: %s", out)
				}
			}
		})
	}
}

// BenchmarkThousandsOfTools writes a package of 5,000 tools of five properties and a structured output, and tells what memory that takes at most.
func BenchmarkThousandsOfTools(b *testing.B) {
	const tool = `    outputSchema: {type: object, required: [done], properties: {done: {type: boolean}, items: {type: array, items: {type: object, required: [name],
      properties: {name: {type: string}, size: {type: integer}}}}}}
    inputSchema: {type: object, required: [id, kind], additionalProperties: false, properties: {id: {type: string, pattern: "^[a-z]{3}_[0-9]+$", maxLength: 40},
      kind: {type: string, enum: [alpha, beta, gamma]}, count: {type: integer, minimum: 1, maximum: 100, default: 10}, ratio: {type: number, exclusiveMinimum: 0},
      labels: {type: array, items: {type: string, minLength: 1}, maxItems: 20}}}
`
	var manifest strings.Builder
	manifest.WriteString("protocol: {revisions: [\"2025-11-25\"]}\nserver: {name: kiln, version: 1.0.0}\ngo: {out: kiln}\ntools:\n")
	for i := range 5000 {
		fmt.Fprintf(&manifest, "  tool_%d:\n    description: Does %d.\n%s", i, i, tool)
	}
	dir := project(b, manifest.String())
	for b.Loop() {
		if err := os.RemoveAll(filepath.Join(dir, "kiln")); err != nil {
			b.Fatal(err)
		}
		_, cmd := generated(b, dir)
		reportPeak(b, cmd.ProcessState)
	}
}

// project is a module with a manifest.
func project(b *testing.B, manifest string) string {
	dir := b.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n", "mcpkiln.yaml": manifest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// generated runs generate in a project.
func generated(b *testing.B, dir string) (string, *exec.Cmd) {
	cmd := command(b.Context(), dir, mcpkiln, "generate")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return string(out), cmd
}
