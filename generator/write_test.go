package generator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/schema"
)

// generated returns a small result without running the generator: Write does not care where bytes come from.
func generated(files ...File) *Result {
	for i, f := range files {
		files[i] = made(f.Path, string(f.Content))
	}
	lock := newLock("v1", "mcpkiln.yaml", nil)
	return &Result{Out: "gen", OutPos: schema.Position{File: "mcpkiln.yaml", Line: 3, Column: 8}, Package: "gen", Source: "mcpkiln.yaml",
		Files: append(files, File{LockName, lock.encode()})}
}

// made is a file as Generate makes it.
func made(name, body string) File {
	return File{name, seal(name, []byte(Header+"\n\n"+body))}
}

func file(name, body string) File { return File{name, []byte(body)} }

// module makes a directory with a go.mod and returns it.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "go.mod"), "module example.com/m\n")
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// edit changes a file as a person does.
func edit(t *testing.T, path, old, now string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), old) {
		t.Fatalf("%s has no %q: %v", path, old, err)
	}
	put(t, path, strings.Replace(string(data), old, now, 1))
}

// mustWrite writes and returns what was done in r.Out.
func mustWrite(t *testing.T, dir string, r *Result) Changes {
	t.Helper()
	report, ds, err := Write(t.Context(), dir, r, Options{})
	if err != nil || len(ds) > 0 {
		t.Fatalf("Write: %v %v", ds, err)
	}
	return report.Dirs[0]
}

// tree lists every file, link and directory below dir with its content, so that tests can say that nothing changed.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		b.WriteString(d.Type().String() + " " + rel + "\n")
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			b.Write(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteAgainTouchesNothing(t *testing.T) {
	dir := module(t)
	r := generated(file("a.gen.go", "package gen\n"), file("b.gen.go", "package gen\n"))
	if got := mustWrite(t, dir, r); len(got.Written) != 3 {
		t.Fatalf("first run: %+v", got)
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, f := range r.Files {
		if err := os.Chtimes(filepath.Join(dir, "gen", f.Path), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if got := mustWrite(t, dir, r); len(got.Written) != 0 || len(got.Unchanged) != 3 {
		t.Fatalf("second run: %+v", got)
	}
	r.Files[0] = made("a.gen.go", "package gen // new\n")
	mustWrite(t, dir, r)
	for name, changed := range map[string]bool{"a.gen.go": true, "b.gen.go": false} {
		info, err := os.Stat(filepath.Join(dir, "gen", name))
		if err != nil {
			t.Fatal(err)
		}
		if info.ModTime().Equal(old) == changed {
			t.Errorf("%s: modified at %v, want changed = %v", name, info.ModTime(), changed)
		}
	}
}

func TestWriteUpgradeWithoutChangesTouchesNothing(t *testing.T) {
	dir := module(t)
	mustWrite(t, dir, generated(file("a.gen.go", "package gen\n")))
	r := generated(file("a.gen.go", "package gen\n"))
	r.Files[1].Content = newLock("v2", r.Source, nil).encode()
	if got := mustWrite(t, dir, r); len(got.Written) != 0 {
		t.Errorf("written: %v", got.Written)
	}
}

func TestWriteRemovesOnlyItsOwnStaleFiles(t *testing.T) {
	dir := module(t)
	mustWrite(t, dir, generated(file("a.gen.go", "package gen\n"), file("gone.gen.go", "package gen\n"), file("taken.gen.go", "package gen\n")))
	put(t, filepath.Join(dir, "gen", "taken.gen.go"), "package gen // mine now\n")
	put(t, filepath.Join(dir, "gen", "own.go"), "package gen\n")
	report := mustWrite(t, dir, generated(file("a.gen.go", "package gen\n")))
	if len(report.Removed) != 1 || report.Removed[0] != "gone.gen.go" {
		t.Errorf("removed %v, want gone.gen.go", report.Removed)
	}
	got := tree(t, filepath.Join(dir, "gen"))
	for _, name := range []string{"a.gen.go", "taken.gen.go", "own.go", LockName} {
		if !strings.Contains(got, " "+name+"\n") {
			t.Errorf("%s is gone", name)
		}
	}
	if strings.Contains(got, "gone.gen.go") {
		t.Error("gone.gen.go is still there")
	}
}

// TestDAY03LockNamesNothingOutside: no lock makes Write remove or overwrite a file outside of the directory that it stands in.
func TestDAY03LockNamesNothingOutside(t *testing.T) {
	dir := module(t)
	victim := filepath.Join(dir, "victim.gen.go")
	mustWrite(t, dir, generated(file("a.gen.go", "package gen\n")))
	put(t, victim, string(made("victim.gen.go", "package m\n").Content))
	for _, lock := range []string{
		`{"version": 1, "files": {"../victim.gen.go": "sha256:0", "/etc/passwd": "sha256:0"}}`,
		`{"version": 2, "manifest": "../../elsewhere.yaml"}`,
		`{"version": 2, "manifest": "/etc/passwd", "flags": {"out": "..", "schema": "/etc/passwd"}}`,
		`{"version": 2, "manifest": "mcpkiln.yaml", "flags": {"out": ".."}}`,
	} {
		put(t, filepath.Join(dir, "gen", LockName), lock)
		mustWrite(t, dir, generated(file("a.gen.go", "package gen\n")))
		if _, err := os.Stat(victim); err != nil {
			t.Error(err)
		}
	}
}

func TestWriteRefusesAndTouchesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir string)
		out     string
		code    string
	}{
		"outside":          {out: "../other", code: "out-outside-module"},
		"absolute":         {out: "/tmp/other", code: "out-outside-module"},
		"other module":     {out: "sub/gen", code: "out-outside-module", prepare: func(t *testing.T, dir string) { put(t, filepath.Join(dir, "sub", "go.mod"), "module s\n") }},
		"no module":        {out: "gen", code: "no-module", prepare: func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "go.mod")) }},
		"link":             {out: "gen", code: "out-symlink", prepare: func(t *testing.T, dir string) { link(t, t.TempDir(), filepath.Join(dir, "gen")) }},
		"through a link":   {out: "via/gen", code: "out-symlink", prepare: func(t *testing.T, dir string) { link(t, t.TempDir(), filepath.Join(dir, "via")) }},
		"through a file":   {out: "via/gen", code: "out-not-directory", prepare: func(t *testing.T, dir string) { put(t, filepath.Join(dir, "via"), "text") }},
		"foreign file":     {out: "gen", code: "foreign-file", prepare: func(t *testing.T, dir string) { put(t, filepath.Join(dir, "gen", "b.gen.go"), "package gen\n") }},
		"file is a link":   {out: "gen", code: "out-symlink", prepare: func(t *testing.T, dir string) { put(t, filepath.Join(dir, "x"), Header); linkIn(t, dir) }},
		"file is a folder": {out: "gen", code: "out-symlink", prepare: func(t *testing.T, dir string) { os.MkdirAll(filepath.Join(dir, "gen", "b.gen.go"), 0o777) }},
		"newer lock":       {out: "gen", code: "broken-lock", prepare: func(t *testing.T, dir string) { put(t, filepath.Join(dir, "gen", LockName), `{"version": 99}`) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := module(t)
			if c.prepare != nil {
				c.prepare(t, dir)
			}
			r := generated(file("a.gen.go", "package gen\n"), file("b.gen.go", "package gen\n"))
			r.Out = c.out
			before := tree(t, dir)
			for what, call := range map[string]func() (schema.Diagnostics, error){
				"Write": func() (schema.Diagnostics, error) {
					_, ds, err := Write(t.Context(), dir, r, Options{})
					return ds, err
				},
				"Check": func() (schema.Diagnostics, error) { _, ds, err := Check(t.Context(), dir, r); return ds, err },
			} {
				ds, err := call()
				if err != nil || len(ds) != 1 || ds[0].Code != c.code || ds[0].Hint == "" && c.code != "unreadable" {
					t.Errorf("%s: %v %v, want one %s with a remedy", what, ds, err, c.code)
				}
			}
			if after := tree(t, dir); after != before {
				t.Errorf("the directory changed:\n%s\nwas:\n%s", after, before)
			}
		})
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func linkIn(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "gen"), 0o777); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(dir, "x"), filepath.Join(dir, "gen", "b.gen.go"))
}

