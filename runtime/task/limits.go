package task

import "time"

// Limits bound what requestors can make the engine hold (TSK22). A zero field means its default, a negative one no limit.
type Limits struct {
	// Running is how many unfinished tasks one requestor may have; default 1,000.
	Running int
	// AllRunning is how many unfinished tasks this engine holds in all; default 20,000. In both limits a task counts until its handler
	// has returned, even if the task is over before: a handler that ignores its context still takes memory and time (TSK28).
	AllRunning int
	// Kept is how many tasks one requestor may have that have not expired; default 100,000.
	Kept int
	// Bytes is how much the store keeps of one requestor's tasks: arguments, journals, results, and 1 KiB for each task; default
	// 128 MiB. AllBytes is how much it keeps of everybody's; default 256 MiB. Beyond that no task is created, and one whose
	// result does not fit fails with an error that says so. Nothing that was kept is dropped before it expires.
	Bytes, AllBytes int
	// DefaultTTL is given to tasks that ask for none; default 1 hour. MaxTTL shortens what is asked for; default 24 hours,
	// Unlimited allows unlimited tasks (TSK14).
	DefaultTTL, MaxTTL time.Duration
	// ResultBytes bounds a stored result, without the text that is made of structured content; default 8 MiB. More fails the task.
	ResultBytes int
	// PollsPerSecond bounds how often one task is read by Get, with bursts of twice as many; default 100.
	PollsPerSecond int
	// Page is how many tasks one page of List holds at most; default 50, or with a server what server.WithPageSize says.
	Page int
}

const maxAskedTTL = 100 * 365 * 24 * time.Hour

func (l Limits) withDefaults() Limits {
	l.Running = orDefault(l.Running, 1000)
	l.AllRunning = orDefault(l.AllRunning, 20_000)
	l.Kept = orDefault(l.Kept, 100_000)
	l.Bytes = orDefault(l.Bytes, 128<<20)
	l.AllBytes = orDefault(l.AllBytes, 256<<20)
	l.DefaultTTL = orDefault(l.DefaultTTL, time.Hour)
	l.MaxTTL = orDefault(l.MaxTTL, 24*time.Hour)
	l.ResultBytes = orDefault(l.ResultBytes, 8<<20)
	l.PollsPerSecond = orDefault(l.PollsPerSecond, 100)
	l.Page = orDefault(l.Page, 50)
	return l
}

// quota is the part of the limits that the store enforces.
func (l Limits) quota(key string) Quota {
	return Quota{Key: key, Running: max(l.Running, 0), Kept: max(l.Kept, 0), Bytes: max(l.Bytes, 0), AllBytes: max(l.AllBytes, 0)}
}

func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// ttl returns how long a task is kept. The default and the maximum of the Spec take precedence over those of the engine.
func (l Limits) ttl(s Spec) (time.Duration, error) {
	longest := unlimited(orDefault(s.MaxTTL, l.MaxTTL))
	if s.TTL == nil {
		return min(unlimited(orDefault(s.DefaultTTL, l.DefaultTTL)), longest), nil
	}
	if asked := *s.TTL; asked != Unlimited && (asked <= 0 || asked > maxAskedTTL) {
		return 0, ErrTTL
	}
	return min(*s.TTL, longest), nil
}

// unlimited returns Unlimited for a negative limit.
func unlimited(limit time.Duration) time.Duration {
	if limit < 0 {
		return Unlimited
	}
	return limit
}
