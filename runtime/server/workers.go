package server

import (
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/internal/stack"
)

// workers serve the requests of a connection or session. A goroutine that has served one takes the next that waits: new goroutines begin
// with small stacks, and growing those costs a tenth of a call. No request waits for another's handler: as long as one waits, there is a
// goroutine that is about to take it. Of a connection, one goroutine stays when nothing waits, of a session none. A goroutine that
// has answered a call with a task runs the task, which may take longer than the connection or session lasts.
type workers struct {
	mu          sync.Mutex
	first, last *request // that wait, linked by request.nextWaiting
	beginning   bool     // a goroutine is about to take the first
	begin       func()   // that goroutine's function, made once: a go statement with it does not allocate
	idle        *idle    // nil: no goroutine stays
}

// idle is the goroutine of a connection that stays when nothing waits. It is guarded by workers.mu.
type idle struct {
	stays   bool // there is one
	wanted  bool // it is to take the first request
	closed  bool // none may stay any more
	changed sync.Cond
	ended   sync.WaitGroup
}

func newWorkers() *workers {
	w := new(workers)
	w.begin = func() {
		r := w.takeNew()
		if r == nil {
			return // another one has taken it
		}
		stack.Grow()
		for ; r != nil; r = w.next() {
			r.serve().Run()
		}
	}
	return w
}

// keepOne permits one goroutine to stay until release.
func (w *workers) keepOne() { w.idle = &idle{changed: sync.Cond{L: &w.mu}} }

// release ends the goroutine that stays, and waits for it.
func (w *workers) release() {
	w.mu.Lock()
	w.idle.closed = true
	w.idle.changed.Signal()
	w.mu.Unlock()
	w.idle.ended.Wait()
}

// serve has a goroutine serve the request.
func (w *workers) serve(r *request) {
	w.mu.Lock()
	if w.last == nil {
		w.first = r
	} else {
		w.last.nextWaiting = r
	}
	w.last = r
	begins := w.needsGoroutine()
	w.mu.Unlock()
	if begins {
		go w.begin()
	}
}

// next returns the next request for a goroutine that has served one, nil if it is to end.
func (w *workers) next() *request {
	w.mu.Lock()
	r := w.takeFirst()
	for r == nil && w.stay() {
		w.beginning = false
		r = w.takeFirst()
	}
	begins := w.needsGoroutine()
	w.mu.Unlock()
	if begins {
		go w.begin()
	}
	return r
}

// stay waits until the goroutine is to take a request; false: it is to end. w.mu is held, and released meanwhile.
func (w *workers) stay() bool {
	i := w.idle
	if i == nil || i.stays || i.closed {
		return false
	}
	i.stays = true
	i.ended.Add(1)
	for !i.wanted && !i.closed {
		i.changed.Wait()
	}
	i.ended.Done()
	wanted := i.wanted
	i.stays, i.wanted = false, false
	return wanted
}

// takeNew takes the first request for a goroutine that has just begun, nil if there is none.
func (w *workers) takeNew() *request {
	w.mu.Lock()
	w.beginning = false
	r := w.takeFirst()
	begins := w.needsGoroutine()
	w.mu.Unlock()
	if begins {
		go w.begin()
	}
	return r
}

// takeFirst takes the first request that waits, nil if there is none. w.mu is held.
func (w *workers) takeFirst() *request {
	r := w.first
	if r != nil {
		w.first, r.nextWaiting = r.nextWaiting, nil
	}
	if w.first == nil {
		w.last = nil
	}
	return r
}

// needsGoroutine notes that one more goroutine is about to take a request, if that has to be, and reports whether the caller has to begin it: otherwise it
// is the one that has stayed. w.mu is held.
func (w *workers) needsGoroutine() bool {
	if w.first == nil || w.beginning {
		return false
	}
	w.beginning = true
	i := w.idle
	if i == nil || !i.stays || i.closed {
		return true
	}
	i.wanted = true
	i.changed.Signal()
	return false
}
