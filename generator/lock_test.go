package generator

import (
	"bytes"
	"strings"
	"testing"
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
	if h := lock.Documents["2025-11-25/core.json"]; !strings.HasPrefix(h, "sha256:") || len(lock.Documents) != 1 {
		t.Errorf("documents %v", lock.Documents)
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
