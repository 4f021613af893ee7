package generator

import (
	"maps"
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

// No name of a file is reserved, since Go never declares it: the handler of the tool type is in type_handler.go.
func TestVAL11StubsAreCalledAsTheirTools(t *testing.T) {
	r, err := Generate(t.Context(), Config{Import: "example.com/words", Manifest: Source{Path: "mcpkiln.yaml", Data: []byte(`
version: 1
server: {name: words, version: "1"}
go: {package: words, out: words}
tools:
  type: {inputSchema: {type: object}}
  string: {inputSchema: {type: object}}
  a.b: {goName: First, inputSchema: {type: object}}
  a_b: {goName: Second, inputSchema: {type: object}}
`)}})
	if err != nil || r.Diagnostics.HasErrors() {
		t.Fatal(err, r.Diagnostics)
	}
	files := map[string]string{}
	for _, tool := range r.Tools {
		files[tool.Name] = tool.File
	}
	want := map[string]string{"type": "type_handler.go", "string": "string_handler.go", "a.b": "a_b_handler.go", "a_b": "a_b2_handler.go"}
	if !maps.Equal(files, want) {
		t.Errorf("%v, want %v", files, want)
	}
}
