package generator

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/mcpkiln/mcpkiln/schema"
)

// FindingKind says in which way a file on disk differs from what Generate makes.
type FindingKind string

// The kinds of drift, in the words that are printed.
const (
	Missing    FindingKind = "missing"     // generated, not on disk
	Outdated   FindingKind = "outdated"    // as an earlier run left it; the manifest or mcpkiln has changed since
	HandEdited FindingKind = "hand-edited" // neither as an earlier run left it nor what Generate makes
	Conflicted FindingKind = "conflicted"  // a merge left conflict markers
	Stale      FindingKind = "stale"       // left by an earlier run, no longer generated
	Newer      FindingKind = "newer"       // the manifest is unchanged, but this version of mcpkiln generates something else
)

// remedies say what to do about each kind.
var remedies = map[FindingKind]string{
	Missing:    "run mcpkiln generate",
	Outdated:   "run mcpkiln generate",
	HandEdited: "move the change to the manifest or to a file of your own, then generate with --force",
	Conflicted: "run mcpkiln generate",
	Stale:      "no longer generated; mcpkiln generate removes it",
	Newer:      "the manifest is unchanged, another mcpkiln wrote it; run mcpkiln generate",
}

// Finding is one file that Write would change.
type Finding struct {
	Path string // joined to the manifest's directory
	Kind FindingKind
	Diff string // unified, from the disk to what is generated; empty for Missing and Stale
	// From and To are the versions of mcpkiln that wrote the file and that would write it now.
	From, To string
}

// String is one line for a person: what and what to do.
func (f Finding) String() string { return fmt.Sprintf("%s: %s: %s", f.Path, f.Kind, remedies[f.Kind]) }

// Check compares the output directories with r and touches nothing. Findings are sorted by path. The diagnostics are
// those of Write, except that edits by hand are findings here.
func Check(ctx context.Context, base string, r *Result) ([]Finding, schema.Diagnostics, error) {
	p, diags, release, err := survey(ctx, base, r)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	defer release()
	var all []Finding
	for _, t := range p.targets {
		all = append(all, t.findings()...)
	}
	for _, stage := range p.leftovers {
		all = append(all, Finding{Path: stage, Kind: Stale})
	}
	slices.SortFunc(all, func(a, b Finding) int { return strings.Compare(a.Path, b.Path) })
	return all, diags, ctx.Err()
}

// findings are the files that a run would change in a directory, sorted by name.
func (t *target) findings() (all []Finding) {
	for _, f := range t.change {
		all = append(all, t.compare(f))
	}
	for _, name := range t.stale {
		if isPlaceholder(t.files[name]) {
			continue
		}
		f := Finding{Path: t.path(name), Kind: Stale}
		if t.owner[name] == edited {
			f.Kind, f.Diff = HandEdited, changes(name, t.files[name], nil)
		}
		all = append(all, f)
	}
	from, to, same := t.versions()
	for i := range all {
		f := &all[i]
		f.From, f.To = from, to
		if same && (f.Kind == Outdated || from != to && (f.Kind == Missing || f.Kind == Stale)) {
			f.Kind = Newer
		}
	}
	slices.SortFunc(all, func(a, b Finding) int { return strings.Compare(a.Path, b.Path) })
	return all
}

func (t *target) compare(f File) Finding {
	old, ok := t.files[f.Path]
	if !ok {
		return Finding{Path: t.path(f.Path), Kind: Missing}
	}
	kind := map[ownership]FindingKind{intact: Outdated, edited: HandEdited, conflicted: Conflicted}[t.owner[f.Path]]
	return Finding{Path: t.path(f.Path), Kind: kind, Diff: changes(f.Path, old, f.Content)}
}

// versions are those of mcpkiln that wrote the directory and that would write it now, and whether both read the same input. If so,
// a difference can only come from mcpkiln itself.
func (t *target) versions() (from, to string, same bool) {
	var now Lock
	var digest, was string
	for _, f := range t.want.Files {
		switch {
		case f.Path == LockName:
			now, _ = parseLock(f.Content)
		case slices.Contains(sourceNames, f.Path):
			_, digest = sourceIn(f.Path, f.Content)
			_, was = sourceIn(f.Path, t.files[f.Path])
		}
	}
	return t.lock.Tool, now.Tool, digest != "" && digest == was && t.lock.sameBut(now)
}

// changes is a unified diff from the disk to what is generated.
func changes(name string, old, now []byte) string {
	d := diff.Diff(name+" (on disk)", unixLines(old), name+" (generated)", now)
	// The first line names a command that nobody ran.
	_, d, _ = bytes.Cut(d, []byte("\n"))
	return string(d)
}

// Summary says in one line how many files differ, and how.
func Summary(findings []Finding) string {
	count := map[FindingKind]int{}
	for _, f := range findings {
		count[f.Kind]++
	}
	if n := count[Newer]; n > 0 && n == len(findings) {
		return byAnother(findings)
	}
	text := fmt.Sprintf("%d missing, %d outdated, %d hand-edited, %d stale", count[Missing], count[Outdated], count[HandEdited], count[Stale])
	for _, kind := range []FindingKind{Conflicted, Newer} {
		if n := count[kind]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, kind)
		}
	}
	return text
}

// byAnother is the summary when all differences come from another version of mcpkiln: an upgrade, not drift. The lock file, which only names the
// version, is not counted.
func byAnother(findings []Finding) string {
	n, last := 0, findings[len(findings)-1]
	for _, f := range findings {
		if filepath.Base(f.Path) != LockName {
			n++
		}
	}
	files := "files"
	if n == 1 {
		files = "file"
	}
	if last.From == last.To {
		return fmt.Sprintf("the manifest is unchanged; another build of mcpkiln %s changes %d %s", last.To, n, files)
	}
	return fmt.Sprintf("the manifest is unchanged; mcpkiln %s → %s changes %d %s", last.From, last.To, n, files)
}
