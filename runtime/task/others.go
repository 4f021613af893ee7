package task

import (
	"errors"
	"time"
)

// errForOthers ends a run whose task is left for other processes, before the runner was called.
var errForOthers = errors.New("this process can not run the task")

// givenBack is a task that was given back.
type givenBack struct {
	until time.Time // others may begin it
	again bool      // it is tried here before
}

// CanRunMore says that Config.CanRun may now report true for a task for which it has reported false, for example because its tool was added: tasks that
// were given back are tried again at once.
func (e *Engine) CanRunMore() {
	e.mu.Lock()
	any := e.resumes && len(e.givenBack) > 0
	for id, b := range e.givenBack {
		b.again = true
		e.givenBack[id] = b
	}
	e.mu.Unlock()
	if any {
		e.lookForOrphans()
	}
}

// leaveToOthers decides whether the task of a run that has just begun is given back, because this process can not run it and another one may
// (Config.CanRun). They have as long as a lease from the first time. A task that nobody can run would stay unfinished until its ttl if it were given
// back for ever.
func (e *Engine) leaveToOthers(r *Run) bool {
	canRun := e.config.CanRun
	if canRun == nil || !e.store.Durable() || canRun(r) {
		return false
	}
	if !e.giveBack(r.task.ID) {
		return false
	}
	if !canRun(r) {
		return true
	}
	e.mu.Lock() // CanRunMore was called meanwhile
	defer e.mu.Unlock()
	delete(e.givenBack, r.task.ID)
	return false
}

// giveBack notes that a task is given back; false: others have had the time to begin it.
func (e *Engine) giveBack(id string) bool {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	b, again := e.givenBack[id]
	if !again {
		b.until = now.Add(e.config.Lease)
	}
	b.again = false
	e.givenBack[id] = b
	return e.resumes && now.Before(b.until)
}

// forgetGivenBack forgets tasks that were given back and not seen here since: they run elsewhere, or are over.
func (e *Engine) forgetGivenBack() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, b := range e.givenBack {
		if time.Since(b.until) > e.config.Lease {
			delete(e.givenBack, id)
		}
	}
}
