package server

import (
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// newest is a queue that keeps the newest value of each key, in the order in which the keys came. The producer does not wait for a
// client that reads slowly; that client gets the values that are current when it reads. The zero value is empty and ready to use.
type newest[K comparable, V any] struct {
	mu      sync.Mutex
	order   []K // keys, from next on
	next    int
	waiting map[K]V
	taking  bool // there is a consumer, which takes values until the queue is empty
}

// put queues v, in place of an older value of its key. It returns true if there is no consumer: then the caller has to start one.
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

// take returns the key and value that waited longest, false if the queue is empty.
func (q *newest[K, V]) take() (key K, v V, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == len(q.order) {
		q.order, q.next, q.taking = q.order[:0], 0, false
		return key, v, false
	}
	key = q.order[q.next]
	clear(q.order[q.next : q.next+1])
	q.next++
	if q.next == len(q.order)-q.next { // half of order has been taken
		q.order, q.next = slices.Delete(q.order, 0, q.next), 0
	}
	v = q.waiting[key]
	delete(q.waiting, key)
	return key, v, true
}

// topic is the list, resource or task that a message to a session or subscription is about. The name is a string that others keep anyway,
// and the content of the message is made when it is sent: nothing more is kept for a client that reads slowly.
type topic struct {
	op   wire.Op
	name string // of a resource or task
}

// change returns the notification of a changed list or resource, for a session or for the subscription with this id.
func (rev *revision) change(about topic, subscription rpc.ID) notification {
	if about.op == wire.OpResourceUpdated {
		return rev.updated(about.name, subscription)
	}
	return rev.listChanged(about.op, subscription)
}
