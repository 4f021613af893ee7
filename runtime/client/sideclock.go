package client

import (
	"context"
	"sync"
	"time"
)

// sideClock is the clock of a call that waits for requests which it makes on the side: for a list of tools, or a new session. A person who is asked before one
// of them can be sent stops it (CAN28), and the clocks of calls that wait for this one.
type sideClock struct {
	outer stoppable // of the call for which this one is made; nil: none

	mu      sync.Mutex
	began   time.Time
	persons int // how many are being asked
	since   time.Time
	stopped time.Duration // without the time since then
	timer   *time.Timer   // nil: the time is not limited, or it was not started yet
	most    time.Duration
}

// stoppable is a clock, or several, that a person stops.
type stoppable interface{ askPerson() (answered func()) }

// sideClockKey is the key of the stoppable clock in the context of requests on the side.
type sideClockKey struct{}

// outerClock returns the clock of the call for which ctx is; nil: it is for none.
func outerClock(ctx context.Context) stoppable {
	outer, _ := ctx.Value(sideClockKey{}).(stoppable)
	return outer
}

// startSideClock returns a clock that runs, and the context for the requests. end is called when most has passed, if that is not 0.
func startSideClock(ctx context.Context, most time.Duration, end func()) (*sideClock, context.Context) {
	c := &sideClock{outer: outerClock(ctx), began: time.Now(), most: most}
	if most > 0 {
		c.timer = time.AfterFunc(most, end)
	}
	return c, context.WithValue(ctx, sideClockKey{}, stoppable(c))
}

// askPerson implements stoppable.
func (c *sideClock) askPerson() (answered func()) {
	outer := func() {}
	if c.outer != nil {
		outer = c.outer.askPerson()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.persons++; c.persons == 1 {
		c.since = time.Now()
		if c.timer != nil {
			c.timer.Stop()
		}
	}
	return func() { c.answered(); outer() }
}

func (c *sideClock) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.persons--; c.persons == 0 {
		c.stopped += time.Since(c.since)
		if c.timer != nil {
			c.timer.Reset(c.most - (time.Since(c.began) - c.stopped))
		}
	}
}

// stop ends the clock, and returns how long it ran.
func (c *sideClock) stop() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	if c.persons > 0 {
		return c.since.Sub(c.began) - c.stopped
	}
	return time.Since(c.began) - c.stopped
}

// sideClocks are those of all calls that wait for the same thing, such as a new session.
type sideClocks struct {
	mu      sync.Mutex
	waiting map[stoppable]func() // the value resumes a clock that is stopped; nil: it is not
	persons int
}

// add adds the clock of ctx, until the returned function is called.
func (all *sideClocks) add(ctx context.Context) (remove func()) {
	c := outerClock(ctx)
	if c == nil {
		return func() {}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.waiting == nil {
		all.waiting = map[stoppable]func(){}
	}
	all.waiting[c] = nil
	if all.persons > 0 {
		all.waiting[c] = c.askPerson()
	}
	return func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		if resume := all.waiting[c]; resume != nil {
			resume()
		}
		delete(all.waiting, c)
	}
}

// askPerson implements stoppable.
func (all *sideClocks) askPerson() (answered func()) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.persons++; all.persons == 1 {
		for c := range all.waiting {
			all.waiting[c] = c.askPerson()
		}
	}
	return func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		if all.persons--; all.persons > 0 {
			return
		}
		for c, resume := range all.waiting {
			resume()
			all.waiting[c] = nil
		}
	}
}
