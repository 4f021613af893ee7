package server

import (
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/internal/stack"
)

// workers serve the requests of a connection or session. A goroutine that has served one takes the next that waits: new goroutines begin
// with small stacks, and growing those costs a tenth of a call. No request waits for another's handler: as long as one waits, there is a
// goroutine that has not begun yet, and will take it. None stays when nothing waits.
type workers struct {
	mu          sync.Mutex
	first, last *request // that wait, linked by request.nextWaiting
	beginning   bool     // a goroutine is about to take the first
	begin       func()   // that goroutine's function, made once: a go statement with it does not allocate
}

func newWorkers() *workers {
	w := new(workers)
	w.begin = func() {
		r := w.take(true)
		if r == nil {
			return // another one has taken it
		}
		stack.Grow()
		for ; r != nil; r = w.take(false) {
			r.serve().Run()
		}
	}
	return w
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

// take takes the first request that waits, nil if there is none. begun says that the caller is a goroutine that has just begun.
func (w *workers) take(begun bool) *request {
	w.mu.Lock()
	if begun {
		w.beginning = false
	}
	r := w.first
	if r != nil {
		w.first, r.nextWaiting = r.nextWaiting, nil
	}
	if w.first == nil {
		w.last = nil
	}
	begins := w.needsGoroutine()
	w.mu.Unlock()
	if begins {
		go w.begin()
	}
	return r
}

// needsGoroutine notes that one more goroutine begins, if one has to, and reports it. w.mu is held.
func (w *workers) needsGoroutine() bool {
	if w.first == nil || w.beginning {
		return false
	}
	w.beginning = true
	return true
}
