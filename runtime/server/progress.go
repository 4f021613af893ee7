package server

import (
	"errors"
	"math"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// progress sends the progress of one call. At most N notifications (WithProgressRate) are sent in any second: N/2 at a steady rate, a
// burst of N/2-1 for short calls, and one more for the last value, which never waits (PRO05).
type progress struct {
	about    subject // the request or the task's run
	revision *revision
	token    rpc.ID
	task     string // related task, "" for none

	every time.Duration // the interval of the steady rate
	burst time.Duration // how far a burst may get ahead of the steady rate

	mu       sync.Mutex
	due      time.Time // when the steady rate would send the next one
	last     float64
	started  bool
	closed   bool
	withheld bool           // nothing but the last value is sent
	warned   bool           // an implausible value or total was logged
	newest   *wire.Progress // nil until there is one; reused for each value, to save the allocation
	held     bool           // newest waits to be sent
	timer    *time.Timer
}

// callProgress is the progress of a call. That of a request is made when the handler first reports some: most requests carry a token, and most
// handlers report nothing.
type callProgress struct {
	token  rpc.ID // of the request; zero: the request carried none, or made is set from the beginning, for a task
	mu     sync.Mutex
	made   *progress
	closed bool
}

// of returns the progress of c, nil for none.
func (p *callProgress) of(c *Call) *progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made == nil && !p.token.IsZero() {
		p.made = newProgress(c.subject(), c.revision, p.token, "")
		if p.made != nil {
			p.made.withheld, p.made.closed = c.withheld != nil, p.closed
		}
	}
	return p.made
}

// close is progress.close, also for a progress that is made later.
func (p *callProgress) close() { p.end((*progress).close) }

// drop is progress.drop, also for a progress that is made later.
func (p *callProgress) drop() { p.end((*progress).drop) }

func (p *callProgress) end(how func(*progress)) {
	if p.token.IsZero() && p.made == nil {
		return // it will not be made
	}
	p.mu.Lock()
	p.closed = true
	made := p.made
	p.mu.Unlock()
	if made != nil {
		how(made)
	}
}

// newProgress returns nil when the request carried no token (PRO01).
func newProgress(about subject, rev *revision, token rpc.ID, task string) *progress {
	if token.IsZero() || rev.names[wire.OpProgress] == "" {
		return nil
	}
	half := about.peer.s.cfg.progressRate / 2
	every := time.Second / time.Duration(half)
	return &progress{
		about: about, revision: rev, token: token, task: task,
		every: every, burst: time.Duration(half-2) * every,
	}
}

// goOnFrom continues the progress of the task's last run, so that values only grow (PRO02, PRO03). pr and before may be nil.
func (pr *progress) goOnFrom(before *progress) {
	if pr == nil || before == nil {
		return
	}
	before.mu.Lock()
	defer before.mu.Unlock()
	pr.started, pr.last, pr.due = before.started, before.last, before.due
}

// report sends v, keeps it for later, or drops it if it is no step forward (PRO02).
func (pr *progress) report(v wire.Progress) {
	dropped := pr.take(v)
	if dropped != "" && pr.about.peer.s.observed {
		pr.observeDropped(dropped)
	}
}

// take takes a value, and returns why a value is dropped: v, or the one that waited to be sent; "" for none.
func (pr *progress) take(v wire.Progress) (dropped Outcome) {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	switch {
	case pr.closed:
		return TooLate
	case pr.started && v.Progress <= pr.last:
		return NoProgress
	}
	valid, totalValid := plausible(v)
	if !valid || !totalValid {
		pr.warn(v)
	}
	if !valid {
		return NoProgress
	}
	if !totalValid {
		v.Total = 0
	}
	pr.started, pr.last = true, v.Progress
	if pr.newest == nil {
		pr.newest = new(wire.Progress)
	}
	*pr.newest = v
	if pr.held {
		dropped = TooOften
	} else if !pr.withheld {
		wait := pr.wait(time.Now())
		if wait == 0 {
			pr.send()
			return ""
		}
		pr.schedule(wait)
	}
	pr.held = true
	return dropped
}

// plausible reports whether v and its total can be sent: JSON has no NaN and no infinity, and a total that the value has passed is as good
// as unknown.
func plausible(v wire.Progress) (value, total bool) {
	value = !math.IsNaN(v.Progress) && !math.IsInf(v.Progress, 0)
	total = v.Total == 0 || v.Total >= v.Progress && v.Total > 0 && !math.IsInf(v.Total, 1)
	return value, total
}

// warn logs the first value of a call that is not plausible. mu is held.
func (pr *progress) warn(v wire.Progress) {
	if pr.warned {
		return
	}
	pr.warned = true
	pr.about.peer.s.log.Warn("progress that means nothing: the value must be a number, and the total not below it",
		"id", pr.about.id.String(), "task", pr.task, "progress", v.Progress, "total", v.Total)
}

// wait returns how long the next notification has to wait for the rate. mu is held.
func (pr *progress) wait(now time.Time) time.Duration {
	ahead := pr.due.Sub(now)
	if ahead <= pr.burst { // also when nothing was sent yet: then ahead is the least Duration there is
		return 0
	}
	return ahead - pr.burst
}

func (pr *progress) schedule(d time.Duration) {
	if pr.timer == nil {
		pr.timer = time.AfterFunc(d, pr.flush)
		return
	}
	pr.timer.Reset(d)
}

// flush sends the value that waits.
func (pr *progress) flush() {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	if pr.held && !pr.closed {
		pr.send()
	}
}

// send writes the newest value unless the call is over. mu is held, which keeps values in order; a peer that does not read
// makes the handler wait here.
func (pr *progress) send() {
	v := pr.newest
	pr.held = false
	v.ProgressToken, v.RelatedTask = pr.token, pr.task
	if errors.Is(pr.about.send(notification{revision: pr.revision, op: wire.OpProgress, params: pr.revision.AppendProgress(nil, v)}), errSilenced) {
		return
	}
	now := time.Now()
	if pr.due.Before(now) {
		pr.due = now
	}
	pr.due = pr.due.Add(pr.every)
}

// drop sends nothing from now on.
func (pr *progress) drop() {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	pr.closed, pr.held = true, false
}

// close sends the last value if it waits, and nothing from then on.
func (pr *progress) close() {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	if pr.closed {
		return
	}
	pr.closed = true
	if pr.timer != nil {
		pr.timer.Stop()
	}
	if pr.held {
		pr.send()
	}
}
