package inflight

import (
	"math"
	"time"
)

// await puts a request with a timeout into the heap; the lock is held.
func (s *shard) await(e *Entry, now int64) {
	s.heap.push(e)
	if due := e.due(); s.armed == 0 || due < s.armed {
		s.arm(due, now)
	}
}

// pace stops the clock of a request's timeout at the first pause, and lets it go on at the last resume (CAN28); the lock is held.
func (s *shard) pace(e *Entry, ev event) {
	if e.info.Timeout <= 0 {
		return
	}
	x, now := e.more(), s.tracker.now()
	switch {
	case ev == pause:
		if x.pauses++; x.pauses == 1 {
			e.flags.Or(paced)
			x.pausedAt = now
			s.heap.remove(e)
			s.disarm()
		}
	case x.pauses == 1:
		x.pauses, x.paused = 0, x.paused+now-x.pausedAt
		s.await(e, now)
	default:
		x.pauses--
	}
}

// extend lets a request's timeout begin anew, now or, while its clock stands, when it goes on; the lock is held.
func (s *shard) extend(e *Entry, limit time.Duration) {
	x := e.more()
	now := s.tracker.now()
	if x.pauses > 0 {
		now = x.pausedAt
	}
	ran := now - e.started - x.paused
	if most := int64(limit - e.info.Timeout); limit > 0 && ran > most {
		ran = most
	}
	if ran <= x.extended {
		return
	}
	x.extended = ran
	e.flags.Or(paced)
	if x.pauses == 0 {
		s.heap.remove(e)
		s.await(e, now)
	}
}

// arm sets the shard's timer; the lock is held.
func (s *shard) arm(due, now int64) {
	s.armed = due
	if s.timer == nil {
		s.timer = time.AfterFunc(time.Duration(due-now), s.expire)
		return
	}
	s.timer.Reset(time.Duration(due - now))
}

// disarm stops the timer when nothing waits for it. Not done for requests that complete: a timer that fires once in vain costs
// less than stopping and setting it with every call.
func (s *shard) disarm() {
	if s.armed != 0 && len(s.heap) == 0 {
		s.timer.Stop()
		s.armed = 0
	}
}

// expire runs in the timer's goroutine: it cancels what is due (CAN20) and waits for the next.
func (s *shard) expire() {
	var due []ended
	s.mu.Lock()
	now := s.tracker.now()
	for len(s.heap) > 0 && s.heap[0].due() <= now {
		e := s.heap[0]
		due = append(due, s.end(e, timeoutCause(e)))
	}
	s.armed = 0
	if len(s.heap) > 0 {
		s.arm(s.heap[0].due(), now)
	}
	s.mu.Unlock()
	finish(due)
}

func timeoutCause(e *Entry) *Cause {
	after := e.info.Timeout
	if e.flags.Load()&paced != 0 {
		after += time.Duration(e.rare.extended)
	}
	return &Cause{Source: SourceTimeout, Reason: "not done after " + after.String()}
}

// heap orders entries by due. It knows each entry's place, so that any can leave.
type heap []*Entry

func (h *heap) push(e *Entry) {
	*h = append(*h, e)
	h.up(len(*h) - 1)
}

// remove takes e out, and gives memory back when most of it is unused.
func (h *heap) remove(e *Entry) {
	i, last := int(e.heapAt)-1, len(*h)-1
	moved := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	e.heapAt = 0
	if i != last {
		h.set(i, moved)
		h.up(i)
		h.down(int(moved.heapAt) - 1)
	}
	if c := cap(*h); c > 16 && last < c/4 {
		*h = append(make(heap, 0, c/2), *h...)
	}
}

func (h heap) set(i int, e *Entry) {
	h[i] = e
	e.heapAt = int32(i + 1)
}

// up moves the entry at i towards the front until its parent is not later.
func (h heap) up(i int) {
	e, due := h[i], h[i].due()
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].due() <= due {
			break
		}
		h.set(i, h[parent])
		i = parent
	}
	h.set(i, e)
}

// down moves the entry at i towards the back until its children are not earlier.
func (h heap) down(i int) {
	e, due := h[i], h[i].due()
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if right := child + 1; right < len(h) && h[right].due() < h[child].due() {
			child = right
		}
		if due <= h[child].due() {
			break
		}
		h.set(i, h[child])
		i = child
	}
	h.set(i, e)
}

// due is when the timeout passes, on the tracker's clock. Only with a timeout; the lock is held.
func (e *Entry) due() int64 {
	stood := int64(0)
	if e.flags.Load()&paced != 0 {
		stood = e.rare.paused + e.rare.extended
	}
	return e.dueAfter(stood)
}

// dueAfter is when the timeout passes if the clock stood so long.
func (e *Entry) dueAfter(stood int64) int64 {
	if due := e.started + int64(e.info.Timeout) + stood; due > e.started {
		return due
	}
	return math.MaxInt64 // a timeout of centuries
}
