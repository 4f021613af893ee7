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
		all = append(all, f.Name())
	}
	return all
}

func (l *loader) revisions() {
	known := KnownRevisions()
	for _, r := range l.m.Revisions {
		if r.Node.Kind != schema.String && !r.Node.Plain || slices.Contains(known, r.Value) {
			continue
		}
		hint := "known revisions: " + strings.Join(known, ", ")
		if near := schema.DidYouMean(r.Value, known); near != "" {
			hint = near + " " + hint
		}
		l.ds.Report(r.Node, "unknown-revision", hint, "%q is no revision that mcpkiln knows", r.Value)
	}
}

// policies checks that the parts of a tool's policy fit together.
func (l *loader) policies() {
	for i := range l.m.Tools {
		l.times(&l.m.Tools[i])
		l.uncancellable(&l.m.Tools[i])
		t := &l.m.Tools[i]
		l.before("tool", t.Name, t.Elicitations, t.Execution.neverTask())
		l.crash(t)
	}
	for _, e := range l.m.Listed() {
		l.before(e.Kind, e.Name, e.Elicitations, true)
	}
	d := l.m.Defaults.Task
	l.ttl(d.TTL, d.MaxTTL)
}

// before warns of questions with beforeTask where there is never a task.
func (l *loader) before(kind, name string, asked []Elicitation, neverTask bool) {
	hint := "remove beforeTask"
	if kind == "tool" {
		hint = "set taskSupport to optional or required"
	}
	for _, e := range asked {
		if e.BeforeTask.Value && neverTask {
			l.ds.Warn(e.BeforeTask.Node, "unused-policy", hint, "beforeTask is for tasks, and %s %q never runs as one", kind, name)
		}
	}
}

// crash checks what a tool says of tasks that are interrupted by a crash. A handler that runs again from the top repeats its effects outside of
// steps (call.Do), so a tool that may destroy something has to say whether it may run again.
func (l *loader) crash(t *Tool) {
	e := t.Execution
	onCrash, reruns := e.Node.Get("onCrash"), e.Node.Get("maxReruns")
	for _, given := range [...]*schema.Node{onCrash, reruns} {
		if given != nil && e.neverTask() {
			l.ds.Warn(given, "unused-policy", "set taskSupport to optional or required", "%s is for tasks, and tool %q never runs as one", keyOf(given), t.Name)
		}
	}
	switch {
	case !e.Tasks():
	case e.OnCrash == FailOnCrash && reruns != nil:
		l.ds.Report(reruns, "impossible-policy", "remove it, or write onCrash: rerun", "a task that fails on a crash never begins again")
	case onCrash == nil && l.serves() && says(t.Annotations, "destructiveHint") && !says(t.Annotations, "idempotentHint"):
		l.ds.Report(e.Node.Get("taskSupport"), "crash-policy",
			"write onCrash: fail beside it, or onCrash: rerun if the handler may run again from the top",
			"tool %.128q may destroy something and is not idempotent, so it has to say what becomes of its task when the server dies", t.Name)
	}
}

// serves reports whether a server is generated.
func (l *loader) serves() bool {
	return !l.m.Answer && (l.m.Go.Client.Node == nil || l.m.Go.Out.Node != nil)
}

// says reports whether annotations have a hint that is true.
func says(annotations *schema.Node, hint string) bool {
	v := annotations.Get(hint)
	return v.Is(schema.Bool) && v.Text == "true"
}

// uncancellable refuses timeouts of tools that can not be cancelled (CAN14).
func (l *loader) uncancellable(t *Tool) {
	given := []Duration{t.Timeout}
	if t.Execution.Tasks() {
		given = append(given, t.Execution.Timeout)
	}
	for _, timeout := range given {
		if t.Cancellation.None && timeout.Node != nil {
			l.ds.Report(timeout.Node, "impossible-policy", "remove timeout, or remove cancellation: {mode: none}",
				"tool %.128q can not be cancelled, so no timeout may end it", t.Name)
		}
	}
}

func (l *loader) times(t *Tool) {
	e, d := t.Execution, l.m.Defaults.Task
	if given := t.Timeout.Node; given != nil && e.Support == Required && !t.Cancellation.None { // else uncancellable refuses it
		hint := "remove it, or write it in execution as the timeout of the task"
		if e.Timeout.Node != nil {
			hint = "remove it: that of the task is in execution"
		}
		l.ds.Warn(given, "unused-policy", hint, "timeout is for inline calls, and tool %q always runs as a task", t.Name)
	}
	switch {
	case !e.Tasks():
		for _, given := range [...]Duration{e.TTL, e.MaxTTL, e.PollInterval, e.Timeout} {
			if given.Node != nil && e.neverTask() {
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
		l.ds.Report(ttl.Node, "impossible-policy", "lower ttl, or raise maxTtl", "ttl %s is longer than maxTtl %s", ttl.Node.Text, most.Node.Text)
	}
}
