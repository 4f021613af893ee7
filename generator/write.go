package generator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/disk"
	"github.com/mcpkiln/mcpkiln/schema"
)

// Options of Write. The zero value is for everyday use.
type Options struct {
	// Force overwrites and removes also what was edited by hand.
	Force bool
	// DryRun touches nothing and reports what would be done.
	DryRun bool
	// UnderGoGenerate says that go generate runs, which lists the files of all packages and reads them later: if one is missing then, it fails.
	// So stale files are replaced by placeholders, which are not listed again. See Prune.
	UnderGoGenerate bool
	// PruneCommand is written into each placeholder as a go:generate directive, with the file's name as its argument; empty for none.
	PruneCommand string
}

// Report says what Write did.
type Report struct {
	Dirs []Changes
	// Edited are the generated files that were edited by hand, for which Write stopped.
	Edited []Finding
}

// Changes are what Write did in one directory, each list sorted by name. Unchanged files were not touched at all.
type Changes struct {
	Dir                         string // joined to base
	Written, Removed, Unchanged []string
}

// Write makes the output directories hold exactly what r says, and removes what earlier runs of the same manifest left, wherever in the
// module. base is the directory of the manifest; r.Out is below it.
//
// It refuses, as diagnostics and before touching anything: a result with errors, a directory outside the manifest's module or of
// another manifest, symbolic links, existing files that mcpkiln did not generate, and generated files that were edited by hand.
//
// It waits for other runs in the module (disk.Lock). It is all or nothing: everything is staged beside the target first, then renamed into
// place; if ctx ends before the renames start, or something fails, the directories are as they were. A run that is killed may leave old
// and new files; the next one repairs that. The error is for what no change to the manifest can fix: ctx ended, disk full, no
// permission.
func Write(ctx context.Context, base string, r *Result, o Options) (Report, schema.Diagnostics, error) {
	return o.write(ctx, base, r, disk.OS{})
}

func (o Options) write(ctx context.Context, base string, r *Result, d disk.Disk) (Report, schema.Diagnostics, error) {
	p, diags, release, err := survey(ctx, base, r)
	if err != nil || diags.HasErrors() {
		return Report{}, diags, err
	}
	defer release()
	if edits := p.edits(o.Force); edits.HasErrors() {
		return Report{Edited: p.edited()}, edits, nil
	} else if diags = append(diags, edits...); o.DryRun {
		return p.report(), diags, nil
	}
	if err := p.sweep(d); err != nil {
		return Report{}, nil, fmt.Errorf("what a killed run left can not be removed: %w", err)
	}
	if err := p.apply(ctx, d, o); err != nil {
		return Report{}, nil, err
	}
	return p.report(), diags, nil
}

// survey locks the module and makes the plan. The caller releases the lock, unless there is an error or an error among the diagnostics.
func survey(ctx context.Context, base string, r *Result) (*plan, schema.Diagnostics, func(), error) {
	if r.Diagnostics.HasErrors() {
		return nil, r.Diagnostics, nil, nil
	}
	root, diags := moduleOf(base, r.outputs()[0])
	if diags.HasErrors() {
		return nil, diags, nil, nil
	}
	release, err := disk.Lock(ctx, root)
	if err != nil {
		return nil, nil, nil, err
	}
	p, diags := newPlan(root, base, r)
	if diags.HasErrors() {
		release()
	}
	return p, diags, release, nil
}

// edits reports every file that was edited by hand and is to change. With force these are warnings.
func (p *plan) edits(force bool) (all schema.Diagnostics) {
	severity, message, hint := schema.Error, "it was edited by hand, so nothing is written", "move the edit to the manifest or to a file of your own, or overwrite it with --force"
	if force {
		severity, message, hint = schema.Warning, "it was edited by hand; the edit is overwritten", ""
	}
	for _, f := range p.edited() {
		all = append(all, schema.Diagnostic{Pos: schema.Position{File: f.Path}, Code: "hand-edited", Severity: severity, Message: message, Hint: hint})
	}
	return all
}

func (p *plan) edited() (all []Finding) {
	for _, t := range p.targets {
		if t.hasEdits() { // findings compares whole files
			all = append(all, slices.DeleteFunc(t.findings(), func(f Finding) bool { return f.Kind != HandEdited })...)
		}
	}
	return all
}

// hasEdits reports whether a file that is to change or to go was edited by hand.
func (t *target) hasEdits() bool {
	byHand := func(name string) bool { return t.owner[name] == edited }
	return slices.ContainsFunc(t.change, func(f File) bool { return byHand(f.Path) }) || slices.ContainsFunc(t.stale, byHand)
}

func (p *plan) report() (r Report) {
	for _, t := range p.targets {
		c := Changes{Dir: t.dir, Removed: slices.Sorted(slices.Values(t.stale))}
		for _, f := range t.change {
			c.Written = append(c.Written, f.Path)
		}
		slices.Sort(c.Written)
		for _, f := range t.want.Files {
			if !slices.Contains(c.Written, f.Path) {
				c.Unchanged = append(c.Unchanged, f.Path)
			}
		}
		r.Dirs = append(r.Dirs, c)
	}
	return r
}

