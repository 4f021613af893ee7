package pretty

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/schema"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// write writes a JSON text as YAML, and fails unless that means the same.
func write(t testing.TB, data []byte) []byte {
	t.Helper()
	n, ds := schema.ParseJSON("in.json", data)
	if n == nil || ds.HasErrors() || !n.Is(schema.Object) {
		t.Skip("no object")
	}
	w := &Writer{Comments: map[*schema.Node][]string{}}
	n.Walk(func(v *schema.Node) bool {
		if c := v.Get("$comment"); c.Is(schema.String) && !strings.ContainsAny(c.Text, "\r\n") {
			w.Comments[c] = []string{"", "above $comment"}
		}
		return true
	})
	text := w.Append(nil, n, 0)
	if len(n.Members) == 0 {
		return text
	}
	got, ds := schema.ParseYAML("out.yaml", text)
	if ds.HasErrors() || got == nil || !schema.Equal(got, n) {
		t.Errorf("%s\nis written as\n%s\n%v", data, text, ds)
	}
	return text
}

// TestDAY05Golden writes in.json of each golden as out.yaml.
func TestDAY05Golden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := write(t, a.Files[0].Data)
		if *update {
			a.Files = []txtar.File{a.Files[0], {Name: "out.yaml", Data: got}}
			if err := os.WriteFile(path, txtar.Format(a), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if len(a.Files) != 2 || string(a.Files[1].Data) != string(got) {
			t.Errorf("%s: got\n%s", path, got)
		}
	}
}

// FuzzWrite: whatever JSON says, the YAML says it, too.
func FuzzWrite(f *testing.F) {
	for _, seed := range []string{
		`{"a":"on","b":"a: b","c":"- x","d":"#","e":" x","f":"x ","g":"1.0","h":"2026-07-28","i":"<<","<<":"=","true":null,"":""}`,
		`{"a":"\u0085\u2028\ufeff\u0000\u007f😀\t","b":"line\n  more\n\nend\n","c":"\n\n","d":"x\n\n\n","e":" lead\nx","f":"a\n\tb"}`,
		`{"a":[[],[[1,{"b":[]}]],{},{"c":{"d":{}}}],"n":[1e400,-0,1E5,0.10,12345678901234567890123]}`,
		`{"` + strings.Repeat("key", 400) + `":[1],"b":[{"a?b":1}]}`,
		`{"$comment":"x","a":{"$comment":"y","b":[{"$comment":"z"},{"q":[[1],[2]]}]}}`,
		`{"a":"` + strings.Repeat("word ", 60) + `","b":"` + strings.Repeat("word  two ", 60) + `.","c":"` + strings.Repeat("long", 60) + `"}`,
		`{"a":"` + strings.Repeat("word ", 60) + `end\n` + strings.Repeat("more ", 60) + `end\n\n  - ` + strings.Repeat("item ", 60) + `\n\nlast"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { write(t, data) })
}
