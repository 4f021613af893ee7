package task

import (
	"context"
	"math"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/heap"
)

// expiryHeap orders the records of a shard by when they expire. Tasks without end are not in it.
type expiryHeap struct{ heap.Heap[*record] }

func (h *expiryHeap) add(r *record) {
	if !r.at.IsZero() {
		h.Push(r)
	}
}

func (h *expiryHeap) remove(r *record) {
	if !r.at.IsZero() {
		h.Remove(r)
	}
}

// Before implements heap.Element.
func (r *record) Before(s *record) bool { return r.at.Before(s.at) }

// Position implements heap.Element.
func (r *record) Position() *int { return &r.position }

// Expire implements Store.
func (m *Memory) Expire(_ context.Context, limit int) (Expiry, error) {
	now := time.Now()
	var x Expiry
	for i := range m.ids {
		s := &m.ids[i]
		for _, r := range s.take(now, limit-len(x.Removed)) {
			x.Removed = append(x.Removed, m.remove(r))
		}
		if next, ok := s.next(); ok && (x.Next.IsZero() || next.Before(x.Next)) {
			x.Next = next
		}
	}
	return x, nil
}

// take removes what has expired from the shard.
func (s *shard) take(now time.Time, limit int) []*record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var taken []*record
	for len(taken) < limit && s.expiry.Len() > 0 && !now.Before(s.expiry.First().at) {
		r := s.expiry.Pop()
		delete(s.records, r.id)
		taken = append(taken, r)
	}
	return taken
}

func (s *shard) next() (time.Time, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.expiry.Len() == 0 {
		return time.Time{}, false
	}
	return s.expiry.First().at, true
}

// remove takes a task, which is no longer in its shard, out of its owner's list, too, and wakes its watchers.
func (m *Memory) remove(r *record) Task {
	r.owner.mu.Lock()
	r.owner.remove(r.seq)
	r.owner.mu.Unlock()
	r.mu.Lock()
	var t Task
	r.copyTo(&t)
	r.state, r.over = nil, nil
	r.wake()
	r.mu.Unlock()
	m.shard(r.id).removed()
	m.dismiss(r, t.Status.Terminal())
	return t
}

// Discard implements Requestors.
func (m *Memory) Discard(_ context.Context, name string) ([]Task, error) {
	var removed []Task
	if o := m.owner(name); o != nil {
		for _, p := range o.after(0, math.MaxInt) {
			if m.shard(p.id).takeOut(p.record) {
				removed = append(removed, m.remove(p.record))
			}
		}
	}
	return removed, nil
}

// takeOut takes a record out of the shard; false if that was done already.
func (s *shard) takeOut(r *record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records[r.id] != r {
		return false
	}
	delete(s.records, r.id)
	s.expiry.remove(r)
	return true
}

// nextRemoval returns a channel that is closed when the next task of the shard is removed.
func (s *shard) nextRemoval() <-chan struct{} {
	for {
		if c := s.removal.Load(); c != nil {
			return *c
		}
		c := make(chan struct{})
		s.removal.CompareAndSwap(nil, &c)
	}
}

func (s *shard) removed() {
	if c := s.removal.Swap(nil); c != nil {
		close(*c)
	}
}
