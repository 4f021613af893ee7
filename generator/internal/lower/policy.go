package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// policies lowers timeouts and cancellation (CAN14, CAN20) and the policy for tasks (TSK03, TSK14). A value comes from the tool, else (timeout,
// ttl, maxTtl, pollInterval) from the manifest's defaults, else it is zero, for which the runtime has a default. The timeout of calls does not apply to
// tools that can not be cancelled, which run to their end, nor to those that always run as tasks, which have a timeout of their own.
func (l *packageLowering) policies(t *manifest.Tool) (model.CancelPolicy, model.TaskPolicy) {
	defaults := l.in.Manifest.Defaults
	cancel := model.CancelPolicy{Uncancellable: t.Cancellation.None, Because: t.Cancellation.Because.Value}
	if !cancel.Uncancellable {
		cancel.Timeout = t.Timeout.Or(defaults.Timeout.Value)
	}
	if !t.Execution.Tasks() {
		return cancel, model.TaskPolicy{}
	}
	l.refuseForcedCancel(t)
	e := t.Execution
	task := model.TaskPolicy{
		Support:      model.TaskOptional,
		TTL:          e.TTL.Or(defaults.Task.TTL.Value),
		MaxTTL:       e.MaxTTL.Or(defaults.Task.MaxTTL.Value),
		PollInterval: e.PollInterval.Or(defaults.Task.PollInterval.Value),
		Timeout:      e.Timeout.Value,
		FailOnCrash:  e.OnCrash == manifest.FailOnCrash,
		MaxReruns:    e.MaxReruns,
	}
	if e.Support == manifest.Required {
		task.Support = model.TaskRequired
		cancel.Timeout = 0
		l.warnOfUnlisted(t)
	}
	return cancel, task
}

// warnOfUnlisted warns of a tool that runs only as a task where no served revision has tasks: tools/list shows it to no client. That is no error,
// since the handlers are the same whichever revisions are served (REV07).
func (l *packageLowering) warnOfUnlisted(t *manifest.Tool) {
	if l.in.Client.Alone || slices.ContainsFunc(l.in.Revisions, hasTasks) {
		return
	}
	var with []string
	for _, r := range l.in.Known() {
		if hasTasks(r) {
			with = append(with, r.Name)
		}
	}
	l.diags.Warn(t.Execution.Node.Get("taskSupport"), "unlisted-tool", "set taskSupport to optional, or serve a revision with tasks: "+strings.Join(with, ", "),
		"tool %q runs as a task alone, and no revision that is served has tasks, so no client can call it", t.Name)
}

func hasTasks(r *revision.Revision) bool { return r.Task != nil }

// refuseForcedCancel refuses a tool that can not be cancelled and can run as a task, if a served revision ends a cancelled task all the same: the result
// would be lost. In revisions where tasks/cancel only asks (EXT11), the work goes on and its result is kept.
func (l *packageLowering) refuseForcedCancel(t *manifest.Tool) {
	i := slices.IndexFunc(l.in.Revisions, func(r *revision.Revision) bool { return r.Task != nil && r.Task.Cancel == revision.CancelForces })
	if !t.Cancellation.None || i < 0 {
		return
	}
	forced := l.in.Revisions[i].Name
	l.diags.Report(t.Cancellation.Node, "uncancellable-task",
		"remove cancellation, or set taskSupport to forbidden, or leave out "+forced,
		"tool %q can not be cancelled and can run as a task, but under %s a cancelled task always ends cancelled and its result is lost",
		t.Name, forced)
}

// policySentences describe what a tool's policies mean for those who write and call it.
func (l *packageLowering) policySentences(t *model.Tool) []string {
	var out []string
	ends := "tasks/cancel, timeout, expiry or shutdown"
	if t.Cancel.Uncancellable {
		ends = "shutdown only"
	}
	out = append(out, l.taskSentences(t, ends)...)
	if t.Cancel.Timeout > 0 {
		out = append(out, fmt.Sprintf("An inline call ends after %s%s.", model.Short(t.Cancel.Timeout), notCounted(&t.Asker)))
	}
	if t.Cancel.Uncancellable {
		sentence := "A call can not be cancelled and has no timeout"
		if t.Cancel.Because != "" {
			sentence += ": " + t.Cancel.Because
		}
		out = append(out, sentence+". call.CancelRequested tells whether the client asked, or the server is to stop, and why.",
			"It runs on when the client is gone. When the server stops, it has the grace period to end.")
	}
	if n := t.MaxConcurrent; n > 0 {
		out = append(out, fmt.Sprintf("At most %d run at once in a process. Others wait within their timeout.", n))
	}
	return append(out, l.requestSentences(&t.Asker, t.Task.Support != model.TaskRequired)...)
}

// notCounted is the part of a sentence that says that a timeout does not count the time in which the user answers (CAN28).
func notCounted(a *model.Asker) string {
	if len(a.Questions) == 0 {
		return ""
	}
	return ", not counting the time in which a question is open"
}

func (l *packageLowering) taskSentences(tool *model.Tool, ends string) []string {
	var out []string
	t := tool.Task
	switch t.Support {
	case model.TaskForbidden:
		return []string{"It runs inline only."}
	case model.TaskOptional:
		when := l.whenTask()
		if when == "" {
			return []string{"It runs inline only: no revision that is served has tasks."}
		}
		out = append(out, "It runs inline, or as a task if the client "+when+": then ctx outlives the request, and ends on "+ends+".")
	case model.TaskRequired:
		out = append(out, "It always runs as a task: ctx outlives the request, and ends on "+ends+".")
	}
	if t.Timeout > 0 {
		out = append(out, fmt.Sprintf("A task ends after %s%s.", model.Short(t.Timeout), notCounted(&tool.Asker)))
	}
	switch {
	case t.FailOnCrash:
		out = append(out, "If the server dies meanwhile, the task fails.")
	default:
		out = append(out, fmt.Sprintf("If the server dies meanwhile, the handler runs again from the top where tasks are durable, up to %d times.", t.Reruns()))
	}
	if t.TTL > 0 {
		out = append(out, fmt.Sprintf("A task is kept for %s.", model.Short(t.TTL)))
	}
	return out
}

// whenTask is the part of a sentence that says which calls become tasks, "" if none do.
func (l *packageLowering) whenTask() string {
	var asks, knows []string
	for _, r := range l.in.Revisions {
		switch {
		case r.Task == nil: // it has no tasks
		case r.Task.Create == revision.CreateByReceiver:
			knows = append(knows, r.Name)
		default:
			asks = append(asks, r.Name)
		}
	}
	switch {
	case knows == nil && asks == nil:
		return ""
	case knows == nil:
		return "asks for one"
	case asks == nil:
		return "knows tasks"
	}
	return "asks for one (" + strings.Join(asks, ", ") + ") or knows tasks (" + strings.Join(knows, ", ") + ")"
}
