package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDAY05BrokenToolsAreNamed: a list with tools that can not be generated says the same whether it comes from a server, from a file, or from what
// mcpkiln tools has saved of the server. All that is left out is named, in the manifest too, and counted.
func TestDAY05BrokenToolsAreNamed(t *testing.T) {
	t.Parallel()
	const broken = `{"name":"x"},{"name":5},{"name":"y","inputSchema":{"type":"string"}},{"name":"d","description":7,"inputSchema":{"type":"object"}},"z",null`
	server := strange(t, plainTool+","+broken, "")
	_, listed, _ := runs(t, "tools", "--json", server)
	for name, source := range map[string]string{
		"server": server,
		"file":   saveAs(t, `{"serverInfo":{"name":"s","version":"1"},"tools":[`+plainTool+","+broken+`]}`),
		"saved":  saveAs(t, listed),
	} {
		path := filepath.Join(t.TempDir(), "mcpkiln.yaml")
		status, stdout, stderr := runs(t, "import", "-o", path, source)
		if status != exitFindings || !strings.Contains(stdout, "\n1 of 7 tools of ") {
			t.Errorf("%s: exit status %d, %s", name, status, stdout)
		}
		made, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range []string{"x", "tools[2]", "y", "d", "tools[5]", "tools[6]"} {
			line := tool + ": the tool is left out: "
			if !strings.Contains(stderr, "not kept: "+line) || !strings.Contains(string(made), "# Not kept: "+line) {
				t.Errorf("%s: %s is not named:\n%s\n%s", name, tool, stderr, made)
			}
		}
	}
}

// TestDAY05NothingToImport: where no tool is left, that is refused with the reason, from a server as from a file.
func TestDAY05NothingToImport(t *testing.T) {
	t.Parallel()
	const none, noName = "the list has no tools: there is nothing to import\n", "there is nothing to import: tools[0]: the tool is left out: its name is no string: 5"
	for tools, want := range map[string]struct{ server, file string }{
		``:             {none, none},
		`{"name":5}`:   {noName, noName},
		`{"name":"x"}`: {"there is nothing to import: x: the tool is left out: its inputSchema is missing\n", `tool "x" needs the key "inputSchema"`},
	} {
		for source, want := range map[string]string{strange(t, tools, ""): want.server, saveAs(t, `{"tools":[`+tools+`]}`): want.file} {
			status, _, stderr := runs(t, "import", "-o", filepath.Join(t.TempDir(), "mcpkiln.yaml"), source)
			if status != exitRefused || !strings.Contains(stderr, want) {
				t.Errorf("%s: exit status %d, want %d\n%s", tools, status, exitRefused, stderr)
			}
		}
	}
}

func saveAs(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "answer.json")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
