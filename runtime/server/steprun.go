package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/stack"
)

// stepRun is a step under way. It is a value of the step's context.
type stepRun struct {
	journal   *callJournal
	name      string
	outer     *stepRun // that it is a part of; nil: none
	depth     int      // how many steps it is a part of
	goroutine uint64   // that runs it; 0: not known, since no question ends the run
}

type stepRunKey struct{}

// innermost returns the step that a call with ctx on the goroutine is a part of, nil for none. The goroutine comes first: fn of a step may use another ctx
// than the one that it was given. ctx tells of steps that have started this goroutine. The caller holds mu.
func (j *callJournal) innermost(ctx context.Context, goroutine uint64) (in *stepRun) {
	for step := range j.doing {
		if goroutine != 0 && step.goroutine == goroutine && (in == nil || step.depth > in.depth) {
			in = step
		}
	}
	if in == nil {
		in, _ = ctx.Value(stepRunKey{}).(*stepRun)
	}
	return in
}

func (j *callJournal) beginStep(ctx context.Context, name string) (*stepRun, error) {
	step := &stepRun{journal: j, name: name}
	if j.endsRuns {
		step.goroutine = stack.Goroutine()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if step.outer = j.innermost(ctx, step.goroutine); step.outer != nil {
		step.depth = step.outer.depth + 1
	}
	if partOf := j.doing[step.outer] && !j.sealed && errors.Is(j.over, ErrAsked); j.over != nil && !partOf { // endSteps waits for all parts of a step
		return nil, j.over
	}
	if j.doing == nil {
		j.doing = map[*stepRun]bool{}
	}
	j.doing[step] = true
	return step, nil
}

func (j *callJournal) leaveStep(step *stepRun) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.leave(step)
}

// leave is leaveStep for a caller that holds mu.
func (j *callJournal) leave(step *stepRun) {
	delete(j.doing, step)
	if len(j.doing) == 0 && j.idle != nil {
		close(j.idle)
		j.idle = nil
	}
}

// leaveSteps leaves the steps that the caller, who asks with ctx, is a part of: they wait for an answer that this run does not get, so the end of the run
// does not wait for them.
func (j *callJournal) leaveSteps(ctx context.Context) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.doing) == 0 {
		return
	}
	for step := j.innermost(ctx, stack.Goroutine()); step != nil; step = step.outer {
		if step.journal == j {
			j.leave(step)
		}
	}
}

// refuseSteps lets no step begin any more: Do returns why.
func (j *callJournal) refuseSteps(why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.over == nil {
		j.over = why
	}
}

// endSteps waits for the steps under way, so that what they do is recorded and not repeated, at most until the call has ended. After it nothing is
// recorded. When it has waited for long, late gets the names of the steps.
func (j *callJournal) endSteps(call context.Context, late func(steps []string)) {
	j.refuseSteps(ErrAsked)
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.doing) > 0 {
		idle := make(chan struct{})
		j.idle = idle
		warning := time.AfterFunc(longStep, func() { late(j.underWay()) })
		j.mu.Unlock()
		select {
		case <-idle:
		case <-call.Done():
		}
		warning.Stop()
		j.mu.Lock()
	}
	j.sealed = true
}

// longStep is how long questions wait for steps until the log says so.
const longStep = 10 * time.Second

// underWay are the names of the steps that endSteps waits for.
func (j *callJournal) underWay() (names []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for step := range j.doing {
		names = append(names, step.name)
	}
	slices.Sort(names)
	return names
}
