package generator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"
)

func config(manifest string) Config {
	return Config{Manifest: Source{"mcpkiln.yaml", []byte(manifest)}, ToolVersion: "test"}
}

func mustGenerate(t testing.TB, cfg Config) *Result {
	t.Helper()
	r, err := Generate(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Diagnostics.HasErrors() {
		t.Fatal(r.Diagnostics)
	}
	return r
}

func (r *Result) file(t testing.TB, name string) string {
	t.Helper()
	for _, f := range r.Files {
		if f.Path == name {
			return string(f.Content)
		}
	}
	t.Fatalf("no %s", name)
	return ""
}

// TestGenerateIsDeterministic runs each golden often enough that a map that is ranged over would show, all at once so
// that the race detector sees what is shared.
func TestGenerateIsDeterministic(t *testing.T) {
	for _, g := range goldens(t) {
		want, err := Generate(t.Context(), g.config)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				got, err := Generate(t.Context(), g.config)
				if err != nil {
					t.Error(err)
					return
				}
				for i, f := range got.Files {
					if !bytes.Equal(f.Content, want.Files[i].Content) {
						t.Errorf("%s: %s differs from run to run", g.name(), f.Path)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestGenerateDoesNotDependOnTheOrderOfSections shuffles what has no order of its own: only the manifest's hash changes.
func TestGenerateDoesNotDependOnTheOrderOfSections(t *testing.T) {
	sections := []string{
		"version: 1\n", "protocol: {revisions: [\"2025-11-25\"]}\n", "server: {name: s, version: 1.0.0}\n", "go: {package: s, out: s}\n",
		"defaults: {timeout: 3s, task: {ttl: 1h}}\n", "schemas: {B: {type: string}, A: {type: integer}}\n",
		"tools: {t: {inputSchema: {type: object, properties: {a: {$ref: '#/schemas/A'}, b: {$ref: '#/schemas/B'}}}, outputSchema: {type: object}}}\n",
	}
	want := mustGenerate(t, config(strings.Join(sections, "")))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		rng.Shuffle(len(sections), func(i, j int) { sections[i], sections[j] = sections[j], sections[i] })
		got := mustGenerate(t, config(strings.Join(sections, "")))
		for i, f := range got.Files {
			if f.Path != LockName && !bytes.Equal(f.Content, want.Files[i].Content) {
				t.Errorf("%s differs for\n%s", f.Path, strings.Join(sections, ""))
			}
		}
	}
}

func TestGenerateTwiceTouchesNothing(t *testing.T) {
	dir := module(t)
	for _, g := range goldens(t) {
		r := mustGenerate(t, g.config)
		r.Out = "gen/" + g.name()
		mustWrite(t, dir, r)
		again := mustGenerate(t, g.config)
		again.Out = r.Out
		if report := mustWrite(t, dir, again); len(report.Written)+len(report.Removed) > 0 {
			t.Errorf("%s: the second run wrote %v and removed %v", g.name(), report.Written, report.Removed)
		}
		if findings, _, _ := Check(t.Context(), dir, again); len(findings) > 0 {
			t.Errorf("%s: %v", g.name(), findings)
		}
	}
}

func TestGenerateHeadersCarryNoVersionTimeOrPath(t *testing.T) {
	a := mustGenerate(t, Config{Manifest: Source{"/home/one/mcpkiln.yaml", goldens(t)[0].config.Manifest.Data}, ToolVersion: "v1"})
	b := mustGenerate(t, Config{Manifest: Source{"two/mcpkiln.yaml", goldens(t)[0].config.Manifest.Data}, ToolVersion: "v2"})
	for i, f := range a.Files {
		if f.Path != LockName && !bytes.Equal(f.Content, b.Files[i].Content) {
			t.Errorf("%s depends on the place or the version:\n%s", f.Path, f.Content)
		}
		if f.Path != LockName && !hasHeader(f.Path, f.Content) {
			t.Errorf("%s starts with %.60q", f.Path, f.Content)
		}
	}
}

func TestGenerateHonoursItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("interrupt")
	cancel(stop)
	if _, err := Generate(ctx, goldens(t)[0].config); !errors.Is(err, stop) {
		t.Errorf("Generate: %v", err)
	}
}

// TestGenerateOverrides gives a bare tools/list answer what it can not say itself.
func TestGenerateOverrides(t *testing.T) {
	cfg := Config{
		Manifest:   Source{"answer.json", []byte(`{"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}`)},
		ServerName: "named", ServerVersion: "2.1.0", Package: "pkg", Out: "some/where", Revisions: []string{"2025-11-25"},
	}
	r := mustGenerate(t, cfg)
	if r.Package != "pkg" || r.Out != "some/where" {
		t.Errorf("package %s in %s", r.Package, r.Out)
	}
	handlers := r.file(t, "handlers.gen.go")
	for _, want := range []string{"package pkg\n", `"named"`, `"2.1.0"`} {
		if !strings.Contains(handlers, want) {
			t.Errorf("no %s in\n%s", want, handlers)
		}
	}
	cfg.Revisions = []string{"1999-01-01"}
	if r, err := Generate(t.Context(), cfg); err != nil || !r.Diagnostics.HasErrors() || r.Diagnostics[0].Code != "unknown-revision" {
		t.Errorf("unknown revision: %v %v", r, err)
	}
	cfg.Revisions = []string{"2026-07-28"}
	if files := mustGenerate(t, cfg).Files; !slices.ContainsFunc(files, func(f File) bool { return f.Path == "wire_2026_07_28.gen.go" }) {
		t.Error("no wire for the revision")
	}
}

// TestTSK22LimitsAreDocumented: the package's doc names every limit with its default and an option that exists.
func TestTSK22LimitsAreDocumented(t *testing.T) {
	functions := map[string]map[string]bool{"server": declared(t, "server"), "streamhttp": declared(t, "streamhttp")}
	for _, g := range goldens(t) {
		if g.config.Out == "" {
			continue // a client
		}
		doc := mustGenerate(t, g.config).file(t, "doc.gen.go")
		limits := []string{"16 MiB and 30s", "16 MiB, 512", "512 levels", "1,024 bytes", "20,000 requests", "100 tools", "10 progress"}
		if g.name() == "tasks" {
			limits = append(limits, "10,000 HTTP sessions", "1,000 unfinished tasks", "100,000", "1h, at most 24h", "8 MiB", "100 times a second")
		}
		for _, limit := range limits {
			if !strings.Contains(doc, limit) {
				t.Errorf("%s: the limit of %s is not documented", g.name(), limit)
			}
		}
		for _, option := range regexp.MustCompile(`\b(server|streamhttp)\.(With\w+)`).FindAllStringSubmatch(doc, -1) {
			if !functions[option[1]][option[2]] {
				t.Errorf("%s: there is no %s", g.name(), option[0])
			}
		}
	}
}

// declared are the names of functions that a runtime package declares.
func declared(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../runtime/" + pkg + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}

// TestVAL04DialectsAreDocumented: whoever writes a manifest reads which dialects of JSON Schema are enforced.
func TestVAL04DialectsAreDocumented(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "JSON Schema 2020-12 and draft-07") {
		t.Error("the README does not name the dialects")
	}
}

// TestVAL08DefinitionsMeanWhatTheManifestSays compares each advertised definition with its tool in the manifest.
func TestVAL08DefinitionsMeanWhatTheManifestSays(t *testing.T) {
	answer := `{"tools": [{"name": "t", "title": "T ` + "`" + ` \u202e ` + "\u202e\U000e0001" + `", "inputSchema": {"type": "object", "properties":
		{"b": {"type": "number", "maximum": 1e2, "default": 1.50}, "a": {"const": "` + "`" + `"}}, "x-own": [null, true]}, "_meta": {"k": 12345678901234567890}}]}`
	r := mustGenerate(t, Config{Manifest: Source{"a.json", []byte(answer)}})
	definitions := stringLiterals(t, r.file(t, "tools.gen.go"))
	want := normal(t, strings.TrimSuffix(strings.TrimPrefix(answer, `{"tools": [`), `]}`))
	found := false
	for _, d := range definitions {
		if strings.HasPrefix(d, "{") {
			found = true
			if got := normal(t, d); got != want {
				t.Errorf("advertised\n%s\nwant\n%s", got, want)
			}
		}
	}
	if !found {
		t.Error("no definition")
	}
}

// normal is JSON in one spelling, numbers as written.
func normal(t *testing.T, text string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func stringLiterals(t *testing.T, src string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			all = append(all, unquote(t, lit.Value))
		}
		return true
	})
	return all
}

// TestHostileTextIsNeverCode looks at the hostile golden with the eyes of the compiler: no function, directive or
// constraint that the manifest's texts tried to bring in, and nothing that an editor would not show.
func TestHostileTextIsNeverCode(t *testing.T) {
	for _, g := range goldens(t) {
		if g.name() != "hostile" {
			continue
		}
		r := mustGenerate(t, g.config)
		for _, f := range r.Files {
			if f.Path == LockName {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			inspectHostile(t, f, parsed)
		}
		return
	}
	t.Fatal("there is no hostile golden")
}

// hashes are the lines that change with everything below them.
var hashes = regexp.MustCompile("(?m)^// (Hash|Manifest): [0-9a-f]{32}")

func unhashed(content []byte) []byte { return hashes.ReplaceAll(content, []byte("// $1:")) }

func inspectHostile(t *testing.T, f File, parsed *ast.File) {
	t.Helper()
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "init" {
			t.Errorf("%s declares init", f.Path)
		}
	}
	for _, group := range parsed.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, "// ") && c.Text != "//" && !strings.HasPrefix(c.Text, "//\t") {
				t.Errorf("%s: a comment that could be a directive: %q", f.Path, c.Text)
			}
			if strings.HasPrefix(c.Text, "// +build") {
				t.Errorf("%s: a build constraint: %q", f.Path, c.Text)
			}
		}
	}
	for i, char := range string(f.Content) {
		if char != '\n' && char != '\t' && (unicode.IsControl(char) || unicode.Is(unicode.Cf, char) || char == '\u2028' || char == '\u2029') {
			t.Errorf("%s: invisible %U at byte %d", f.Path, char, i)
		}
	}
}

