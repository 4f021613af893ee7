package vet

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestCAN14ToolsOfADividedPackageAreUncancellableToo: the literals of a large package's tools are in its parts, and a tool may be called as a function of
// the runtime is.
func TestCAN14ToolsOfADividedPackageAreUncancellableToo(t *testing.T) {
	dir := t.TempDir()
	write := func(name, handler string, uncancellable bool) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "package p\n\nvar tool = server.Tool{Handler: server.Bind(decode, h.%s, server.Unstructured(result)), Cancel: server.CancelPolicy{Uncancellable: %v}}\n"
		if err := os.WriteFile(name, fmt.Appendf(nil, text, handler, uncancellable), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("tools.gen.go", "Pay", true)
	write("more.gen.go", "Bind", false)
	write("internal/part00/tools.gen.go", "Post", true)
	write("internal/part01/tools.gen.go", "Unstructured", false)
	for method, want := range map[string]bool{"Pay": true, "Bind": false, "Post": true, "Unstructured": false} {
		if got := uncancellableIn(dir, method); got != want {
			t.Errorf("%s: %v, want %v", method, got, want)
		}
	}
}
