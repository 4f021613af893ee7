package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// toolSlots bounds how many runs of a tool there are at once. Each run has a slot, and others wait for one: a free slot goes to a run that goes on after a
// question, if one waits, else to one that begins.
type toolSlots struct {
	mu       sync.Mutex
	free     int
	resuming slotQueue
	starting slotQueue
}

// slotQueue has the runs that wait for a slot, by caller. Callers get free slots in turn, however many runs one of them has waiting
// (TSK28).
type slotQueue []*slotWaiters

// slotWaiters is where one caller's runs wait, in the order in which they came.
type slotWaiters struct {
	who     Requestor
	waiting []chan struct{} // one for each run, closed when the run has a slot
	yields  bool            // the caller has got a slot since it queued: the next new caller is put before it
}

func (q *slotQueue) of(who Requestor) int {
	return slices.IndexFunc(*q, func(one *slotWaiters) bool { return one.who == who })
}

func (q *slotQueue) add(who Requestor) (mine chan struct{}) {
	i := q.of(who)
	if i < 0 {
		if i = slices.IndexFunc(*q, func(one *slotWaiters) bool { return one.yields }); i < 0 {
			i = len(*q)
		}
		for _, one := range (*q)[i:] {
			one.yields = false
		}
		*q = slices.Insert(*q, i, &slotWaiters{who: who})
	}
	mine = make(chan struct{})
	(*q)[i].waiting = append((*q)[i].waiting, mine)
	return mine
}

// next removes and returns the first run of the first caller.
func (q *slotQueue) next() (next chan struct{}) {
	one := (*q)[0]
	next = one.waiting[0]
	one.waiting = slices.Delete(one.waiting, 0, 1)
	*q = slices.Delete(*q, 0, 1)
	if len(one.waiting) > 0 {
		one.yields = true
		*q = append(*q, one)
	}
	return next
}

func (q *slotQueue) remove(who Requestor, mine chan struct{}) bool {
	i := q.of(who)
	if i < 0 {
		return false
	}
	one := (*q)[i]
	at := slices.Index(one.waiting, mine)
	if at < 0 {
		return false
	}
	if one.waiting = slices.Delete(one.waiting, at, at+1); len(one.waiting) == 0 {
		*q = slices.Delete(*q, i, i+1)
	}
	return true
}

func newToolSlots(n int) *toolSlots {
	if n <= 0 {
		return nil
	}
	return &toolSlots{free: n}
}

// take takes a slot and returns nil, or queues a run of the caller and returns a channel that is closed when the run has a slot.
func (t *toolSlots) take(line *slotQueue, who Requestor) (mine chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil
	}
	return line.add(who)
}

// give gives a slot to the next run.
func (t *toolSlots) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range []*slotQueue{&t.resuming, &t.starting} {
		if len(*line) > 0 {
			close(line.next())
			return
		}
	}
	t.free++
}

// giveUp removes a run from the queue, or gives the slot back that the run got meanwhile.
func (t *toolSlots) giveUp(line *slotQueue, who Requestor, mine chan struct{}) {
	t.mu.Lock()
	waited := line.remove(who, mine)
	t.mu.Unlock()
	if !waited {
		t.give()
	}
}

// enter takes one of the slots. A call that ends before one is free gets the error that the tool is busy.
func (t *toolSlots) enter(ctx context.Context, call *Call) (*slot, error) {
	who := call.r.reservation.account.who
	if mine := t.take(&t.starting, who); mine != nil {
		call.noteWaiting(true)
		select {
		case <-mine:
			call.noteWaiting(false)
		case <-ctx.Done():
			t.giveUp(&t.starting, who, mine)
			return nil, call.tool.busy()
		}
	}
	return &slot{of: t, who: who, held: true, returning: make(chan struct{}, 1)}, nil
}

// slot is the slot of one run, which the run has except while it waits for its client; nil for a tool with any number of runs.
type slot struct {
	of        *toolSlots
	who       Requestor
	returning chan struct{} // has an element while one of the run's goroutines takes a slot again

	mu   sync.Mutex
	held bool
	over bool // the handler has returned
}

// lend lets another run have the slot. A second call does nothing.
func (s *slot) lend() {
	if s != nil {
		s.set(false)
	}
}

// leave gives the slot up for good.
func (s *slot) leave() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.set(false)
}

// set sets whether the run has a slot. If it has got a second one, or needs none any more, the slot goes to another run.
func (s *slot) set(held bool) {
	s.mu.Lock()
	give := s.held && !held || held && (s.held || s.over)
	s.held = held && !s.over
	s.mu.Unlock()
	if give {
		s.of.give()
	}
}

func (s *slot) has() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held || s.over
}

// takeAgain returns when the run has a slot again. One of its goroutines takes it for all.
func (s *slot) takeAgain(ctx, run context.Context) error {
	select {
	case s.returning <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-run.Done():
		return context.Cause(run)
	}
	defer func() { <-s.returning }()
	if s.has() {
		return nil
	}
	if mine := s.of.take(&s.of.resuming, s.who); mine != nil {
		select {
		case <-mine:
		case <-ctx.Done():
			s.of.giveUp(&s.of.resuming, s.who, mine)
			return context.Cause(ctx)
		case <-run.Done():
			s.of.giveUp(&s.of.resuming, s.who, mine)
			return context.Cause(run)
		}
	}
	s.set(true)
	return nil
}

// lendSlot lends the slot of the run while wait waits for the client (CAN28): no other run waits for a person. The wait for a slot
// afterwards counts for the timeout of the run.
func (c *Call) lendSlot(ctx context.Context, wait func() ([]byte, error)) ([]byte, error) {
	if c.slot == nil {
		return wait()
	}
	c.slot.lend()
	data, err := wait()
	run := context.Context(c.entry)
	if c.taskRun != nil {
		run = c.taskRun.Context()
	}
	if late := c.slot.takeAgain(ctx, run); late != nil && err == nil {
		return nil, late
	}
	return data, err
}

// noteWaiting notes whether the call waits for a slot, so that the answer after its timeout can say so. A call that gave up stays noted until
// it is over.
func (c *Call) noteWaiting(on bool) {
	if c.entry != nil {
		c.entry.SetWaiting(on)
		return
	}
	s, id := c.s, c.TaskID()
	s.mu.Lock()
	defer s.mu.Unlock()
	if on {
		s.waitingForSlot[id] = c.tool
	} else {
		delete(s.waitingForSlot, id)
	}
}

// waitedForSlot returns the tool for whose slot the task's run waits, or waited when it ended; nil: it did not wait.
func (s *Server) waitedForSlot(id string) *Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waitingForSlot[id]
}

// forgetWaiting is called for a task that is over, or gone.
func (s *Server) forgetWaiting(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waitingForSlot, id)
}

// busy is the answer to a call that found no slot.
func (t *Tool) busy() *rpc.Error {
	err := tooOften(time.Second, "%s is busy: at most %d of its calls run at once", t.Name, t.MaxConcurrent)
	err.Busy = true
	return err
}
