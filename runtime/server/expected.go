package server

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// expected is how many bytes the answers of a handler have lately. What is known of a caller counts for that one: neither do the large
// answers of one make the small ones of others wait, nor the small ones of others let many large ones begin (TSK28).
type expected struct {
	last  latest       // of all callers: what is expected of one of whom nothing is known
	known atomic.Int64 // of how many callers something is known, in habits
}

// latest is how large the last answer was, or somewhat less than a larger one before: 1 when they are small, 0 while there was none.
type latest int64

// size is what to count for the next answer. One of which nothing is known may be large: else many would start before the first is
// encoded.
func (l latest) size() int64 {
	switch l {
	case 0:
		return largeOutput
	case 1:
		return 0
	default:
		return int64(l)
	}
}

// after is what it becomes by an answer of n bytes.
func (l latest) after(n int) latest {
	size := max(latest(n), l-l/8)
	if size <= smallAnswer {
		size = 1
	}
	return size
}

func (l *latest) load() latest { return latest(atomic.LoadInt64((*int64)(l))) }

// learn takes note of an output or answer of n bytes.
func (l *latest) learn(n int) latest {
	last := l.load()
	size := last.after(n)
	if size != last {
		atomic.StoreInt64((*int64)(l), int64(size))
	}
	return size
}

// habits are the answers that callers had lately from handlers that have large ones. The least recently used are forgotten.
type habits struct {
	mu   sync.Mutex
	of   map[habit]*list.Element
	used list.List // of *known, the last one first
}

// habit is of one caller with one handler.
type habit struct {
	x   *expected
	who Requestor
}

type known struct {
	habit
	last latest
}

const (
	maxHabits = 4096
	maxCaller = 512 // bytes of a name that is kept
)

// size is what to count for the next answer to who.
func (h *habits) size(x *expected, who Requestor) int64 {
	if x.known.Load() > 0 {
		h.mu.Lock()
		defer h.mu.Unlock()
		if e := h.of[habit{x, who}]; e != nil {
			return e.Value.(*known).last.size()
		}
	}
	return x.last.load().size()
}

// learn takes note of an output or answer of n bytes for who.
func (h *habits) learn(x *expected, who Requestor, n int) {
	all := x.last.learn(n)
	if all == 1 && x.known.Load() == 0 || len(who.principal)+len(who.key) > maxCaller {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.of[habit{x, who}]
	if e == nil {
		e = h.add(habit{x, who})
	}
	k := e.Value.(*known)
	if k.last = k.last.after(n); k.last == 1 && all == 1 {
		h.forget(e) // that goes without saying
		return
	}
	h.used.MoveToFront(e)
}

// add makes room for one more. With mu.
func (h *habits) add(of habit) *list.Element {
	if h.of == nil {
		h.of = map[habit]*list.Element{}
	}
	if h.used.Len() == maxHabits {
		h.forget(h.used.Back())
	}
	of.x.known.Add(1)
	h.of[of] = h.used.PushFront(&known{habit: of})
	return h.of[of]
}

// forget forgets one. With mu.
func (h *habits) forget(e *list.Element) {
	k := h.used.Remove(e).(*known)
	k.x.known.Add(-1)
	delete(h.of, k.habit)
}

// size is what to count for the next answer of x to the room's caller.
func (r *room) size(x *expected) int64 { return r.s.habits.size(x, r.account.who) }

// learn takes note of an output or answer of n bytes.
func (r *room) learn(x *expected, n int) { r.s.habits.learn(x, r.account.who, n) }

// size is room.size, also for a call that has none.
func (c *Call) size(x *expected) int64 {
	if c.discardsResult {
		return x.last.load().size()
	}
	return c.r.room.size(x)
}

// learn is room.learn, also for a call that has none.
func (c *Call) learn(x *expected, n int) {
	if c.discardsResult {
		x.last.learn(n)
		return
	}
	c.r.room.learn(x, n)
}
