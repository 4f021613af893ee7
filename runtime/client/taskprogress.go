package client

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// passing is how the progress of a task reaches the function of OnProgress. A call that waits for its task calls the function on the caller's goroutine;
// an Execution, for which perhaps nobody waits, has a goroutine for that.
type passing struct {
	progress func(Progress) // nil: nobody wants progress
	reports  reports        // guarded by Session.mu, but for its channel
	passed   chan struct{}  // closed when the goroutine has passed everything on; nil: there is none
	calling  chan struct{}  // full while progress is called
	silent   atomic.Bool    // progress is not called any more: the task was cancelled, is not followed, or its result was returned
}

// passInBackground has progress passed on by a goroutine until the execution is over, and then what came before its end.
func (x *execution) passInBackground() {
	s := x.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.progress == nil || s.over {
		return
	}
	passed := make(chan struct{})
	x.passed = passed
	s.passing.Go(func() { defer close(passed); x.passUntilOver() })
}

// awaitProgress waits for the functions of OnProgress, but no longer than passWait: one of them may call Close.
func (s *Session) awaitProgress() {
	passed := make(chan struct{})
	go func() { defer close(passed); s.passing.Wait() }()
	timer := time.NewTimer(passWait)
	defer timer.Stop()
	select {
	case <-passed:
	case <-timer.C:
	}
}

func (x *execution) passUntilOver() {
	for over := false; !over || len(x.reports.c) > 0; {
		select {
		case p := <-x.reports.c:
			x.pass(p)
		case <-x.ended:
			over = true
		}
	}
}

// pass passes one report on.
func (x *execution) pass(p Progress) {
	x.calling <- struct{}{}
	defer func() { <-x.calling }()
	if !x.silent.Load() {
		x.progress(p)
	}
}

// passWait is how long to wait for a caller's function, which may itself wait for the result, cancel the task, stop following it, or close the session.
const passWait = time.Second

// passRest passes on what came before the end of the execution, or waits until the goroutine has. Afterwards progress is not called any more.
func (x *execution) passRest(ctx context.Context) {
	for x.passed == nil && len(x.reports.c) > 0 && ctx.Err() == nil {
		x.pass(<-x.reports.c)
	}
	if x.passed == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, passWait)
	defer cancel()
	select {
	case <-x.passed:
	case <-ctx.Done():
		x.silent.Store(true)
	}
}

// silence has progress not called any more, and waits for the call that is under way.
func (x *execution) silence(ctx context.Context) {
	x.silent.Store(true)
	ctx, cancel := context.WithTimeout(ctx, passWait)
	defer cancel()
	select {
	case x.calling <- struct{}{}:
		<-x.calling
	case <-ctx.Done():
	}
}

// receiveTaskProgress passes on progress of a request that has become a task, in revisions where its token stays valid; false: there is no such request.
func (s *Session) receiveTaskProgress(token rpc.ID, p Progress) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for x := range s.executions() {
		if x.request != token || !x.dialect.Task.Progress {
			continue
		}
		x.reports.add(p)
		return true
	}
	for c := range s.calls {
		if c.mayBeTask && c.dialect.Task.Progress && c.reportLate(token, p) {
			return true
		}
	}
	return false
}

// reportLate takes progress of a request that was answered, perhaps with a task that its caller does not follow yet; false: it is another's.
func (c *call) reportLate(token rpc.ID, p Progress) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.round == nil || c.round.entry.ID() != token {
		return false
	}
	c.round.reports.add(p)
	return true
}
