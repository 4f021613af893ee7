package server

import (
	"container/list"
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
	mu    sync.Mutex
	free  int
	lines list.List // of *probeLine, served by turns
	of    map[*account]*list.Element
}

// probeLine is where the runs of one caller wait.
type probeLine struct {
	caller  *account
	waiting []chan struct{} // closed when a slot is theirs
}

const (
	maxProbes = 8           // how many run at once
	lendProbe = time.Second // how long a run keeps its slot
)

// enter takes a slot for a run of the caller's.
func (p *probes) enter(ctx context.Context, caller *account) error {
	p.mu.Lock()
	if p.free > 0 {
		p.free--
		p.mu.Unlock()
		return nil
	}
	turn := p.wait(caller)
	p.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	if !p.leave(caller, turn) {
		p.add(1)
	}
	return context.Cause(ctx)
}

// wait queues a run. With mu.
func (p *probes) wait(caller *account) (turn chan struct{}) {
	turn = make(chan struct{})
	e := p.of[caller]
	if e == nil {
		if p.of == nil {
			p.of = map[*account]*list.Element{}
		}
		e = p.lines.PushBack(&probeLine{caller: caller})
		p.of[caller] = e
	}
	line := e.Value.(*probeLine)
	line.waiting = append(line.waiting, turn)
	return turn
}

// leave removes a run that waits no longer; false: it has a slot.
func (p *probes) leave(caller *account, turn chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.of[caller]
	if e == nil {
		return false
	}
	i := slices.Index(e.Value.(*probeLine).waiting, turn)
	if i >= 0 {
		p.remove(e, i)
	}
	return i >= 0
}

// remove removes a run from its line. With mu.
func (p *probes) remove(e *list.Element, i int) {
	line := e.Value.(*probeLine)
	if line.waiting = slices.Delete(line.waiting, i, i+1); len(line.waiting) == 0 {
		p.lines.Remove(e)
		delete(p.of, line.caller)
	}
}

// add makes n more slots, or fewer. Callers get what is free by turns, so that nobody waits behind all that another one began.
func (p *probes) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.free += n; p.free > 0 && p.lines.Len() > 0; p.free-- {
		e := p.lines.Front()
		close(e.Value.(*probeLine).waiting[0])
		p.lines.MoveToBack(e)
		p.remove(e, 0)
	}
}
