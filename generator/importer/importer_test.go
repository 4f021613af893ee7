package importer

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/schema"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestDAY05Import imports the source of each golden (tools.json, with the options in the comment's last line), and compares the manifest and
// what is lost.
func TestDAY05Import(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			options := string(a.Comment)
			o := Options{Client: strings.Contains(options, "\n--client"), Suggest: strings.Contains(options, "--suggest")}
			got := imported(t, a.Files[0].Data, o)
			var lost strings.Builder
			for _, l := range got.Lost {
				lost.WriteString(l.String() + "\n")
			}
			want := slices.Clone(a.Files)
			a.Files = []txtar.File{a.Files[0], {Name: "mcpkiln.yaml", Data: got.Manifest}}
			if lost.Len() > 0 {
				a.Files = append(a.Files, txtar.File{Name: "lost", Data: []byte(lost.String())})
			}
			switch now := txtar.Format(a); {
			case *update:
				if err := os.WriteFile(path, now, 0o666); err != nil {
					t.Fatal(err)
				}
			case string(now) != string(txtar.Format(&txtar.Archive{Comment: a.Comment, Files: want})):
				t.Errorf("got\n%s", now)
			}
			if got.Kept+len(lostTools(got)) != got.Tools {
				t.Errorf("%d of %d tools are the same, and %d have losses", got.Kept, got.Tools, len(lostTools(got)))
			}
		})
	}
}

func imported(t *testing.T, data []byte, o Options) *Imported {
	t.Helper()
	s, err := Read("tools.json", data)
	if err != nil {
		t.Fatal(err)
	}
	before := string(s.Tools[0].JSON())
	got, err := Import(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if string(s.Tools[0].JSON()) != before {
		t.Error("the source was changed")
	}
	return got
}

// lostTools are the tools of which something is lost.
func lostTools(i *Imported) map[string]bool {
	all := map[string]bool{}
	for _, l := range i.Lost {
		if l.Tool != "" {
			all[l.Tool] = true
		}
	}
	return all
}

// TestDAY05Sources reads all that an answer is saved as: the tools are the same.
func TestDAY05Sources(t *testing.T) {
	a, b := `{"name":"a","inputSchema":{"type":"object"}}`, `{"name":"b","inputSchema":{"type":"object"}}`
	for _, text := range []string{
		`[` + a + `,` + b + `]`,
		`{"tools":[` + a + `,` + b + `]}`,
		`{"tools":[` + a + `,` + b + `],"nextCursor":null}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[` + a + `,` + b + `]}}`,
		`{"tools":[` + a + `],"nextCursor":"x"}` + "\n" + `{"tools":[` + b + `]}`,
		`[{"result":{"tools":[` + a + `],"nextCursor":"x"}},{"result":{"tools":[` + b + `]}}]`,
		`[[` + a + `,` + b + `]]`,
		"\uFEFF" + `[` + a + `,` + b + `]`,
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"}}}
		 {"jsonrpc":"2.0","method":"notifications/initialized"}
		 {"jsonrpc":"2.0","id":2,"result":{"tools":[` + a + `,` + b + `]}}`,
	} {
		s, err := Read("tools.json", []byte(text))
		if err != nil || len(s.Tools) != 2 || string(s.Tools[0].JSON())+string(s.Tools[1].JSON()) != a+b {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
}

// TestDAY05ServerInfo finds who the server is: in a handshake, in the answer of a revision without one, and where mcpkiln tools --json has it.
func TestDAY05ServerInfo(t *testing.T) {
	const tools = `"tools":[{"name":"a","inputSchema":{"type":"object"}}]`
	for _, text := range []string{
		`{"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"},"instructions":"Ask."}} {"result":{` + tools + `}}`,
		`{"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}},` + tools + `}}`,
		`{"protocolVersion":"2026-07-28","serverInfo":{"name":"s","version":"1"},"instructions":"Ask.",` + tools + `}`,
	} {
		got := imported(t, []byte(text), Options{})
		if got.Name != "s" || got.Version != "1" || strings.Contains(text, "Ask") != strings.Contains(string(got.Manifest), "instructions: Ask.") {
			t.Errorf("%s: %s %s\n%s", text, got.Name, got.Version, got.Manifest)
		}
	}
	got := imported(t, []byte(`{`+tools+`}`), Options{Name: "mine", Version: "2"})
	if got.Name != "mine" || got.Version != "2" {
		t.Errorf("%s %s", got.Name, got.Version)
	}
}

// What a saved answer says ends no comment of the manifest: no key of it is the source's.
func TestDAY05NothingSaidEndsAComment(t *testing.T) {
	got := imported(t, []byte(`{"protocolVersion":"x\nprompts: {a: {}}","serverInfo":{"name":"s","version":"1\u2028prompts: {b: {}}"},"tools":[{"name":"a","inputSchema":{"type":"object"},"more\nprompts":{}}]}`), Options{Suggest: true})
	for line := range strings.Lines(strings.NewReplacer("\u2028", "\n", "\r", "\n").Replace(string(got.Manifest))) {
		if strings.HasPrefix(line, "prompts") {
			t.Fatalf("%s", got.Manifest)
		}
	}
}

