package schema

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// blockTexts are texts that can be read in pieces, and texts that must not be.
func blockTexts() map[string]bool {
	return map[string]bool{
		"v: 1\ntools:\n  a: {x: 1}\n  b:\n    c: |\n      text\n\n      b: more\n    d: [1, 2]\n  c: \"q\" # c\nlast: {}\n": true,
		"# c\ntools:\n    a: 1\n\n# left\n    b: 2\n    c: &x {y: 1}\n    d: 3\nmethods:\n  - one\n":                        true,
		"tools:\r\n  a: 1\r\n  b:\r\n    - x\r\n    - y\r\n  c: plain\r\n    goes on\r\n":                                   true,
		"a:\n  x: 1\n  y: 2\nb:\n  longer: 1\n  than: 2\n  that: 3\n":                                                       true,
		"tools:\n  a: 1\n  a: 2\n  b: 3\n":                             true,
		"tools:\n  a: &x 1\n  b: *x\n":                                 false,
		"tools:\n  a: \"open\n  b: closed\"\n  c: 1\n":                 false,
		"tools:\n  a: {x: 1,\n  b: 2}\n  c: 1\n":                       false,
		"text: \"x\ntools:\n  a: 1\n  b: 2\n\"\n":                      false,
		"tools:\n    a: 1\n  b: 2\n    c: 3\n":                         false,
		"tools:\n  a: 1\n  b: 2\n---\ntools:\n":                        false,
		"tools:\n  some text\n  that: goes on\n":                       false,
		"tools:\n  a: 1\n  <<: {b: 2}\n  c: 1\n":                       false,
		"tools: &x\n  a: 1\n  b: 2\n":                                  false,
		"tools:\n  - a\n  - b\n":                                       false,
		"tools:\n  a: 1\n\tb: 2\n  c: 3\n":                             false,
		"tools:\n  a: 1\n  \"b\": 2\n":                                 false,
		"tools:\n  a: 1\n  b: 2\n c: 3\n":                              false,
		"tools:\n  a:\n  b\n  c: 1\n":                                  false,
		"tools:\n  a: |1\n   x\n  b: 'two\n\n   lines'\n":              true,
		"x:\n  k: 'quoted\ny:\n  a: 1\n  b: 2\n  c: 33333333333333'\n": false,
		"x: [\ny:\n  a: 1\n  b: 2]\n":                                  false,
		"%YAML 1.1\n---\ntools:\n  a: 1\n  b: 2\n":                     true,
		"\uFEFFtools:\n  a: 1\n  b: 2\n":                               false,
	}
}

// TestPiecesSayTheSame: what is read in pieces is what the whole says, with the same places.
func TestPiecesSayTheSame(t *testing.T) {
	for text, want := range blockTexts() {
		if got := checkPieces(t, []byte(text)); got != want {
			t.Errorf("read in pieces: %v\n%s", got, text)
		}
	}
}

// most is more pieces than the texts here have members, so that each is one.
const most = 5

// checkPieces reads data whole and in any number of pieces, and reports whether each member can be a piece.
func checkPieces(t *testing.T, data []byte) bool {
	t.Helper()
	p := yamlParser{data: data, lines: yamlLines(data)}
	if len(p.lines) != bytes.Count(data, []byte("\n"))+1 {
		return false
	}
	whole := singleMapping(data)
	cut := false
	for n := 1; n <= most; n++ {
		doc := inPieces(data, n)
		if doc == nil {
			continue
		}
		cut = n == most
		if whole == nil {
			t.Fatalf("%d pieces can be read, the whole can not:\n%s", n, data)
		}
		if got, want := places(doc), places(whole); !reflect.DeepEqual(got, want) {
			t.Fatalf("%d pieces:\n%v\nwhole:\n%v\n%s", n, got, want, data)
		}
	}
	return cut
}

// places lists every value below n with its place and its anchor.
func places(n *yaml.Node) []string {
	if n.Kind == yaml.AliasNode {
		return []string{fmt.Sprint(n.Line, n.Column, "*", n.Alias.Line, n.Alias.Column)}
	}
	var all []string
	if n.Kind != yaml.DocumentNode {
		all = append(all, fmt.Sprint(n.Kind, n.Line, n.Column, n.Tag, n.Style, n.Anchor, n.Value))
	}
	for _, c := range n.Content {
		all = append(all, places(c)...)
	}
	return all
}

// TestLargeTextsAreReadInPieces through the front door: the same value, the same places, and errors at theirs.
func TestLargeTextsAreReadInPieces(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\ntools:\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "  tool_%d:\n    description: |\n      Does %d.\n    items: {type: string, enum: [a, b]}\n", i, i)
	}
	text := b.String()
	n, ds := ParseYAML("f.yaml", []byte(text))
	if len(ds) > 0 || len(n.Get("tools").Members) != 5000 {
		t.Fatalf("%d members, %v", len(n.Get("tools").Members), ds)
	}
	if v := n.Lookup("/tools/tool_4999/items/enum/1"); v == nil || v.Pos.String() != "f.yaml:20002:37" {
		t.Errorf("the last value: %+v", v)
	}
	_, ds = ParseYAML("f.yaml", []byte(strings.Replace(text, "Does 4000.\n    items: {", "Does 4000.\n    items: [", 1)))
	if len(ds) != 1 || ds[0].Pos.Line != 16006 {
		t.Errorf("a bracket in the wrong place: %v", ds)
	}
	_, ds = ParseYAML("f.yaml", []byte(strings.Replace(text, "  tool_4000:", "  tool_7:", 1)))
	if len(ds) != 1 || ds[0].Code != "duplicate-key" || ds[0].Pos.Line != 16003 {
		t.Errorf("a repeated key: %v", ds)
	}
}

func FuzzPiecesSayTheSame(f *testing.F) {
	for text := range blockTexts() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if invalidUTF8(data) < 0 { // else it is refused before
			checkPieces(t, data)
		}
	})
}