// sweep removes the staging folders of killed runs, and the directories that held nothing else.
func (p *plan) sweep(d disk.Disk) (err error) {
	for _, stage := range p.leftovers {
		err = errors.Join(err, removeStaging(d, stage))
		_ = d.Remove(filepath.Dir(stage)) // if it is empty
	}
	return err
}

// removeStaging removes a staging folder with the files in it.
func removeStaging(d disk.Disk, stage string) error {
	entries, err := os.ReadDir(stage)
	for _, e := range entries {
		err = errors.Join(err, d.Remove(filepath.Join(stage, e.Name())))
	}
	return errors.Join(err, d.Remove(stage))
}

// step is the writing or removal of one file, or the removal of an empty folder.
type step struct {
	t       *target
	name    string
	content []byte // nil: it is removed
	folder  bool
	staged  string // path of the content in the staging folder
}

func (s step) path() string { return s.t.path(s.name) }

func (p *plan) steps(o Options) (all []step) {
	for _, t := range p.targets {
		for _, f := range t.change {
			all = append(all, step{t: t, name: f.Path, content: f.Content})
		}
		last := len(t.stale)
		for last > 0 && lastToGo(t.stale[last-1]) >= 0 {
			last--
		}
		for _, name := range t.stale[:last] {
			all = append(all, step{t: t, name: name, content: o.remains(t, name)})
		}
		for _, name := range t.empty {
			if !o.UnderGoGenerate || t.hasOnly(name, nil) {
				all = append(all, step{t: t, name: name, folder: true})
			}
		}
		for _, name := range t.stale[last:] {
			all = append(all, step{t: t, name: name, content: o.remains(t, name)})
		}
	}
	return all
}

// apply stages the new files and moves them into place.
func (p *plan) apply(ctx context.Context, d disk.Disk, o Options) (err error) {
	c := &commit{disk: d}
	steps := p.steps(o)
	if err = c.stage(ctx, steps); err == nil {
		err = c.run(steps)
	}
	if err != nil {
		err = fmt.Errorf("nothing is changed: %w", errors.Join(err, c.undo()))
	}
	for _, stage := range c.staging {
		if left := removeStaging(d, stage); left != nil {
			err = errors.Join(err, fmt.Errorf("a temporary folder is left, which the next run removes: %w", left))
		}
	}
	if err != nil {
		c.removeMade()
		return err
	}
	for _, t := range p.targets {
		if len(t.want.Files) == 0 {
			c.removeEmpty(t.dir)
		}
	}
	return nil
}

// commit records what apply has done, for undoing it.
type commit struct {
	disk    disk.Disk
	staging []string // staging folders
	made    []string // other folders that were made, outermost first
	done    []step
}

// stage writes every new content to the staging folder of its target. Until it returns, the end of ctx ends the run.
func (c *commit) stage(ctx context.Context, steps []step) error {
	for i := range steps {
		s := &steps[i]
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if s.content == nil {
			continue
		}
		stage := filepath.Join(s.t.dir, stagingName)
		if !slices.Contains(c.staging, stage) {
			if err := c.makeDir(s.t.dir); err != nil {
				return err
			}
			if err := c.disk.Mkdir(stage); err != nil {
				return err
			}
			c.staging = append(c.staging, stage)
		}
		s.staged = filepath.Join(stage, fmt.Sprint(i))
		if err := c.disk.WriteFile(s.staged, s.content); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// run renames what is staged into place and removes what is stale. From here on ctx is ignored.
func (c *commit) run(steps []step) error {
	for _, s := range steps {
		err := c.makeDir(filepath.Dir(s.path()))
		switch {
		case err != nil:
		case s.content != nil:
			err = c.disk.Rename(s.staged, s.path())
		default:
			err = c.disk.Remove(s.path())
		}
		if err != nil {
			return err
		}
		c.done = append(c.done, s)
	}
	return nil
}

// undo reverts the steps that were done, last first. Old contents, too, are staged and renamed: a killed undo leaves whole files.
func (c *commit) undo() error {
	var errs []error
	for i, s := range slices.Backward(c.done) {
		old, existed := s.t.files[s.name]
		switch {
		case s.folder:
			errs = append(errs, c.disk.Mkdir(s.path()))
			continue
		case !existed:
			errs = append(errs, c.disk.Remove(s.path()))
			continue
		}
		stage := filepath.Join(s.t.dir, stagingName)
		if !slices.Contains(c.staging, stage) {
			c.staging = append(c.staging, stage)
			errs = append(errs, c.disk.Mkdir(stage))
		}
		aside := filepath.Join(stage, fmt.Sprintf("old%d", i))
		errs = append(errs, c.disk.WriteFile(aside, old), c.disk.Rename(aside, s.path()))
	}
	return errors.Join(errs...)
}

// makeDir creates dir and its parents, and records those that did not exist.
func (c *commit) makeDir(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	if err := c.makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := c.disk.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	c.made = append(c.made, dir)
	return nil
}

// removeMade removes the folders that were made, if they are empty again.
func (c *commit) removeMade() {
	for _, dir := range slices.Backward(c.made) {
		_ = c.disk.Remove(dir)
	}
}

// removeEmpty removes a directory that the manifest no longer names, and those above it, if nothing else is in them.
func (c *commit) removeEmpty(dir string) {
	for dir != "." && dir != filepath.Dir(dir) && c.disk.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}
