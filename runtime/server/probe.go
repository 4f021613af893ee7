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
func (p *probes) enter(ctx context.Context) error {
	p.mu.Lock()
	if p.free > 0 {
		p.free--
		p.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	i := slices.Index(p.waiting, turn)
	if i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	p.mu.Unlock()
	if i < 0 {
		p.add(1)
	}
	return context.Cause(ctx)
}

// add makes n more slots, or fewer.
func (p *probes) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.free += n; p.free > 0 && len(p.waiting) > 0; p.free-- {
		close(p.waiting[0])
		p.waiting = slices.Delete(p.waiting, 0, 1)
	}
}
