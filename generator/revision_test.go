package generator

import (
	"bytes"
	"io/fs"
	"maps"
	"strconv"
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
	pkg, ds := lower.Package(lower.Input{Manifest: m, Revisions: revisions, Known: func() []*revision.Revision { return revisions }, Union: revision.NewUnion(revisions...), Name: "future", Server: model.Server{Name: "future", Version: "1"}})
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

// TestREV04WrongFoldersAreReportedAtTheirNames, with what to do.
func TestREV04WrongFoldersAreReportedAtTheirNames(t *testing.T) {
	core, err := fs.ReadFile(schema.Revisions, "2025-11-25/core.json")
	if err != nil {
		t.Fatal(err)
	}
	made, _, ds := revision.NewRevision("2099-01-01", "", "schema.json", core)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	called := func(name string) map[string][]byte {
		files := maps.Clone(made)
		files[revision.RulesFile] = bytes.Replace(files[revision.RulesFile], []byte(`"2099-01-01"`), []byte(strconv.Quote(name)), 1)
		return files
	}
	for _, c := range []struct {
		list string
		all  []Folder
		want string
	}{
		{`["."]`, []Folder{{".", map[string][]byte{"package.json": []byte("{}")}}}, `m.yaml:2:22: error[missing-folder]: "." is no folder of a revision: it has no rules.yaml; name the folder that`},
		{`[""]`, []Folder{{"", nil}}, `m.yaml:2:22: error[missing-folder]: "" is no folder`},
		{`[a]`, []Folder{{"a", called("2025-11-25")}}, `m.yaml:2:22: error[duplicate-revision]: mcpkiln has a revision 2025-11-25 itself; remove`},
		{`[a, b]`, []Folder{{"a", made}, {"b", made}}, `m.yaml:2:25: error[duplicate-revision]: another folder holds a revision 2099-01-01, too; remove one`},
		{`[a]`, []Folder{{"a", called("2099/01")}}, `m.yaml:2:22: error[revision-name]: "2099/01" can not be the name of a revision; use letters`},
		{`[a]`, []Folder{{"a", called("2099-linux")}}, `m.yaml:2:22: error[revision-name]: "2099-linux" can not be the name of a revision; let it end otherwise`},
	} {
		text := "version: 1\nprotocol: {folders: " + c.list + "}\nserver: {name: s, version: 1.0.0}\ntools: {t: {description: T., inputSchema: {type: object}}}\n"
		r, err := Generate(t.Context(), Config{Manifest: Source{"m.yaml", []byte(text)}, Folders: c.all, Import: "example.com/m", Out: "m"})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Diagnostics) != 1 || !strings.HasPrefix(r.Diagnostics[0].String(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.list, r.Diagnostics, c.want)
		}
	}
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
