package generator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/disk"
)

var errDisk = errors.New("input/output error")

// faultyDisk fails in its n-th operation, without doing it, and from the operation on that is dies after that one: 0 is what a killed process
// leaves, less than 0 is a fault that mends.
type faultyDisk struct {
	disk.OS
	n, dies int
}

func (d *faultyDisk) fails() bool {
	d.n--
	return d.n == -1 || d.n < 0 && d.dies >= 0 && -1-d.n >= d.dies
}

func (d *faultyDisk) Mkdir(path string) error {
	if d.fails() {
		return errDisk
	}
	return d.OS.Mkdir(path)
}

func (d *faultyDisk) WriteFile(path string, data []byte) error {
	if d.fails() {
		_ = os.WriteFile(path, data[:len(data)/2], 0o666) // half of it may be there
		return errDisk
	}
	return d.OS.WriteFile(path, data)
}

func (d *faultyDisk) Rename(from, to string) error {
	if d.fails() {
		return errDisk
	}
	return d.OS.Rename(from, to)
}

func (d *faultyDisk) Remove(path string) error {
	if d.fails() {
		return errDisk
	}
	return d.OS.Remove(path)
}

// The result before and after: files that change, come, go and stay, in a folder that comes, one that goes, and a directory that moves.
func generations() (before, after *Result) {
	before = generated(file("a.gen.go", "old"), file("same.gen.go", "same"), file("gone.gen.go", "old"), file("internal/part00/old.gen.go", "old"), file(docName, "doc"))
	before.Out = "kiln/old"
	after = generated(file("a.gen.go", "new"), file("same.gen.go", "same"), file("come.gen.go", "new"), file("internal/part01/new.gen.go", "new"), file(docName, "doc"))
	after.Out = "kiln/old"
	return before, after
}

// TestDAY01AnyMomentOfAKillIsRepaired: whatever operation a run did not come to, the next run leaves what a run from scratch does.
func TestDAY01AnyMomentOfAKillIsRepaired(t *testing.T) {
	for name, moved := range map[string]bool{"in place": false, "moved": true} {
		t.Run(name, func(t *testing.T) {
			want := fromScratch(t, moved)
			kills := 0
			for n := 0; ; n++ {
				dir, after := halfway(t, moved)
				if _, _, err := (Options{}).write(t.Context(), dir, after, &faultyDisk{n: n}); err == nil {
					break
				}
				kills++
				mustWrite(t, dir, after)
				dropEmpty(dir)
				if got := tree(t, dir); got != want {
					t.Fatalf("killed at operation %d, the next run leaves\n%s\nwant\n%s", n, got, want)
				}
				if findings, ds, err := Check(t.Context(), dir, after); len(findings)+len(ds) > 0 || err != nil {
					t.Fatalf("killed at operation %d: %v %v %v", n, findings, ds, err)
				}
			}
			if kills < 12 {
				t.Errorf("%d kills", kills)
			}
		})
	}
}

// TestDAY01AKilledFirstRunIsRepairedElsewhere: what a killed run began is removed also when the manifest names another directory by then.
func TestDAY01AKilledFirstRunIsRepairedElsewhere(t *testing.T) {
	want := fromScratch(t, true)
	for n := 0; ; n++ {
		dir := module(t)
		put(t, filepath.Join(dir, "kiln/own.go"), "package kiln\n")
		first, after := generations()
		if _, _, err := (Options{}).write(t.Context(), dir, first, &faultyDisk{n: n}); err == nil {
			return
		}
		after.Out = "kiln/new"
		mustWrite(t, dir, after)
		dropEmpty(dir)
		if got := tree(t, dir); got != want {
			t.Fatalf("killed at operation %d, the next run leaves\n%s\nwant\n%s", n, got, want)
		}
	}
}

// TestDAY01AFailureUndoesAll: an operation that fails once, a rename or a removal among them, leaves everything as it was, or as it is
// to be, and a run again leads there.
func TestDAY01AFailureUndoesAll(t *testing.T) {
	want := fromScratch(t, true)
	undone := 0
	for n := 0; ; n++ {
		dir, after := halfway(t, true)
		before := tree(t, dir)
		_, _, err := (Options{}).write(t.Context(), dir, after, &faultyDisk{n: n, dies: -1})
		if err == nil {
			break
		}
		switch got := tree(t, dir); {
		case got == before && strings.Contains(err.Error(), "nothing is changed"):
			undone++
		case strings.Contains(err.Error(), "nothing is changed"):
			t.Fatalf("operation %d failed and left\n%s\nwas\n%s", n, got, before)
		}
		mustWrite(t, dir, after)
		if dropEmpty(dir); tree(t, dir) != want {
			t.Fatalf("after a failure of operation %d and another run:\n%s\nwant\n%s", n, tree(t, dir), want)
		}
	}
	if undone < 12 {
		t.Errorf("%d times undone", undone)
	}
}

// dropEmpty removes the directory that the manifest has left if nothing is in it: nothing in an empty folder says whose it is, and git does
// not see it.
func dropEmpty(dir string) { _ = os.Remove(filepath.Join(dir, "kiln/old")) }

