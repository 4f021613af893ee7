package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// fullDisk is where nothing can be written.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestResultsThatCanNotBeWrittenAreAnError, whatever command prints them and in whatever form: who asked would take nothing for an answer.
func TestResultsThatCanNotBeWrittenAreAnError(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":   "module example.com/a\n",
		"old.yaml": "server: {name: a, version: 1.0.0}\ntools: {a: {description: A., inputSchema: {type: object}}}\n",
		"new.yaml": "server: {name: a, version: 1.0.0}\ntools: {b: {description: B., inputSchema: {type: object}}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"version", "version --json", "schema", "schema manifest", "explain", "explain unknown-key", "--help",
		"check OLD", "check --format json OLD", "check --format github OLD", "check --format markdown OLD", "generate --dry-run OLD",
		"diff --against OLD NEW", "diff --against OLD --format json NEW", "diff --against OLD --format github NEW", "diff --against OLD --format markdown NEW",
	} {
		args := strings.Fields(strings.NewReplacer("OLD", filepath.Join(dir, "old.yaml"), "NEW", filepath.Join(dir, "new.yaml")).Replace(line))
		var errs bytes.Buffer
		if code := run(t.Context(), args, fullDisk{}, &errs); code != exitFailed || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%s: exit status %d, %s", line, code, &errs)
		}
	}
}

// TestAResultOfAServerThatCanNotBeWritten is no refusal: the tool was called.
func TestAResultOfAServerThatCanNotBeWritten(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	url, _ := openShop(t)
	for _, line := range []string{"call URL greet name=x", "call --json URL greet name=x", "call --detach URL multi_input", "call URL test_elicitation message=Who?", "tools URL", "tools URL greet"} {
		var errs bytes.Buffer
		if code := run(t.Context(), strings.Fields(strings.Replace(line, "URL", url, 1)), fullDisk{}, &errs); code != exitTool || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%s: exit status %d, %s", line, code, &errs)
		}
	}
}

// TestStructuredContentIsPrintedAlone: other programs read it. An error is read by people.
func TestStructuredContentIsPrintedAlone(t *testing.T) {
	content := json.RawMessage(`[{"type":"text","text":"warm"},{"type":"image","mimeType":"image/png","data":""}]`)
	for want, r := range map[string]client.ToolResult{
		"{\n  \"a\": 1\n}\n": {StructuredContent: json.RawMessage(`{"a":1}`), Content: content},
		"{\n  \"a\": 1\n}\nwarm\n[image, image/png, 0 bytes]\n": {StructuredContent: json.RawMessage(`{"a":1}`), Content: content, IsError: true},
		"warm\n[image, image/png, 0 bytes]\n":                   {Content: content},
	} {
		if got, err := contentOf(&r); err != nil || got != want {
			t.Errorf("%q, want %q, %v", got, want, err)
		}
	}
}

// TestMarkdownOfADiffHoldsNoMarkupOfTheManifest.
func TestMarkdownOfADiffHoldsNoMarkupOfTheManifest(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml")
	tool := "server: {name: a, version: 1.0.0}\ntools: {a: {description: A., inputSchema: {type: object, properties: {x: {default: %q}}}}}\n"
	for path, value := range map[string]string{before: `c:\\|<b>`, after: "`*d*` | <img>"} {
		if err := os.WriteFile(path, []byte(strings.Replace(tool, "%q", "'"+value+"'", 1)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if code := run(t.Context(), []string{"diff", "--against", before, "--format", "markdown", after}, &out, &out); code != exitFindings {
		t.Fatalf("exit status %d: %s", code, &out)
	}
	if want := "takes \"\\`\\*d\\*\\` \\| &lt;img&gt;\" for x if that is left out, and took \"c:\\\\\\\\\\\\\\\\\\|&lt;b&gt;\""; !strings.Contains(out.String(), want) {
		t.Errorf("%s lacks\n%s", &out, want)
	}
}
