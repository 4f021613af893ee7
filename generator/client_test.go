package generator

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// outKey is go.out of a golden's manifest.
var outKey = regexp.MustCompile(`, out: [^,}\n]+`)

// Whatever a manifest has, its server and its client compile with their types in a package of their own, and a client alone does.
func TestTSK27EveryGoldenHasAClient(t *testing.T) {
	c := newCompiler(t)
	for _, g := range goldens(t) {
		t.Run(g.name(), func(t *testing.T) {
			g.config.Out, g.config.Client = g.pkg(), "callers/"+g.pkg()
			both := mustGenerate(t, g.config)
			if both.Client == nil || both.Client.Dir != g.config.Client || both.Out != g.pkg() {
				t.Fatalf("made in %q, with a client %t", both.Out, both.Client != nil)
			}
			if err := c.check("example.com/goldens/"+both.Out, allFiles(both)); err != nil {
				t.Error("a server and its client:", err)
			}
			g.config.Out, g.config.Manifest.Data = "", outKey.ReplaceAll(g.config.Manifest.Data, nil)
			alone := mustGenerate(t, g.config)
			if alone.Client != nil || alone.Out != g.config.Client || len(alone.Tools)+len(alone.Methods) > 0 {
				t.Fatalf("made in %q, with a client beside it %t, tools %v", alone.Out, alone.Client != nil, alone.Tools)
			}
			if err := c.check("example.com/goldens/"+alone.Out, alone.Files); err != nil {
				t.Error("a client alone:", err)
			}
		})
	}
}

// Types are declared in a package that imports runtime/check alone, and no client links a server.
func TestTSK27WhatAClientImports(t *testing.T) {
	r := mustGenerate(t, Config{Manifest: Source{"mcpkiln.yaml", []byte(clientManifest)}, Import: "example.com/m"})
	for _, f := range allFiles(r) {
		for line := range strings.Lines(string(f.Content)) {
			imported := strings.Trim(strings.TrimPrefix(strings.TrimSpace(line), "import "), `"`)
			of, ok := strings.CutPrefix(imported, "github.com/mcpkiln/mcpkiln/runtime/")
			switch dir := path.Dir(f.Path); {
			case !ok:
			case strings.HasSuffix(dir, "/schema") && !strings.HasPrefix(of, "check"):
				t.Errorf("%s imports %s", f.Path, of)
			case strings.HasPrefix(dir, "..") && of == "server":
				t.Errorf("%s imports %s", f.Path, of)
			}
		}
	}
}

const clientManifest = `version: 1
server: {name: m, version: 1.0.0}
go: {out: m, client: mclient}
tools:
  a: {inputSchema: {type: object, properties: {b: {type: string}}}}
`

// Both packages are written, checked and repaired together, each with a lock of its own.
func TestTSK27AServerAndItsClientAreWrittenTogether(t *testing.T) {
	dir := module(t)
	cfg := Config{Manifest: Source{"mcpkiln.yaml", []byte(clientManifest)}, Import: "example.com/m"}
	r := mustGenerate(t, cfg)
	write := func() Report {
		t.Helper()
		report, ds, err := Write(t.Context(), dir, r, Options{})
		if err != nil || len(ds) > 0 {
			t.Fatal(ds, err)
		}
		return report
	}
	report := write()
	if len(report.Dirs) != 2 || len(report.Dirs[0].Written) != len(r.Files) || len(report.Dirs[1].Written) != len(r.Client.Files) {
		t.Errorf("%+v", report)
	}
	if report = write(); len(report.Dirs[0].Written)+len(report.Dirs[1].Written) != 0 {
		t.Errorf("written again: %+v", report)
	}
	types := filepath.Join(dir, "mclient", "schema", "types.gen.go")
	if err := os.Remove(types); err != nil {
		t.Fatal(err)
	}
	findings, ds, err := Check(t.Context(), dir, r)
	if err != nil || len(ds) > 0 || len(findings) != 1 || findings[0].Path != types || findings[0].Kind != Missing {
		t.Errorf("%v %v %v", findings, ds, err)
	}
	before := tree(t, filepath.Join(dir, "m"))
	put(t, filepath.Join(dir, "mclient", "client.gen.go"), "package mine\n")
	if _, ds, err := Write(t.Context(), dir, r, Options{}); err != nil || !ds.HasErrors() || ds[0].Code != "foreign-file" {
		t.Errorf("%v %v", ds, err)
	}
	if tree(t, filepath.Join(dir, "m")) != before {
		t.Error("the server was written though the client was refused")
	}
}

// A client that the manifest has no more goes, with the types, which the server has itself then.
func TestTSK27AClientThatIsNoLongerNamedGoes(t *testing.T) {
	dir := module(t)
	cfg := Config{Manifest: Source{"mcpkiln.yaml", []byte(clientManifest)}, Import: "example.com/m"}
	mustWrite(t, dir, mustGenerate(t, cfg))
	cfg.Manifest.Data = []byte(strings.Replace(clientManifest, ", client: mclient", "", 1))
	mustWrite(t, dir, mustGenerate(t, cfg))
	if _, err := os.Stat(filepath.Join(dir, "mclient")); !os.IsNotExist(err) {
		t.Errorf("the client is there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "m", "validate.gen.go")); err != nil {
		t.Error(err)
	}
}
