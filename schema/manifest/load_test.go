package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/schema"
)

func TestReadMissingFile(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "error[missing-file]: can not read the manifest: no such file or directory; mcpkiln init DIR makes a project with a manifest",
		dir:                             "error[unreadable-file]: can not read the manifest: is a directory; name the file: " + filepath.Join(dir, "mcpkiln.yaml"),
	} {
		src, ds := Read(path)
		if src != nil || ds.Error() != path+": "+want {
			t.Errorf("%s", ds)
		}
	}
}

// What is no file is not opened: a pipe would be waited for, a device never ends.
func TestVAL06PipesAreNotRead(t *testing.T) {
	folder := fstest.MapFS{"order.json": {Data: []byte("{}"), Mode: fs.ModeNamedPipe}}
	text := []byte(`{"tools": {"buy": {"inputSchema": {"type": "object", "properties": {"order": {"$ref": "order.json"}}}}}}`)
	_, ds := Load("mcpkiln.json", text, Parse("mcpkiln.json", text).ReadFilesFrom(folder)...)
	if len(ds) != 1 || ds[0].Code != "unreadable-file" || !strings.Contains(ds[0].Error(), "it is a pipe or a device") {
		t.Error(ds)
	}
}

func TestReadReturnsTheText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(path, []byte("tools: 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if src, ds := Read(path); string(src) != "tools: 3" || len(ds) != 0 {
		t.Errorf("%q %v", src, ds)
	}
}

func TestLoadFillsTheManifest(t *testing.T) {
	m := load(t, "accepted/design.txtar")
	if m.Server.Name.Value != "reports" || m.Server.Version.Value != "1.4.0" || m.Go.Package.Value != "reports" || m.Go.Out.Value != "internal/reports" {
		t.Errorf("server %+v, go %+v", m.Server, m.Go)
	}
	if len(m.Revisions) != 1 || m.Revisions[0].Value != "2025-11-25" || m.Revisions[0].Node.Pos.Line != 3 {
		t.Errorf("revisions %+v", m.Revisions)
	}
	if d := m.Defaults; d.Timeout.Value != 30*time.Second || d.Task.TTL.Value != time.Hour || d.Task.MaxTTL.Value != 24*time.Hour || d.Task.PollInterval.Value != 2*time.Second {
		t.Errorf("defaults %+v", d)
	}
	var names []string
	for _, tool := range m.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "get_quote build_report import_orders post_ledger" {
		t.Errorf("tools %s", got)
	}
	quote, report, orders, ledger := m.Tools[0], m.Tools[1], m.Tools[2], m.Tools[3]
	if quote.Timeout.Value != 5*time.Second || quote.Pos.Line != 10 || quote.Execution.Tasks() || quote.Output == nil {
		t.Errorf("get_quote %+v", quote)
	}
	if e := report.Execution; e.Support != Required || e.TTL.Value != 2*time.Hour || e.Timeout.Value != 30*time.Minute || e.MaxTTL.Or(time.Minute) != time.Minute {
		t.Errorf("build_report %+v", e)
	}
	if orders.Execution.Support != Optional || len(orders.Elicitations) != 1 {
		t.Fatalf("import_orders %+v", orders)
	}
	if q := orders.Elicitations[0]; q.Name != "confirmOverwrite" || q.Message.Value != "Overwrite existing orders?" || q.Timeout.Value != 10*time.Minute || q.OnUnsupported != Decline || q.Schema == nil {
		t.Errorf("question %+v", q)
	}
	if c := ledger.Cancellation; !c.None || c.Because.Value != "a half-posted batch can not be repaired" {
		t.Errorf("cancellation %+v", c)
	}
	ref := ledger.Input.Lookup("/properties/batchId/$ref")
	if n, d := ledger.Input.Resolve(ref.Text, ref); d != nil || n != m.Schemas.Get("BatchID").Root {
		t.Errorf("shared schema: %v %v", n, d)
	}
}

func TestLoadAnswerIsMarked(t *testing.T) {
	for file, want := range map[string]bool{"answer-response": true, "answer-result": true, "list": true, "json": false, "design": false} {
		if got := load(t, "accepted/"+file+".txtar").Answer; got != want {
			t.Errorf("%s: Answer = %t", file, got)
		}
	}
}

