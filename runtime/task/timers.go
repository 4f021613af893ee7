package task

import (
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/heap"
)

// timers is a queue of deadlines behind one time.Timer, so that 100,000 deadlines cost one (TSK15). It has no goroutine
// of its own while nothing is due.
type timers struct {
	mu     sync.Mutex
	queue  heap.Heap[*timer]
	clock  *time.Timer
	armed  time.Time // when clock fires; zero if it does not
	closed bool
	ticks  sync.WaitGroup
}

// timer is one deadline. fire is called once, outside locks, one timer after the other: it must not block.
type timer struct {
	at       time.Time
	fire     func()
	position int           // in the queue
	left     time.Duration // the time until at when Run.pause took it out of the queue, for Run.resume; 0: it was not
}

// Before implements heap.Element.
func (e *timer) Before(f *timer) bool { return e.at.Before(f.at) }

// Position implements heap.Element.
func (e *timer) Position() *int { return &e.position }

func (t *timers) add(at time.Time, fire func()) *timer {
	e := &timer{at: at, fire: fire, position: heap.Outside}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.queue.Push(e)
		t.arm()
	}
	return e
}

// remove drops a timer, which may be nil or have fired. The clock stays armed: to fire once for nothing is cheaper than
// to reset it for every task that ends in time.
func (t *timers) remove(e *timer) {
	if e == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.position != heap.Outside && !t.closed { // closed, the queue is gone
		t.queue.Remove(e)
	}
}

// arm makes the clock fire for the earliest timer. The caller holds the lock.
func (t *timers) arm() {
	if t.queue.Len() == 0 || !t.armed.IsZero() && !t.queue.First().at.Before(t.armed) {
		return
	}
	t.armed = t.queue.First().at
	if d := time.Until(t.armed); t.clock == nil {
		t.clock = time.AfterFunc(d, t.tick)
	} else {
		t.clock.Reset(d)
	}
}

func (t *timers) tick() {
	due, ok := t.due()
	if !ok {
		return
	}
	defer t.ticks.Done()
	for _, e := range due {
		e.fire()
	}
}

// due takes out the timers that have to fire now, and counts the call of tick in ticks. It returns false if the timers are closed.
func (t *timers) due() ([]*timer, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, false
	}
	t.ticks.Add(1)
	var due []*timer
	for now := time.Now(); t.queue.Len() > 0 && !now.Before(t.queue.First().at); {
		due = append(due, t.queue.Pop())
	}
	t.armed = time.Time{}
	t.arm()
	return due, true
}

// close drops all timers and waits for those that are firing.
func (t *timers) close() {
	t.mu.Lock()
	t.closed, t.queue = true, heap.Heap[*timer]{}
	if t.clock != nil {
		t.clock.Stop()
	}
	t.mu.Unlock()
	t.ticks.Wait()
}
