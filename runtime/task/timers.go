package task

import (
	"container/heap"
	"sync"
	"time"
)

// timers is a heap of deadlines behind one time.Timer, so that 100,000 deadlines cost one (TSK15). It has no goroutine
// of its own while nothing is due.
type timers struct {
	mu     sync.Mutex
	heap   timerHeap
	clock  *time.Timer
	armed  time.Time // when clock fires; zero if it does not
	closed bool
	ticks  sync.WaitGroup
}

// timer is one deadline. fire is called once, outside locks, one timer after the other: it must not block.
type timer struct {
	at    time.Time
	fire  func()
	place int           // in the heap, -1 outside
	left  time.Duration // until at, when it was taken out to be added again
}

func (t *timers) add(at time.Time, fire func()) *timer {
	e := &timer{at: at, fire: fire, place: -1}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		heap.Push(&t.heap, e)
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
	if e.place >= 0 && !t.closed { // closed, the heap is gone
		heap.Remove(&t.heap, e.place)
	}
}

// arm makes the clock fire for the earliest timer. The caller holds the lock.
func (t *timers) arm() {
	if len(t.heap) == 0 || !t.armed.IsZero() && !t.heap[0].at.Before(t.armed) {
		return
	}
	t.armed = t.heap[0].at
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

// due takes out what has to fire now, and enters ticks unless the timers are closed.
func (t *timers) due() ([]*timer, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, false
	}
	t.ticks.Add(1)
	var due []*timer
	for now := time.Now(); len(t.heap) > 0 && !now.Before(t.heap[0].at); {
		due = append(due, heap.Pop(&t.heap).(*timer))
	}
	t.armed = time.Time{}
	t.arm()
	return due, true
}

// close drops all timers and waits for those that are firing.
func (t *timers) close() {
	t.mu.Lock()
	t.closed, t.heap = true, nil
	if t.clock != nil {
		t.clock.Stop()
	}
	t.mu.Unlock()
	t.ticks.Wait()
}

type timerHeap []*timer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}
func (h *timerHeap) Push(x any) {
	e := x.(*timer)
	e.place = len(*h)
	*h = append(*h, e)
}
func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	e.place = -1
	(*h)[last] = nil
	*h = (*h)[:last]
	return e
}
