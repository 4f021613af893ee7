// Package rate bounds how often something happens, and how often that is logged. It is for the packages of the runtime that are asked from outside.
package rate

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// Limit is how much passes in a second, and at once after a pause. A PerSecond of 0 or less means no limit.
type Limit struct{ PerSecond, Burst int }

// Bucket counts what passes a limit. The zero value is full. It keeps the time at which it will be full again, so nothing has to fill
// it and one word is all its state.
type Bucket struct{ full atomic.Int64 }

// Take takes n, at most the burst, and returns 0, or how long to wait until there are as many. now is of a clock that never goes back.
func (b *Bucket) Take(l Limit, n int, now time.Duration) (wait time.Duration) {
	if l.PerSecond <= 0 {
		return 0
	}
	one := time.Second / time.Duration(l.PerSecond)
	for {
		old := b.full.Load()
		full := max(time.Duration(old), now) + one*time.Duration(n)
		if wait = full - now - one*time.Duration(max(l.Burst, 1)); wait > 0 {
			return wait
		}
		if b.full.CompareAndSwap(old, int64(full)) {
			return 0
		}
	}
}

// Table has a bucket for each key, and keeps those that are not full. Make it with NewTable.
type Table[K comparable] struct {
	since  time.Time
	seed   maphash.Seed
	shards [16]shard[K]
}

type shard[K comparable] struct {
	mu      sync.Mutex
	buckets map[K]*Bucket
	sweep   int // the size at which to look for full ones
}

// NewTable returns an empty table.
func NewTable[K comparable]() *Table[K] {
	return &Table[K]{since: time.Now(), seed: maphash.MakeSeed()}
}

// Take is Bucket.Take of the key's bucket, now.
func (t *Table[K]) Take(key K, l Limit, n int) (wait time.Duration) {
	if l.PerSecond <= 0 {
		return 0
	}
	s := &t.shards[maphash.Comparable(t.seed, key)%uint64(len(t.shards))]
	now := time.Since(t.since)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[key]
	if b == nil {
		b = s.add(key, now)
	}
	return b.Take(l, n, now)
}

const smallTable = 256

func (s *shard[K]) add(key K, now time.Duration) *Bucket {
	if s.buckets == nil {
		s.buckets, s.sweep = map[K]*Bucket{}, smallTable
	}
	if len(s.buckets) >= s.sweep {
		for k, b := range s.buckets {
			if time.Duration(b.full.Load()) <= now {
				delete(s.buckets, k)
			}
		}
		s.sweep = max(smallTable, 2*len(s.buckets))
	}
	b := new(Bucket)
	s.buckets[key] = b
	return b
}
