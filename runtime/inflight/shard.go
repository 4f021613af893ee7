package inflight

import (
	"math"
	"sync"
	"time"
)

// shardCount is how many locks requests are spread over. It is a power of two: the top bits of a key's hash choose the shard.
const (
	shardBits  = 6
	shardCount = 1 << shardBits
)

// shard is one part of the table: buckets for finding, a heap for timeouts, one lock for both and for the state of its
// entries.
type shard struct {
	mu      sync.Mutex
	table   table
	heap    heap
	timer   *time.Timer // one for all timeouts here; made when first needed
	armed   int64       // when timer fires, on the tracker's clock; 0: it will not
	tracker *Tracker
	_       [40]byte // 128 bytes in all on 64-bit machines: two shards share no cache line
}

func (t *Tracker) shard(hash uint64) *shard { return &t.shards[hash>>(64-shardBits)] }

// add puts a new request into the table and, with a timeout, into the heap.
func (s *shard) add(e *Entry, key *Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tracker.closed.Load() {
		return ErrShutdown
	}
	if s.table.find(e.hash, key) != nil {
		return ErrInFlight
	}
	s.table.insert(e)
	if e.kind.Timeout <= 0 {
		return nil
	}
	s.schedule(e, e.started)
	return nil
}

// schedule puts a request with a timeout into the heap; the lock is held.
func (s *shard) schedule(e *Entry, now int64) {
	s.heap.push(e)
	if due := e.due(); s.armed == 0 || due < s.armed {
		s.arm(due, now)
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

// event is what can happen to a request.
type event uint8

const (
	complete event = iota
	cancel
	protect
	unprotect
	pause
	resume
	answerTimeout
)

// completed is the cause of a request that was not cancelled.
var completed = &Cause{Source: SourceCompleted}

// Retire completes the request. True: the caller alone may write the response. False: the request ended in
// another way, see Cause; write nothing (CAN02, CAN12).
func (e *Entry) Retire() bool { return e.shard.change(e, complete, completed) == Cancelled }

// AnswerTimeout completes a request with Kind.AnswersTimeout that its timeout has ended. True: the caller alone may write the
// response. False: the request was cancelled meanwhile, by the peer or by the end of its connection; write nothing (CAN02). Until
// AnswerTimeout is called, the request is in the table: its id is taken, and it can be cancelled.
func (e *Entry) AnswerTimeout() bool { return e.shard.change(e, answerTimeout, completed) == Cancelled }

// Cancel ends the request with cause, or records cause if the request is protected. cause must not be changed afterwards.
func (e *Entry) Cancel(cause *Cause) CancelEffect { return e.shard.change(e, cancel, cause) }

// Protect protects the request from now on: cancellations by peers, disconnects and shutdowns are only recorded, unless they have Force; its
// timeout still ends it. It is for a request that became a task (CAN11). False: it is over already.
func (e *Entry) Protect() bool { return e.shard.change(e, protect, nil) == Recorded }

// Unprotect takes Protect back, but not Kind.Protected: a cancellation that was recorded ends the request now, and others end it when they come. It is
// for a request whose answer is not about the task that it became (CAN02).
func (e *Entry) Unprotect() { e.shard.change(e, unprotect, nil) }

// Protected reports whether cancellations by peers, disconnects and shutdowns are only recorded.
func (e *Entry) Protected() bool { return e.flags.Load()&protected != 0 }

// change applies an event and then does what must not happen under the lock.
func (s *shard) change(e *Entry, ev event, c *Cause) CancelEffect {
	s.mu.Lock()
	o := s.apply(e, ev, c)
	if ev == unprotect {
		c = e.cause
	}
	stop := e.unfollow()
	s.mu.Unlock()
	e.afterUnlock(o, c, stop)
	return o
}

// apply is the only function that changes whether a request is in flight, protected or over. The lock is held. The first caller that
// ends the request, by completion or otherwise, gets Cancelled; all others get Unknown (CAN12). Only an unanswered request, which its timeout has ended,
// ends a second time: by its answer, or by a cancellation before that.
func (s *shard) apply(e *Entry, ev event, c *Cause) CancelEffect {
	flags := e.flags.Load()
	switch {
	case flags&unanswered != 0:
		return s.applyUnanswered(e, ev)
	case flags&over != 0 || ev == answerTimeout:
		return Unknown
	case ev == protect:
		e.flags.Or(protected)
		return Recorded
	case ev == unprotect:
		return s.unprotect(e)
	case ev == pause || ev == resume:
		s.pauseOrResume(e, ev)
		return Recorded
	case ev == cancel && flags&protected != 0 && !c.endsProtected():
		if x := e.makeLazy(); x.recorded == nil {
			x.recorded, x.recordedAt = c, s.tracker.now()
		}
		return Recorded
	}
	s.retire(e, c)
	return Cancelled
}

// unprotect is apply for Unprotect.
func (s *shard) unprotect(e *Entry) CancelEffect {
	if e.kind.Protected {
		return Recorded
	}
	e.flags.And(^protected)
	if e.lazy == nil || e.lazy.recorded == nil {
		return Recorded
	}
	s.retire(e, e.lazy.recorded)
	return Cancelled
}

// applyUnanswered is apply for an unanswered request: it is answered now (answerTimeout), or cancelled, and then never answered. A handler
// that returns now is too late.
func (s *shard) applyUnanswered(e *Entry, ev event) CancelEffect {
	if ev != answerTimeout && ev != cancel {
		return Unknown
	}
	e.flags.And(^unanswered)
	s.table.remove(e)
	return Cancelled
}

// retire releases all memory that the tracker has for the request (an unanswered one stays in the table), and wakes those that wait for its end (CAN03).
func (s *shard) retire(e *Entry, c *Cause) {
	ended := over
	if e.kind.AnswersTimeout && c.Source == SourceTimeout {
		ended |= unanswered
	} else {
		s.table.remove(e)
	}
	if e.heapAt > 0 {
		s.heap.remove(e)
		if c != completed { // see disarm
			s.disarm()
		}
	}
	e.cause = c
	e.flags.Or(ended)
	if e.done != nil {
		close(e.done)
	}
	if e.lazy == nil {
		return
	}
	if e.lazy.waker != nil {
		e.lazy.waker <- struct{}{}
	}
	for _, callback := range e.lazy.callbacks {
		callback.at = -1
		go callback.f()
	}
	e.lazy.callbacks = nil
}

// unfollow returns, once, the function that stops what Follow has begun, if the request is over; the lock is held.
func (e *Entry) unfollow() (stop func() bool) {
	if e.lazy != nil && e.flags.Load()&over != 0 {
		stop, e.lazy.unfollow = e.lazy.unfollow, nil
	}
	return stop
}

// afterUnlock does what follows from the effect of an event and must not happen under the lock: it calls code that may lock a shard itself.
func (e *Entry) afterUnlock(o CancelEffect, c *Cause, stop func() bool) {
	if stop != nil {
		stop()
	}
	if observe := e.shard.tracker.opts.OnCancel; observe != nil && o != Unknown && c != nil && c != completed {
		observe(e, c, o)
	}
}

// table finds entries by key: buckets that link their entries through Entry.next. Compared with a Go map it needs one hash
// instead of three, no memory per entry, and it shrinks again (CAN03).
type table struct {
	buckets []*Entry // a power of two, at least twice count, or none
	count   int
}

const minBuckets = 8

func (t *table) bucket(hash uint64) **Entry { return &t.buckets[hash&uint64(len(t.buckets)-1)] }

func (t *table) find(hash uint64, key *Key) *Entry {
	if t.count == 0 {
		return nil
	}
	for e := *t.bucket(hash); e != nil; e = e.next {
		if e.hash == hash && e.has(key) {
			return e
		}
	}
	return nil
}

// insert adds an entry whose key is not in the table.
func (t *table) insert(e *Entry) {
	if 2*t.count >= len(t.buckets) {
		t.resize(max(minBuckets, 2*len(t.buckets)))
	}
	t.link(e)
	t.count++
}

func (t *table) link(e *Entry) {
	b := t.bucket(e.hash)
	e.next, *b = *b, e
}

// remove removes an entry that is in the table.
func (t *table) remove(e *Entry) {
	p := t.bucket(e.hash)
	for *p != e {
		p = &(*p).next
	}
	*p, e.next = e.next, nil
	t.count--
	if n := len(t.buckets); n > minBuckets && t.count < n/16 {
		t.resize(n / 2)
	}
}

func (t *table) resize(n int) {
	old := t.buckets
	t.buckets = make([]*Entry, n)
	for _, e := range old {
		for e != nil {
			next := e.next
			t.link(e)
			e = next
		}
	}
}

// all yields every entry. The table must not change meanwhile.
func (t *table) all(yield func(*Entry) bool) {
	for _, e := range t.buckets {
		for ; e != nil; e = e.next {
			if !yield(e) {
				return
			}
		}
	}
}

// heap orders entries by due. Each entry knows its place, so that any can be removed.
type heap []*Entry

func (h *heap) push(e *Entry) {
	*h = append(*h, e)
	h.up(len(*h) - 1)
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

func (h heap) set(i int, e *Entry) {
	h[i] = e
	e.heapAt = int32(i + 1)
}

// remove removes e, and releases memory when most of it is unused.
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

// due returns when the timeout passes, on the tracker's clock. Only for a request with a timeout; the lock is held.
func (e *Entry) due() int64 {
	delay := int64(0)
	if e.flags.Load()&delayed != 0 {
		delay = e.lazy.paused + e.lazy.extended
	}
	return e.dueAfter(delay)
}

// dueAfter returns when the timeout passes, given how long it is delayed.
func (e *Entry) dueAfter(delay int64) int64 {
	if due := e.started + int64(e.kind.Timeout) + delay; due > e.started {
		return due
	}
	return math.MaxInt64 // a timeout of centuries
}
