package servertest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Tool is a tool as clients see it.
type Tool struct {
	Name string
	// Definition is its whole entry in tools/list.
	Definition json.RawMessage
}

// Tools lists the tools, all pages of them.
func (c *Client) Tools() ([]Tool, error) {
	c.t.Helper()
	var all []Tool
	for params := (object)(nil); ; {
		raw, err := c.request(c.method(wire.OpListTools), params)
		if err != nil {
			return all, err
		}
		page, err := decode[struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}](raw)
		if err != nil {
			return all, err
		}
		for _, t := range page.Tools {
			all = append(all, Tool{textMember(t, "name"), t})
		}
		if page.NextCursor == "" {
			return all, nil
		}
		params = object{"cursor": page.NextCursor}
	}
}

// GoldenTools compares the definition of each tool with its file NAME.json in a folder, as Golden does. A file there without a tool is an error, too, and update
// removes it.
func GoldenTools(t testing.TB, dir string, all []Tool, update bool) {
	t.Helper()
	known := map[string]bool{}
	for _, tool := range all {
		file := filepath.Join(dir, tool.Name+".json")
		known[file] = true
		Golden(t, file, tool.Definition, update)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		switch {
		case known[file]:
		case !update:
			t.Errorf("%s has no tool; if it is meant that callers lose that, go test -update removes the file", file)
		default:
			if err := os.Remove(file); err != nil {
				t.Error(err)
			}
		}
	}
}

// Golden compares v, as indented JSON, with a file, which update writes. A test has a flag for that:
//
//	var update = flag.Bool("update", false, "rewrite the golden files")
func Golden(t testing.TB, file string, v any, update bool) {
	t.Helper()
	got, err := indented(v)
	if err != nil {
		t.Fatal(err)
	}
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("%v: go test -update writes it", err)
		return
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from line %d on; if that is meant, go test -update rewrites it. Now it is:\n%s", file, firstDifference(got, want), got)
	}
}

func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

func firstDifference(a, b []byte) int {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return 1 + bytes.Count(a[:same], []byte("\n"))
}
