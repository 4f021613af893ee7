package generator

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// stagingName is the folder in an output directory that new files are written to before they are renamed. The go command ignores it. If it
// exists when a run begins, a killed run left it: there is one run at a time in a module.
const stagingName = ".mcpkiln.tmp"

// plan is what a run has to do, decided before anything is touched. Write does it, Check reports it.
type plan struct {
	targets   []*target
	leftovers []string // staging folders of killed runs
}

// moduleOf finds the root of the module that a directory is in.
func moduleOf(base string, o Output) (string, schema.Diagnostics) {
	abs, err := filepath.Abs(base)
	if err != nil {
		return "", o.refuse("unreadable", fmt.Sprintf("the manifest's directory can not be found: %v", err), "")
	}
	for dir := abs; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && !info.IsDir() {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", o.refuse("no-module", "there is no go.mod in the manifest's directory or above it", "run `go mod init example.com/x` where your module starts")
		}
	}
}

// newPlan compares the disk with r.
func newPlan(root, base string, r *Result) (*plan, schema.Diagnostics) {
	p := &plan{}
	var all schema.Diagnostics
	for _, o := range r.outputs() {
		t, diags := inspect(root, base, r, o)
		all = append(all, diags...)
		p.targets = append(p.targets, t)
	}
	if len(all) > 0 {
		return nil, all
	}
	p.search(root, base, r)
	return p, nil
}

// search walks the module for what earlier runs left: staging folders, and output directories that r's manifest no longer names. Copies
// stay, and a run that generates a copy does not look for such directories.
func (p *plan) search(root, base string, r *Result) {
	copied := Lock{Flags: r.flags}.isCopy()
	walkModule(root, func(dir string, has func(name string) bool) {
		if has(stagingName) {
			// A link to a folder was not left by a run.
			if info, err := os.Lstat(filepath.Join(dir, stagingName)); err == nil && info.IsDir() {
				p.leftovers = append(p.leftovers, filepath.Join(dir, stagingName))
			}
		}
		if copied || !isMade(has) {
			return
		}
		if t, ok := formerTarget(dir, base); ok && t.madeOf(r.Source) && !t.lock.isCopy() && !p.targeted(dir) {
			t.findStale()
			p.targets = append(p.targets, t)
		}
	})
}

// isMade reports whether a directory was generated: whether it has a file that names its manifest.
func isMade(has func(name string) bool) bool {
	return has(LockName) || slices.ContainsFunc(sourceNames, has)
}

// formerTarget is the target for a directory that an earlier run may have generated; ok is false if a newer mcpkiln did. The target's path is
// absolute or relative as base is.
func formerTarget(dir, base string) (t *target, ok bool) {
	t = &target{dir: dir, files: map[string][]byte{}, owner: map[string]ownership{}}
	if abs, err := filepath.Abs(base); err == nil {
		if rel, err := filepath.Rel(abs, dir); err == nil {
			t.dir = filepath.Join(base, rel)
		}
	}
	return t, !t.readLock().HasErrors()
}

// Remembered are the different sets of flags with which packages of a manifest were generated, as their lock files say; none if there is
// no package. base is the manifest's directory, source the manifest's path from the module's root.
func Remembered(base, source string) (ways []map[string]string) {
	root, ds := moduleOf(base, Output{})
	if ds.HasErrors() {
		return nil
	}
	walkModule(root, func(dir string, has func(name string) bool) {
		if !isMade(has) {
			return
		}
		t, ok := formerTarget(dir, base)
		if !ok || t.source() != source {
			return
		}
		flags := t.lock.Flags
		if rel, err := filepath.Rel(absolute(base), absolute(dir)); err == nil && !has(LockName) && has(markdownName) {
			flags = map[string]string{"docs": filepath.ToSlash(rel)}
		}
		if !slices.ContainsFunc(ways, func(w map[string]string) bool { return maps.Equal(w, flags) }) {
			ways = append(ways, flags)
		}
	})
	return ways
}

// ManifestOf is the path, joined to dir, of the manifest that the package in dir was generated from; empty if there is no package or the manifest is gone.
func ManifestOf(dir string) string {
	root, ds := moduleOf(dir, Output{})
	t, ok := formerTarget(dir, dir)
	source := filepath.FromSlash(t.source())
	if ds.HasErrors() || !ok || !filepath.IsLocal(source) {
		return ""
	}
	up, err := filepath.Rel(absolute(dir), filepath.Join(root, source))
	if info, missing := os.Stat(filepath.Join(root, source)); err != nil || missing != nil || info.IsDir() {
		return ""
	}
	return filepath.Join(dir, up)
}

// targeted reports whether dir is a directory of the plan, perhaps spelt otherwise there, as in another case.
func (p *plan) targeted(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || slices.ContainsFunc(p.targets, func(t *target) bool {
		other, err := os.Stat(t.dir)
		return err == nil && os.SameFile(info, other)
	})
}

// walkModule visits the directories of a module that may hold generated files. It skips hidden directories, vendor, node_modules and nested
// modules.
func walkModule(root string, visit func(dir string, has func(name string) bool)) {
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		has := func(name string) bool {
			_, found := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
			return found
		}
		if dir != root && has("go.mod") {
			return
		}
		visit(dir, has)
		for _, e := range entries {
			if name := e.Name(); e.IsDir() && name[0] != '.' && name != "node_modules" && name != "vendor" {
				walk(filepath.Join(dir, name))
			}
		}
	}
	walk(root)
}

// shared refuses a directory that another manifest generates, too. A manifest that is gone, or that names another directory now, does not count.
func (t *target) shared(root string, r *Result) schema.Diagnostics {
	other := filepath.FromSlash(t.source())
	if other == "" || other == filepath.FromSlash(r.Source) || !filepath.IsLocal(other) {
		return nil
	}
	path := filepath.Join(root, other)
	source, ds := ReadManifest(path)
	if ds.HasErrors() {
		return nil
	}
	if m, _ := manifest.Load(path, source.Data); m != nil && !t.lock.isCopy() {
		server, client := directories(Config{Manifest: source}, m)
		if !slices.ContainsFunc([]string{server, client}, func(dir string) bool {
			return dir != "" && filepath.Join(filepath.Dir(path), filepath.FromSlash(dir)) == absolute(t.dir)
		}) {
			return nil
		}
	}
	return t.want.refuse("out-shared", fmt.Sprintf("output directory %q is that of %s, too; this is %s", t.want.Dir, filepath.ToSlash(other), r.Source),
		"give one of them another go.out")
}

// absolute is the absolute path, or path itself where that can not be found out.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
