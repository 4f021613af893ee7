package generator

import (
	"context"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/change"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// Change is one thing that is different between two manifests or revisions.
type Change = change.Change

// CompareChanges orders changes, the gravest first, for slices.SortFunc.
func CompareChanges(a, b Change) int { return change.Order(a, b) }

// Difference is the result of Diff. If either manifest has errors there are no Changes.
type Difference struct {
	Changes  []Change           // the gravest first
	Old, New schema.Diagnostics // of each manifest
}

// Diff generates from both manifests in memory and says what is different in new (REV08): for callers, for handlers, on the wire, and for tasks and
// questions that are open when the new server starts.
// It is pure, as Generate is.
func Diff(ctx context.Context, old, new Config) (*Difference, error) {
	var sides [2]change.Side
	var found [2]schema.Diagnostics
	new.Import, new.Dir = comparedIn(new)
	old.Import, old.Dir = new.Import, new.Dir
	for i, cfg := range []Config{old, new} {
		r := &run{cfg: cfg, result: &Result{}}
		if err := r.generate(ctx); err != nil {
			return nil, err
		}
		sides[i], found[i] = r.side(), r.result.Diagnostics
	}
	d := &Difference{Old: found[0], New: found[1]}
	if !d.Old.HasErrors() && !d.New.HasErrors() {
		d.Changes = change.Compare(sides[0], sides[1])
	}
	return d, nil
}

// comparedIn returns where the packages of a manifest are in their module. Those that are only compared need none, and are in the same place on both sides: an
// older manifest is often read from a commit or from a file elsewhere.
func comparedIn(cfg Config) (importPath, dir string) {
	if cfg.Import == "" {
		return "example.com/compared", ""
	}
	return cfg.Import, cfg.Dir
}

// side is one of the two manifests that package change compares, with the code generated from it.
func (r *run) side() change.Side {
	s := change.Side{Manifest: r.manifest, Package: r.pkg, Listed: listed, Source: map[string][]byte{}}
	files := slices.Clip(r.result.Files)
	if r.result.Client != nil {
		for _, f := range r.result.Client.Files {
			files = append(files, File{change.ClientFiles + f.Path, f.Content})
		}
	}
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".go") {
			s.Source[f.Path] = f.Content
		}
	}
	return s
}

// Class is how grave a change is.
type Class = manifest.Class

// The classes of changes, the gravest first.
const (
	Breaking      = manifest.Breaking
	AskAgain      = manifest.AskAgain
	Compatible    = manifest.Compatible
	Documentation = manifest.Documentation
)

// Classes are all classes, the gravest first.
var Classes = manifest.Classes

// Move is what a protocol revision changes for a server.
type Move struct {
	Changes     []Change
	Described   int // definitions of which only the description differs
	Diagnostics schema.Diagnostics
}

// DiffRevisions says what changes for clients of a server that move from one revision to another, and who must act (REV05). The revisions need not be
// among those of the manifest.
func DiffRevisions(ctx context.Context, cfg Config, from, to string) (*Move, error) {
	cfg.Revisions = []string{to, from}
	cfg.Import, cfg.Dir = comparedIn(cfg)
	r := &run{cfg: cfg, result: &Result{}}
	if err := r.generate(ctx); err != nil {
		return nil, err
	}
	m := &Move{Diagnostics: r.result.Diagnostics}
	if !m.Diagnostics.HasErrors() {
		m.Changes, m.Described = change.Move(r.side(), r.revisions[1], r.revisions[0])
	}
	return m, nil
}
