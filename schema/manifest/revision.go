package manifest

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// KnownRevisions returns the protocol revisions that can be generated, oldest first.
func KnownRevisions() []string {
	folders, err := schema.Revisions.ReadDir(".")
	if err != nil {
		panic(err) // the root of an embedded file system can always be read
	}
	var all []string
	for _, f := range folders {
		if !slices.Contains(comingRevisions, f.Name()) {
			all = append(all, f.Name())
		}
	}
	return all
}

func (l *loader) revisions() {
	known := KnownRevisions()
	for _, r := range l.m.Revisions {
		if r.Node.Kind != schema.String && !r.Node.Plain || slices.Contains(known, r.Value) || slices.Contains(comingRevisions, r.Value) {
			continue
		}
		hint := schema.DidYouMean(r.Value, known)
		if hint == "" {
			hint = "known revisions: " + strings.Join(known, ", ")
		}
		l.ds.Report(r.Node, "unknown-revision", hint, "%q is no revision that mcpkiln knows", r.Value)
	}
}

// forcedCancel lists the revisions in which tasks/cancel ends a task whatever its work does. Their rules say so
// (task.cancel: forces); the list is here because a manifest is judged before rules are loaded, and a test holds the
// two together.
var forcedCancel = []string{"2025-11-25"}

// policies checks what the parts of a tool say about each other.
func (l *loader) policies() {
	for i := range l.m.Tools {
		t := &l.m.Tools[i]
		l.uncancellable(t)
		l.times(t)
	}
	d := l.m.Defaults.Task
	l.ttl(d.TTL, d.MaxTTL)
}

// uncancellable refuses a task that can not be cancelled under a revision that cancels it all the same: its result
// would be lost.
func (l *loader) uncancellable(t *Tool) {
	if !t.Cancellation.None || !t.Execution.Tasks() {
		return
	}
	forced := forcedCancel[0]
	if len(l.m.Revisions) > 0 {
		i := slices.IndexFunc(l.m.Revisions, func(r Text) bool { return slices.Contains(forcedCancel, r.Value) })
		if i < 0 {
			return
		}
		forced = l.m.Revisions[i].Value
	}
	l.ds.Report(t.Cancellation.Node, "uncancellable-task",
		"remove cancellation, or set taskSupport to forbidden, or leave out "+forced,
		"tool %q can not be cancelled and can run as a task, but under %s a cancelled task always ends cancelled and its result is lost",
		t.Name, forced)
}

func (l *loader) times(t *Tool) {
	e, d := t.Execution, l.m.Defaults.Task
	switch {
	case !e.Tasks():
		for _, given := range [...]Duration{e.TTL, e.MaxTTL, e.PollInterval, e.Timeout} {
			if given.Node != nil {
				l.ds.Warn(given.Node, "unused-policy", "set taskSupport to optional or required", "%s is for tasks, and tool %q never runs as one",
					keyOf(given.Node), t.Name)
			}
		}
	case e.TTL.Node != nil && e.MaxTTL.Node == nil:
		l.ttl(e.TTL, d.MaxTTL)
	case e.TTL.Node != nil:
		l.ttl(e.TTL, e.MaxTTL)
	case e.MaxTTL.Node != nil && d.TTL.Value > e.MaxTTL.Value:
		l.ds.Report(e.MaxTTL.Node, "impossible-policy", "give the tool a ttl too", "maxTtl %s is shorter than the default ttl %s",
			e.MaxTTL.Node.Text, d.TTL.Node.Text)
	}
}

func (l *loader) ttl(ttl, most Duration) {
	if ttl.Node != nil && most.Node != nil && ttl.Value > most.Value {
		l.ds.Report(ttl.Node, "impossible-policy", "", "ttl %s is longer than maxTtl %s", ttl.Node.Text, most.Node.Text)
	}
}
