package check

import "sync/atomic"

// fewValues are compared one by one; more are found in an index.
const fewValues = 16

// index maps each of many values to its position in a table. The map is made on first use, maybe by several goroutines at once:
// all make an equal one. Of equal values the first counts.
type index[K comparable] struct {
	made atomic.Pointer[map[K]int]
}

func (x *index[K]) of(values []K) map[K]int {
	if m := x.made.Load(); m != nil {
		return *m
	}
	return x.make(values)
}

func (x *index[K]) make(values []K) map[K]int {
	m := make(map[K]int, len(values))
	for i, v := range values {
		if _, ok := m[v]; !ok {
			m[v] = i
		}
	}
	x.made.Store(&m)
	return m
}
