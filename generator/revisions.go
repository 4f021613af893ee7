package generator

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// loadRevisions loads the revisions that are generated for. The types of handlers depend on all known revisions (REV07), but for most packages
// the union of these, which is embedded, is enough: the others are loaded when r.known is called.
func (r *run) loadRevisions() {
	own := r.loadFolders()
	wanted := r.wanted(own)
	known := r.knownRevisions(own, wanted)
	r.loadThose(known, func(k *knownRevision) bool { return k.wanted })
	for _, name := range wanted {
		k := known[slices.IndexFunc(known, func(k *knownRevision) bool { return k.name == name.Value })]
		r.revisions = append(r.revisions, k.revision)
		r.replaced = r.replaced || k.replaced
	}
	for _, k := range known {
		r.report(k.diags)
	}
	if r.cfg.Schema.Data != nil && !r.replaced {
		r.reportForeignDocument(known)
	}
	r.known = sync.OnceValue(func() (all []*revision.Revision) {
		r.loadThose(known, func(*knownRevision) bool { return true })
		for _, k := range known {
			all = append(all, k.revision)
		}
		return all
	})
	if len(own) == 0 && !r.replaced || r.result.Diagnostics.HasErrors() {
		r.union = revision.Embedded()
	} else {
		r.union = revision.NewUnion(r.known()...)
	}
}

// loadThose loads the revisions that which selects and that are not loaded yet.
func (r *run) loadThose(known []*knownRevision, which func(*knownRevision) bool) {
	var missing []*knownRevision
	for _, k := range known {
		if k.revision == nil && which(k) {
			missing = append(missing, k)
		}
	}
	var others sync.WaitGroup
	for i, k := range missing {
		if i < len(missing)-1 {
			others.Go(func() { r.loadRevision(k) })
		} else {
			r.loadRevision(k)
		}
	}
	others.Wait()
}

// reportForeignDocument reports that the document Config.Schema belongs to no revision that is generated for, and what differs from the nearest.
func (r *run) reportForeignDocument(known []*knownRevision) {
	var nearest *knownRevision
	for _, k := range known {
		if k.wanted && (nearest == nil || len(k.mismatches) < len(nearest.mismatches)) {
			nearest = k
		}
	}
	r.report(nearest.mismatches)
	r.result.Diagnostics.ReportAt(schema.Position{File: r.cfg.Schema.Path}, "", "foreign-document",
		"mcpkiln schema new-revision makes a revision of it", "this is the document of no revision that is generated for; nearest is %s", nearest.name)
}

// knownRevision is a revision, embedded or of a folder, or a name that no revision has.
type knownRevision struct {
	name     string
	at       schema.Position // where the manifest names it
	wanted   bool            // generated for
	hint     string          // names that exist, for the diagnostic about one that does not; "": it exists
	revision *revision.Revision
	diags    schema.Diagnostics
	// replaced says that Config.Schema belongs to this revision and was read in place of its document; if it does not, mismatches say why.
	replaced   bool
	mismatches schema.Diagnostics
}

// loadFolders loads the revisions of the folders that the manifest names.
func (r *run) loadFolders() []*knownRevision {
	var all []*knownRevision
	for _, f := range r.manifest.Folders {
		i := slices.IndexFunc(r.cfg.Folders, func(given Folder) bool { return given.Path == f.Value })
		if i < 0 {
			r.result.Diagnostics.Report(f.Node, "missing-folder", "", "the folder was not read")
			continue
		}
		if r.cfg.Folders[i].Files[revision.RulesFile] == nil {
			r.result.Diagnostics.Report(f.Node, "missing-folder", "name the folder that mcpkiln schema new-revision wrote", "%q is no folder of a revision: it has no "+revision.RulesFile, f.Value)
			continue
		}
		rev, ds := revision.LoadFolder(folderFiles(r.cfg.Folders[i].Files), f.Value)
		r.report(ds)
		switch {
		case rev == nil:
		case slices.Contains(revision.Names(), rev.Name):
			r.result.Diagnostics.Report(f.Node, "duplicate-revision", "remove the folder, or call its revision something else", "mcpkiln has a revision %s itself", rev.Name)
		case slices.ContainsFunc(all, func(k *knownRevision) bool { return k.name == rev.Name }):
			r.result.Diagnostics.Report(f.Node, "duplicate-revision", "remove one, or call its revision something else", "another folder holds a revision %s, too", rev.Name)
		case revision.NameHint(rev.Name) != "":
			r.result.Diagnostics.Report(f.Node, "revision-name", revision.NameHint(rev.Name), "%q can not be the name of a revision", rev.Name)
		default:
			all = append(all, &knownRevision{name: rev.Name, revision: rev})
		}
	}
	return all
}

// wanted are the revisions to generate for; all, if the manifest and the configuration name none.
func (r *run) wanted(own []*knownRevision) []manifest.Text {
	var all []manifest.Text
	for _, name := range r.cfg.Revisions {
		all = append(all, manifest.Text{Value: name})
	}
	if len(all) == 0 {
		all = r.manifest.Revisions
	}
	if len(all) == 0 {
		names := revision.Names()
		for _, k := range own {
			names = append(names, k.name)
		}
		slices.Sort(names)
		for _, name := range slices.Backward(names) {
			all = append(all, manifest.Text{Value: name})
		}
	}
	return all
}

// knownRevisions are all revisions, and those that are wanted but do not exist.
func (r *run) knownRevisions(all []*knownRevision, wanted []manifest.Text) []*knownRevision {
	for _, name := range revision.Names() {
		all = append(all, &knownRevision{name: name})
	}
	var names []string
	for _, k := range all {
		names = append(names, k.name)
	}
	slices.Sort(names)
	for _, name := range wanted {
		i := slices.IndexFunc(all, func(k *knownRevision) bool { return k.name == name.Value })
		if i < 0 {
			i = len(all)
			all = append(all, &knownRevision{name: name.Value, hint: unknownHint(name.Value, names)})
		}
		all[i].wanted, all[i].at = true, schema.Position{File: r.cfg.Manifest.Path}
		if name.Node != nil {
			all[i].at = name.Node.Pos
		}
	}
	return all
}

// unknownHint names the revisions that exist, for a name that does not.
func unknownHint(name string, known []string) string {
	return cmp.Or(schema.DidYouMean(name, known), "known revisions: "+strings.Join(known, ", "))
}

// loadRevision loads one revision, with the document Config.Schema if that belongs to it. Diagnostics without a
// position get the one where the manifest names the revision.
func (r *run) loadRevision(k *knownRevision) {
	if k.wanted && r.cfg.Schema.Data != nil {
		k.revision, k.mismatches = revision.Load(k.name, revision.WithDocument(r.cfg.Schema.Path, r.cfg.Schema.Data))
		k.replaced = k.revision != nil
	}
	if !k.replaced {
		k.revision, k.diags = revision.Load(k.name)
	}
	for _, ds := range []schema.Diagnostics{k.diags, k.mismatches} {
		for i := range ds {
			if ds[i].Pos == (schema.Position{}) {
				ds[i].Pos = k.at
			}
			if k.hint != "" {
				ds[i].Hint = k.hint
			}
		}
	}
}
