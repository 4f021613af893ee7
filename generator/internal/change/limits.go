package change

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// limit is a limit of a tool, an entry or a question, with its value on both sides. Zero is no limit.
type limit struct {
	lower, higher string // ids of changes
	what          string // what is limited: a format for the value
	none          string // zero in words
	text          func(int64) string
	was, is       int64
	// options: zero means that the server's options decide, which may set more or less.
	options bool
}

// limits compares how long calls and tasks of a tool may take, how many of them run at once, how long tasks are kept, and whether a call can be
// cancelled. Limits of tasks are compared if the tool runs as a task on both sides.
func (c *comparison) limits(p place, old, new *model.Tool) {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	all := []limit{
		timeout("a call", old.Cancel.Timeout, new.Cancel.Timeout),
		{"concurrency-lower", "concurrency-higher", "lets %s runs go on at once", "any number of", number, int64(old.MaxConcurrent), int64(new.MaxConcurrent), false},
	}
	if old.Task.Support != model.TaskForbidden && new.Task.Support != model.TaskForbidden {
		options := "as long as the server's options say"
		all = append(all,
			timeout("a task", old.Task.Timeout, new.Task.Timeout),
			limit{"ttl-shorter", "ttl-longer", "keeps a task %s", options, duration, int64(old.Task.TTL), int64(new.Task.TTL), true},
			limit{"ttl-shorter", "ttl-longer", "keeps a task for a client that asks at most %s", options, duration, int64(old.Task.MaxTTL), int64(new.Task.MaxTTL), true})
		c.crashes(p, old.Task, new.Task)
		if old.Task.PollInterval != new.Task.PollInterval {
			c.found("poll-changed", p, "tells clients to look at a task every %s; before it was %s", interval(new.Task), interval(old.Task))
		}
	}
	for _, l := range all {
		c.limit(p, l)
	}
	if old.Cancel.Uncancellable != new.Cancel.Uncancellable {
		c.found("cancellation-changed", p, "%s", map[bool]string{true: "can not be cancelled any more", false: "can be cancelled"}[new.Cancel.Uncancellable])
	}
}

// interval is how often clients are told to look at a task.
func interval(t model.TaskPolicy) string {
	if t.PollInterval == 0 {
		return "interval that the server's options say"
	}
	return t.PollInterval.String()
}

// crashes compares what happens to a task whose process dies.
func (c *comparison) crashes(p place, old, new model.TaskPolicy) {
	was, is := old.Reruns(), new.Reruns()
	switch {
	case was == is:
	case is == 0:
		c.found("crash-fails", p, "fails a task whose process dies; before, it began again, at most %s", times(was))
	case was == 0:
		c.found("crash-reruns", p, "runs again from the top, at most %s, if the process of its task dies; before, the task failed", times(is))
	case is < was:
		c.found("reruns-fewer", p, "begins a task again after a crash, at most %s; before, it was %s", times(is), times(was))
	default:
		c.found("reruns-more", p, "begins a task again after a crash, at most %s; before, it was %s", times(is), times(was))
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// timeout is the limit of how long something may take.
func timeout(what string, was, is time.Duration) limit {
	return limit{"timeout-shorter", "timeout-longer", "lets " + what + " take %s", "any time", duration, int64(was), int64(is), false}
}

func duration(d int64) string { return time.Duration(d).String() }

func (c *comparison) limit(p place, l limit) {
	id := l.higher
	switch {
	case l.was == l.is:
		return
	case l.was == 0, l.is == 0 && l.options, l.is != 0 && l.is < l.was:
		id = l.lower
	}
	name := func(n int64) string {
		if n == 0 {
			return l.none
		}
		return l.text(n)
	}
	c.found(id, p, l.what+"; before it was %s", name(l.is), name(l.was))
}
