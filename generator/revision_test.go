package generator

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcpkiln/mcpkiln/generator/internal/emit"
	"github.com/mcpkiln/mcpkiln/generator/internal/lower"
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// renamed is what a revision to come might change: its name, a member of tasks, a member that handlers see, a method, a
// header, a code.
var renamed = strings.NewReplacer(
	`2026-07-28`, `2027-01-01`, `ttlMs`, `lifetimeMs`, `nextCursor: nextCursor`, `nextCursor: continuation`, `"nextCursor"`, `"continuation"`, `tasks/update`, `tasks/answer`,
	`Mcp-Name`, `Mcp-Target`, `-32021`, `-32031`)

// newRevision loads a copy of the folder of 2026-07-28 with all that renamed.
func newRevision(t *testing.T) *revision.Revision {
	t.Helper()
	files := fstest.MapFS{}
	folder, err := fs.Sub(schema.Revisions, "2026-07-28")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rules.yaml", "core.json", "tasks.json"} {
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: []byte(renamed.Replace(string(data)))}
	}
	r, ds := revision.LoadFS(files, "2027-01-01")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return r
}

// future is a package for a revision that no code knows, beside the older ones. The tests in testdata/drive talk to it
// (REV04).
func future(t *testing.T) []emit.File {
	t.Helper()
	m, ds := manifest.Load("mcpkiln.yaml", goldenManifest(t, "revisions"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	revisions := []*revision.Revision{newRevision(t)}
	for _, name := range manifest.KnownRevisions() {
		r, ds := revision.Load(name)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		revisions = append(revisions, r)
	}
	pkg, ds := lower.Package(lower.Input{Manifest: m, Revisions: revisions, Known: revisions, Name: "future", Server: model.Server{Name: "future", Version: "1"}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	files, err := emit.Package(t.Context(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestREV04ARevisionIsAFolder: names come from the folder, and those of the older revision are gone.
func TestREV04ARevisionIsAFolder(t *testing.T) {
	for _, f := range future(t) {
		if f.Name != "wire_2027_01_01.gen.go" {
			continue
		}
		for _, word := range []string{`"2027-01-01"`, "lifetimeMs", "continuation", "tasks/answer", "Mcp-Target", "-32031"} {
			if !bytes.Contains(f.Content, []byte(word)) {
				t.Errorf("%s says nothing of %s", f.Name, word)
			}
		}
		if bytes.Contains(f.Content, []byte("ttlMs")) {
			t.Errorf("%s has a member of an older revision", f.Name)
		}
		return
	}
	t.Error("no wire")
}

func goldenManifest(t *testing.T, name string) []byte {
	t.Helper()
	for _, g := range goldens(t) {
		if g.name() == name {
			return g.config.Manifest.Data
		}
	}
	t.Fatalf("there is no golden %s", name)
	return nil
}
