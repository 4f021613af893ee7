package server

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// sizeCache estimates the sizes of a caller's answers from each handler that returns large ones. The least recently used estimates are forgotten.
type sizeCache struct {
	mu   sync.Mutex
	of   map[sizeKey]*list.Element
	used list.List // of *sizeEntry, the one that was used last first
}

// sizeKey is one caller with one handler.
type sizeKey struct {
	x   *answerSizes // the handler's
	who Requestor
}

type sizeEntry struct {
	sizeKey
	last sizeEstimate
}

const (
	maxSizeEntries = 4096
	maxCaller      = 512 // bytes of a name that is kept
)

// size is how many bytes to count for the next answer to who.
func (c *sizeCache) size(x *answerSizes, who Requestor) int64 {
	if x.known.Load() > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		if e := c.of[sizeKey{x, who}]; e != nil {
			return e.Value.(*sizeEntry).last.size()
		}
	}
	return x.overall.load().size()
}

// learn records an output or answer of n bytes for who.
func (c *sizeCache) learn(x *answerSizes, who Requestor, n int) {
	all := x.overall.learn(n)
	if all == 1 && x.known.Load() == 0 || len(who.principal)+len(who.key) > maxCaller {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.of[sizeKey{x, who}]
	if e == nil {
		e = c.add(sizeKey{x, who})
	}
	entry := e.Value.(*sizeEntry)
	if entry.last = entry.last.after(n); entry.last == 1 && all == 1 {
		c.forget(e) // the estimate of all callers says the same
		return
	}
	c.used.MoveToFront(e)
}

// add adds an entry. mu is held.
func (c *sizeCache) add(key sizeKey) *list.Element {
	if c.of == nil {
		c.of = map[sizeKey]*list.Element{}
	}
	if c.used.Len() == maxSizeEntries {
		c.forget(c.used.Back())
	}
	key.x.known.Add(1)
	c.of[key] = c.used.PushFront(&sizeEntry{sizeKey: key})
	return c.of[key]
}

// forget drops an entry. mu is held.
func (c *sizeCache) forget(e *list.Element) {
	entry := c.used.Remove(e).(*sizeEntry)
	entry.x.known.Add(-1)
	delete(c.of, entry.sizeKey)
}

// size is how many bytes to count for the next answer. If nothing is known, it may be large: else many would start before the
// first is encoded.
func (e sizeEstimate) size() int64 {
	switch e {
	case 0:
		return largeOutput
	case 1:
		return 0
	default:
		return int64(e)
	}
}

// after is the estimate after one more answer, of n bytes.
func (e sizeEstimate) after(n int) sizeEstimate {
	size := max(sizeEstimate(n), e-e/8)
	if size <= smallAnswer {
		size = 1
	}
	return size
}

func (e *sizeEstimate) learn(n int) sizeEstimate {
	last := e.load()
	size := last.after(n)
	if size != last {
		atomic.StoreInt64((*int64)(e), int64(size))
	}
	return size
}
