package generator

import (
	"bytes"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
)

func TestLockHasEveryHashAndTheVersion(t *testing.T) {
	r := mustGenerate(t, Config{Manifest: goldens(t)[0].config.Manifest, ToolVersion: "v9.8.7"})
	lock, err := parseLock([]byte(r.file(t, LockName)))
	if err != nil {
		t.Fatal(err)
	}
	if lock.Tool != "v9.8.7" || lock.Manifest != hash(goldens(t)[0].config.Manifest.Data) {
		t.Errorf("tool %s, manifest %s", lock.Tool, lock.Manifest)
	}
	for _, name := range []string{"2025-11-25/core.json", "2025-11-25/rules.yaml"} {
		data, err := schema.Revisions.ReadFile(name)
		if err != nil || lock.Documents[name] != hash(data) || len(lock.Documents) != 2 {
			t.Errorf("documents %v, want %s with its hash (%v)", lock.Documents, name, err)
		}
	}
	if len(lock.Files) != len(r.Files)-1 {
		t.Errorf("%d files in the lock, want all %d but the lock", len(lock.Files), len(r.Files))
	}
	for _, f := range r.Files {
		if f.Path != LockName && lock.Files[f.Path] != hash(f.Content) {
			t.Errorf("%s: %s in the lock", f.Path, lock.Files[f.Path])
		}
	}
}

func TestLockIsStable(t *testing.T) {
	want := generated(file("b.gen.go", "b"), file("a.gen.go", "a"), file("c.gen.go", "c")).Files[3].Content
	for range 20 {
		if got := generated(file("c.gen.go", "c"), file("a.gen.go", "a"), file("b.gen.go", "b")).Files[3].Content; !bytes.Equal(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestLockTakesACheckoutWithCRLFForTheSame: check must not fail on a machine where git writes other ends of lines.
func TestLockTakesACheckoutWithCRLFForTheSame(t *testing.T) {
	m := goldens(t)[0].config.Manifest
	want := mustGenerate(t, Config{Manifest: m}).file(t, LockName)
	m.Data = bytes.ReplaceAll(m.Data, []byte("\n"), []byte("\r\n"))
	if got := mustGenerate(t, Config{Manifest: m}).file(t, LockName); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