func TestWriteRefusesAResultWithErrors(t *testing.T) {
	dir := module(t)
	before := tree(t, dir)
	r := &Result{Out: "gen", Diagnostics: schema.Diagnostics{{Code: "x", Message: "bad"}}}
	if _, ds, err := Write(t.Context(), dir, r, Options{}); err != nil || !ds.HasErrors() {
		t.Errorf("Write: %v %v", ds, err)
	}
	if tree(t, dir) != before {
		t.Error("something was written")
	}
}

// stopAfter is a context that ends after it was asked n times: an interrupt at every possible moment.
type stopAfter struct {
	context.Context
	n int
}

func (c *stopAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

func TestWriteInterruptedLeavesNothingOrAll(t *testing.T) {
	dir := module(t)
	before := tree(t, dir)
	r := generated(file("a.gen.go", "package gen\n"), file("b.gen.go", "package gen\n"))
	interrupted := 0
	for n := 0; ; n++ {
		_, ds, err := Write(&stopAfter{t.Context(), n}, dir, r, Options{})
		if err == nil {
			break
		}
		interrupted++
		if len(ds) > 0 || !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d questions: %v %v", n, ds, err)
		}
		if after := tree(t, dir); after != before {
			t.Fatalf("after %d questions, left behind:\n%s", n, after)
		}
	}
	if interrupted < len(r.Files) {
		t.Errorf("interrupted %d times, want once a file at least", interrupted)
	}
	if findings, _, _ := Check(t.Context(), dir, r); len(findings) > 0 {
		t.Errorf("not all there: %v", findings)
	}
}

func TestWriteConcurrently(t *testing.T) {
	dir := module(t)
	r := generated(file("a.gen.go", "package gen\n"), file("b.gen.go", "package gen\n"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, ds, err := Write(t.Context(), dir, r, Options{}); err != nil || len(ds) > 0 {
				t.Errorf("Write: %v %v", ds, err)
			}
		})
	}
	wg.Wait()
	if findings, ds, err := Check(t.Context(), dir, r); len(findings)+len(ds) > 0 || err != nil {
		t.Errorf("Check: %v %v %v", findings, ds, err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "gen"))
	if err != nil || len(entries) != len(r.Files) {
		t.Errorf("left behind: %v %v", entries, err)
	}
}
