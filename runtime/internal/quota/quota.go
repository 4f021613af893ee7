// Package quota divides what a server has among those who ask for it, so that nobody uses it up for all (TSK28).
package quota

import (
	"sync"
	"sync/atomic"
)

// Fair tells whether one who holds own gets n more of limit, of which used is taken by all together. One may hold up to three times
// what is left: alone at most three quarters, and however many want much, something is left for one who holds nothing.
//
// Rejected: a fixed part for each, because two of them could use up all, or one alone had little; what one may have as long as
// nobody else asks, because requests can not be taken back.
func Fair(own, used, n, limit int64) bool {
	return used+n <= limit && own+n <= 3*(limit-used)
}

// Limit bounds what all hold together. Who holds how much is kept by its users.
type Limit struct {
	Max  int64
	used atomic.Int64
}

// Used is what all hold together.
func (l *Limit) Used() int64 { return l.used.Load() }

// Take takes n for the holder of own, if that is fair.
func (l *Limit) Take(own *atomic.Int64, n int64) bool {
	used, had := l.used.Add(n)-n, own.Add(n)-n
	if Fair(had, used, n, l.Max) {
		return true
	}
	l.Give(own, n)
	return false
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
	by   map[K]int64
}

// NewShared returns a limit of which nothing is taken.
func NewShared[K comparable](max int64) *Shared[K] {
	return &Shared[K]{max: max, by: map[K]int64{}}
}

// Take takes n for k, if that is fair.
func (s *Shared[K]) Take(k K, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !Fair(s.by[k], s.used, n, s.max) {
		return false
	}
	s.used += n
	s.by[k] += n
	return true
}

// Give gives n back.
func (s *Shared[K]) Give(k K, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
	if s.by[k] -= n; s.by[k] == 0 {
		delete(s.by, k)
	}
}

// Used is what all hold together.
func (s *Shared[K]) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}
