// Package quota divides a limit fairly among those who use it, so that none of them can use it up (TSK28). It is for the packages
// of the runtime that are asked from outside.
package quota

import (
	"sync"
	"sync/atomic"
)

// Fair reports whether a holder of own gets n more of limit, of which all together use used. Each may hold up to three times what is
// left: alone at most three quarters, and however much the others want, something is left for one that holds nothing.
//
// Rejected: a fixed part for each, because two of them could use up all, or one alone had little; what one may have as long as
// nobody else asks, because requests can not be taken back.
func Fair(own, used, n, limit int64) bool {
	return used+n <= limit && !beyondPart(own, used, n, limit)
}

// beyondPart reports whether n more are too much for one who holds own, however much is left.
func beyondPart(own, used, n, limit int64) bool { return own+n > 3*(limit-used) }

// Third is Fair for what can not be refused or taken back soon: one may hold up to a third of what is left then.
func Third(own, used, n, limit int64) bool { return own+n <= Part(own, used, limit) }

// Part is how much the holder of own may hold by Third, of limit, of which all together use used.
func Part(own, used, limit int64) int64 { return (limit - used + own) / 4 }

// Limit bounds what all hold together. Who holds how much is kept by its users.
type Limit struct {
	Max  int64
	used atomic.Int64
}

// Used is what all hold together.
func (l *Limit) Used() int64 { return l.used.Load() }

// Take takes n for the holder of own, if that is fair. What is refused is not counted for a moment, so nobody else is refused for it.
func (l *Limit) Take(own *atomic.Int64, n int64) bool {
	for {
		used := l.used.Load()
		if !Fair(own.Load(), used, n, l.Max) {
			return false
		}
		if !l.used.CompareAndSwap(used, used+n) {
			continue
		}
		if had := own.Add(n) - n; !beyondPart(had, used, n, l.Max) {
			return true
		}
		l.Give(own, n) // the holder took something else at the same time
	}
}

// OwnPartUsed reports whether n more for the holder of own are refused because of what it holds itself, not because of the others.
func (l *Limit) OwnPartUsed(own *atomic.Int64, n int64) bool {
	had := own.Load()
	return had > 0 && beyondPart(had, l.used.Load(), n, l.Max)
}

// TakeReserved takes n out of a reserve beyond the limit, whoever asks.
func (l *Limit) TakeReserved(own *atomic.Int64, n, reserve int64) bool {
	own.Add(n)
	if l.used.Add(n) <= l.Max+reserve {
		return true
	}
	l.Give(own, n)
	return false
}

// Add counts n that is there already.
func (l *Limit) Add(own *atomic.Int64, n int64) {
	l.used.Add(n)
	own.Add(n)
}

// Give gives n back.
func (l *Limit) Give(own *atomic.Int64, n int64) {
	l.used.Add(-n)
	own.Add(-n)
}

// Shared is a limit that keeps who holds how much.
type Shared[K comparable] struct {
	max int64

	mu   sync.Mutex
	used int64
	last K           // who took or gave last: mostly what was taken is given back next, and needs no place in a map
	held int64       // by last
	by   map[K]int64 // by others
}

// NewShared returns a limit of which nothing is taken.
func NewShared[K comparable](max int64) *Shared[K] {
	return &Shared[K]{max: max, by: map[K]int64{}}
}

// find makes k the last. s.mu is held.
func (s *Shared[K]) find(k K) {
	if k == s.last {
		return
	}
	if s.held != 0 {
		s.by[s.last] = s.held
	}
	s.last, s.held = k, s.by[k]
	delete(s.by, k)
}

// Take takes n for k, if that is fair.
func (s *Shared[K]) Take(k K, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.find(k); !Fair(s.held, s.used, n, s.max) {
		return false
	}
	s.used += n
	s.held += n
	return true
}

// OwnPartUsed reports whether there are n more, but not for k: it holds too much itself.
func (s *Shared[K]) OwnPartUsed(k K, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.find(k)
	return s.used+n <= s.max && beyondPart(s.held, s.used, n, s.max)
}

// Give gives n back.
func (s *Shared[K]) Give(k K, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.find(k)
	s.used -= n
	s.held -= n
}

// Used is what all hold together.
func (s *Shared[K]) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}
