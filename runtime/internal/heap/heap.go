// Package heap is a priority queue whose elements know where they stand in it, so that any can leave. It is for the packages of the runtime
// that wait for the earliest or look for the largest of many.
package heap

import "container/heap"

// Outside is the position of an element that is in no heap. The heap sets it when an element leaves.
const Outside = -1

// Element is what a Heap orders. It is in one heap at a time.
type Element[E any] interface {
	Before(E) bool
	// Position is where the heap keeps the element's position.
	Position() *int
}

// Heap has the element that is before all others first. The zero Heap is empty. It is not safe for concurrent use.
type Heap[E Element[E]] struct{ all list[E] }

// Len is how many elements there are.
func (h *Heap[E]) Len() int { return len(h.all) }

// First returns the first element of a heap that is not empty.
func (h *Heap[E]) First() E { return h.all[0] }

// All returns the elements in no order. The slice is the heap's own.
func (h *Heap[E]) All() []E { return h.all }

// Push adds an element.
func (h *Heap[E]) Push(e E) { heap.Push(&h.all, e) }

// Pop removes the first element of a heap that is not empty, and returns it.
func (h *Heap[E]) Pop() E { return heap.Pop(&h.all).(E) }

// Remove removes an element that is in the heap.
func (h *Heap[E]) Remove(e E) { heap.Remove(&h.all, *e.Position()) }

// Fix moves an element that is in the heap to where it belongs after a change.
func (h *Heap[E]) Fix(e E) { heap.Fix(&h.all, *e.Position()) }

// list implements heap.Interface.
type list[E Element[E]] []E

func (l list[E]) Len() int           { return len(l) }
func (l list[E]) Less(i, j int) bool { return l[i].Before(l[j]) }
func (l list[E]) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	*l[i].Position(), *l[j].Position() = i, j
}

// Push implements heap.Interface.
func (l *list[E]) Push(x any) {
	e := x.(E)
	*e.Position() = len(*l)
	*l = append(*l, e)
}

// Pop implements heap.Interface.
func (l *list[E]) Pop() any {
	last := len(*l) - 1
	e := (*l)[last]
	*e.Position() = Outside
	clear((*l)[last:])
	*l = (*l)[:last]
	return e
}
