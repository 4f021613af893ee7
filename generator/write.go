package generator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Report tells what Write did, each list sorted by name. Unchanged files were not touched at all.
type Report struct {
	Dir                         string // where: the output directory, joined to base
	Written, Removed, Unchanged []string
}

// Write makes the output directory hold exactly what r says. base is the directory of the manifest; r.Out is below it.
//
// It refuses, as diagnostics and before touching anything: a result with errors, a directory outside the manifest's
// module, symbolic links, and existing files that mcpkiln did not generate. It is all or nothing: everything is staged
// beside the target first, then renamed into place; if ctx ends before the renames start, or something fails, the
// directory is as it was. Edits by hand are overwritten, with a warning. The error is for what nobody can fix in a
// manifest: ctx ended, disk full, no permission.
func Write(ctx context.Context, base string, r *Result) (Report, schema.Diagnostics, error) {
	if r.Diagnostics.HasErrors() {
		return Report{}, r.Diagnostics, nil
	}
	t, diags := inspect(base, r)
	if len(diags) > 0 {
		return Report{}, diags, nil
	}
	report := Report{Dir: t.dir, Removed: t.stale}
	var changed []File
	for _, f := range r.Files {
		if t.holds(f) {
			report.Unchanged = append(report.Unchanged, f.Path)
			continue
		}
		if t.edited(f) {
			diags = append(diags, schema.Diagnostic{Pos: schema.Position{File: filepath.Join(t.dir, f.Path)}, Code: "hand-edited",
				Severity: schema.Warning, Message: "it was edited by hand; the edits are overwritten",
				Hint: "change the manifest, or keep code in a file of your own"})
		}
		changed = append(changed, f)
		report.Written = append(report.Written, f.Path)
	}
	if len(changed) == 0 && len(t.stale) == 0 {
		return report, nil, ctx.Err()
	}
	if err := t.replace(ctx, changed); err != nil {
		return Report{}, nil, fmt.Errorf("%s is unchanged: %w", t.dir, err)
	}
	return report, diags, nil
}

// edited reports whether the file on disk is neither what f is to be nor what an earlier run left.
func (t *target) edited(f File) bool {
	old, ok := t.files[f.Path]
	was, known := t.lock.Files[f.Path]
	return ok && known && hash(unixLines(old)) != was
}

// holds reports whether the disk already has f. A lock that only another version wrote counts as the same, and so does a
// file that git checked out with CRLF.
func (t *target) holds(f File) bool {
	old, ok := t.files[f.Path]
	if !ok {
		return false
	}
	if f.Path != LockName {
		return bytes.Equal(unixLines(old), f.Content)
	}
	lock, err := parseLock(f.Content)
	return err == nil && t.locked && t.lock.sameContent(lock)
}

// replace stages the changed files in a directory that go ignores, then moves them into place and removes stale ones.
func (t *target) replace(ctx context.Context, changed []File) (err error) {
	undoDir, err := makeDir(t.dir)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			undoDir()
		}
	}()
	stage, err := os.MkdirTemp(t.dir, ".mcpkiln-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	for i, f := range changed {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := writeFile(staged(stage, i), f.Content); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return t.commit(stage, changed)
}

// staged is the path of the i-th staged file.
func staged(stage string, i int) string { return filepath.Join(stage, strconv.Itoa(i)) }

// commit renames the staged files into place and removes the stale ones. From here on ctx is ignored:
// the renames either all happen or are all undone.
func (t *target) commit(stage string, changed []File) (err error) {
	var done []string
	var undoDirs []func()
	defer func() {
		if err != nil {
			err = errors.Join(err, t.restore(done))
			for _, undo := range slices.Backward(undoDirs) {
				undo()
			}
		}
	}()
	for i, f := range changed {
		undo, err := makeDir(filepath.Dir(t.path(f.Path)))
		undoDirs = append(undoDirs, undo)
		if err != nil {
			return err
		}
		if err := os.Rename(staged(stage, i), t.path(f.Path)); err != nil {
			return err
		}
		done = append(done, f.Path)
	}
	for _, name := range t.stale {
		if err := os.Remove(t.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		done = append(done, name)
	}
	t.removeEmpty()
	return nil
}

// removeEmpty removes the folders that stale files leave empty, if nothing else is in them.
func (t *target) removeEmpty() {
	for _, name := range t.stale {
		for dir := path.Dir(name); dir != "." && os.Remove(t.path(dir)) == nil; {
			dir = path.Dir(dir)
		}
	}
}

// restore puts back what inspect read, last first.
func (t *target) restore(names []string) error {
	var errs []error
	for _, name := range slices.Backward(names) {
		path := t.path(name)
		if old, ok := t.files[name]; ok {
			errs = append(errs, writeFile(path, old))
			continue
		}
		errs = append(errs, os.Remove(path))
	}
	return errors.Join(errs...)
}

func writeFile(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// makeDir creates dir with its parents and returns a function that removes those that it created, if still empty.
func makeDir(dir string) (undo func(), err error) {
	var created []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		created = append(created, d)
	}
	undo = func() {
		for _, d := range created {
			if os.Remove(d) != nil {
				return
			}
		}
	}
	return undo, os.MkdirAll(dir, 0o777)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
