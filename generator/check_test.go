package generator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckNamesEveryKindOfDrift(t *testing.T) {
	dir := module(t)
	mustWrite(t, dir, generated(
		file("edited.gen.go", "package gen\n\nvar a = 1\n"), file("missing.gen.go", "package gen\n"),
		file("old.gen.go", "package gen\n"), file("same.gen.go", "package gen\n"), file("stale.gen.go", "package gen\n")))
	path := filepath.Join(dir, "gen", "edited.gen.go")
	edit(t, path, "var a = 1", "var a = 2")
	if err := os.Remove(filepath.Join(dir, "gen", "missing.gen.go")); err != nil {
		t.Fatal(err)
	}
	r := generated(
		file("edited.gen.go", "package gen\n\nvar a = 1\n"), file("missing.gen.go", "package gen\n"),
		file("old.gen.go", "package gen // newer\n"), file("same.gen.go", "package gen\n"))
	r.Files[4].Content = newLock("v2", r.Source, nil).encode()
	before := tree(t, dir)
	findings, ds, err := Check(t.Context(), dir, r)
	if err != nil || len(ds) > 0 {
		t.Fatal(ds, err)
	}
	want := map[string]FindingKind{
		"edited.gen.go": HandEdited, "missing.gen.go": Missing, "old.gen.go": Outdated, "stale.gen.go": Stale, LockName: Outdated,
	}
	for _, f := range findings {
		name := filepath.Base(f.Path)
		if want[name] != f.Kind || f.Path != filepath.Join(dir, "gen", name) {
			t.Errorf("%s is %s, want %s", f.Path, f.Kind, want[name])
		}
		delete(want, name)
		if f.Kind == HandEdited && !strings.Contains(f.Diff, "-var a = 2\n+var a = 1\n") {
			t.Errorf("diff of %s:\n%s", f.Path, f.Diff)
		}
		if f.Kind == HandEdited && !strings.HasPrefix(f.Diff, "--- ") {
			t.Errorf("not a unified diff:\n%s", f.Diff)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	if got := Summary(findings); got != "1 missing, 2 outdated, 1 hand-edited, 1 stale" {
		t.Errorf("summary %q", got)
	}
	if tree(t, dir) != before {
		t.Error("Check changed something")
	}
	if _, ds, err = Write(t.Context(), dir, r, Options{Force: true}); err != nil || ds.HasErrors() {
		t.Errorf("Write: %v %v", ds, err)
	}
	if findings, _, _ := Check(t.Context(), dir, r); len(findings) > 0 {
		t.Errorf("after Write: %v", findings)
	}
}

func TestCheckTakesACheckoutWithCRLFForTheSame(t *testing.T) {
	dir := module(t)
	r := generated(file("a.gen.go", "package gen\n"))
	mustWrite(t, dir, r)
	for _, f := range r.Files {
		put(t, filepath.Join(dir, "gen", f.Path), strings.ReplaceAll(string(f.Content), "\n", "\r\n"))
	}
	if findings, ds, err := Check(t.Context(), dir, r); len(findings)+len(ds) > 0 || err != nil {
		t.Errorf("findings %v %v %v", findings, ds, err)
	}
}

func TestCheckBeforeTheFirstRun(t *testing.T) {
	findings, ds, err := Check(t.Context(), module(t), generated(file("a.gen.go", "package gen\n")))
	if err != nil || len(ds) > 0 || len(findings) != 2 || findings[0].Kind != Missing {
		t.Errorf("%v %v %v", findings, ds, err)
	}
}
