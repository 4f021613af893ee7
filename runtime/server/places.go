package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// places bound how many runs of a tool there are at once. Who comes later waits: first runs that go on after a question, then those that
// begin.
type places struct {
	mu    sync.Mutex
	free  int
	goOn  turns
	begin turns
}

// turns are those who wait for a place: what becomes free goes around callers, however many runs one of them has waiting (TSK28).
type turns []*turn

// turn is where one caller's runs wait, in the order in which they came.
type turn struct {
	who     Requestor
	waiting []chan struct{} // closed when a place is theirs
	yields  bool            // it has just had a place: who comes next goes before it, once
}

func (t *turns) of(who Requestor) int {
	return slices.IndexFunc(*t, func(one *turn) bool { return one.who == who })
}

func (t *turns) add(who Requestor) (mine chan struct{}) {
	i := t.of(who)
	if i < 0 {
		if i = slices.IndexFunc(*t, func(one *turn) bool { return one.yields }); i < 0 {
			i = len(*t)
		}
		for _, one := range (*t)[i:] {
			one.yields = false
		}
		*t = slices.Insert(*t, i, &turn{who: who})
	}
	mine = make(chan struct{})
	(*t)[i].waiting = append((*t)[i].waiting, mine)
	return mine
}

// next takes the one who is next out.
func (t *turns) next() (next chan struct{}) {
	one := (*t)[0]
	next = one.waiting[0]
	one.waiting = slices.Delete(one.waiting, 0, 1)
	*t = slices.Delete(*t, 0, 1)
	if len(one.waiting) > 0 {
		one.yields = true
		*t = append(*t, one)
	}
	return next
}

// remove takes a call from among those that wait, and reports whether it was there.
func (t *turns) remove(who Requestor, mine chan struct{}) bool {
	i := t.of(who)
	if i < 0 {
		return false
	}
	one := (*t)[i]
	at := slices.Index(one.waiting, mine)
	if at < 0 {
		return false
	}
	if one.waiting = slices.Delete(one.waiting, at, at+1); len(one.waiting) == 0 {
		*t = slices.Delete(*t, i, i+1)
	}
	return true
}

func newPlaces(n int) *places {
	if n <= 0 {
		return nil
	}
	return &places{free: n}
}

// ask takes a place, or says what is closed when there is one.
func (p *places) ask(line *turns, who Requestor) (mine chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free > 0 {
		p.free--
		return nil
	}
	return line.add(who)
}

// give gives a place to who is next.
func (p *places) give() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range []*turns{&p.goOn, &p.begin} {
		if len(*line) > 0 {
			close(line.next())
			return
		}
	}
	p.free++
}

// giveUp leaves the line, or gives the place back that came meanwhile.
func (p *places) giveUp(line *turns, who Requestor, mine chan struct{}) {
	p.mu.Lock()
	waited := line.remove(who, mine)
	p.mu.Unlock()
	if !waited {
		p.give()
	}
}

// enter takes one of the places. A call that ends before one is free is told that the tool is busy.
func (p *places) enter(ctx context.Context, call *Call) (*seat, error) {
	who := call.r.room.account.who
	if mine := p.ask(&p.begin, who); mine != nil {
		call.waits(true)
		select {
		case <-mine:
			call.waits(false)
		case <-ctx.Done():
			p.giveUp(&p.begin, who, mine)
			return nil, call.tool.busy()
		}
	}
	return &seat{of: p, who: who, held: true, returning: make(chan struct{}, 1)}, nil
}

// seat is the place that a run has while it does not wait for its client; nil of a tool with any number of them.
type seat struct {
	of        *places
	who       Requestor
	returning chan struct{} // has an element while one of the run's goroutines takes the place again

	mu   sync.Mutex
	held bool
	over bool // the handler has returned
}

// lend lets another run have the place. It may be called again.
func (s *seat) lend() {
	if s != nil {
		s.set(false)
	}
}

// leave lends it for good.
func (s *seat) leave() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.set(false)
}

// set notes that the run has a place, which is given on if it has one already or needs none any more, or that it has none.
func (s *seat) set(held bool) {
	s.mu.Lock()
	give := s.held && !held || held && (s.held || s.over)
	s.held = held && !s.over
	s.mu.Unlock()
	if give {
		s.of.give()
	}
}

func (s *seat) has() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held || s.over
}

// takeAgain returns when the run has its place again. One of its goroutines takes it for all.
func (s *seat) takeAgain(ctx, call context.Context) error {
	select {
	case s.returning <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-call.Done():
		return context.Cause(call)
	}
	defer func() { <-s.returning }()
	if s.has() {
		return nil
	}
	if mine := s.of.ask(&s.of.goOn, s.who); mine != nil {
		select {
		case <-mine:
		case <-ctx.Done():
			s.of.giveUp(&s.of.goOn, s.who, mine)
			return context.Cause(ctx)
		case <-call.Done():
			s.of.giveUp(&s.of.goOn, s.who, mine)
			return context.Cause(call)
		}
	}
	s.set(true)
	return nil
}

// lending lends the place of the run while wait waits for the client (CAN28): the time that a person takes is nobody else's. The wait for a
// place afterwards counts for the timeout of the run.
func (c *Call) lending(ctx context.Context, wait func() ([]byte, error)) ([]byte, error) {
	if c.seat == nil {
		return wait()
	}
	c.seat.lend()
	data, err := wait()
	call := context.Context(c.entry)
	if c.run != nil {
		call = c.run.Context()
	}
	if late := c.seat.takeAgain(ctx, call); late != nil && err == nil {
		return nil, late
	}
	return data, err
}

// waits notes that the call waits for a place, so that its timeout can say so. One that gave up is still noted, until its end is told.
func (c *Call) waits(on bool) {
	if c.entry != nil {
		c.entry.Wait(on)
		return
	}
	s, id := c.s, c.TaskID()
	s.mu.Lock()
	defer s.mu.Unlock()
	if on {
		s.queued[id] = true
	} else {
		delete(s.queued, id)
	}
}

// waited reports whether the task has had no place.
func (s *Server) waited(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queued[id]
}

// forgetWaiting is for a task that is over, or gone.
func (s *Server) forgetWaiting(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.queued, id)
}

// busy is the answer to a call that found no place.
func (t *Tool) busy() *rpc.Error {
	err := tooOften(time.Second, "%s is busy: at most %d of its calls run at once", t.Name, t.MaxConcurrent)
	err.Busy = true
	return err
}
