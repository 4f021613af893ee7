package server

import (
	"slices"
	"sync"
)

// newest is a queue that keeps the newest value of each key, in the order in which the keys came. Whoever puts does not wait for a
// client that reads slowly; that client gets what is true when it reads. Its zero value is empty and ready to use.
type newest[K comparable, V any] struct {
	mu      sync.Mutex
	order   []K // keys, from next on
	next    int
	waiting map[K]V
	taking  bool // somebody takes until the queue is empty
}

// put queues v, in place of an older value of its key. It returns true if nobody takes: then the caller has to see that somebody does.
func (q *newest[K, V]) put(key K, v V) (idle bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[K]V{}
	}
	if _, waiting := q.waiting[key]; !waiting {
		q.order = append(q.order, key)
	}
	q.waiting[key] = v
	idle, q.taking = !q.taking, true
	return idle
}

// take returns the value that waited longest, false if the queue is empty.
func (q *newest[K, V]) take() (v V, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == len(q.order) {
		q.order, q.next, q.taking = q.order[:0], 0, false
		return v, false
	}
	key := q.order[q.next]
	clear(q.order[q.next : q.next+1])
	q.next++
	if q.next == len(q.order)-q.next { // half of it is empty
		q.order, q.next = slices.Delete(q.order, 0, q.next), 0
	}
	v = q.waiting[key]
	delete(q.waiting, key)
	return v, true
}

// topic is what a message to a session or subscription is about: a list, a resource or a task. It shares its name with what keeps that.
type topic struct {
	op   Op
	name string // of a resource or task
}
