package task

import "sync"

// events calls Config.OnChange with the changes of one task in order, without a goroutine and without calling it under a
// lock: a caller that publishes a change while no other one does makes the calls for all that is queued. A run has the events of the one before, and of the
// calls that change the task meanwhile.
type events struct {
	calls int // that change the task and may still publish; guarded by Engine.mu

	mu     sync.Mutex
	queue  *[]Task // nil: nothing is queued, as mostly
	last   uint64  // version of the newest change that was queued
	held   bool    // before the task begins (Beginning): changes are queued only (TSK04)
	active bool    // a caller of publish or release is calling OnChange
}

// publish queues a change and reports what is queued. A version older than the last one is dropped: two callers that changed the
// task may come here in the wrong order, and the newer snapshot includes the older change.
func (ev *events) publish(t *Task, onChange func(Task)) {
	ev.mu.Lock()
	newer := t.Version > ev.last
	if newer {
		ev.last = t.Version
	}
	switch {
	case newer && (ev.held || ev.active):
		if ev.queue == nil {
			ev.queue = new([]Task)
		}
		*ev.queue = append(*ev.queue, *t)
	case newer: // as mostly; without a queue, which costs memory
		ev.active = true
		ev.mu.Unlock()
		onChange(*t)
		ev.mu.Lock()
		ev.active = false
	}
	ev.drain(onChange)
}

// release reports what was queued before the task began.
func (ev *events) release(onChange func(Task)) {
	ev.mu.Lock()
	ev.held = false
	ev.drain(onChange)
}

// drain is called with the lock and returns without it.
func (ev *events) drain(onChange func(Task)) {
	if ev.held || ev.active {
		ev.mu.Unlock()
		return
	}
	ev.active = true
	for q := ev.queue; q != nil && len(*q) > 0; q = ev.queue {
		t := (*q)[0]
		*q = (*q)[1:]
		ev.mu.Unlock()
		onChange(t)
		ev.mu.Lock()
	}
	ev.queue, ev.active = nil, false
	ev.mu.Unlock()
}

// enterEvents returns the events of a task for a call that changes it, until leaveEvents.
func (e *Engine) enterEvents(id string) *events {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev := e.strays[id]
	if r := e.runs[id]; r != nil {
		ev = r.events
	} else if ev == nil {
		ev = new(events)
		e.strays[id] = ev
	}
	ev.calls++
	return ev
}

func (e *Engine) leaveEvents(id string, ev *events) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ev.calls--; ev.calls == 0 && e.strays[id] == ev {
		delete(e.strays, id)
	}
}

// inheritEvents gives a run that begins the events of the one before, or those of the calls that change the task. The caller holds the lock.
func (e *Engine) inheritEvents(r, before *Run, id string) {
	if before != nil {
		r.events = before.events
	} else if ev := e.strays[id]; ev != nil {
		r.events = ev
		delete(e.strays, id)
	}
}

// bequeathEvents keeps the events of a run that is forgotten for the calls that still use them. The caller holds the lock.
func (e *Engine) bequeathEvents(r *Run, id string) {
	if r.events.calls > 0 {
		e.strays[id] = r.events
	}
}
