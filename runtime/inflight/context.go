package inflight

import (
	"context"
	"time"
)

var _ context.Context = (*Entry)(nil)

// Deadline implements context.Context: the request's timeout or the parent's deadline, whichever is earlier. While the clock
// is paused, the timeout is as if the clock went on now.
func (e *Entry) Deadline() (time.Time, bool) {
	deadline, ok := e.parent.Deadline()
	if e.kind.Timeout <= 0 {
		return deadline, ok
	}
	own := e.shard.tracker.at(e.dueUnlocked())
	if ok && deadline.Before(own) {
		return deadline, true
	}
	return own, true
}

// dueUnlocked is due for callers without the lock. While the clock is paused, it is as if the clock went on now.
func (e *Entry) dueUnlocked() int64 {
	if e.flags.Load()&delayed == 0 {
		return e.dueAfter(0)
	}
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	x := e.lazy
	if x.pauses > 0 {
		return e.dueAfter(x.paused + x.extended + e.shard.tracker.now() - x.pausedAt)
	}
	return e.dueAfter(x.paused + x.extended)
}

// Done implements context.Context. The channel is made when it is first asked for: most handlers never do.
func (e *Entry) Done() <-chan struct{} {
	if e.flags.Load()&hasDone != 0 {
		return e.done
	}
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	if e.done == nil {
		e.done = make(chan struct{})
		if e.flags.Or(hasDone)&over != 0 {
			close(e.done)
		}
	}
	return e.done
}

// Err implements context.Context: context.DeadlineExceeded after a timeout, else context.Canceled.
func (e *Entry) Err() error {
	flags := e.flags.Load()
	if flags&over == 0 {
		return nil
	}
	if flags&hasDone != 0 {
		<-e.done // closed a moment after the flag is set: a caller that gets the error finds it closed
	}
	return e.cause.contextErr()
}

// Value implements context.Context: parent's values, then those of Values. When the request is over, a context of package context that was
// cancelled with its cause comes first, because that is how context.Cause finds causes; it has no other values.
func (e *Entry) Value(key any) any {
	if key == (entryKey{}) {
		return e
	}
	if e.flags.Load()&over != 0 {
		if v := e.causeContext().Value(key); v != nil {
			return v
		}
	}
	if v := e.parent.Value(key); v != nil || e.flags.Load()&hasValues == 0 {
		return v
	}
	return e.lazy.values.Value(key)
}

// causeContext returns a context that was cancelled with the request's cause. It is made on first use, since few ask for causes.
func (e *Entry) causeContext() context.Context {
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	x := e.makeLazy()
	if x.causeContext == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(e.cause)
		x.causeContext = ctx
	}
	return x.causeContext
}

// AfterFunc runs f in a goroutine of its own when the request is over, as context.AfterFunc does: that and context.WithCancel
// call this method. The tracker does not wait for the goroutine. stop prevents f from being run, and reports whether it did.
func (e *Entry) AfterFunc(f func()) (stop func() bool) {
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	if e.flags.Load()&over != 0 {
		go f()
		return func() bool { return false }
	}
	x := e.makeLazy()
	c := &callback{f: f, at: len(x.callbacks)}
	x.callbacks = append(x.callbacks, c)
	return func() bool { return e.stop(c) }
}

func (e *Entry) stop(c *callback) bool {
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	if c.at < 0 {
		return false
	}
	callbacks := e.lazy.callbacks
	last := len(callbacks) - 1
	callbacks[c.at] = callbacks[last]
	callbacks[c.at].at = c.at
	callbacks[last] = nil
	e.lazy.callbacks = callbacks[:last]
	c.at = -1
	return true
}

// String names the context without its values.
func (e *Entry) String() string {
	return "inflight.Entry(" + e.kind.Method + " " + e.id.String() + ")"
}

type entryKey struct{}

// FromContext returns the request that ctx belongs to, or nil.
func FromContext(ctx context.Context) *Entry {
	e, _ := ctx.Value(entryKey{}).(*Entry)
	return e
}
