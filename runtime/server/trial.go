package server

import (
	"context"
	"slices"
	"sync"
	"time"
)

// trials are places for runs of handlers that have not answered yet: nobody knows how large their outputs are. One that takes long lends its
// place, and one more until it ends, so that many which wait for something begin soon. The places may be fewer than none then.
type trials struct {
	mu   sync.Mutex
	free int
	line []chan struct{} // closed when a place is theirs
}

const (
	firstTrials = 8 // how many run at once
	lendTrial   = 250 * time.Millisecond
)

// enter takes a place.
func (t *trials) enter(ctx context.Context) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	t.line = append(t.line, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.line, turn)
	if i >= 0 {
		t.line = slices.Delete(t.line, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 {
		t.add(1)
	}
	return context.Cause(ctx)
}

// add makes n more places, or fewer.
func (t *trials) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.free += n; t.free > 0 && len(t.line) > 0; t.free-- {
		close(t.line[0])
		t.line = slices.Delete(t.line, 0, 1)
	}
}