// A name with characters that YAML forbids, or that are not seen, costs what has it, and nothing beside it. The comment that names it shows them escaped.
func TestDAY05BadNamesAreLeftOut(t *testing.T) {
	for char, escaped := range map[string]string{
		"\x00": `\u0000`, "\x1b": `\u001b`, "\x7f": `\u007f`, "\u009b": `\u009b`, "\ufffe": `\ufffe`, "\u202e": `\u202e`, "\ufeff": `\ufeff`, "\U000e0041": `\U000e0041`,
	} {
		name, _ := json.Marshal("A" + char + "B") // a text always has JSON
		const good = `{"name":"good","inputSchema":{"type":"object"}}`
		for what, bad := range map[string]string{
			"name":    `{"name":` + string(name) + `,"inputSchema":{"type":"object"}}`,
			"member":  `{"name":"t","inputSchema":{"type":"object"},` + string(name) + `:1}`,
			"keyword": `{"name":"t","inputSchema":{"type":"object","properties":{` + string(name) + `:{"type":"string","minLenght":1}}}}`,
		} {
			s, err := Read("tools.json", []byte(`[`+good+`,`+bad+`]`))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Import(t.Context(), s, Options{Suggest: true})
			if err != nil || got.Kept != 1 || len(got.Lost) != 1 {
				t.Errorf("%s with %s: %v, %+v", what, escaped, err, got)
				continue
			}
			if text := string(got.Manifest); strings.Contains(text, char) || !strings.Contains(text, "# Not kept: ") || !strings.Contains(text, "A"+escaped+"B") {
				t.Errorf("%s with %s: %s", what, escaped, text)
			}
		}
	}
}

// TestDAY05BadSources are refused with what is wrong, and where.
func TestDAY05BadSources(t *testing.T) {
	const tool = `{"name":"a","inputSchema":{"type":"object"}}`
	for text, want := range map[string]string{
		"":                                 "tools.json: it is empty",
		"\uFEFF":                           "tools.json: it is empty",
		" \n":                              "tools.json: it is empty",
		"<!DOCTYPE html>\n":                "tools.json: this is a page of HTML or XML, not JSON",
		"tools: []":                        "tools.json:1:1: error[syntax]",
		"{\n\"tools\": [,]}":               "tools.json:2:11: error[syntax]",
		"{\"tools\": [\n" + tool + "]}\n{": "tools.json:3:2: error[syntax]",
		`{"tools":[]}`:                     "tools.json: the list has no tools",
		`[]`:                               "tools.json: the list has no tools",
		`{"tools":[` + tool + `],"nextCursor":"7"}`:                                       "tools.json: the list is not complete: its last page has a nextCursor",
		`{"tools":[` + tool + `]}{"tools":[` + tool + `]}`:                                "this is a second list: the one before it was complete",
		"{\"tools\":[" + tool + ",\n" + tool + "]}":                                       `tools.json:2:9: the tool "a" stands in the list twice, first in line 1`,
		"{\"tools\":[" + tool + "],\"nextCursor\":\"x\"}\n\n{\"tools\":[\n" + tool + "]}": `tools.json:4:9: the tool "a" stands in the list twice, first in line 1`,
		`{"tools":[7]}`:                  "tools.json: there is nothing to import: tools[0]: the tool is left out: it is no object: 7; is it a list of tools?",
		`{"tools":[{"inputSchema":{}}]}`: "tools[0]: the tool is left out: its name is missing; is it a list of tools?",
		`{"tools":[],"leftOut":[{"tool":"a","why":"its inputSchema is missing"}]}`: "tools.json: there is nothing to import: a: the tool is left out: its inputSchema is missing",
		`{"tools":{"a":{}}}`: "tools is no list: if this is a manifest, generate from it",
		`{"prompts":[]}`:     "this is no answer to tools/list: it has no tools",
		`"tools"`:            "tools.json:1:1: a string is no answer to tools/list",
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`: `the server answered with an error: {"code":-32601,"message":"no"}`,
		`{"jsonrpc":"2.0","method":"ping"}`:                               "tools.json: there is no answer to tools/list in it",
		`{"tools":[` + tool + `],"tools":[]}`:                             "duplicate-key",
	} {
		if _, err := Read("tools.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestDAY05NothingLeft: a source of which nothing can be generated is an error that says why.
func TestDAY05NothingLeft(t *testing.T) {
	s, err := Read("tools.json", []byte(`[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"$ref":"https://example.com/x"}}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), s, Options{}); err == nil || !strings.Contains(err.Error(), "nothing can be generated") || !strings.Contains(err.Error(), "remote-ref") {
		t.Errorf("%v", err)
	}
}

// FuzzImport: whatever an answer says, the manifest can be generated from, and each tool is either the same or among the losses.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`[{"name":"a","timeout":1,"inputSchema":{"type":"object","goName":"x","properties":{"a":{"type":"strnig"},"b":{"minLenght":1}}}}]`))
	f.Add([]byte(`[{"name":"a-b","inputSchema":{"type":"object"}},{"name":"a_b","_meta":{"a..b/c":1},"inputSchema":{"type":"object"},"outputSchema":{"type":"object","$defs":{"X":{}}}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read("tools.json", data)
		if err != nil {
			return
		}
		got, err := Import(t.Context(), s, Options{Suggest: true})
		if err != nil {
			return
		}
		if got.Kept+len(lostTools(got)) != got.Tools {
			t.Errorf("%s\n%d of %d tools are the same, lost: %v\n%s", data, got.Kept, got.Tools, got.Lost, got.Manifest)
		}
		if _, ds := schema.ParseYAML("mcpkiln.yaml", got.Manifest); ds.HasErrors() {
			t.Errorf("%s\n%s\n%v", data, got.Manifest, ds)
		}
	})
}

// BenchmarkRead reads a recorded session: a message a line.
func BenchmarkRead(b *testing.B) {
	var data []byte
	for range 50_000 {
		data = append(data, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`+"\n"...)
	}
	data = append(data, `{"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}`...)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Read("session.jsonl", data); err != nil {
			b.Fatal(err)
		}
	}
}
