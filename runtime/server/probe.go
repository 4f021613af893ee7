package server

import (
	"context"
	"slices"
	"sync"
	"time"
)

// probes bounds how many handlers run at once that have not answered yet: nobody knows how large their outputs are, and each run finds that
// out for its handler. A run that takes long gives its slot back early, with one more that is taken away when it ends: so the number of those that
// run doubles with each second, and ten thousand handlers that wait for something begin within ten. Were it to grow faster, more handlers of a slow
// tool with large outputs would run than memory has room for when the first returns. There may be fewer than no free slots then.
type probes struct {
	mu      sync.Mutex
	free    int
	waiting []chan struct{} // closed when a slot is theirs
}

const (
	maxProbes = 8           // how many run at once
	lendProbe = time.Second // how long a run keeps its slot
)

// enter takes a slot.
func (t *probes) enter(ctx context.Context) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	t.waiting = append(t.waiting, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.waiting, turn)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 {
		t.add(1)
	}
	return context.Cause(ctx)
}

// add makes n more slots, or fewer.
func (t *probes) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.free += n; t.free > 0 && len(t.waiting) > 0; t.free-- {
		close(t.waiting[0])
		t.waiting = slices.Delete(t.waiting, 0, 1)
	}
}