// A server's description of itself is the manifest's, in each form in which an answer is saved; it may lack a name.
func TestAnAnswerDescribesItsServer(t *testing.T) {
	const list, info, text = `"tools": [{"name": "a", "inputSchema": {"type": "object"}}]`, `"serverInfo": {"name": "desk", "version": "1"}`, `"instructions": "Ask first."`
	for answer, want := range map[string][2]string{
		"{" + list + ", " + info + "}":                                                      {"desk", ""},
		"{" + list + ", " + text + "}":                                                      {"", "Ask first."},
		"{" + text + ", " + list + ", " + info + "}":                                        {"desk", "Ask first."},
		`{"jsonrpc": "2.0", "id": 1, "result": {` + list + ", " + info + ", " + text + "}}": {"desk", "Ask first."},
	} {
		m, ds := Load("tools.json", []byte(answer))
		if len(ds) > 0 {
			t.Errorf("%s: %v", answer, ds)
			continue
		}
		if got := [2]string{m.Server.Name.Value, m.Server.Instructions.Value}; got != want {
			t.Errorf("%s: %q", answer, got)
		}
	}
}

func load(t *testing.T, golden string) *Manifest {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", golden))
	if err != nil {
		t.Fatal(err)
	}
	m, ds := Load(archive.Files[0].Name, archive.Files[0].Data)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return m
}

func TestPackageName(t *testing.T) {
	for text, want := range map[string]string{
		"reports": "reports", "My-Reports 2": "myreports2", "2fa": "fa", "": "tools", "日本": "tools", "main": "tools", "go": "mcpgo", "Type": "mcptype",
		"Documentation": "mcpdocumentation", "init": "mcpinit", "vendor": "mcpvendor", "internal": "mcpinternal", "testdata": "mcptestdata",
	} {
		if got := PackageName(text); got != want {
			t.Errorf("PackageName(%q) = %q, want %q", text, got, want)
		}
	}
}

// onlyLoader are the rejected goldens whose mistake the manifest's own schema can not express: text that is no JSON
// value, what JSON Schemas inside mean, and what parts say about each other.
var onlyLoader = []string{
	"answer-list", "go-out-vendor", "val04-no-draft", "go-out-windows",
	"duplicate-tool", "elicitation-keyword", "json-duplicate-key", "json-syntax", "policy",
	"elicitation-impossible", "let01-form-defaults", "let04-secrets", "let12-required-field", "unknown-revision", "srv07-custom-extension", "srv07-custom-no-extension", "val03-", "val06-", "val07-", "yaml-", "empty", "answer-tool",
}

// The schema that editors use and the loader give the same verdict on every golden.
func TestSchemaJSONAgreesWithTheLoader(t *testing.T) {
	compiled, err := jsonschema.CompileString("mem://manifest.schema.json", string(SchemaJSON()))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(goldens(t, "accepted"), goldens(t, "rejected")...) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		root, _ := schema.Parse(archive.Files[0].Name, archive.Files[0].Data)
		name := filepath.Base(path)
		exempt := slices.ContainsFunc(onlyLoader, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if root == nil || exempt {
			continue
		}
		err = compiled.Validate(root.Value())
		if accepted := strings.Contains(path, "accepted"); accepted != (err == nil) {
			t.Errorf("%s: accepted by the loader: %t, by the schema: %v", name, accepted, err)
		}
	}
}

func TestSchemaJSONDescribesEveryKey(t *testing.T) {
	root, ds := schema.ParseJSON("manifest.schema.json", SchemaJSON())
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	d, ds := schema.NewDocument(root, nil)
	if ds = append(ds, d.Lint()...); len(ds) > 0 {
		t.Error(ds)
	}
	for _, owner := range []string{"Manifest", "Tool"} {
		for _, m := range d.Definition(owner).Get("properties").Members {
			target := m.Value
			if ref := target.Get("$ref"); ref != nil && target.Get("description") == nil {
				target, _ = d.Resolve(ref.Text, ref)
			}
			if target.Get("description") == nil {
				t.Errorf("%s.%s has no description", owner, m.Key)
			}
		}
	}
}