// bigManifest has n tools, each of a usual size: five inputs, two outputs, an enum, bounds and a pattern.
func bigManifest(n int) string {
	var b strings.Builder
	b.WriteString("version: 1\nprotocol: {revisions: [\"2025-11-25\"]}\nserver: {name: big, version: 1.0.0}\ngo: {package: big, out: big}\ntools:\n")
	for i := range n {
		fmt.Fprintf(&b, `  tool_%d:
    description: Does the work that has number %d.
    timeout: 10s
    inputSchema:
      type: object
      required: [id, kind]
      additionalProperties: false
      properties:
        id: {type: string, pattern: "^[a-z]{3}_[0-9]+$", maxLength: 40}
        kind: {type: string, enum: [alpha, beta, gamma]}
        count: {type: integer, minimum: 1, maximum: 100, default: 10}
        ratio: {type: number, exclusiveMinimum: 0}
        labels: {type: array, items: {type: string, minLength: 1}, maxItems: 20}
    outputSchema:
      type: object
      required: [done]
      properties: {done: {type: boolean}, items: {type: array, items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}}}
`, i, i)
	}
	return b.String()
}

func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			cfg := config(bigManifest(n))
			b.ReportAllocs()
			for b.Loop() {
				mustGenerate(b, cfg)
			}
		})
	}
}

