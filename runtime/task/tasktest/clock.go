package tasktest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

const (
	// ownSecond is how long a check's second is on a store's own clock at first: a lease is 0.3 s then, and a minute 0.6 s.
	ownSecond = 10 * time.Millisecond
	// slack is added to every wait for another clock, which may be read less finely.
	slack = 5 * time.Millisecond
	// patience is how long checks wait for what has to happen, however slow the machine is.
	patience = time.Minute
	// atOnce is how many checks run at once on the store's own clock: most of their time they wait.
	atOnce = 8
	// tries is how often a check may fail that was too slow for its own leases. Each time its seconds are twice as long.
	tries = 6
)

// RunOnOwnClock is Run for stores that can not live in a bubble, because they work over a socket or have a clock of their own. The checks
// are the same, but nothing is known to the nanosecond, and leases are short enough to wait for. A check that fails because the machine
// was too slow for them is tried again with longer ones. open is called by several goroutines.
func RunOnOwnClock(t *testing.T, open func(t *testing.T) task.Store) {
	all := checks()
	failed := make([][]string, len(all))
	places := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for i, c := range all {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			failed[i] = onOwnClock(t.Context(), c, patience, func() task.Store { return open(t) })
		})
	}
	running.Wait()
	for i, c := range all {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range failed[i] {
				t.Error(f)
			}
		})
	}
}

// onOwnClock runs one check and returns its failures.
func onOwnClock(ctx context.Context, c check, patience time.Duration, open func() task.Store) []string {
	for n := 1; ; n++ {
		r := &recorder{}
		p := &probe{reporter: r, ctx: ctx, Store: open(), second: ownSecond << (n - 1), own: true, patience: patience}
		start, done := time.Now(), make(chan struct{})
		go func() { // FailNow ends it
			defer close(done)
			c.run(p)
		}()
		<-done
		inTime := time.Since(start)-p.waited < p.scaled(lease)/4
		if len(r.failures) == 0 || inTime || n == tries {
			return r.failures
		}
	}
}

// recorder is a reporter that keeps failures.
type recorder struct {
	mu       sync.Mutex
	failures []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) FailNow() { runtime.Goexit() }

// scaled is how long d of a check is on the store's clock.
func (p *probe) scaled(d time.Duration) time.Duration {
	if d == task.Unlimited || !p.own {
		return d
	}
	return d / time.Second * p.second
}

// wait lets d of the check's time pass.
func (p *probe) wait(d time.Duration) {
	if d = p.scaled(d); p.own {
		d += slack
		p.waited += d
	}
	time.Sleep(d)
}

// waitMost waits for most of d, and returns the rest: in a bubble a nanosecond.
func (p *probe) waitMost(d time.Duration) (rest time.Duration) {
	rest = 1
	if p.own {
		rest = d / 2
	}
	p.wait(d - rest)
	return rest
}

// ages is a time after which everything is over that ever ends.
func (p *probe) ages() time.Duration {
	if p.own {
		return time.Minute
	}
	return 100 * 365 * 24 * time.Hour
}

// settle lets everything else happen that can happen now.
func (p *probe) settle() {
	if !p.own {
		synctest.Wait()
	}
}

// isNow reports whether at is this moment by the store's clock. On another clock any time will do.
func (p *probe) isNow(at time.Time) bool {
	return at.Equal(time.Now()) || p.own && !at.IsZero()
}

// passed checks how much time the store says has passed. On a store's own clock it is a little more, never less.
func (p *probe) passed(got, want time.Duration, what string) {
	p.Helper()
	if exact := !p.own; exact && got != want || got < p.scaled(want) {
		p.Errorf("%s: %v have passed, want %v", what, got, p.scaled(want))
	}
}

// Begin and Heartbeat lease for as long as the checks' time says.
func (p *probe) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	return p.Store.Begin(ctx, id, node, p.scaled(d))
}

func (p *probe) Heartbeat(ctx context.Context, leases []task.Lease, d time.Duration) (task.Beat, error) {
	return p.Store.Heartbeat(ctx, leases, p.scaled(d))
}
