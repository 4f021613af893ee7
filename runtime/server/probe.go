package server

import (
	"context"
	"slices"
	"sync"
	"time"
)

// probes bounds how many handlers run at once that have not answered yet: nobody knows how large their outputs are, and each run finds that
// out for its handler. A run that takes long gives its slot back early, so that handlers that wait for something begin nevertheless: 32 a second.
// Were they to begin ever faster, those of a slow tool with large outputs would all return before anything is known of it.
type probes struct {
	mu      sync.Mutex
	free    int
	waiting []chan struct{} // closed when a slot is theirs
}

const (
	maxProbes = 8                      // how many run at once
	lendProbe = 250 * time.Millisecond // how long a run keeps its slot
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

// add makes n more slots.
func (t *probes) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.free += n; t.free > 0 && len(t.waiting) > 0; t.free-- {
		close(t.waiting[0])
		t.waiting = slices.Delete(t.waiting, 0, 1)
	}
}