func unquote(t *testing.T, literal string) string {
	t.Helper()
	text, err := strconv.Unquote(literal)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAddingAToolIsOneHunkInEachFile, so that reviews of regenerated code are short and merges rarely conflict.
func TestAddingAToolIsOneHunkInEachFile(t *testing.T) {
	for _, g := range goldens(t) {
		if g.name() != "reports" {
			continue
		}
		before := mustGenerate(t, g.config)
		cfg := g.config
		cfg.Manifest.Data = bytes.Replace(cfg.Manifest.Data, []byte("  post_ledger:\n"), []byte(`  archive_report:
    timeout: 7s
    execution: {taskSupport: optional, timeout: 3m}
    elicitations: {sure: {message: Sure, schema: {type: object, required: [why], properties: {why: {type: string, maxLength: 3}}}}}
    inputSchema: {type: object, required: [url], properties: {url: {type: string, format: uri}, tags: {type: array, items: {type: string, minLength: 1}}}}
    outputSchema: {type: object, required: [kind], properties: {kind: {type: string, enum: [a, b]}}}
  post_ledger:
`), 1)
		after := mustGenerate(t, cfg)
		if len(after.Files) != len(before.Files) || len(after.Tools) != len(before.Tools)+1 {
			t.Fatalf("%d files and %d tools, before %d and %d", len(after.Files), len(after.Tools), len(before.Files), len(before.Tools))
		}
		for i, f := range after.Files {
			d := diff.Diff("before", unhashed(before.Files[i].Content), "after", unhashed(f.Content))
			if hunks := bytes.Count(d, []byte("\n@@ ")); hunks > 1 {
				t.Errorf("%s: %d hunks\n%s", f.Path, hunks, d)
			}
		}
	}
}