// TestDAY01AKillAfterAFailureIsRepaired: a rename or a removal fails, and while that is undone the process is killed.
func TestDAY01AKillAfterAFailureIsRepaired(t *testing.T) {
	want := fromScratch(t, true)
	for dies := 1; dies < 9; dies++ {
		for n := 0; ; n++ {
			dir, after := halfway(t, true)
			if _, _, err := (Options{}).write(t.Context(), dir, after, &faultyDisk{n: n, dies: dies}); err == nil {
				break
			}
			mustWrite(t, dir, after)
			if dropEmpty(dir); tree(t, dir) != want {
				t.Fatalf("operation %d failed, and %d later a kill: the next run leaves\n%s\nwant\n%s", n, dies, tree(t, dir), want)
			}
		}
	}
}

// halfway is a module with the former generation in it, and what is to come.
func halfway(t *testing.T, moved bool) (string, *Result) {
	t.Helper()
	dir := module(t)
	put(t, filepath.Join(dir, "kiln/own.go"), "package kiln\n")
	before, after := generations()
	mustWrite(t, dir, before)
	if moved {
		after.Out = "kiln/new"
	}
	return dir, after
}

// fromScratch is what a module looks like in which the newer generation alone was written.
func fromScratch(t *testing.T, moved bool) string {
	t.Helper()
	dir := module(t)
	put(t, filepath.Join(dir, "kiln/own.go"), "package kiln\n")
	_, after := generations()
	if moved {
		after.Out = "kiln/new"
	}
	mustWrite(t, dir, after)
	return tree(t, dir)
}

// TestDAY02RunsAtOnceNeverMix: each of two generations writes all of its files, or waits.
func TestDAY02RunsAtOnceNeverMix(t *testing.T) {
	for range 20 {
		dir := module(t)
		a, b := generations()
		var wg sync.WaitGroup
		for _, r := range []*Result{a, b} {
			wg.Go(func() {
				if _, ds, err := Write(t.Context(), dir, r, Options{}); err != nil || ds.HasErrors() {
					t.Error(ds, err)
				}
			})
		}
		wg.Wait()
		ofA, _, _ := Check(t.Context(), dir, a)
		ofB, _, _ := Check(t.Context(), dir, b)
		if len(ofA) > 0 == (len(ofB) > 0) {
			t.Fatalf("neither: %v\nnor: %v\n%s", ofA, ofB, tree(t, dir))
		}
	}
}

// TestDAY03OwnershipWithoutALock: files are known by themselves, whatever has become of the lock.
func TestDAY03OwnershipWithoutALock(t *testing.T) {
	for name, lock := range map[string]string{"missing": "", "empty": "\x00", "conflict": "<<<<<<< ours\n{}\n=======\n", "of another manifest that is gone": `{"version": 2, "manifest": "gone.yaml"}`,
		"old": `{"version": 1, "manifest": "sha256:0", "files": {"other.gen.go": "sha256:0"}}`, "no JSON": "hello"} {
		dir, after := halfway(t, false)
		path := filepath.Join(dir, "kiln/old", LockName)
		if os.Remove(path); lock != "" {
			put(t, path, strings.Trim(lock, "\x00"))
		}
		put(t, filepath.Join(dir, "kiln/old/mine.gen.go"), "package old // without a header\n")
		copied, err := os.ReadFile(filepath.Join(dir, "kiln/old/gone.gen.go"))
		if err != nil {
			t.Fatal(err)
		}
		if report := mustWrite(t, dir, after); strings.Join(report.Removed, " ") != "gone.gen.go internal/part00/old.gen.go" {
			t.Errorf("lock %s: removed %v", name, report.Removed)
		}
		if findings, _, _ := Check(t.Context(), dir, after); len(findings) > 0 {
			t.Errorf("lock %s: %v", name, findings)
		}
		// A copy of a generated file under another name is somebody's own work by now.
		put(t, filepath.Join(dir, "kiln/old/copy.gen.go"), string(copied))
		if report, ds, _ := Write(t.Context(), dir, after, Options{}); !ds.HasErrors() || len(report.Edited) != 1 {
			t.Errorf("lock %s: the copy was not noticed: %v", name, ds)
		}
	}
}

// TestDAY03AnEditStopsTheRun before anything is touched, whether the file is made again or would be removed.
func TestDAY03AnEditStopsTheRun(t *testing.T) {
	for _, name := range []string{"a.gen.go", "gone.gen.go", docName, "internal/part00/old.gen.go"} {
		for _, moved := range []bool{false, true} {
			dir, after := halfway(t, moved)
			path := filepath.Join(dir, "kiln/old", name)
			body := map[string]string{docName: "doc"}[name]
			if body == "" {
				body = "old"
			}
			edit(t, path, "\n\n"+body, "\n\nmine")
			before := tree(t, dir)
			report, ds, err := Write(t.Context(), dir, after, Options{})
			if err != nil || len(ds) != 1 || ds[0].Code != "hand-edited" || ds[0].Pos.File != path || len(report.Edited) != 1 ||
				!strings.Contains(report.Edited[0].Diff, "\n-mine") {
				t.Errorf("%s: %v %v %+v", name, ds, err, report)
			}
			if tree(t, dir) != before {
				t.Errorf("%s: something was touched", name)
			}
			if _, ds, err := Write(t.Context(), dir, after, Options{Force: true}); err != nil || ds.HasErrors() {
				t.Errorf("%s, forced: %v %v", name, ds, err)
			}
			if got := fromScratch(t, moved); tree(t, dir) != got {
				t.Errorf("%s, forced:\n%s\nwant\n%s", name, tree(t, dir), got)
			}
		}
	}
}

