package server

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"time"
)

// probes bounds how many runs there are of handlers that have not answered yet: the size of their outputs is unknown until the first run ends. A run
// that takes longer than lendProbe, or waits for a person, gives its slot back early and adds one more slot, which is removed when the run ends: so the
// number of such runs doubles each second or faster, and ten thousand handlers that wait for something begin within ten seconds. If the number grew
// faster for all, more runs of a slow tool with large outputs would have begun than fit into memory when the first returns. free may become negative.
type probes struct {
	mu    sync.Mutex
	free  int
	lines list.List // of *probeLine, served in turn
	of    map[*account]*list.Element
}

// probeLine is where the runs of one caller wait.
type probeLine struct {
	caller  *account
	waiting []chan struct{} // one for each run, closed when the run has a slot
}

const (
	maxProbes = 8           // how many run at once
	lendProbe = time.Second // how long a run keeps its slot
)

// enter takes a slot for a run of the caller.
func (p *probes) enter(ctx context.Context, caller *account) error {
	p.mu.Lock()
	if p.free > 0 {
		p.free--
		p.mu.Unlock()
		return nil
	}
	granted := p.wait(caller)
	p.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-ctx.Done():
	}
	if !p.leave(caller, granted) {
		p.add(1)
	}
	return context.Cause(ctx)
}

// wait queues a run. mu is held.
func (p *probes) wait(caller *account) (granted chan struct{}) {
	granted = make(chan struct{})
	e := p.of[caller]
	if e == nil {
		if p.of == nil {
			p.of = map[*account]*list.Element{}
		}
		e = p.lines.PushBack(&probeLine{caller: caller})
		p.of[caller] = e
	}
	line := e.Value.(*probeLine)
	line.waiting = append(line.waiting, granted)
	return granted
}

// leave removes a run that waits no longer. It returns false if the run has a slot.
func (p *probes) leave(caller *account, granted chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.of[caller]
	if e == nil {
		return false
	}
	i := slices.Index(e.Value.(*probeLine).waiting, granted)
	if i >= 0 {
		p.remove(e, i)
	}
	return i >= 0
}

// remove removes a run from its line. mu is held.
func (p *probes) remove(e *list.Element, i int) {
	line := e.Value.(*probeLine)
	if line.waiting = slices.Delete(line.waiting, i, i+1); len(line.waiting) == 0 {
		p.lines.Remove(e)
		delete(p.of, line.caller)
	}
}

// add adds n slots, or removes them if n is negative. Callers get free slots in turn, so that nobody waits behind all the runs of another
// one.
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
