package manifest

import "slices"

// comingRevisions are protocol revisions that the manifest may name before code for them can be generated.
var comingRevisions = []string{"2026-07-28"}

// notYet reports the parts of the format that are read and checked but not generated so far. To lift one, remove it
// here.
func (l *loader) notYet() {
	const code = "not-supported-yet"
	for _, r := range l.m.Revisions {
		if slices.Contains(comingRevisions, r.Value) {
			l.ds.Report(r.Node, code, "remove it from revisions", "revision %s is not served yet", r.Value)
		}
	}
	if c := l.m.Go.Client; c.Value {
		l.ds.Report(c.Node, code, "remove client", "clients are not generated yet")
	}
	for _, m := range l.m.Methods {
		l.ds.Report(m.Node, code, "remove it from methods", "handlers for %q are not generated yet", m.Value)
	}
}