// TestDAY03CopiesByFlagStay: a directory that a flag chose is one more, and the one that the manifest names is not moved.
func TestDAY03CopiesByFlagStay(t *testing.T) {
	dir, after := halfway(t, false)
	after.Out, after.flags = "copy", map[string]string{"out": "copy"}
	after.Files[len(after.Files)-1] = File{LockName, newLock("v1", after.Source, after.flags).encode()}
	mustWrite(t, dir, after)
	before, _ := generations()
	if findings, _, err := Check(t.Context(), dir, before); len(findings) > 0 || err != nil {
		t.Errorf("the package that the manifest names: %v %v", findings, err)
	}
	if findings, _, err := Check(t.Context(), dir, after); len(findings) > 0 || err != nil {
		t.Errorf("the copy: %v %v", findings, err)
	}
}

// TestDAY04ConflictMarkersAreOverwritten in every file at once, since both sides are in the history.
func TestDAY04ConflictMarkersAreOverwritten(t *testing.T) {
	for name, text := range map[string]string{
		"hash":       Header + "\n<<<<<<< HEAD\n// Hash: 1\n=======\n// Hash: 2\n>>>>>>> other\n\npackage gen\n",
		"whole file": "<<<<<<< HEAD\n" + Header + "\n// Hash: 1\n=======\n" + Header + "\n>>>>>>> other\n",
		"CRLF":       Header + "\r\n<<<<<<< HEAD\r\n// Hash: 1\r\n=======\r\n>>>>>>> other\r\n",
	} {
		dir, after := halfway(t, false)
		for _, file := range []string{"a.gen.go", "gone.gen.go", LockName} {
			put(t, filepath.Join(dir, "kiln/old", file), text)
		}
		findings, _, err := Check(t.Context(), dir, after)
		if err != nil || !strings.Contains(Summary(findings), " 1 conflicted") {
			t.Errorf("%s: %v %v", name, findings, err)
		}
		mustWrite(t, dir, after)
		if got := tree(t, dir); got != fromScratch(t, false) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestDAY04MarkersInADescriptionAreNoConflict.
func TestDAY04MarkersInADescriptionAreNoConflict(t *testing.T) {
	text := made("a.gen.go", "const text = `\n<<<<<<< HEAD\n`\n")
	if got := ownerOf("a.gen.go", text.Content, ""); got != intact {
		t.Errorf("%v, want intact", got)
	}
}

// TestDAY03OthersBelowStay: a directory below ours that another manifest generates is known by its hashes.
func TestDAY03OthersBelowStay(t *testing.T) {
	dir := module(t)
	other := generated(file("a.gen.go", "other"))
	other.Out, other.Source = "gen/internal/part03", "other.yaml"
	other.Files[1] = File{LockName, newLock("v1", other.Source, nil).encode()}
	mustWrite(t, dir, other)
	if report := mustWrite(t, dir, generated(file("a.gen.go", "a"))); len(report.Removed) > 0 {
		t.Errorf("removed %v", report.Removed)
	}
	if _, err := os.Stat(filepath.Join(dir, "gen/internal/part03/a.gen.go")); errors.Is(err, fs.ErrNotExist) {
		t.Error("the other manifest's file is gone")
	}
}

// TestDAY03NobodyElsesFilesGo: neither a link in place of a stage nor the lock of another package makes Write remove what is not its own.
func TestDAY03NobodyElsesFilesGo(t *testing.T) {
	dir, elsewhere := module(t), t.TempDir()
	put(t, filepath.Join(elsewhere, "precious"), "text")
	put(t, filepath.Join(dir, "docs/own.txt"), "text")
	link(t, elsewhere, filepath.Join(dir, "docs", stagingName))
	other := generated(file("a.gen.go", "a"))
	other.Out, other.Source = "other", "other.yaml"
	other.Files = append(other.Files, File{docName, seal(docName, []byte(Header+"\n\npackage other\n"), manifestLine+"0 other.yaml")})
	mustWrite(t, dir, other)
	put(t, filepath.Join(dir, "other", LockName), string(newLock("v1", "mcpkiln.yaml", nil).encode()))
	before := tree(t, filepath.Join(dir, "other"))
	mustWrite(t, dir, generated(file("a.gen.go", "a")))
	if _, err := os.Stat(filepath.Join(elsewhere, "precious")); err != nil {
		t.Error(err)
	}
	if after := tree(t, filepath.Join(dir, "other")); after != before {
		t.Errorf("the other manifest's package was\n%s\nand is\n%s", before, after)
	}
}
