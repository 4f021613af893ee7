package generator

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/schema"
)

// golden is one file of testdata/golden: a comment that says what it proves, a manifest, and what is made of it.
type golden struct {
	path    string
	archive *txtar.Archive
	config  Config
}

func goldens(t testing.TB) []golden {
	t.Helper()
	paths, err := filepath.Glob("../testdata/golden/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	var all []golden
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(bytes.TrimSpace(a.Comment)) == 0 {
			t.Errorf("%s does not say what it proves", path)
		}
		g := golden{path: path, archive: a}
		g.config = Config{Manifest: Source{a.Files[0].Name, a.Files[0].Data}, ToolVersion: "golden", Import: "example.com/goldens", Out: g.pkg()}
		for _, f := range a.Files[1:g.inputs()] {
			g.config.Files = append(g.config.Files, schema.File{Path: f.Name, Data: f.Data})
		}
		switch g.name() {
		case "parts":
			g.config.MaxTools = 2
		case "tsk27-client-alone":
			g.config.Out = ""
		}
		all = append(all, g)
	}
	return all
}

func (g golden) name() string { return strings.TrimSuffix(filepath.Base(g.path), ".txtar") }

// inputs is how many of the archive's files are read: the manifest, and the files of schemas that it names.
func (g golden) inputs() int {
	made := slices.IndexFunc(g.archive.Files[1:], func(f txtar.File) bool { return !strings.HasPrefix(f.Name, "schemas/") })
	if made < 0 {
		return len(g.archive.Files)
	}
	return 1 + made
}

// pkg is the folder of the golden in the module that all are compiled in.
func (g golden) pkg() string { return strings.ReplaceAll(g.name(), "-", "_") }

// generate runs one golden and returns its output as archive files.
func (g golden) generate(t testing.TB) (*Result, []txtar.File) {
	t.Helper()
	r, err := Generate(t.Context(), g.config)
	if err != nil {
		t.Fatalf("%s: %v", g.path, err)
	}
	if r.Diagnostics.HasErrors() {
		t.Fatalf("%s: %v", g.path, r.Diagnostics)
	}
	var files []txtar.File
	for _, d := range r.Diagnostics {
		files = append(files, txtar.File{Name: "diagnostics", Data: []byte(d.Render(g.config.Manifest.Data))})
	}
	for _, f := range allFiles(r) {
		// Neither the lock nor hashes are worth reading in a golden, where every change would change them, too.
		if path.Base(f.Path) != LockName {
			files = append(files, txtar.File{Name: f.Path, Data: unsealed(f.Content)})
		}
	}
	return r, files
}

// unsealed is a file without the lines below its header.
func unsealed(content []byte) []byte {
	header, rest, _ := bytes.Cut(content, []byte("\n\n"))
	header, _, _ = bytes.Cut(header, []byte("\n"))
	return slices.Concat(header, []byte("\n\n"), rest)
}

// allFiles are those of a result and of its client, all relative to the result's directory.
func allFiles(r *Result) []File {
	files := r.Files
	if r.Client != nil {
		for _, f := range r.Client.Files {
			files = append(files[:len(files):len(files)], File{path.Join("..", r.Client.Dir, f.Path), f.Content})
		}
	}
	return files
}

func TestGolden(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.name(), func(t *testing.T) {
			_, files := g.generate(t)
			for _, f := range files {
				if !strings.HasSuffix(f.Name, ".go") {
					continue
				}
				if formatted, err := format.Source(f.Data); err != nil || !bytes.Equal(formatted, f.Data) {
					t.Errorf("%s is not formatted: %v\n%s", f.Name, err, diff.Diff("generated", f.Data, "formatted", formatted))
				}
			}
			compareArchive(t, g.path, g.archive, g.inputs(), files)
		})
	}
}

// compareArchive holds the files of an archive after its inputs against what was made.
func compareArchive(t *testing.T, path string, a *txtar.Archive, inputs int, made []txtar.File) {
	t.Helper()
	want := &txtar.Archive{Comment: a.Comment, Files: append(a.Files[:inputs:inputs], made...)}
	if *update {
		if err := os.WriteFile(path, txtar.Format(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := diff.Diff(path, txtar.Format(a), "generated", txtar.Format(want)); d != nil {
		t.Errorf("run go test ./generator -update, and read the difference:\n%s", d)
	}
}

// TestGoldensCompileAndVet builds every golden in one module of its own that links against this one.
func TestGoldensCompileAndVet(t *testing.T) {
	dir := goldenModule(t)
	for _, args := range [][]string{{"vet", "./..."}, {"run", "honnef.co/go/tools/cmd/staticcheck@v0.8.2", "-checks=all,-ST1000", "./..."},
		{"test", "./drive"}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// emptyModule is a module in a directory of its own that links against this one.
func emptyModule(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "go.mod"), fmt.Sprintf(
		"module example.com/goldens\n\ngo 1.26.0\n\nrequire github.com/mcpkiln/mcpkiln v0.0.0\n\nreplace github.com/mcpkiln/mcpkiln => %s\n", root))
	return dir
}

func goldenModule(t *testing.T) string {
	t.Helper()
	dir := emptyModule(t)
	for _, g := range goldens(t) {
		r, files := g.generate(t)
		pkg := g.pkg()
		for _, f := range files {
			if f.Name != "diagnostics" {
				put(t, filepath.Join(dir, pkg, f.Name), string(f.Data))
			}
		}
		if len(r.Tools)+len(r.Methods) == 0 {
			continue // a client
		}
		for _, s := range stubs(t, r, "example.com/goldens/"+pkg) {
			put(t, filepath.Join(dir, pkg, "app", s.Path), string(s.Content))
		}
	}
	for _, f := range future(t) {
		put(t, filepath.Join(dir, "future", f.Name), string(f.Content))
	}
	if err := os.CopyFS(filepath.Join(dir, "drive"), os.DirFS("testdata/drive")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// stubs are the user's files for r, in a package below the generated one.
func stubs(t *testing.T, r *Result, generated string) []File {
	t.Helper()
	s := Stub{Package: "app", Type: "App", Import: generated}
	content, err := s.Handlers(r)
	if err != nil {
		t.Fatal(err)
	}
	files := []File{{"handlers.go", content}}
	for _, tool := range slices.Concat(r.Tools, r.Methods) {
		content, err := s.Handler(r, tool)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{tool.File, content})
	}
	return files
}
