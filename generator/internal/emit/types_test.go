package emit_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/generator/internal/emit"
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
)

var update = flag.Bool("update", false, "rewrite the outputs of the goldens")

const both = model.Decode | model.Encode

// result is what one schema becomes.
type result struct {
	types, validate []byte
	root            model.TypeRef
	diags           schema.Diagnostics
}

// manner is what an archive's comment asks for.
type manner struct {
	keep     bool // as protocol documents are lowered
	sent     bool // the schema is that of what is sent
	received bool // that of what is received, too
}

// generate lowers and emits one schema.
func generate(t testing.TB, file string, src []byte, pkg string, m manner) result {
	t.Helper()
	n, diags := schema.Parse(file, src)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", file, diags)
	}
	doc, diags := schema.NewDocument(n, nil)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", file, diags)
	}
	types := typing.NewTypes()
	types.MaxDecls = 1000 // no golden comes near, but that of the limit
	root := typing.Root{Document: doc, Name: "Thing", DefsPrefix: "Thing", Keep: m.keep, Use: both, Sent: m.sent}
	ref := types.Lower(root)
	if m.received {
		root.Sent = false
		types.Lower(root)
	}
	decls, diags := types.Finish()
	r := result{root: ref, diags: diags}
	if !diags.HasErrors() {
		r.types = emit.TypesFile(emit.Header, pkg, decls)
		r.validate = emit.ValidateFile(emit.Header, pkg, decls)
	}
	return r
}

// TestGoldenTypes holds every accepted schema against the Go that is made of it.
func TestGoldenTypes(t *testing.T) {
	for _, path := range archives(t, "golden") {
		a := parse(t, path)
		t.Run(name(path), func(t *testing.T) {
			r := generate(t, a.Files[0].Name, a.Files[0].Data, "golden", asked(a))
			if r.diags.HasErrors() {
				t.Fatal(r.diags)
			}
			files := []txtar.File{a.Files[0]}
			if len(r.diags) > 0 {
				files = append(files, txtar.File{Name: "diagnostics", Data: []byte(r.diags.Error() + "\n")})
			}
			files = append(files, txtar.File{Name: "types.gen.go", Data: r.types}, txtar.File{Name: "validate.gen.go", Data: r.validate})
			compare(t, path, a, files)
		})
	}
}

// TestVAL03RejectedSchemas holds every schema that can not be enforced against its diagnostics.
func TestVAL03RejectedSchemas(t *testing.T) {
	for _, path := range archives(t, "rejected") {
		a := parse(t, path)
		t.Run(name(path), func(t *testing.T) {
			r := generate(t, a.Files[0].Name, a.Files[0].Data, "golden", manner{})
			if !r.diags.HasErrors() {
				t.Fatal("accepted")
			}
			compare(t, path, a, []txtar.File{a.Files[0], {Name: "diagnostics", Data: []byte(r.diags.Error() + "\n")}})
		})
	}
}

// asked is what the archive's comment asks for.
func asked(a *txtar.Archive) manner {
	says := func(text string) bool { return bytes.Contains(a.Comment, []byte(text)) }
	return manner{keep: says("(protocol document)"), sent: says("(sent"), received: says("(sent and received)")}
}

func archives(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives in %s: %v", dir, err)
	}
	return paths
}

func parse(t testing.TB, path string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil || len(a.Files) == 0 {
		t.Fatalf("%s: no archive with a schema: %v", path, err)
	}
	if len(bytes.TrimSpace(a.Comment)) == 0 {
		t.Errorf("%s does not say what it proves", path)
	}
	return a
}

func name(path string) string { return strings.TrimSuffix(filepath.Base(path), ".txtar") }

// compare holds files against the archive, or rewrites it.
func compare(t *testing.T, path string, a *txtar.Archive, files []txtar.File) {
	t.Helper()
	got := txtar.Format(&txtar.Archive{Comment: a.Comment, Files: files})
	want := txtar.Format(a)
	if bytes.Equal(got, want) {
		return
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s differs, -update rewrites it:\n%s", path, firstDifference(string(got), string(want)))
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			old := ""
			if i < len(w) {
				old = w[i]
			}
			return "got  " + g[i] + "\nwant " + old
		}
	}
	return "got less"
}
