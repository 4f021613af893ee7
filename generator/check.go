package generator

import (
	"bytes"
	"context"
	"fmt"
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
	HandEdited FindingKind = "hand-edited" // neither what the lock says nor what Generate makes
	Stale      FindingKind = "stale"       // left by an earlier run, no longer generated
)

// Finding is one file that Write would change.
type Finding struct {
	Path string
	Kind FindingKind
	Diff string // unified, from the disk to what is generated; empty for Missing and Stale
}

// String is one line for a person: what and what to do.
func (f Finding) String() string {
	switch f.Kind {
	case Missing:
		return f.Path + ": missing: run mcpkiln generate"
	case Outdated:
		return f.Path + ": outdated: run mcpkiln generate"
	case HandEdited:
		return f.Path + ": hand-edited: move the change to the manifest or to a file of your own, then run mcpkiln generate"
	default:
		return f.Path + ": stale: no longer generated; mcpkiln generate removes it"
	}
}

// Check compares the output directory with r and touches nothing. Findings are sorted by path. The diagnostics are
// those that Write would refuse with.
func Check(ctx context.Context, base string, r *Result) ([]Finding, schema.Diagnostics, error) {
	if r.Diagnostics.HasErrors() {
		return nil, r.Diagnostics, nil
	}
	t, diags := inspect(base, r)
	if len(diags) > 0 {
		return nil, diags, nil
	}
	var findings []Finding
	for _, f := range r.Files {
		if t.holds(f) {
			continue
		}
		findings = append(findings, t.compare(f))
	}
	for _, name := range t.stale {
		findings = append(findings, Finding{Path: name, Kind: Stale})
	}
	sortFindings(findings)
	return findings, nil, ctx.Err()
}

func (t *target) compare(f File) Finding {
	old, ok := t.files[f.Path]
	if !ok {
		return Finding{Path: f.Path, Kind: Missing}
	}
	kind := Outdated
	if t.edited(f) {
		kind = HandEdited
	}
	changes := diff.Diff(f.Path+" (on disk)", unixLines(old), f.Path+" (generated)", f.Content)
	// The first line names a command that nobody ran.
	_, changes, _ = bytes.Cut(changes, []byte("\n"))
	return Finding{Path: f.Path, Kind: kind, Diff: string(changes)}
}

// unixLines undoes what a checkout with CRLF did, so that only edits count as edits.
func unixLines(data []byte) []byte {
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// Summary says in one line how many files differ, and how.
func Summary(findings []Finding) string {
	count := map[FindingKind]int{}
	for _, f := range findings {
		count[f.Kind]++
	}
	return fmt.Sprintf("%d missing, %d outdated, %d hand-edited, %d stale",
		count[Missing], count[Outdated], count[HandEdited], count[Stale])
}

func sortFindings(findings []Finding) {
	slices.SortFunc(findings, func(a, b Finding) int { return strings.Compare(a.Path, b.Path) })
}
