package task

import (
	"errors"
	"time"
)

// errForOthers ends a run whose task is left for other processes, before the runner was called.
var errForOthers = errors.New("this process can not run the task")

// leaveToOthers decides whether the task of a run that has just begun is given back, because this process can not run it and another one may
// (Config.CanRun). They have as long as a lease from the first time. A task that nobody can run would stay unfinished until its ttl if it were given
// back for ever.
func (e *Engine) leaveToOthers(r *Run) bool {
	canRun := e.config.CanRun
	if canRun == nil || !e.store.Durable() || canRun(r) {
		return false
	}
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	until, again := e.givenBack[r.task.ID]
	if !again {
		until = now.Add(e.config.Lease)
		e.givenBack[r.task.ID] = until
	}
	return e.resumes && now.Before(until)
}

// forgetGivenBack forgets tasks that were given back and not seen here since: they run elsewhere, or are over.
func (e *Engine) forgetGivenBack() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, until := range e.givenBack {
		if time.Since(until) > e.config.Lease {
			delete(e.givenBack, id)
		}
	}
}