// TestSchemaJSONCoversSchemas: an editor knows each keyword of both drafts, and sees what is wrong inside of a schema, wherever it stands.
func TestSchemaJSONCoversSchemas(t *testing.T) {
	root, _ := schema.ParseJSON("manifest.schema.json", SchemaJSON())
	known := root.Lookup("/$defs/Schema/properties")
	for _, dialect := range []string{"2020-12", "draft-07"} {
		text, err := os.ReadFile("../dialect/" + dialect + ".json")
		if err != nil {
			t.Fatal(err)
		}
		meta, _ := schema.ParseJSON(dialect, text)
		for _, m := range meta.Get("properties").Members {
			switch m.Key {
			case "$recursiveRef", "$recursiveAnchor", "$vocabulary": // of another draft, and for meta-schemas
			default:
				if d := known.Get(m.Key); d.Get("description") == nil && d.Get("additionalProperties").Get("description") == nil {
					t.Errorf("%s: %s is not described", dialect, m.Key)
				}
			}
		}
	}
	compiled, err := jsonschema.CompileString("mem://manifest.schema.json", string(SchemaJSON()))
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{
		`{"type": "strnig"}`, `{"type": []}`, `{"minLength": "1"}`, `{"maxItems": -1}`, `{"required": "a"}`, `{"enum": []}`, `{"multipleOf": 0}`,
		`{"items": 1}`, `{"uniqueItems": "yes"}`, `{"anyOf": []}`, `{"properties": []}`, `{"description": 1}`, `"string"`, `{"format": true}`, `{"dependentRequired": {"a": "b"}}`,
	} {
		for _, place := range []string{
			`{"properties": {"a": %s}}`, `{"properties": {"a": {"items": %s}}}`, `{"allOf": [%s]}`, `{"not": %s}`, `{"properties": {"a": {"additionalProperties": %s}}}`, `{"$defs": {"A": %s}}`,
			`{"patternProperties": {"a": %s}}`, `{"if": %s}`, `{"properties": {"a": {"prefixItems": [%s]}}}`, `{"dependentSchemas": {"a": %s}}`,
		} {
			text := strings.Replace(place, "%s", wrong, 1)
			text = `{"tools": {"a": {"inputSchema": {"type": "object", ` + text[1:] + `}}}`
			n, ds := schema.ParseJSON("mcpkiln.json", []byte(text))
			if ds.HasErrors() {
				t.Fatal(text, ds)
			}
			if compiled.Validate(n.Value()) == nil {
				t.Errorf("an editor takes %s", text)
			}
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, dir := range []string{"accepted", "rejected"} {
		paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(archive.Files[0].Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, ds := Load("mcpkiln", data)
		if m == nil && !ds.HasErrors() {
			t.Fatal("refused without a diagnostic")
		}
		if render(ds, []txtar.File{{Data: data}}); ds.HasErrors() {
			return
		}
		for i := range m.Tools {
			definition, _ := m.Tools[i].Advertised()
			if n, ds := schema.ParseJSON("", definition.JSON()); n == nil {
				t.Fatal(ds)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for _, tools := range []int{10, 100, 1000} {
		var text strings.Builder
		text.WriteString("tools:\n")
		for i := range tools {
			text.WriteString("  tool_" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strconv.Itoa(i) + ":\n" +
				"    description: Does one thing.\n    inputSchema:\n      type: object\n      required: [a]\n      additionalProperties: false\n" +
				"      properties:\n        a: {type: string, minLength: 1, maxLength: 80, pattern: \"^[a-z]+$\"}\n" +
				"        b: {type: integer, minimum: 0, maximum: 9, default: 3}\n        c: {enum: [x, y], default: x}\n" +
				"        d: {type: array, items: {type: string}, maxItems: 5}\n")
		}
		data := []byte(text.String())
		b.Run(strconv.Itoa(tools), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ds := Load("m.yaml", data); ds.HasErrors() {
					b.Fatal(ds)
				}
			}
		})
	}
}
