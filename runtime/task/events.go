package task

import "sync"

// events tells Config.OnChange the changes of one task in order, without a goroutine and without calling it under a
// lock: whoever finds nobody telling tells all that is queued.
type events struct {
	mu     sync.Mutex
	queue  []Task
	last   uint64 // version of the newest change that was queued
	held   bool   // before Start: queue only (TSK04)
	active bool
}

// publish queues a change and tells what is queued. An older version than the last one is dropped: two who changed the
// task may come here in the wrong order, and the newer snapshot says it all.
func (ev *events) publish(t *Task, tell func(Task)) {
	ev.mu.Lock()
	if t.Version > ev.last {
		ev.last = t.Version
		ev.queue = append(ev.queue, *t)
	}
	ev.drain(tell)
}

// release ends the time of queueing only.
func (ev *events) release(tell func(Task)) {
	ev.mu.Lock()
	ev.held = false
	ev.drain(tell)
}

// drain is called with the lock and returns without it.
func (ev *events) drain(tell func(Task)) {
	if ev.held || ev.active {
		ev.mu.Unlock()
		return
	}
	ev.active = true
	for len(ev.queue) > 0 {
		t := ev.queue[0]
		ev.queue = ev.queue[1:]
		ev.mu.Unlock()
		tell(t)
		ev.mu.Lock()
	}
	ev.queue, ev.active = nil, false
	ev.mu.Unlock()
}
