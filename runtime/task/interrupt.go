package task

import "time"

// Interrupter is a Store or Dispatcher that learns at once when a run may have to stop, for example from the process in which its task was
// cancelled. Without it, or when a hint is lost, the run learns of it with the next heartbeat (DUR03).
type Interrupter interface {
	// Interrupts has hint called with the ids of such tasks until stop is called. The engine reads what the store says of a task that
	// runs here and ignores the others, so a hint may come twice, for nothing, or from many goroutines. It does not block.
	Interrupts(hint func(id string)) (stop func())
}

// Offerer is a Store or Dispatcher that learns at once when a task waits for somebody to run it, for example because the process that ran
// it was shut down. Without it, or when a hint is lost, engines that resume find the task when they look the next time (DUR04).
// A Store also hints when the deadline of a parked task's question passes.
type Offerer interface {
	// Offers has hint called when there may be such a task, until stop is called. A hint may come twice, for nothing, or from many
	// goroutines. It does not block.
	Offers(hint func()) (stop func())
}

// Deliverer is a Dispatcher whose deliveries arrive in this process: New hands it the engine whose Run it calls.
type Deliverer interface {
	Deliver(to *Engine)
}

// listenForInterrupts registers the engine with the store and the dispatcher, if they are interrupters.
func (e *Engine) listenForInterrupts() {
	for _, s := range [...]any{e.store, e.config.Dispatcher} {
		if i, ok := s.(Interrupter); ok {
			e.stopHints = append(e.stopHints, i.Interrupts(e.interrupt))
		}
	}
}

// Resume looks for orphans, also those of other processes, now and three times per Config.Lease from now on, and dispatches them. Call it when Runner can
// run every task that it will be able to run. Further calls do nothing.
func (e *Engine) Resume() {
	e.mu.Lock()
	first := !e.resumes && !e.closed
	e.resumes = true
	e.mu.Unlock()
	if !first {
		return
	}
	for _, s := range [...]any{e.store, e.config.Dispatcher} {
		if o, ok := s.(Offerer); ok {
			e.untilClosed(o.Offers(e.lookForOrphans))
		}
	}
	e.lookForOrphans()
}

// untilClosed has the end of the engine call stop, which ends a source of hints. If the engine has ended meanwhile, stop is called now.
func (e *Engine) untilClosed(stop func()) {
	e.mu.Lock()
	ended := e.stopped
	if !ended {
		e.stopHints = append(e.stopHints, stop)
	}
	e.mu.Unlock()
	if ended {
		stop()
	}
}

// lookForOrphans plans a look for orphans at once.
func (e *Engine) lookForOrphans() { e.plan(&e.orphanScan, time.Now(), (*Engine).dispatchOrphans) }

// interrupt reads whether the run of a task here should stop, after a hint of an Interrupter. A run that is beginning reads it then.
func (e *Engine) interrupt(id string) {
	for _, r := range e.reach(id) {
		if r.noteHint() {
			e.spawn(func() { e.reconsider(r, false) })
		}
	}
}

// noteHint notes a hint for a run that has not begun, and reports whether it has: then there is nothing to note.
func (r *Run) noteHint() (begun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hinted = r.epoch == 0
	return !r.hinted
}
