//go:build official

package generator

import (
	"bytes"
	"flag"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

var shared = flag.String("shared", "", "directory with corpus/ and schema/")

// TestOfficialCorpus generates one package of every tool definition of the corpus, and compiles it. What it advertises
// means what the sources say (VAL08).
func TestOfficialCorpus(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(*shared, "corpus", "*", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no corpus in %q: %v", *shared, err)
	}
	var all [][]byte
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.TrimSpace(data))
	}
	manifest := append(append([]byte(`{"tools": [`), bytes.Join(all, []byte(",\n"))...), `]}`...)
	r := mustGenerate(t, Config{Manifest: Source{"corpus.json", manifest}, Package: "corpus"})
	if len(r.Tools) != len(paths) {
		t.Errorf("%d tools of %d definitions", len(r.Tools), len(paths))
	}
	var advertised []string
	for _, text := range stringLiterals(t, r.file(t, "tools.gen.go")) {
		if strings.HasPrefix(text, "{") {
			advertised = append(advertised, text)
		}
	}
	for i, source := range all {
		if got, want := normal(t, advertised[i]), normal(t, string(source)); got != want {
			t.Errorf("%s advertises\n%s\nwant\n%s", paths[i], got, want)
		}
	}
	dir := emptyModule(t)
	for _, f := range r.Files {
		put(t, filepath.Join(dir, "corpus", f.Path), string(f.Content))
	}
	cmd := exec.CommandContext(t.Context(), "go", "vet", "./...")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	t.Logf("%d tool definitions generated, compiled and vetted as one manifest", len(paths))
}

// TestOfficialSchemaInPlaceOfTheEmbedded generates from the schema.json of each revision as published.
func TestOfficialSchemaInPlaceOfTheEmbedded(t *testing.T) {
	for _, revision := range manifest.KnownRevisions() {
		path := filepath.Join(*shared, "schema", revision, "schema.json")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range goldens(t) {
			if bytes.Contains(g.config.Manifest.Data, []byte(revision)) {
				replaceSchema(t, g, Source{path, data})
			}
		}
	}
}

func replaceSchema(t *testing.T, g golden, document Source) {
	t.Helper()
	cfg := g.config
	cfg.Schema = document
	want := mustGenerate(t, g.config)
	got := mustGenerate(t, cfg)
	for i, f := range got.Files {
		if f.Path == docName || !strings.HasSuffix(f.Path, ".go") { // the page and the lock have digests of the document
			continue
		}
		if a, b := bare(t, want.Files[i]), bare(t, f); !bytes.Equal(a, b) {
			t.Errorf("%s: %s differs from that of the embedded document\n%s", g.name(), f.Path, diff.Diff("embedded", a, document.Path, b))
		}
	}
}

// bare is generated code without comments, which have the words of the document. It is printed with a set of files that it is
// not in, so that it has no line breaks of theirs either.
func bare(t *testing.T, f File) []byte {
	t.Helper()
	var b bytes.Buffer
	tree, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, parser.SkipObjectResolution)
	if err == nil {
		err = format.Node(&b, token.NewFileSet(), tree)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
